// Errors of access lists and policies.

#include "base/quoting.h"
#include "fakes/gcs/errors.h"

namespace caip::gcs::errors {

// The words of the service.
Error UniformAccess(ListUse use) {
  const auto refused = [](std::string_view what) {
    return Error{Code::kInvalidArgument,
                 std::string(what) +
                     " Read more at "
                     "https://cloud.google.com/storage/docs/uniform-bucket-level-access"};
  };
  switch (use) {
    case ListUse::kReadBucket:
      return refused("Cannot get legacy ACL for a bucket that has uniform bucket-level access.");
    case ListUse::kChangeBucket:
      return refused(
          "Cannot use ACL API to update bucket policy when uniform bucket-level access is "
          "enabled.");
    case ListUse::kReadObject:
      return refused(
          "Cannot get legacy ACL for an object when uniform bucket-level access is enabled.");
    case ListUse::kChangeObject:
      return refused(
          "Cannot update access control for an object when uniform bucket-level access is "
          "enabled.");
    case ListUse::kInsertObject:
      break;
  }
  return refused(
      "Cannot insert legacy ACL for an object when uniform bucket-level access is enabled.");
}

// The words of the service.
Error FoldersNeedUniformAccess() {
  Error error{Code::kFailedPrecondition,
              "Uniform bucket-level access is required to be enabled on the bucket in order to "
              "perform this operation. Read more at "
              "https://cloud.google.com/storage/docs/uniform-bucket-level-access"};
  error.reason = "conditionNotMet";
  return error;
}

// The words of the service, which gcsfuse looks for.
Error FolderExists() {
  return {Code::kAlreadyExists, "The specified managed folder already exists."};
}

Error FolderNameInvalid(std::string_view name, std::string_view why) {
  constexpr size_t kNameShown = 100;
  return {Code::kInvalidArgument,
          "Invalid managed folder name: " + Quoted(name.substr(0, kNameShown)) + ": " +
              std::string(why) + "."};
}

Error UniformAccessLocked(std::string_view bucket, std::string_view since) {
  return {Code::kInvalidArgument, "Uniform bucket-level access of bucket " + Quoted(bucket) +
                                      " cannot be disabled: it is locked since " +
                                      std::string(since) + "."};
}

// The words of the service.
Error PublicAccessPrevented() {
  Error error{Code::kFailedPrecondition,
              "The member bindings allUsers and allAuthenticatedUsers are not allowed since public "
              "access prevention is enforced."};
  error.reason = "conditionNotMet";
  return error;
}

}  // namespace caip::gcs::errors
