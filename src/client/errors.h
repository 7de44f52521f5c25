#pragma once
// The errors that can occur before a job is sent. A function is named after the failure and takes
// the facts. Where gcloud reports the same mistake, the text is gcloud's, followed by a remedy.

#include <string>
#include <string_view>
#include <vector>

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
Error StagingBucketForm(std::string_view text);
Error ObjectForm(std::string_view text);
/// `text` is the name of a bucket, then a slash.
Error BucketWithFolder(std::string_view text);
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
/// `nearest`: a package beside it with a similar name; "" if there is none.
Error PackageFolderMissing(std::string_view directory, std::string_view nearest);
Error PackageFolderIsAFile(std::string_view file);
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
/// An error response of the service: its HTTP status, the name of its canonical status, and the
/// text for the user.
Error ServiceRefused(int status, std::string_view name, std::string text,
                     std::vector<FieldViolation> violations);
/// Adds to a refusal that the job's id is taken, and what to do.
Error JobIdTaken(const Error& refusal, std::string_view job, std::string_view project);
Error JobIdStaysTaken(const Error& refusal, std::string_view job);
/// Adds to a refusal how to look for the packages.
Error PackagesUnreadable(const Error& refusal, const std::vector<std::string>& uris);
/// Adds to a refusal the job that is missing, and how to find the jobs of the project.
Error JobMissing(const Error& refusal, std::string_view job, std::string_view project);

// The file of --config.
Error ConfigUnreadable(std::string_view path, std::string_view why);
Error ConfigBroken(std::string_view path, std::string_view why);
std::string DuplicateKeyWarning(std::string_view place, std::string_view key);

}  // namespace caip::client::errors
