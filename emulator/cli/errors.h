#pragma once
// Every text of the command line's own errors is made here. A maker is named after the failure and
// takes the facts. Wordings are gcloud's where gcloud has the mistake, followed by a remedy.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::cli::errors {

// Usage: what stands after "argument --flag: ".
Error NotARange(std::string_view text);
Error PortTooLarge(std::string_view text);
Error NoSuchChoice(std::string_view text, const std::vector<std::string>& choices);
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
/// `usage`: the usage error of `jobs submit training`; "" where the words ask for help.
Error SubmitWordsRefused(std::string_view usage);

// What a command says when it cannot go on (exit code 1).
Error UnknownFormat(std::string_view format);

// Warnings, and messages that are not the outcome.
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
std::string JobFits(std::string_view job);

// `jobs update`.
Error NoUpdatesRequested();
std::string NoUpdateToPerform();
std::string Updated(std::string_view job);

}  // namespace caip::cli::errors
