#pragma once
// The texts of the command line's own errors. A maker is named after the failure and takes the
// facts. The wording is gcloud's where gcloud reports the mistake, followed by a remedy.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::cli::errors {

// Usage errors: the text after "argument --flag: ".
/// gcloud has the flag on its alpha and beta tracks only.
Error OnlyOnTracks(std::string_view flag);
Error NotARange(std::string_view text);
Error PortTooLarge(std::string_view text);
Error NoSuchChoice(std::string_view text, const std::vector<std::string>& choices);
/// The argument is missing.
Error ChoiceMissing(const std::vector<std::string>& choices);
Error ExpectedOneArgument();
Error TakesNoValue(std::string_view value);
Error MustBeSpecified();
/// It belongs to another flag, which is given.
Error MustBeSpecifiedWith(std::string_view flag);
Error OtherMustBeSpecified(std::string_view flag);
/// A key that two flags set.
Error GivenTwice(std::string_view key, std::string_view first, std::string_view second);
Error ExactlyOneOf(const std::vector<std::string>& flags);
Error AtMostOneOf(const std::vector<std::string>& flags);
Error PlotFileKind(const std::string& file);
Error NotAMapping(std::string_view text);
Error MappingMissing();
Error MappingUnknown(std::string_view uri);
/// Adds to the store's error how to list the images.
Error ImageMissing(const Error& cause);
/// A runtime version that is not installed. `installed`: those that are.
Error RuntimeMissing(std::string_view version, const std::vector<std::string>& installed);
Error NotAPython(std::string_view text);
Error NotADuration(std::string_view text);
/// For scenario run.
Error StepTimeWithoutPreempt();
/// For check --filter: the id is of a check that the job does not get. `is_of_vertex`: only jobs
/// get it; false: jobs of the service.
Error CheckOfOtherJobs(std::string_view id, bool is_of_vertex);
/// For init: the files that it would write.
Error FilesExist(const std::vector<std::string>& files);
/// For env --remote.
Error NotAHost(std::string_view text);
Error NotAShard(std::string_view text);
Error NotOneOf(std::string_view text, const std::vector<std::string>& choices);
/// `problem` continues a sentence about the value: "needs a group `step`".
Error StepPatternIllegal(std::string_view value, std::string_view problem);
Error MetricTagEmpty();
Error ScenarioOrCommand();
/// Words that do not name scenario files stand before `--`.
Error WordsBesideCommand(const std::vector<std::string>& words);
/// A flag follows the first word of a command that stands before `--`. `words`: from that word on.
Error FlagsAfterCommand(const std::string& flag, const std::vector<std::string>& words);
Error OnlyOfCommand();
Error OneReportForFiles();
/// A limit of runs is given although the scenario states its own.
Error ScenarioHasLimits();

/// Puts "argument --flag: " before one of the errors above.
Error Argument(std::string_view flag, const Error& error);
/// `remedy`: "" if the command takes no arguments after `--`.
Error UnrecognizedArguments(const std::vector<std::string>& words, const std::string& nearest,
                            const std::string& remedy);
/// The command takes no arguments after `--`.
Error NothingAfterBar(const std::string& remedy);
Error NoSuchCommand(std::string_view word, const std::vector<std::string>& known);
Error GcloudWord();
Error CommandMissing(const std::vector<std::string>& known);
// The remedies for an unknown argument that may belong after `--`.
std::string TrainerArgument(std::string_view command, std::string_view word);
std::string WholeCommandAfterBar();
std::string CommandOfScenario();
Error ProgramIsNotAScenario(std::string_view word);
std::string ShellCommandAfterBar();
/// `usage`: the usage error of `command` ("jobs.submit.training"); "" if the words ask for help.
Error JobWordsRefused(std::string_view usage, std::string_view command);

// `migrate`.
Error OneJobToMigrate();
Error StageNeedsWords();
/// The words are not a command line of `jobs submit training`.
Error NoSubmitLine();
std::string SubmitLineAfterBar();
/// `create_line`: the command that creates the job from a file; "" leaves it out.
std::string MigrationReport(std::string_view create_line, std::string_view differences);

// Errors of --format. Each names the unknown part and the supported ones.
Error UnknownFormat(std::string_view format);

// Warnings, and messages other than the outcome.
std::string AsyncDeprecated();
std::string IgnoredWithoutDistributed(std::string_view flag);
std::string TensorFlowNotImported(std::string_view python);
std::string TensorFlowVersionUnexpected(std::string_view version);
std::string Submitted(std::string_view job);
std::string FollowUp(std::string_view job);
std::string Interrupted(int signal);
std::string InterruptedEarly();
std::string EmulatorStopped(std::string_view job);
std::string PollingFailed(std::string_view why);
/// The last two outcomes as errors of `jobs stream-logs`.
Error StreamStopped(std::string_view job);
Error StreamFailed(std::string_view why);
std::string JobFits(std::string_view job);

/// `env --remote`: the emulator, perhaps an older one, gives no token.
Error NoToken(int status);

// `jobs update`.
Error NoUpdatesRequested();
std::string NoUpdateToPerform();
std::string Updated(std::string_view job);

// `jobs shell`.
Error NoReplicaRuns(std::string_view job, std::string_view state);
Error ReplicaDoesNotRun(std::string_view job, const std::vector<std::string>& running);
Error SeveralReplicasRun(std::string_view job, const std::vector<std::string>& running);

Error FormatNotTaken();
Error FormatNeedsKeys(std::string_view format);
/// `place` is the text with *HERE* where its syntax is wrong.
Error FormatBroken(std::string_view what, std::string_view place);
Error FormatAttributeUnknown(std::string_view format, std::string_view attribute,
                             const std::vector<std::string>& known);
Error KeyAttributeUnknown(std::string_view attribute, bool table);
Error TransformUnknown(std::string_view transform, const std::vector<std::string>& known);
Error TransformTakes(std::string_view transform, const std::vector<std::string>& parameters);
Error TransformArgument(std::string_view transform, std::string_view parameter,
                        std::string_view value, std::string_view rule);

// A process of `local train` did not start.
Error CannotRunIn(std::string_view directory, std::string_view program, int error_number);

}  // namespace caip::cli::errors
