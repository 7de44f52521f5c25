#pragma once
// The texts of everything that goes wrong before a job is sent. A maker is named after the failure
// and takes the facts. Wordings are gcloud's where gcloud has the mistake, followed by a remedy.

#include <string>
#include <string_view>
#include <vector>

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
