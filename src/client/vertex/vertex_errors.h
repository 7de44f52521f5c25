#pragma once
// The errors that can occur before a job of Vertex AI is sent. Where gcloud reports the same
// mistake, the text is gcloud's, followed by a remedy.

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "client/submit_typing.h"

namespace caip::client::vertex::errors {

// Places of jobs. `argument` and `noun` are gcloud's names for what lacks a region or a name.
Error RegionMissing(std::string_view argument, std::string_view noun);
Error RegionUnknown(std::string_view region, const std::vector<std::string>& known);
Error JobNameMissing(std::string_view argument, std::string_view noun);
/// Adds to a refusal that the job does not exist, and how to list jobs.
Error JobMissing(const Error& refusal, std::string_view command, std::string_view region,
                 std::string_view project);

// --worker-pool-spec: the part of a usage error that follows "argument --worker-pool-spec: ".
Error PoolKeyUnknown(std::string_view key, const std::vector<std::string>& known);
Error PoolValue(std::string_view key, const Error& cause);
/// For --args and --command.
Error WordRepeated(std::string_view word);

// --worker-pool-spec: the checks before a job is sent.
Error FirstPoolEmpty();
Error MachineTypeMissing();
Error AcceleratorTypeMissing();
Error AcceleratorTypeUnknown(std::string_view type, const std::vector<std::string>& known);
Error OneImageRequired();
Error ModuleWithContainer();
Error ModuleMissing();
Error KeysNeedLocalPackage(const std::vector<std::string>& keys);
Error KeysBesideLocalPackage(const std::vector<std::string>& keys);
Error LocalPackageInLaterPool();
Error PackageDirectoryMissing(std::string_view directory);
Error ExecutorImageMissing();
Error OneEntryPointRequired();
Error OutputImageElsewhere(std::string_view image);
Error OutputImageInvalid(std::string_view image, std::string_view problem);
std::string DependenciesNotInstalled(std::string_view directory,
                                     const std::vector<std::string>& names);

// `local-run`.
/// `flags`: those that need an image to be built, without dashes.
Error EntryPointMissing(const std::vector<std::string>& flags);
Error ScriptMissing(std::string_view flag, std::string_view script, std::string_view directory);
Error ExtraPackageMissing(std::string_view package, std::string_view directory);
Error ExtraDirectoryMissing(std::string_view folder, std::string_view directory);
Error LocalRunDirectoryMissing(std::string_view directory);
Error LocalRunImageInvalid(std::string_view image, std::string_view problem);
Error ExecutorImageEmpty();

// The file of --config.
Error FileUnreadable(std::string_view path, std::string_view why);
Error FileBroken(std::string_view why);
/// `crash`: what gcloud's client says of the first fault.
Error SpecUnreadable(std::string_view crash, std::vector<FieldViolation> violations);
/// A pool of the file. `pointer`: of the pool.
Error OneTaskRequired(std::string pointer);
/// Names of a tuning job that gcloud does not know. `paths`: gcloud's lines.
Error TuningNamesUnknown(const std::vector<std::string>& paths,
                         std::vector<FieldViolation> violations);
/// A tuning job with wrong values. `mismatch`: gcloud's sentence; "" where gcloud crashes.
Error TuningJobUnreadable(std::string_view mismatch, std::vector<FieldViolation> violations);
Error TuningFileEmpty();
Error TrialJobSpecMissing(const std::vector<std::string>& flags);

// Traps: what gcloud does silently (--strict).
FieldViolation NestedCustomJob(std::string_view key);
FieldViolation FilePoolsReplaced();
FieldViolation FileWordsReplaced(std::string pointer, std::string_view flag);
FieldViolation CommandUnused();
FieldViolation PackagesUnused();
FieldViolation SwitchCannotUnset(std::string pointer, std::string_view flag);
FieldViolation PoolKeyUnused(std::string_view key, std::string_view needed);
FieldViolation ContainerReplaced();
FieldViolation CountUnused(std::string_view flag);
FieldViolation AlgorithmUnused();

}  // namespace caip::client::vertex::errors
