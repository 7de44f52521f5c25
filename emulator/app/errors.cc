#include "emulator/app/errors.h"

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"

namespace caip::app::errors {
namespace {

std::string S(std::string_view text) { return std::string(text); }

SettingProblem Value(std::string text) { return {"", std::move(text)}; }

}  // namespace

Error LookAgain(std::string text) { return {Code::kAborted, std::move(text)}; }

Error NoEmulatorRuns(const Path& state) {
  return LookAgain("No emulator runs on " + state.string() + ".");
}

Error NoEmulatorToAsk(const Path& state) {
  return {Code::kFailedPrecondition, "No emulator runs on " + state.string() +
                                         ", so no job runs there. Name the state "
                                         "directory of the job's emulator with --state."};
}

Error OwnedByAnother() {
  return LookAgain("Another emulator took the state directory at the same moment.");
}

Error ServerDidNotStart(std::string_view output, const Path& log) {
  return {Code::kUnavailable, "The background server did not start: " + S(output) +
                                  " (its log is " + log.string() + ")"};
}

Error ServerTooSlow(std::chrono::milliseconds patience, std::string_view output, const Path& log) {
  return {Code::kUnavailable,
          "The background server did not serve within " + ProtoDuration(patience) +
              ", so it was ended. " +
              (output.empty() ? "" : "Its last output is: " + S(output) + "\n") +
              "Try again, or run `caip serve`, which has no such limit. (The "
              "log of the server is " +
              log.string() + ")"};
}

Error OwnerDoesNotAnswer(pid_t pid, std::string_view url) {
  const std::string number = std::to_string(pid);
  return {Code::kUnavailable,
          "Process " + number + " owns the state directory, but does not answer at " +
              std::string(url) + ". `kill " + number + "` ends it, and loses no job."};
}

Error StarterOutOfReach(pid_t pid) {
  return {Code::kUnavailable,
          "Process " + std::to_string(pid) +
              " owns the state directory and does not serve yet. This command cannot signal it: it "
              "may run in a container. Try again when it serves, or end it in the container."};
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
          "An emulator already runs at " + S(url) + ". It was started " +
              (present.empty() ? "without flags" : "with " + Join(present, " ")) +
              " and cannot take " + Join(wanted, " ") +
              " any more. End it with `caip stop`, or use another --state."};
}

std::string EnvironmentNotUsed(std::string_view url, std::string_view environment) {
  return "The emulator at " + S(url) + " was started without the virtual environment " +
         S(environment) +
         " and does not use it. End it with `caip stop`, or choose the interpreter with "
         "--python.\n";
}

Error InterruptedWaiting(const Error& cause) {
  return {Code::kCancelled, "Interrupted while waiting: " + cause.message};
}

Error StartInterrupted() {
  return {Code::kCancelled, "Interrupted before the emulator began to serve."};
}

Error InUse() {
  return {Code::kFailedPrecondition,
          "This emulator is in use: a user started it, a job has not ended, or a command uses it."};
}

Error Ending() { return {Code::kUnavailable, "This emulator is ending."}; }

Error TokenFileOpen(const Path& file) {
  return {Code::kInvalidArgument, "token: other users may use '" + file.string() +
                                      "'. Close it with `chmod 600`, and replace its token if "
                                      "others may have read it."};
}

Error TokenFileOfAnotherUser(const Path& file, uid_t owner) {
  return {Code::kInvalidArgument, "token: '" + file.string() + "' belongs to user " +
                                      std::to_string(owner) +
                                      ", who knows the token. Name a file of your own."};
}

Error NotAToken(const Path& file, size_t least, size_t most) {
  return {Code::kInvalidArgument,
          "token: '" + file.string() + "' must have one line of " + std::to_string(least) + " to " +
              std::to_string(most) +
              " characters from A-Z a-z 0-9 - . _ ~. caip writes a random token if the file does "
              "not exist."};
}

Error NotAnAddress(std::string_view text) {
  return {Code::kInvalidArgument,
          "address: '" + S(text) +
              "' is not an address. Give an IPv4 or IPv6 address, or localhost. The port is a "
              "setting of its own: --port."};
}

Error AddressNeedsToken(std::string_view address) {
  return {
      Code::kInvalidArgument,
      "address: other hosts can reach '" + S(address) +
          "', and jobs run as your user. Add --token FILE: caip writes a token to the file, and "
          "serves clients of other hosts only if they send it."};
}

Error AddressForbidsAllUsers(std::string_view address) {
  return {Code::kInvalidArgument,
          "allow_users: 'all' admits everybody who reaches '" + S(address) +
              "', also from other hosts. Name the users of this host, and let clients of other "
              "hosts send the token of `caip env --remote`."};
}

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

std::string UnknownSetting(std::string_view key, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(key, known);
  return S(key) + " is not a setting of caip. " +
         (nearest.empty() ? "The settings are " + Join(known, ", ") : "Did you mean " + nearest) +
         (nearest.empty() ? "." : "?");
}

std::string WrongSetting(std::string_view key, std::string_view problem) {
  return S(key) + " " + S(problem);
}

FieldViolation BadSetting(std::string_view key, std::string_view shown) {
  return {S(key), S(shown)};
}

Error FlagRefused(std::string_view problem) { return {Code::kInvalidArgument, S(problem)}; }

Error ConfigMissing(const std::string& file) {
  return {Code::kInvalidArgument,
          "The file '" + file +
              "' of --emulator-config does not exist. Name a file of settings, or leave the flag "
              "out: caip reads config.yaml in the state directory then."};
}

FieldViolation BadFlag(std::string_view flag, std::string_view text) { return {S(flag), S(text)}; }

SettingProblem NotAText() { return Value("must be a text"); }

SettingProblem NotTrueOrFalse() { return Value("must be true or false"); }

SettingProblem NotAListOfTexts() { return Value("must be a list of texts"); }

SettingProblem NotAMapping() { return Value("must be a mapping"); }

SettingProblem NotOneOf(std::string_view value, const std::vector<std::string>& choices) {
  return Value(Quoted(value) + " is not one of: " + Join(choices, ", "));
}

SettingProblem Because(const Error& cause) { return Value(cause.message); }

SettingProblem NotADuration(std::string_view value) {
  return Value(Quoted(value) + " is not a valid duration. Write it as 30s, 2m or 1h30m.");
}

SettingProblem NotADiskSize(std::string_view value) {
  return Value(
      Quoted(value) +
      " is not a valid size of a disk. Write it as 500MB or 20GB, or use asked, job or off.");
}

SettingProblem NotAUser(std::string_view name) {
  return Value(Quoted(name) +
               " is not a user of this host. Give the name or the number of a user, or `all` for "
               "everybody who reaches the port");
}

SettingProblem NotASeed(std::string_view value) {
  return Value(Quoted(value) + " is not a whole number from 0 to 2^64-1");
}

SettingProblem NotANumberUpTo(uint64_t most, std::string_view zero) {
  return Value("must be a number from 0 to " + std::to_string(most) + " (" + std::string(zero) +
               ")");
}

SettingProblem NotAnImage(std::string_view value) {
  return Value(Quoted(value) +
               " is not URI=COMMAND or URI=oci:PATH, for example "
               "gcr.io/p/trainer:v1='python3 /src/train.py'");
}

SettingProblem NotAnImageName(std::string_view image) {
  return {std::string(image),
          "is not a valid name of an image. Write it as gcr.io/PROJECT/IMAGE:TAG"};
}

SettingProblem NotACommand(std::string_view image) {
  return {std::string(image), "must be a command (a text, or a list of its words) or oci:PATH"};
}

SettingProblem NotAPython(std::string_view text) {
  return Value(
      "must be a Python interpreter or the directory of a virtual environment; there is "
      "none at " +
      Quoted(text));
}

SettingProblem NotAnInterpreter(std::string_view version) {
  return {std::string(version), "must be the absolute path of a Python interpreter"};
}

SettingProblem NotAnExport(std::string_view member) {
  return {std::string(member), "must be an export of an NFS server, without '..': SERVER:/PATH"};
}

SettingProblem NotADirectory(std::string_view member) {
  return {std::string(member), "must be the absolute path of a directory of this host"};
}

SettingProblem ExportRepeated(std::string_view member, std::string_view source) {
  return {std::string(member), "repeats the export " + std::string(source)};
}

SettingProblem NotACompanion(std::string_view name, const std::vector<std::string>& known) {
  return Value("has no emulator called " + Quoted(name) +
               ". Known emulators: " + Join(known, ", "));
}

SettingProblem NotAnSdkPath() { return Value("must be the absolute path of the Cloud SDK"); }

Error TooFewDescriptors(uint64_t limit, uint64_t needed) {
  return {Code::kUnavailable, "This process may have " + std::to_string(limit) +
                                  " files open, and an emulator needs " + std::to_string(needed) +
                                  " more than are open now. Raise the limit (ulimit -Hn)."};
}

Error CannotStartServer(int error_number) {
  return SystemError("cannot start a background server", error_number);
}

Error CannotMakeSockets(int error_number) {
  return SystemError("cannot make a pair of sockets", error_number);
}

}  // namespace caip::app::errors
