#include "emulator/app/errors.h"

#include "base/text.h"

namespace caip::app::errors {
namespace {

std::string S(std::string_view text) { return std::string(text); }

}  // namespace

Error LookAgain(std::string text) { return {Code::kAborted, std::move(text)}; }

Error NoEmulatorRuns(const Path& state) {
  return LookAgain("No emulator runs on " + state.string() + ".");
}

Error OwnedByAnother() {
  return LookAgain("Another emulator took the state directory at the same moment.");
}

Error ServerDidNotStart(std::string_view output, const Path& log) {
  return {Code::kUnavailable, "The background server did not start: " + S(output) +
                                  " (its log is " + log.string() + ")"};
}

Error ServerDoesNotEnd(pid_t pid) {
  const std::string number = std::to_string(pid);
  return {Code::kDeadlineExceeded, "Process " + number +
                                       " was asked to end and still runs. `kill " + number +
                                       "` ends it, and loses no job."};
}

Error FlagsDoNotFit(std::string_view url, const std::vector<std::string>& present,
                    const std::vector<std::string>& wanted) {
  return {Code::kFailedPrecondition,
          "An emulator runs already at " + S(url) + ". It was started " +
              (present.empty() ? "without flags" : "with " + Join(present, " ")) +
              " and cannot take " + Join(wanted, " ") +
              " any more. End it with `caip stop`, or use another --state."};
}

Error InterruptedWaiting(const Error& cause) {
  return {Code::kCancelled, "Interrupted while waiting: " + cause.message};
}

Error Ending() { return {Code::kUnavailable, "This emulator is ending."}; }

Error ConfigNotAMapping(const Path& file) {
  return {Code::kInvalidArgument,
          file.string() + ":1:1: the file must be a mapping of settings, for example\n" +
              "  queue_delay: constant:20m"};
}

Error BadFlags(std::vector<FieldViolation> violations) {
  std::vector<std::string> sentences;
  for (const FieldViolation& violation : violations) {
    sentences.push_back(violation.field + ": " + violation.description);
  }
  return {Code::kInvalidArgument, Join(sentences, "\n"), std::move(violations)};
}

Error BadConfigFile(std::vector<FieldViolation> violations) {
  std::vector<std::string> sentences;
  for (const FieldViolation& violation : violations) sentences.push_back(violation.description);
  return {Code::kInvalidArgument, Join(sentences, "\n"), std::move(violations)};
}

FieldViolation UnknownSetting(std::string_view key, std::string_view place,
                              const std::vector<std::string>& known) {
  return BadSetting(key, place, "is not a setting of caip. The settings are " + Join(known, ", "));
}

FieldViolation BadSetting(std::string_view key, std::string_view place, std::string_view text) {
  return {S(key), S(place) + ": " + S(key) + " " + S(text)};
}

FieldViolation BadFlag(std::string_view flag, std::string_view text) { return {S(flag), S(text)}; }

FieldViolation CompanionsOutOfReach() {
  return {"isolation",
          "replicas with namespaces of their own cannot reach the emulators that 'companions' "
          "names, which listen on this host. Leave one of them out"};
}

}  // namespace caip::app::errors
