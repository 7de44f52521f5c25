#include "emulator/cli/storage/storage_errors.h"

#include <system_error>

namespace caip::cli::errors {
namespace {

Code CodeOf(int status) {
  if (status == 404) return Code::kNotFound;
  if (status == 409 || status == 412) return Code::kFailedPrecondition;
  if (status == 403 || status == 401) return Code::kPermissionDenied;
  return status >= 500 ? Code::kUnavailable : Code::kInvalidArgument;
}

// "gs://bucket" of "gs://bucket/object".
std::string BucketOf(const std::string& uri) {
  return uri.substr(0, uri.find('/', std::string_view("gs://").size()));
}

// What the user probably means: s3://b/x, gs:/b/x and b/x are all gs://b/x.
std::string WithScheme(const std::string& text) {
  const size_t colon = text.find(':');
  const size_t name = text.find_first_not_of('/', colon == std::string::npos ? 0 : colon + 1);
  return "gs://" + (name == std::string::npos ? "BUCKET/OBJECT" : text.substr(name));
}

Error Invalid(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

}  // namespace

Error StorageRefused(const std::string& what, int status, const std::string& message) {
  std::string text =
      what + ": " + (message.empty() ? "HTTP status " + std::to_string(status) : message);
  if (status == 404) {
    text += "\n`caip ls` lists the buckets. To create this one, run:\n\n  $ caip buckets create " +
            BucketOf(what);
  }
  return {CodeOf(status), std::move(text)};
}
Error NothingMatches(const std::string& uri) {
  return {Code::kNotFound, "No object or folder matches " + uri +
                               ". To see what there is, run:\n\n" + "  $ caip ls -r " +
                               BucketOf(uri)};
}
Error IsAFolder(const std::string& uri, std::string_view command) {
  return {Code::kFailedPrecondition, uri + " is a folder. Give -r to `caip " +
                                         std::string(command) + "` for all that is in it."};
}
Error IsABucket(const std::string& uri) {
  return {Code::kFailedPrecondition,
          uri + " is a bucket. Give -r to remove it with all that is in it."};
}
Error BucketIsNotEmpty(const std::string& bucket) {
  return {Code::kFailedPrecondition,
          "gs://" + bucket + " is not empty. Give -r to remove its objects, too."};
}
Error ObjectNameMissing(const std::string& uri) {
  return Invalid(uri + " names no object. Name the object: gs://bucket/name.");
}
Error NotAFileName(const std::string& object, const std::string& directory) {
  return {Code::kFailedPrecondition,
          "The object '" + object + "' cannot be a file in " + directory +
              ": its name has an empty part, '.' or '..'. Copy it to a name of its own."};
}
Error NotADirectory(const std::string& path, size_t sources) {
  return {Code::kFailedPrecondition, path + " is not a directory, and " + std::to_string(sources) +
                                         " files cannot have one name. Make the directory, or end "
                                         "its name with a slash."};
}
Error SameDestination(const std::string& place) {
  return {Code::kFailedPrecondition,
          "Two of the sources would become " + place + ". Copy them one after the other."};
}
Error FileMissing(const std::string& path) {
  return {Code::kNotFound, "The file " + path +
                               " does not exist. Name a file of this host, or an object: "
                               "gs://BUCKET/OBJECT."};
}
Error IsADirectory(const std::string& path) {
  return {Code::kFailedPrecondition,
          path + " is a directory. Give -r to copy all files that are in it."};
}
Error LocalFileFailed(const std::string& path, int error_number) {
  return {Code::kFailedPrecondition,
          path + ": " + std::generic_category().message(error_number) + "."};
}

Error TwoPlacesNeeded() {
  return Invalid(
      "Name at least one source, and then the destination: caip cp FILE gs://BUCKET/OBJECT.");
}
Error NoPlaceInStorage() {
  return Invalid(
      "Neither the sources nor the destination begin with gs://. Use cp for files of "
      "this host.");
}
Error NotAnObjectUri(const std::string& text) {
  return Invalid("'" + text + "' does not begin with gs://. Write it as " + WithScheme(text) + ".");
}

}  // namespace caip::cli::errors
