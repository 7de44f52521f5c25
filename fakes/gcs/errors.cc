#include "fakes/gcs/errors.h"

#include <utility>

#include "base/quoting.h"
#include "base/text.h"

namespace caip::gcs::errors {
namespace {

std::string Text(std::string_view text) { return std::string(text); }

Error WithReason(Error error, std::string_view reason) {
  error.reason = std::string(reason);
  return error;
}

}  // namespace

Error BucketNotFound(std::string_view bucket) {
  return WithReason(
      {Code::kNotFound, "The specified bucket does not exist: " + Quoted(bucket) + "."},
      "bucketNotFound");
}

Error BucketExists(std::string_view bucket) {
  return WithReason(
      {Code::kAlreadyExists, "The bucket " + Quoted(bucket) +
                                 " already exists. Choose another name, or use this bucket."},
      "bucketExists");
}

Error BucketNotEmpty(std::string_view bucket) {
  return WithReason({Code::kFailedPrecondition,
                     "The bucket you tried to delete is not empty: " + Quoted(bucket) + "."},
                    "bucketNotEmpty");
}

Error FolderNotEmpty(std::string_view folder) {
  return WithReason({Code::kFailedPrecondition,
                     "The managed folder you tried to delete is not empty: " + Quoted(folder) +
                         ". allowNonEmpty=true deletes the folder and keeps its contents."},
                    "folderNotEmpty");
}

Error BucketHoldsForeignFiles(std::string_view bucket) {
  return WithReason(
      {Code::kFailedPrecondition,
       "The directory of bucket " + Quoted(bucket) +
           " holds files that are not objects (links, devices, or names that no object has). "
           "Remove them by hand."},
      "bucketNotEmpty");
}

Error BucketNameInvalid(std::string_view bucket, std::string_view why) {
  return WithReason(
      {Code::kInvalidArgument, "Invalid bucket name: " + Quoted(bucket) + ": " + Text(why) + "."},
      "bucketNameInvalid");
}

Error ObjectNotFound(std::string_view bucket, std::string_view name) {
  return {Code::kNotFound, "No such object: " + Text(bucket) + "/" + Text(name)};
}

Error ObjectNameInvalid(std::string_view name, std::string_view why) {
  constexpr size_t kShown = 100;
  return {Code::kInvalidArgument,
          "Invalid object name: " + Quoted(name.substr(0, kShown)) + ": " + Text(why) + "."};
}

Error NameOccupied(std::string_view bucket, std::string_view name) {
  return {Code::kInvalidArgument,
          "The object " + Quoted(name) + " cannot be stored: on its path in the directory of " +
              "bucket " + Quoted(bucket) +
              " is something that is neither a file nor a directory. Remove it by hand."};
}

Error BucketChanged(std::string_view bucket) {
  return {Code::kAborted, "The bucket " + Quoted(bucket) + " was changed at the same time."};
}

Error ObjectChanged(std::string_view object) {
  return {Code::kAborted, "The object " + Quoted(object) +
                              " was changed at the same time. Send the request again."};
}

Error ObjectHeld(std::string_view object, std::string_view hold) {
  return WithReason(
      {Code::kPermissionDenied, "Object " + Quoted(object) + " is under active hold (" +
                                    Text(hold) + ") and cannot be deleted, overwritten or moved."},
      "objectUnderActiveHold");
}

Error RetentionNotMet(std::string_view object, std::string_view until) {
  return WithReason({Code::kPermissionDenied,
                     "Object " + Quoted(object) +
                         " is subject to a retention policy and cannot be deleted or overwritten "
                         "until " +
                         Text(until) + "."},
                    "retentionPolicyNotMet");
}

Error ObjectRetained(bool locked) {
  return WithReason(
      {Code::kPermissionDenied,
       locked ? "A locked retention of an object can be neither shortened nor removed."
              : "Shortening or removing an object's retention needs "
                "overrideUnlockedRetention=true."},
      "retentionPolicyNotMet");
}

Error MovedOntoItself(std::string_view name) {
  return {Code::kInvalidArgument, "Cannot move object " + Quoted(name) + " onto itself."};
}

Error ConditionNotMet(std::string_view condition, int64_t wanted, int64_t found) {
  return {Code::kFailedPrecondition,
          "At least one of the pre-conditions you specified did not hold: " + Text(condition) +
              "=" + std::to_string(wanted) + ", but it is " + std::to_string(found) + "."};
}

// Node's client looks for this text.
static Error DigestMismatch(std::string_view digest, std::string_view given,
                            std::string_view computed) {
  return WithReason({Code::kInvalidArgument, "Provided " + Text(digest) + " \"" + Text(given) +
                                                 "\" doesn't match calculated " + Text(digest) +
                                                 " \"" + Text(computed) + "\"."},
                    "digestMismatch");
}

Error Md5Mismatch(std::string_view given, std::string_view computed) {
  return DigestMismatch("MD5 hash", given, computed);
}

Error Crc32cMismatch(std::string_view given, std::string_view computed) {
  return DigestMismatch("CRC32C", given, computed);
}

Error PageTokenInvalid(std::string_view token) {
  return {Code::kInvalidArgument, "Invalid page token: " + Quoted(token) + "."};
}

Error SideStoreFailed(Code code, const Path& file, std::string_view why) {
  return {code, "The objects' metadata in " + Quoted(file.string()) +
                    " cannot be read or written: " + Text(why)};
}

Error SideStoreTooNew(const Path& file, int64_t version) {
  return {Code::kFailedPrecondition,
          "The objects' metadata in " + Quoted(file.string()) + " has schema version " +
              std::to_string(version) +
              ", which a newer caip wrote. Use that caip, or another state directory."};
}

Error RecordWithoutFile(std::string_view bucket, std::string_view name) {
  return {Code::kDataLoss, "The bytes of the object " + Quoted(name) + " of the bucket " +
                               Quoted(bucket) + " are missing."};
}

Error ParameterInvalid(std::string_view name, std::string_view value, std::string_view rule) {
  return {Code::kInvalidArgument, "Invalid value " + Quoted(value) + " of parameter '" +
                                      Text(name) + "': " + Text(rule) + "."};
}

Error FieldInvalid(std::string_view field, std::string_view rule) {
  return {Code::kInvalidArgument,
          "Invalid argument: field '" + Text(field) + "': " + Text(rule) + "."};
}

Error BodyInvalid(std::string_view why) {
  return {Code::kInvalidArgument, "The request's body cannot be read: " + Text(why) + "."};
}

Error MultipartInvalid(std::string_view why) {
  return {Code::kInvalidArgument, "Malformed multipart body: " + Text(why) + "."};
}

Error UploadTypeMissing() {
  return {Code::kInvalidArgument,
          "Upload requests must include an uploadType URL parameter (media, multipart or "
          "resumable) and a URL path beginning with /upload/."};
}

Error NameMissing() {
  return WithReason({Code::kInvalidArgument,
                     "Required: the object's name, as parameter 'name' or in the metadata."},
                    "required");
}

Error Required(std::string_view what) {
  return WithReason({Code::kInvalidArgument, "Required: " + Quoted(what) + "."}, "required");
}

Error ParameterRequired(std::string_view name) {
  return WithReason({Code::kInvalidArgument, "Required parameter: " + Text(name)}, "required");
}

Error RetentionLocked(std::string_view bucket) {
  return {Code::kPermissionDenied,
          "Cannot reduce or remove the locked retention policy of bucket " + Quoted(bucket) + "."};
}

Error FoldersNeedHierarchy(std::string_view bucket) {
  return WithReason({Code::kAborted, "The bucket " + Quoted(bucket) +
                                         " does not have hierarchical namespace enabled. Folders "
                                         "need it, and this emulator does not have it."},
                    "conflict");
}

// The first words of these are those of the service.
Error LocationInvalid(std::string_view location) {
  return WithReason({Code::kInvalidArgument,
                     "The specified location constraint is not valid: " + Quoted(location) + "."},
                    "locationInvalid");
}

Error LocationFixed(std::string_view bucket, std::string_view location) {
  return {Code::kInvalidArgument, "The location of bucket " + Quoted(bucket) +
                                      " cannot be changed: it is " + Text(location) + "."};
}

Error PlacementInvalid(std::string_view location, std::string_view regions) {
  return {Code::kInvalidArgument, "Invalid custom placement config: location " + Quoted(location) +
                                      " has no dual-region of " + Text(regions) + "."};
}

Error ClassNotInLocation(std::string_view storage_class, std::string_view location) {
  return {Code::kInvalidArgument,
          "The combination of locationConstraint and storageClass you provided is not supported: " +
              Text(storage_class) + " in " + Text(location) + "."};
}

Error RetentionNotEnabled(std::string_view bucket) {
  return FieldInvalid("retention", "the bucket " + Quoted(bucket) +
                                       " was created without enableObjectRetention=true");
}

Error ClassWithAutoclass(std::string_view storage_class) {
  return {Code::kInvalidArgument, "Cannot set default storage class to " + Text(storage_class) +
                                      " on a bucket with Autoclass. It must be STANDARD."};
}

std::string SettingsLeftOut(std::string_view bucket, const std::vector<std::string>& settings) {
  return "The bucket " + Quoted(bucket) +
         " has settings of an earlier version that are not valid: " + Join(settings, ", ") +
         ". Clients do not get them. They stay in buckets.db until a request changes the bucket.";
}

Error TurboReplicationUnavailable(std::string_view location_type) {
  return {Code::kInvalidArgument,
          "ASYNC_TURBO cannot be enabled on " + Text(location_type) + " bucket."};
}

Error EntryNotFound(std::string_view kind, std::string_view name) {
  return {Code::kNotFound, "No such " + Text(kind) + ": " + Quoted(name) + "."};
}

Error EntryExists(std::string_view kind, std::string_view name) {
  return {Code::kAlreadyExists, "The " + Text(kind) + " " + Quoted(name) + " already exists."};
}

Error EtagChanged() {
  return {Code::kFailedPrecondition,
          "At least one of the pre-conditions you specified did not hold: the etag is not the "
          "current one."};
}

Error KeyInvalid(std::string_view why) {
  return {Code::kInvalidArgument,
          "The customer-supplied encryption key cannot be used: " + Text(why) + "."};
}

Error KeyNeeded(std::string_view object) {
  return WithReason(
      {Code::kInvalidArgument, "The target object " + Quoted(object) +
                                   " is encrypted by a customer-supplied encryption key."},
      "resourceIsEncryptedWithCustomerEncryptionKey");
}

Error KeyWrong(std::string_view object) {
  return WithReason({Code::kPermissionDenied,
                     "The provided encryption key is incorrect for object " + Quoted(object) + "."},
                    "customerEncryptionKeyIsIncorrect");
}

Error RewriteTokenInvalid() {
  return {Code::kInvalidArgument,
          "The rewriteToken does not fit this request. Start the rewrite again, without a token."};
}

Error UploadLengthWrong(uint64_t wanted, uint64_t got) {
  return {Code::kInvalidArgument, "The upload has " + std::to_string(got) + " bytes, but " +
                                      std::to_string(wanted) + " were announced."};
}

Error ContentRangeInvalid(std::string_view text) {
  return {Code::kInvalidArgument, "Invalid Content-Range: " + Quoted(text) +
                                      ". Expected 'bytes FIRST-LAST/TOTAL', with '*' for an "
                                      "unknown number, or 'bytes */TOTAL'."};
}

Error ChunkOutOfPlace(uint64_t wanted, uint64_t got) {
  return {Code::kInvalidArgument, "Invalid Content-Range: the next byte must be number " +
                                      std::to_string(wanted) + " or an earlier one, not " +
                                      std::to_string(got) + "."};
}

Error UploadUnknown() {
  return WithReason(
      {Code::kOutOfRange,
       "This upload session does not exist: it was cancelled, or this emulator did not "
       "make its URL. Start a new one."},
      "gone");
}

Error ClientGone() { return {Code::kCancelled, "The client has closed the connection."}; }

Error UploadTakenOver() {
  return {Code::kAborted, "A later request has taken over this upload session."};
}

Error UploadBytesLost() {
  return {Code::kUnavailable,
          "The bytes of this upload session were lost. Ask for its progress, and send them again."};
}

Error TooManySources(size_t count) {
  return {Code::kInvalidArgument, "The number of source components provided (" +
                                      std::to_string(count) + ") must be from 1 to 32."};
}

Error NotImplemented(std::string_view what) {
  return {Code::kUnimplemented, Text(what) + " is not implemented by this emulator."};
}

Error PartsUnknown() {
  return WithReason(
      {Code::kNotFound,
       "The requested upload was not found: it was completed, aborted, or never begun."},
      "noSuchUpload");
}

Error HmacKeyNotFound(std::string_view access_id) {
  return {Code::kNotFound, "Access ID not found: " + Quoted(access_id) + " in this project."};
}

Error HmacKeyChanged() {
  return {Code::kFailedPrecondition,
          "The HMAC key has changed since this etag was read. Read it again."};
}

Error HmacKeyActive(std::string_view access_id) {
  return {Code::kInvalidArgument, "Cannot delete HMAC key " + Quoted(access_id) +
                                      ": it is ACTIVE. Make it INACTIVE first."};
}

Error PublicKeyInvalid() {
  return {Code::kInvalidArgument, "expected an RSA key or a certificate of one, in PEM"};
}

Error RsaFailed(std::string_view what) {
  return {Code::kInternal, "cannot " + Text(what) + " an RSA key"};
}

Error PolicyInvalid(std::string_view why) {
  return WithReason({Code::kInvalidArgument, "Invalid policy document: " + Text(why) + "."},
                    "invalidPolicy");
}

Error RangeNotSatisfiable(uint64_t size) {
  return {Code::kOutOfRange,
          "Request range not satisfiable: the object has " + std::to_string(size) + " bytes."};
}

Error BatchPartInvalid() {
  return {Code::kInvalidArgument, "A part of the batch is not an HTTP request."};
}

Error RouteNotFound(std::string_view path) { return {Code::kNotFound, "Not Found: " + Text(path)}; }

Error MethodNotAllowed(std::string_view method, std::string_view allowed) {
  return WithReason({Code::kUnimplemented,
                     Text(method) + " is not allowed here; allowed: " + Text(allowed) + "."},
                    "methodNotAllowed");
}

Error RetryTestNotFound(std::string_view id) {
  return {Code::kNotFound, "Retry test " + Quoted(id) +
                               " does not exist. Make it with POST /retry_test, and send its id "
                               "in the header x-retry-test-id."};
}

}  // namespace caip::gcs::errors
