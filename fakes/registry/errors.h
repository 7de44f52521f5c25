#pragma once
// All error texts of the registry, and their form in HTTP.
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#error-codes

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace caip::registry::errors {

// Names. The reasons are nameInvalid, nameUnknown and tagInvalid.
Error NameInvalid(std::string_view name, std::string_view why);
Error NameUnknown(std::string_view name);
Error TagInvalid(std::string_view tag);

// Blobs and uploads.
Error RangeUnsatisfiable(std::string_view range, uint64_t size);
Error DigestMissing();
Error ContentRangeInvalid(std::string_view range);
/// The piece does not begin where the upload ends. The status is 416.
Error UploadRangeWrong(uint64_t expected, uint64_t given);
Error UploadSizeWrong(uint64_t expected, uint64_t given);

// Manifests.
Error ManifestUnknown(std::string_view name, std::string_view reference);
// The status of both is 404, so that clients push the bytes again.
Error BlobDamaged(std::string_view digest);
Error ManifestDamaged(std::string_view digest);
Error DescriptorSizeWrong(std::string_view digest, uint64_t stated, uint64_t size);
/// The status is 413.
Error ManifestTooLarge(size_t limit);
/// `type` is the media type of the manifest; no field Accept names it.
Error ManifestNotAccepted(std::string_view type);
Error ManifestDigestWrong(std::string_view expected, std::string_view computed);
/// A blob or a manifest to which the manifest refers is not in the repository.
Error ManifestBlobUnknown(std::string_view name, std::string_view digest);

// Requests.
Error CountInvalid(std::string_view text);
Error MethodUnsupported(std::string_view method, std::string_view allow);
Error PathUnknown(std::string_view path);

// Why a name is not valid.
inline constexpr const char* kNameRule =
    "a name has parts of lower-case letters and digits, separated by '/'; inside a part, '.', '_', "
    "'__' and '-' may stand between letters or digits";
inline constexpr const char* kNameTooLong = "it has more than 255 characters with its host";

/// {"errors":[{"code":"NAME_UNKNOWN","message":...}]} with the status of the error.
http::Response ToResponse(const Error& error);

}  // namespace caip::registry::errors
