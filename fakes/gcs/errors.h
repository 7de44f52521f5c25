#pragma once
// The errors of Cloud Storage: their texts, reasons and HTTP statuses.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "http/message.h"

namespace caip::gcs::errors {

Error BucketNotFound(std::string_view bucket);
Error BucketExists(std::string_view bucket);
Error BucketNotEmpty(std::string_view bucket);
Error FolderNotEmpty(std::string_view folder);
Error FolderExists();
Error FolderNameInvalid(std::string_view name, std::string_view why);
Error FoldersNeedUniformAccess();
Error BucketHoldsForeignFiles(std::string_view bucket);
Error BucketNameInvalid(std::string_view bucket, std::string_view why);
Error ObjectNotFound(std::string_view bucket, std::string_view name);
Error ObjectNameInvalid(std::string_view name, std::string_view why);
Error NameOccupied(std::string_view bucket, std::string_view name);
Error BucketChanged(std::string_view bucket);
Error ObjectChanged(std::string_view object);
Error ObjectHeld(std::string_view object, std::string_view hold);
Error RetentionNotMet(std::string_view object, std::string_view until);
Error ObjectRetained(bool locked);
Error MovedOntoItself(std::string_view name);
Error ConditionNotMet(std::string_view condition, int64_t wanted, int64_t found);
Error Md5Mismatch(std::string_view given, std::string_view computed);
Error Crc32cMismatch(std::string_view given, std::string_view computed);
Error PageTokenInvalid(std::string_view token);
Error SideStoreFailed(Code code, const Path& file, std::string_view why);
Error SideStoreTooNew(const Path& file, int64_t version);
/// A copy of a store lacks the file of an object.
Error RecordWithoutFile(std::string_view bucket, std::string_view name);

// The JSON API.
Error ParameterInvalid(std::string_view name, std::string_view value, std::string_view rule);
/// A parameter of the query that is neither true nor false.
Error BooleanInvalid(std::string_view value);
/// A parameter of the query that is none of `allowed`, which are separated by ", ".
Error ChoiceInvalid(std::string_view value, std::string_view allowed);
Error FieldInvalid(std::string_view field, std::string_view rule);
/// `first` with the messages of `kept`, which are the first ones of `count` violations.
Error ManyFieldsInvalid(Error first, std::vector<FieldViolation> kept, size_t count);
/// `what`: "entries"; `whole`: "an access control list".
Error TooManyEntries(std::string_view what, std::string_view whole, size_t most);
Error BodyInvalid(std::string_view why);
Error MultipartInvalid(std::string_view why);
Error UploadTypeMissing();
Error NameMissing();
Error Required(std::string_view what);
/// A parameter of the query is missing.
Error ParameterRequired(std::string_view name);
Error RetentionLocked(std::string_view bucket);
/// A use of access lists that uniform bucket-level access forbids.
enum class ListUse { kReadBucket, kChangeBucket, kReadObject, kChangeObject, kInsertObject };
Error UniformAccess(ListUse use);
Error FoldersNeedHierarchy(std::string_view bucket);
Error LocationInvalid(std::string_view location);
Error LocationFixed(std::string_view bucket, std::string_view location);
Error PlacementInvalid(std::string_view location, std::string_view regions);
Error PublicAccessPrevented();
Error PolicyRoleMalformed(std::string_view role);
Error PolicyMemberUnknown(std::string_view member);
Error ConditionsNeedUniformAccess();
Error NotificationsOverlap(size_t most);
Error UniformAccessLocked(std::string_view bucket, std::string_view since);
Error ClassNotInLocation(std::string_view storage_class, std::string_view location);
Error RetentionNotEnabled(std::string_view bucket);
Error ClassWithAutoclass(std::string_view storage_class);
/// A text for the log.
std::string SettingsLeftOut(std::string_view bucket, const std::vector<std::string>& settings);
/// `location_type`: REGION or MULTI_REGION.
Error TurboReplicationUnavailable(std::string_view location_type);
Error EntryNotFound(std::string_view kind, std::string_view name);
Error EntryExists(std::string_view kind, std::string_view name);
Error EtagChanged();
Error KeyInvalid(std::string_view why);
Error KeyNeeded(std::string_view object);
Error KeyWrong(std::string_view object);
Error RewriteTokenInvalid();
Error UploadLengthWrong(uint64_t wanted, uint64_t got);
Error ContentRangeInvalid(std::string_view text);
Error ChunkOutOfPlace(uint64_t wanted, uint64_t got);
Error UploadUnknown();
Error ClientGone();
Error UploadTakenOver();
Error UploadBytesLost();
Error TooManySources(size_t count);
Error NotImplemented(std::string_view what);

/// A multipart upload of the XML API.
Error PartsUnknown();

// Keys and signatures.
Error HmacKeyNotFound(std::string_view access_id);
Error HmacKeyChanged();
Error HmacKeyActive(std::string_view access_id);
Error PublicKeyInvalid();
Error RsaFailed(std::string_view what);
Error PolicyInvalid(std::string_view why);

// HTTP.
Error RangeNotSatisfiable(uint64_t size);
Error BatchPartInvalid();
Error RouteNotFound(std::string_view path);
Error MethodNotAllowed(std::string_view method, std::string_view allowed);
Error RetryTestNotFound(std::string_view id);

/// An injected fault. Both APIs answer it with this status.
Error Injected(int status, std::string_view message);
/// An injected fault that resets the connection instead of answering.
Error ConnectionReset();
bool IsConnectionReset(const Error& error);

/// An error in HTTP: its status, and the JSON API's errors[].reason. Both follow from the error's
/// reason, which is finer, or from its code if it has no reason.
struct HttpForm {
  int status;
  const char* reason;
};
HttpForm HttpFormOf(const Error& error);

/// The error as storage/v1 sends it: {"error":{"code","message","errors":[{reason,...}]}}.
http::Response ToResponse(const Error& error);

}  // namespace caip::gcs::errors
