#pragma once
// The errors that can occur before a job is sent. A function is named after the failure and takes
// the facts. Where gcloud reports the same mistake, the text is gcloud's, followed by a remedy.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::client::errors {

// The part of a usage error that follows "argument --flag: ".
Error BadListDelimiter();
Error NotADictEntry(std::string_view entry);
Error EmptyDictKey(std::string_view entry);
Error NotAnInteger(std::string_view text);
Error IntegerTooSmall(std::string_view text, int64_t least);
Error IntegerTooLarge(std::string_view text);
Error NotABoolean(std::string_view text);
Error UnknownAccelerator(std::string_view text, const std::vector<std::string>& choices);
Error AcceleratorCountTooSmall();
Error AcceleratorKeyUnknown(std::string_view key);
Error AcceleratorKeyMissing(std::string_view key);
Error BadLabelKey(std::string_view key);
Error BadLabelValue(std::string_view value);
Error BadServiceAccount(std::string_view text);
Error StagingBucketForm();
Error ObjectForm();
Error BadBucketName(std::string_view bucket, std::string_view rule);
Error BadObjectName(std::string_view object, std::string_view rule);

// The project, the region and the encryption key of a job.
Error RegionMissing();
Error ProjectMissing();
Error ProjectEmpty();
Error ProjectNotAnId(std::string_view project);
Error ProjectNumberGiven();
Error EncryptionKeyIncomplete();

// Packages and their upload.
Error NoStagingLocation();
Error MissingInit(std::string_view package_directory);
Error SourceDirectoryInvalid(std::string_view directory);
Error SourceTreeUnreadable(std::string_view root);
Error CachedPackageGone(std::string_view directory);
Error RootNotCopied(std::string_view root, std::string_view why);
Error NoPython(std::string_view why);
Error BuildFailed(std::string_view output, bool setup_generated);
Error BuildMadeNothing();
Error BuildInterrupted();
Error DuplicatePackages(const std::vector<std::string>& names);
Error FileUnreadable(std::string_view path, std::string_view why);
Error UploadDiffers(std::string_view path);
Error BucketMissing(std::string_view bucket);
Error BucketRefused(std::string_view bucket, int status, std::string_view why);
Error UploadRefused(std::string_view path, int status, std::string_view why);
Error EmulatorUnreachable(std::string_view doing, std::string_view why);

/// Returns `cause` with another text.
Error Reworded(const Error& cause, std::string text);
/// An error response of the service: its HTTP status, and the text for the user.
Error ServiceRefused(int status, std::string text);

// The file of --config.
Error ConfigUnreadable(std::string_view path, std::string_view why);
Error ConfigBroken(std::string_view path, std::string_view why);
std::string DuplicateKeyWarning(std::string_view place, std::string_view key);

}  // namespace caip::client::errors

namespace caip::client::submit_errors {

// Errors about a config file and flags that do not make a Job. A violation names a place in the
// file as a JSON pointer ("/trainingInput/region"), or a flag ("--master-machine-type").

// Errors that gcloud's client itself reports (exit code 1).
Error ImageAndRuntimeVersion();
Error CustomTierNeedsMachineType(bool tier_from_file);
Error NoPackages(bool file_has_package_uris);

// Mistakes in a file on which gcloud crashes. Each text has the value, the rule and the remedy.
FieldViolation NotAMapping(std::string pointer, const Json& value);
FieldViolation WrongType(std::string pointer, std::string_view wanted, const Json& value);
FieldViolation EmptyEnum(std::string pointer, std::span<const std::string_view> names);
FieldViolation NullInList(std::string pointer);
FieldViolation NotFinite(std::string pointer);
FieldViolation BrokenBase64(std::string pointer, std::string_view text);
FieldViolation IsADate(std::string pointer);
FieldViolation ReservedKey(std::string pointer);
/// One error with all violations.
Error FileDoesNotFit(std::vector<FieldViolation> violations);

// Traps: surprising things that gcloud does silently, and their remedies (--strict).
FieldViolation PackageUrisDiscarded();
FieldViolation WebAccessOverwritten();
FieldViolation RegionIgnored(std::string_view in_file, std::string_view used);
FieldViolation JobIdIgnored(std::string_view in_file, std::string_view used);
FieldViolation ArgsErased();
FieldViolation LabelsReplaced(const std::vector<std::string>& lost);
FieldViolation UnknownKey(std::string pointer, std::string_view key, std::string_view nearest);
FieldViolation UnknownEnum(std::string pointer, const Json& value,
                           std::span<const std::string_view> names);
FieldViolation UnknownEnumBeatsFlag(std::string pointer, std::string_view flag);
FieldViolation NotSpelledAsMeant(std::string pointer, const Json& value, std::string_view sent);
FieldViolation DuplicateKey(std::string pointer);
FieldViolation JobDirAmongUserArgs();
/// One error with all violations.
Error Traps(std::vector<FieldViolation> violations);

}  // namespace caip::client::submit_errors
