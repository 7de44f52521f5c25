#include "images/errors.h"

#include "base/quoting.h"

namespace caip::images::errors {
namespace {

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

Error CannotRemove(const Path& file, int error_number) {
  return SystemError("cannot remove " + Quoted(file.native()), error_number);
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

Error NameUnknown(std::string_view repository, std::string_view tag) {
  return {Code::kNotFound,
          "The image store has no image " +
              Quoted(std::string(repository) + ":" + std::string(tag)) + ".",
          {},
          "nameUnknown"};
}

Error ManifestUnknown(std::string_view repository, std::string_view digest) {
  return {Code::kNotFound,
          "Repository " + Quoted(repository) + " has no manifest " + std::string(digest) + ".",
          {},
          "manifestUnknown"};
}

}  // namespace caip::images::errors
