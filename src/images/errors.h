#pragma once
// Makes every text that a user can read in an error of the image store. A maker is named after the
// failure and takes the facts. Programs decide by the code and the reason.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/files.h"
#include "base/result.h"

namespace caip::images::errors {

// Blobs and uploads. The reasons: digestInvalid, digestMismatch, blobUnknown, uploadIdInvalid,
// uploadUnknown, uploadBusy, uploadExists.
Error DigestInvalid(std::string_view text);
Error DigestMismatch(std::string_view expected, std::string_view computed);
Error BlobUnknown(std::string_view digest);
Error BlobTooLarge(std::string_view digest, uint64_t size, uint64_t limit);
Error UploadIdInvalid(std::string_view id);
Error UploadUnknown(std::string_view id);
Error UploadBusy(std::string_view id);
Error UploadExists(std::string_view id);

// Names. The reasons: nameUnknown, manifestUnknown.
Error NameStoreFailed(Code code, const Path& file, std::string_view why);
Error NameStoreTooNew(const Path& file, int64_t version);
Error NameUnknown(std::string_view name, const std::vector<std::string>& other_tags = {});
Error ManifestUnknown(std::string_view repository, std::string_view digest);

// Names as people write them, manifests and configurations. The reasons: imageNameInvalid,
// manifestInvalid, configInvalid, otherPlatform, notAnImage.
Error ImageNameInvalid(std::string_view name, std::string_view why);
Error ManifestInvalid(std::string_view why);
Error ManifestTypeUnknown(std::string_view media_type);
Error ManifestSchemaOne();
Error ManifestTooLarge(uint64_t size);
Error ConfigInvalid(std::string_view why);
Error OtherPlatform(const std::vector<std::string>& platforms, std::string_view host);
Error NotAnImage(std::string_view why);
Error TooManyLayers(size_t layers);

// Archives and layers. The reasons: archiveBroken, layerInvalid, imageTooLarge.
Error ArchiveBroken(std::string_view why);
Error ImageTooLarge(uint64_t limit);
Error ImageWithTooManyFiles(uint64_t limit);
Error DirectoryNamesTooLong(uint64_t limit);
Error PathLeavesImage(std::string_view path);
Error LinkLeavesImage(std::string_view path, std::string_view target);
Error LinkTargetMissing(std::string_view path, std::string_view target);
Error EntryInvalid(std::string_view path, std::string_view why);
Error CannotUnpack(std::string_view path, int error_number);
Error ReadingStopped();  // kCancelled
Error LayerMismatch(std::string_view expected, std::string_view computed);
Error LayerInUse(std::string_view diff_id);
Error CannotMakeWhiteout(std::string_view path, int error_number);
/// The path of an entry as messages show it: an archive may have paths of a mebibyte.
std::string ShownPath(std::string_view path);

// Imports. The reasons: imageMissing, severalImages, blobMissing, sizeMismatch.
Error CannotOpenSource(const Path& path, int error_number);
Error StandardInputIsTerminal();
/// Of an archive that ends too early, after some files or none.
Error ArchiveTruncated(bool has_files);
Error ImageMissing(std::string_view source);
Error LayoutVersionUnknown(std::string_view version);
Error FileOfImageMissing(std::string_view name);
Error BlobOfImageMissing(std::string_view what, std::string_view digest);
Error BlobSizeWrong(std::string_view what, std::string_view digest, uint64_t expected,
                    uint64_t size);
Error LayersDoNotFit(size_t manifest, size_t config);
Error ArchiveWithTooManyFiles(uint64_t limit);
Error ArchiveNamesTooLong(uint64_t limit);
Error TooManyManifests();
Error TagOfSourceUnknown(std::string_view source, std::string_view tag,
                         const std::vector<std::string>& names);
Error SeveralImages(std::string_view source, const std::vector<std::string>& names);
Error ImageWithoutName(std::string_view source);
Error NameWithDigest(std::string_view name);
/// The cause, with the number of the layer before it.
Error InLayer(size_t layer, size_t layers, const Error& cause);

}  // namespace caip::images::errors
