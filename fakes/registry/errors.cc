#include "fakes/registry/errors.h"

#include "base/json.h"
#include "base/quoting.h"
#include "images/errors.h"

namespace caip::registry::errors {
namespace {

constexpr size_t kShownMax = 100;

std::string Shown(std::string_view value) {
  return Quoted(std::string(value.substr(0, kShownMax)) + (value.size() > kShownMax ? "..." : ""));
}

Error Because(std::string_view reason, Code code, std::string message) {
  return {.code = code, .message = std::move(message), .reason = std::string(reason)};
}

struct Form {
  const char* reason;
  int status;
  const char* code;  // of the specification
};

// Errors of the registry and of the image store.
constexpr Form kForms[] = {
    {"nameInvalid", 400, "NAME_INVALID"},
    {"nameUnknown", 404, "NAME_UNKNOWN"},
    {"tagInvalid", 400, "MANIFEST_INVALID"},
    {"digestInvalid", 400, "DIGEST_INVALID"},
    {"digestMismatch", 400, "DIGEST_INVALID"},
    {"blobUnknown", 404, "BLOB_UNKNOWN"},
    {"rangeUnsatisfiable", 416, "RANGE_INVALID"},
    {"uploadIdInvalid", 404, "BLOB_UPLOAD_UNKNOWN"},
    {"uploadUnknown", 404, "BLOB_UPLOAD_UNKNOWN"},
    {"uploadBusy", 409, "BLOB_UPLOAD_INVALID"},
    {"contentRangeInvalid", 400, "RANGE_INVALID"},
    {"uploadRangeWrong", 416, "RANGE_INVALID"},
    {"uploadSizeWrong", 400, "SIZE_INVALID"},
    {"manifestUnknown", 404, "MANIFEST_UNKNOWN"},
    {"manifestInvalid", 400, "MANIFEST_INVALID"},
    {"manifestTooLarge", 413, "SIZE_INVALID"},
    {"manifestBlobUnknown", 404, "MANIFEST_BLOB_UNKNOWN"},
    {"countInvalid", 400, "PAGINATION_NUMBER_INVALID"},
    {"methodUnsupported", 405, "UNSUPPORTED"},
    {"pathUnknown", 404, "NAME_UNKNOWN"},
};

// Errors without a known reason. A full disk is a 403: clients repeat requests after 5xx for
// minutes, which looks like a hang.
Form FormOfCode(Code code) {
  if (code == Code::kResourceExhausted) return {"", 403, "DENIED"};
  if (code == Code::kInvalidArgument) return {"", 400, "BLOB_UPLOAD_INVALID"};
  if (code == Code::kUnavailable) return {"", 503, "UNKNOWN"};
  return {"", 500, "UNKNOWN"};
}

Form FormOf(const Error& error) {
  for (const Form& form : kForms) {
    if (error.reason == form.reason) return form;
  }
  return FormOfCode(error.code);
}

}  // namespace

Error NameInvalid(std::string_view name, std::string_view why) {
  return Because("nameInvalid", Code::kInvalidArgument,
                 Shown(name) + " is not a valid name of a repository: " + std::string(why) + ".");
}

Error NameUnknown(std::string_view name) {
  return Because("nameUnknown", Code::kNotFound,
                 "Repository " + Shown(name) + " does not exist. A push creates it.");
}

Error TagInvalid(std::string_view tag) {
  return Because("tagInvalid", Code::kInvalidArgument,
                 Shown(tag) +
                     " is not a valid tag. A tag has 1 to 128 letters, digits, '_', '.' and '-', "
                     "and does not begin with '.' or '-'.");
}

Error RangeUnsatisfiable(std::string_view range, uint64_t size) {
  return Because("rangeUnsatisfiable", Code::kOutOfRange,
                 "The range " + Shown(range) + " is not in the blob, which has " +
                     std::to_string(size) + " bytes.");
}

Error DigestMissing() {
  return Because("digestInvalid", Code::kInvalidArgument,
                 "The request that ends an upload has no digest. Add ?digest=sha256:... to it.");
}

Error ContentRangeInvalid(std::string_view range) {
  return Because("contentRangeInvalid", Code::kInvalidArgument,
                 "Content-Range: " + Shown(range) +
                     " is not a valid range of a piece. Write it as FIRST-LAST, such as 0-1023.");
}

Error UploadRangeWrong(uint64_t expected, uint64_t given) {
  return Because("uploadRangeWrong", Code::kOutOfRange,
                 "The piece begins at byte " + std::to_string(given) +
                     ", but the upload continues at byte " + std::to_string(expected) + ".");
}

Error UploadSizeWrong(uint64_t expected, uint64_t given) {
  return Because("uploadSizeWrong", Code::kInvalidArgument,
                 "The body has " + std::to_string(given) + " bytes, but its Content-Range names " +
                     std::to_string(expected) + ".");
}

Error ManifestUnknown(std::string_view name, std::string_view reference) {
  return Because("manifestUnknown", Code::kNotFound,
                 "Repository " + Shown(name) + " has no manifest " + Shown(reference) + ".");
}

Error BlobDamaged(std::string_view digest) {
  return Because("blobUnknown", Code::kNotFound,
                 "The bytes of the blob " + std::string(digest) +
                     " are damaged in the image store. Push it again.");
}

Error ManifestDamaged(std::string_view digest) {
  return Because("manifestUnknown", Code::kNotFound,
                 "The bytes of the manifest " + std::string(digest) +
                     " are missing or damaged in the image store. Push it again.");
}

Error DescriptorSizeWrong(std::string_view digest, uint64_t stated, uint64_t size) {
  return images::errors::ManifestInvalid("it states " + std::to_string(stated) + " bytes for " +
                                         std::string(digest) + ", which has " +
                                         std::to_string(size));
}

Error ManifestTooLarge(size_t limit) {
  return Because(
      "manifestTooLarge", Code::kResourceExhausted,
      "The manifest has more than " + std::to_string(limit) + " bytes, which is the limit.");
}

Error ManifestNotAccepted(std::string_view type) {
  return Because("manifestUnknown", Code::kNotFound,
                 "The manifest is an " + std::string(type) +
                     ", which the client does not accept. Add this type to the field Accept.");
}

Error ManifestDigestWrong(std::string_view expected, std::string_view computed) {
  return Because("digestMismatch", Code::kInvalidArgument,
                 "The request names the digest " + Shown(expected) +
                     ", but the digest of its manifest is " + std::string(computed) + ".");
}

Error ManifestBlobUnknown(std::string_view name, std::string_view digest) {
  return Because("manifestBlobUnknown", Code::kNotFound,
                 "The manifest refers to " + Shown(digest) + ", which is not in repository " +
                     Shown(name) + ". Push it before the manifest.");
}

Error CountInvalid(std::string_view text) {
  return Because("countInvalid", Code::kInvalidArgument,
                 "n=" + Shown(text) + " is not a valid number of results. Use 0 or more.");
}

Error MethodUnsupported(std::string_view method, std::string_view allow) {
  return Because(
      "methodUnsupported", Code::kUnimplemented,
      Shown(method) + " is not a method of this path. Its methods are " + std::string(allow) + ".");
}

Error PathUnknown(std::string_view path) {
  return Because("pathUnknown", Code::kNotFound, Shown(path) + " is not a path of the registry.");
}

http::Response ToResponse(const Error& error) {
  const Form form = FormOf(error);
  const Json shown = {{"code", form.code}, {"message", error.message}};
  http::Response response =
      http::JsonResponse(form.status, CompactJson(Json{{"errors", Json::array({shown})}}) + "\n");
  response.headers.Set("Content-Type", "application/json");
  return response;
}

}  // namespace caip::registry::errors
