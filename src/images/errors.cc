#include "images/errors.h"

#include "base/quoting.h"
#include "base/text.h"
#include "images/image_manifest.h"

namespace caip::images::errors {
namespace {

constexpr size_t kShownPathMax = 1000;

std::string NumberText(uint64_t value) { return std::to_string(value); }

}  // namespace

Error DigestInvalid(std::string_view text) {
  return {Code::kInvalidArgument,
          Quoted(text) +
              " is not a valid digest. A digest is \"sha256:\" and 64 lower-case hexadecimal "
              "digits.",
          {},
          "digestInvalid"};
}

Error DigestMismatch(std::string_view expected, std::string_view computed) {
  return {Code::kDataLoss,
          "The bytes of the blob " + std::string(expected) + " are damaged: their digest is " +
              std::string(computed) + ".",
          {},
          "digestMismatch"};
}

Error BlobUnknown(std::string_view digest) {
  return {Code::kNotFound,
          "The image store has no blob " + std::string(digest) + ".",
          {},
          "blobUnknown"};
}

Error BlobTooLarge(std::string_view digest, uint64_t size, uint64_t limit) {
  return {Code::kOutOfRange, "The blob " + std::string(digest) + " has " + NumberText(size) +
                                 " bytes. At most " + NumberText(limit) + " are allowed."};
}

Error UploadIdInvalid(std::string_view id) {
  return {
      Code::kInvalidArgument,
      Quoted(id) + " is not a valid id of an upload. Use 1 to 128 letters, digits, '-' and '_'.",
      {},
      "uploadIdInvalid"};
}

Error UploadUnknown(std::string_view id) {
  return {Code::kNotFound, "Upload " + Quoted(id) + " does not exist.", {}, "uploadUnknown"};
}

Error UploadBusy(std::string_view id) {
  return {Code::kAborted,
          "Upload " + Quoted(id) + " has another writer. Wait until that request has ended.",
          {},
          "uploadBusy"};
}

Error UploadExists(std::string_view id) {
  return {Code::kAlreadyExists, "Upload " + Quoted(id) + " exists already.", {}, "uploadExists"};
}

Error NameStoreFailed(Code code, const Path& file, std::string_view why) {
  return {code, "The names of images in " + Quoted(file.string()) +
                    " cannot be read or written: " + std::string(why) + "."};
}

Error NameStoreTooNew(const Path& file, int64_t version) {
  return {Code::kDataLoss, "The names of images in " + Quoted(file.string()) + " have version " +
                               std::to_string(version) +
                               ". A newer caip wrote them. Use that caip, or another state "
                               "directory."};
}

Error NameUnknown(std::string_view name, const std::vector<std::string>& other_tags) {
  const std::string others =
      other_tags.empty() ? "" : " Its repository has the tags " + Join(other_tags, ", ") + ".";
  return {Code::kNotFound,
          "The image store has no image " + Quoted(name) + "." + others,
          {},
          "nameUnknown"};
}

Error ManifestUnknown(std::string_view repository, std::string_view digest) {
  return {Code::kNotFound,
          "Repository " + Quoted(repository) + " has no manifest " + std::string(digest) + ".",
          {},
          "manifestUnknown"};
}

Error ImageNameInvalid(std::string_view name, std::string_view why) {
  return {Code::kInvalidArgument,
          Quoted(name) + " is not a valid name of an image: " + std::string(why) +
              ". Write it as gcr.io/PROJECT/IMAGE:TAG.",
          {},
          "imageNameInvalid"};
}

Error ManifestInvalid(std::string_view why) {
  return {Code::kInvalidArgument,
          "The manifest of the image is not valid: " + std::string(why) + ".",
          {},
          "manifestInvalid"};
}

Error ManifestTypeUnknown(std::string_view media_type) {
  return ManifestInvalid("its media type " + Quoted(media_type) +
                         " is neither OCI's nor Docker's schema 2");
}

Error ManifestSchemaOne() {
  return ManifestInvalid(
      "it has Docker's schema 1, which is not supported. Build or push the image with a newer "
      "docker");
}

Error ManifestTooLarge(uint64_t size) {
  return ManifestInvalid("it has " + NumberText(size) + " bytes; at most " +
                         NumberText(kManifestBytesMax) + " are read");
}

Error ConfigInvalid(std::string_view why) {
  return {Code::kInvalidArgument,
          "The configuration of the image is not valid: " + std::string(why) + ".",
          {},
          "configInvalid"};
}

Error OtherPlatform(const std::vector<std::string>& platforms, std::string_view host) {
  const std::string built = platforms.empty() ? "The image is built for no platform"
                                              : "The image is built for " + Join(platforms, ", ");
  return {Code::kFailedPrecondition,
          built + ", but this host is " + std::string(host) +
              ". Build it with --platform=" + std::string(host) + ".",
          {},
          "otherPlatform"};
}

Error NotAnImage(std::string_view why) {
  return {Code::kFailedPrecondition,
          "The manifest is not of a container image: " + std::string(why) + ".",
          {},
          "notAnImage"};
}

Error TooManyLayers(size_t layers) {
  return {Code::kFailedPrecondition,
          "The image has " + NumberText(layers) + " layers. At most " + NumberText(kLayersMax) +
              " are supported. Build it with --squash, or in fewer steps.",
          {},
          "notAnImage"};
}

namespace {

Error LayerInvalid(std::string what) {
  return {Code::kDataLoss, std::move(what) + " The image is refused.", {}, "layerInvalid"};
}

}  // namespace

Error ArchiveBroken(std::string_view why) {
  return {Code::kDataLoss,
          "The archive is damaged, or it is not an archive of an image: " + std::string(why) + ".",
          {},
          "archiveBroken"};
}

Error ImageTooLarge(uint64_t limit) {
  return {Code::kResourceExhausted,
          "The unpacked image has more than " + NumberText(limit) + " bytes, which is the limit.",
          {},
          "imageTooLarge"};
}

Error ImageWithTooManyFiles(uint64_t limit) {
  return {Code::kResourceExhausted,
          "A layer of the image has more than " + NumberText(limit) + " files, which is the limit.",
          {},
          "imageTooLarge"};
}

Error DirectoryNamesTooLong(uint64_t limit) {
  return {Code::kResourceExhausted,
          "The names of the directories in a layer of the image have more than " +
              NumberText(limit) + " bytes, which is the limit.",
          {},
          "imageTooLarge"};
}

std::string ShownPath(std::string_view path) {
  return Quoted(std::string(path.substr(0, kShownPathMax)) +
                (path.size() > kShownPathMax ? "..." : ""));
}

Error PathLeavesImage(std::string_view path) {
  return LayerInvalid("The entry " + ShownPath(path) + " leads out of the image.");
}

Error LinkLeavesImage(std::string_view path, std::string_view target) {
  return LayerInvalid("The entry " + ShownPath(path) + " is a link to " + ShownPath(target) +
                      ", which leads out of the image.");
}

Error LinkTargetMissing(std::string_view path, std::string_view target) {
  return LayerInvalid("The entry " + ShownPath(path) + " is a hard link to " + ShownPath(target) +
                      ", which is not a file of its layer.");
}

Error EntryInvalid(std::string_view path, std::string_view why) {
  return LayerInvalid("The entry " + ShownPath(path) + " is not valid: " + std::string(why) + ".");
}

Error CannotUnpack(std::string_view path, int error_number) {
  return SystemError("cannot unpack " + ShownPath(path) + " of the image", error_number);
}

Error ReadingStopped() { return {Code::kCancelled, "Reading was stopped"}; }

Error LayerMismatch(std::string_view expected, std::string_view computed) {
  return {Code::kDataLoss,
          "A layer of the image is not the one that its configuration names: the digest of the "
          "unpacked archive is " +
              std::string(computed) + " instead of " + std::string(expected) + ".",
          {},
          "digestMismatch"};
}

Error LayerInUse(std::string_view diff_id) {
  return {Code::kAborted,
          "Layer " + std::string(diff_id) + " of an image is in use.",
          {},
          "layerInUse"};
}

Error CannotMakeWhiteout(std::string_view path, int error_number) {
  return SystemError("cannot mark " + ShownPath(path) +
                         " of the image as deleted (a user without rights needs Linux 5.8)",
                     error_number);
}

Error CannotOpenSource(const Path& path, int error_number) {
  Error error = CannotOpen(path, error_number);
  error.message =
      "The image " + Quoted(path.string()) + " cannot be read: " + std::move(error.message) +
      ". Name an archive of `docker save`, a directory with an OCI layout, or - for the "
      "standard input.";
  return error;
}

Error StandardInputIsTerminal() {
  return {Code::kInvalidArgument,
          "The standard input is a terminal. Pipe an archive into the command: "
          "docker save IMAGE | caip images import -."};
}

Error ArchiveTruncated(bool has_files) {
  if (has_files) return ArchiveBroken("its end is missing");
  return {Code::kDataLoss,
          "The archive is empty. The program that writes it has probably failed.",
          {},
          "archiveBroken"};
}

Error ImageMissing(std::string_view source) {
  return {Code::kNotFound,
          Quoted(source) +
              " has no image: neither index.json of an OCI layout nor manifest.json of "
              "`docker save`.",
          {},
          "imageMissing"};
}

Error LayoutVersionUnknown(std::string_view version) {
  return ManifestInvalid("the version of its OCI layout is " + Quoted(version) +
                         "; only 1 is supported");
}

namespace {

Error BlobMissing(std::string what) {
  return {Code::kNotFound,
          "The archive of the image is incomplete: " + std::move(what) + " is missing.",
          {},
          "blobMissing"};
}

}  // namespace

Error FileOfImageMissing(std::string_view name) { return BlobMissing(Quoted(name)); }

Error BlobOfImageMissing(std::string_view what, std::string_view digest) {
  return BlobMissing(std::string(what) + ", the blob " + std::string(digest) + ",");
}

Error BlobSizeWrong(std::string_view what, std::string_view digest, uint64_t expected,
                    uint64_t size) {
  return {Code::kDataLoss,
          "The image is damaged: " + std::string(what) + ", the blob " + std::string(digest) +
              ", has " + NumberText(size) + " bytes instead of " + NumberText(expected) + ".",
          {},
          "sizeMismatch"};
}

Error LayersDoNotFit(size_t manifest, size_t config) {
  return ManifestInvalid("it has " + NumberText(manifest) +
                         " layers, but its configuration names " + NumberText(config));
}

Error ArchiveWithTooManyFiles(uint64_t limit) {
  return {Code::kResourceExhausted,
          "The archive has more than " + NumberText(limit) +
              " files. It is not an archive of an image.",
          {},
          "imageTooLarge"};
}

Error ArchiveNamesTooLong(uint64_t limit) {
  return {Code::kResourceExhausted,
          "The names of the files in the archive have more than " + NumberText(limit) +
              " bytes. It is not an archive of an image.",
          {},
          "imageTooLarge"};
}

Error TooManyManifests() {
  return {Code::kResourceExhausted,
          "The indexes of the image name more manifests than an import reads. Import the image for "
          "one platform, or fewer images at once.",
          {},
          "imageTooLarge"};
}

Error TagOfSourceUnknown(std::string_view source, std::string_view tag,
                         const std::vector<std::string>& names) {
  return {Code::kNotFound,
          Quoted(source) + " has no image " + Quoted(tag) + ". It has " + Join(names, ", ") + ".",
          {},
          "imageMissing"};
}

Error SeveralImages(std::string_view source, const std::vector<std::string>& names) {
  return {Code::kInvalidArgument,
          Quoted(source) + " has several images: " + Join(names, ", ") +
              ". Choose one, as in oci:PATH:TAG.",
          {},
          "severalImages"};
}

Error ImageWithoutName(std::string_view source) {
  return {Code::kInvalidArgument,
          "The image in " + Quoted(source) +
              " has no name. Name it with --name gcr.io/PROJECT/IMAGE:TAG."};
}

Error NameWithDigest(std::string_view name) {
  return {Code::kInvalidArgument,
          Quoted(name) + " has a digest. The digest of an image cannot be chosen: use a tag."};
}

Error InLayer(size_t layer, size_t layers, const Error& cause) {
  Error error = cause;
  error.message = "Layer " + NumberText(layer) + " of " + NumberText(layers) +
                  " cannot be unpacked: " + error.message;
  return error;
}

}  // namespace caip::images::errors
