#pragma once
// Every text of the command line's own errors is made here. A maker is named after the failure and
// takes the facts. Wordings are gcloud's where gcloud has the mistake, with a remedy behind.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::cli::errors {

// Usage: what stands behind "argument --flag: ".
Error BadListDelimiter();
Error NotADictEntry(std::string_view entry);
Error EmptyDictKey(std::string_view entry);
Error NotAnInteger(std::string_view text);
Error IntegerTooSmall(std::string_view text, int64_t least);
Error NotARange(std::string_view text);
Error IntegerTooLarge(std::string_view text);
Error PortTooLarge(std::string_view text);
Error NotABoolean(std::string_view text);
Error NoSuchChoice(std::string_view text, const std::vector<std::string>& choices);
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
Error ExpectedOneArgument();
Error TakesNoValue(std::string_view value);
Error MustBeSpecified();
Error OtherMustBeSpecified(std::string_view flag);
Error AtMostOneOf(const std::vector<std::string>& flags);
Error PlotFileKind(const std::string& file);

/// "argument --flag: ..." around one of the above.
Error Argument(std::string_view flag, const Error& error);
Error UnrecognizedArguments(const std::vector<std::string>& words, const std::string& nearest);
Error NoSuchCommand(std::string_view word, const std::string& nearest);
Error CommandMissing();

// What a command says when it cannot go on (exit code 1).
Error NoTuningJob(const std::string& job);
Error RegionMissing();
Error ProjectMissing();
Error ProjectEmpty();
Error EncryptionKeyIncomplete();
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
Error ConfigUnreadable(std::string_view path, std::string_view why);
Error ConfigBroken(std::string_view path, std::string_view why);
Error EmulatorUnreachable(std::string_view doing, std::string_view why);
Error UnknownFormat(std::string_view format);

// Warnings and what else a command says beside its outcome.
std::string AsyncDeprecated();
std::string DuplicateKeyWarning(std::string_view place, std::string_view key);
std::string IgnoredWithoutDistributed(std::string_view flag);
std::string TensorFlowNotImported(std::string_view python);
std::string TensorFlowVersionUnexpected(std::string_view version);
std::string Submitted(std::string_view job);
std::string FollowUp(std::string_view job);
std::string Interrupted(int signal);
std::string InterruptedEarly();
std::string EmulatorStopped(std::string_view job);
std::string PollingFailed(std::string_view why);
std::string JobFits(std::string_view job);

// `jobs update`.
Error NoUpdatesRequested();
std::string NoUpdateToPerform();
std::string Updated(std::string_view job);

}  // namespace caip::cli::errors
