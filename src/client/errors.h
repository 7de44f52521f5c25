#pragma once
// The texts of everything that goes wrong before a job is sent. A maker is named after the failure
// and takes the facts. Wordings are gcloud's where gcloud has the mistake, followed by a remedy.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::client::errors {

// What stands after "argument --flag: " in a usage error.
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

/// The service answered with an error: its HTTP status, and the text for the user.
Error ServiceRefused(int status, std::string text);

// The file of --config.
Error ConfigUnreadable(std::string_view path, std::string_view why);
Error ConfigBroken(std::string_view path, std::string_view why);
std::string DuplicateKeyWarning(std::string_view place, std::string_view key);

}  // namespace caip::client::errors

namespace caip::client::submit_errors {

// Every text about a config file and flags that do not make a Job. Violations name a place of the
// file as a JSON pointer ("/trainingInput/region") or a flag ("--master-machine-type").

// What gcloud's client itself says (exit code 1).
Error ImageAndRuntimeVersion();
Error CustomTierNeedsMachineType(bool tier_from_file);
Error NoPackages(bool file_has_package_uris);

// Where gcloud crashes on a file: each names the value, the rule and what to write instead.
FieldViolation NotAMapping(std::string pointer, const Json& value);
FieldViolation WrongType(std::string pointer, std::string_view wanted, const Json& value);
FieldViolation EmptyEnum(std::string pointer, std::span<const std::string_view> names);
FieldViolation NullInList(std::string pointer);
FieldViolation NotFinite(std::string pointer);
FieldViolation BrokenBase64(std::string pointer, std::string_view text);
FieldViolation IsADate(std::string pointer);
FieldViolation ReservedKey(std::string pointer);
/// All of them in one error.
Error FileDoesNotFit(std::vector<FieldViolation> violations);

// Traps: what gcloud does silently, and how to say what was meant (--strict).
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
/// All of them in one error.
Error Traps(std::vector<FieldViolation> violations);

}  // namespace caip::client::submit_errors
