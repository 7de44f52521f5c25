#include "emulator/cli/errors.h"

#include <signal.h>

#include "base/errors.h"
#include "base/quoting.h"
#include "base/text.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli::errors {
namespace {

Error Invalid(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

std::string S(std::string_view text) { return std::string(text); }

Error Format(std::string text) {
  return Argument("--format", {Code::kInvalidArgument, std::move(text)});
}

std::string Bracketed(std::string_view text) { return "[" + std::string(text) + "]"; }

// The format to suggest: one that prints nearly the same as a gcloud format that caip lacks, else
// the one with the nearest name.
std::string Instead(std::string_view format, const std::vector<std::string>& formats) {
  if (format == "config") return "flattened";
  if (format == "object" || format == "diff") return "yaml";
  if (format == "multi") return "json";
  return NearestName(LowerCase(format), formats);
}

}  // namespace

Error OnlyOnTracks(std::string_view flag) {
  return Invalid(
      "The flag is available in the alpha and beta release tracks only, as in gcloud. "
      "Try:\n\n  caip beta ai-platform jobs submit training " +
      S(flag) + "\n");
}

Error NotARange(std::string_view text) {
  return Invalid("Expected two integers, FIRST..LAST; received: " + S(text) +
                 ". Write it as 1..100.");
}
Error PortTooLarge(std::string_view text) {
  return Invalid("Value must be less than or equal to 65535; received: " + S(text));
}
Error NoSuchChoice(std::string_view text, const std::vector<std::string>& choices) {
  const std::string nearest = NearestName(text, choices);
  return Invalid("Invalid choice: '" + S(text) + "'.\n\nValid choices are [" + Join(choices, ", ") +
                 "]." + (nearest.empty() ? "" : "\nMaybe you meant:\n  " + nearest));
}
Error ChoiceMissing(const std::vector<std::string>& choices) {
  return Invalid("Must be specified. Valid choices are [" + Join(choices, ", ") + "].");
}
Error ExpectedOneArgument() {
  return Invalid(
      "expected one argument. Write a value that begins with a dash after `=`: --flag=-x.");
}
Error TakesNoValue(std::string_view value) {
  return Invalid("ignored explicit argument '" + S(value) + "'. The flag takes no value.");
}
Error MustBeSpecified() { return Invalid("Must be specified."); }
Error MustBeSpecifiedWith(std::string_view flag) {
  return Invalid("Must be specified. It is needed with " + S(flag) + ".");
}
Error OtherMustBeSpecified(std::string_view flag) {
  return Invalid(S(flag) + " must be specified.");
}
Error GivenTwice(std::string_view key, std::string_view first, std::string_view second) {
  return Invalid("\"" + S(key) + "\" cannot be specified multiple times; received: " + S(first) +
                 ", " + S(second));
}
Error ExactlyOneOf(const std::vector<std::string>& flags) {
  return Invalid("Exactly one of (" + Join(flags, " | ") + ") must be specified.");
}
Error AtMostOneOf(const std::vector<std::string>& flags) {
  return Invalid("At most one of " + Join(flags, " | ") + " can be specified.");
}

Error PlotFileKind(const std::string& file) {
  return Invalid("Bad value [" + file + "]: a plot is FILE.html or FILE.svg.");
}

Error FilesExist(const std::vector<std::string>& files) {
  const bool one = files.size() == 1;
  return {Code::kAlreadyExists, Join(files, ", ") + (one ? " exists" : " exist") +
                                    " already. Nothing was written. Name an empty folder."};
}

Error NotAMapping(std::string_view text) {
  return Invalid(Quoted(text) +
                 " is not a mapping of an image. Write it as URI=COMMAND or URI=oci:PATH, for "
                 "example gcr.io/p/trainer:v1='python3 /src/train.py'.");
}
Error MappingMissing() {
  return Invalid("Nothing is mapped. Give URI=COMMAND, URI=oci:PATH or --unset URI.");
}
Error MappingUnknown(std::string_view uri) {
  return {Code::kNotFound, "The image " + Quoted(uri) +
                               " is not mapped in this state directory. `caip images list` shows "
                               "the mappings."};
}

Error ImageMissing(const Error& cause) {
  return {cause.code, cause.message + " `caip images list` shows the images."};
}

Error RuntimeMissing(std::string_view version, const std::vector<std::string>& installed) {
  return {Code::kNotFound, "Runtime version " + S(version) + " is not installed. Installed are: " +
                               (installed.empty() ? "none" : Join(installed, ", ")) + "."};
}
Error NotAPython(std::string_view text) {
  return Invalid("There is no Python interpreter at '" + S(text) +
                 "'. Give a program, or the directory of a virtual environment.");
}
Error NotADuration(std::string_view text) {
  return Invalid(Quoted(text) + " is not a valid duration. Write it as 90s, 10m or 1h30m.");
}
Error StepTimeWithoutPreempt() {
  return Invalid(
      "--step-time has no effect without --preempt. Machines age by it. Add --preempt "
      "exponential:2h, or write step_time and vm_lifetime below mood in the scenario.");
}
Error CheckOfOtherJobs(std::string_view id, bool is_of_vertex) {
  return Invalid("The check " + Quoted(id) + " does not apply to this trainer. It is a check of " +
                 (is_of_vertex ? "jobs of Vertex AI. Describe one with --worker-pool-spec or "
                                 "--config."
                               : "jobs of the service, and not of commands. Describe a job."));
}
Error NotAHost(std::string_view text) {
  return Invalid(Quoted(text) +
                 " is not a valid host. Write a name or an address without a port, for example "
                 "host.docker.internal or [fd00::2].");
}
Error NotAShard(std::string_view text) {
  return Invalid(Quoted(text) + " is not a valid shard. Write it as I/N, for example 1/4.");
}
Error NotOneOf(std::string_view text, const std::vector<std::string>& choices) {
  const std::string nearest = NearestName(text, choices);
  return Invalid(Quoted(text) + " is not one of: " + Join(choices, ", ") +
                 (nearest.empty() ? "" : ". Did you mean " + nearest + "?"));
}
Error StepPatternIllegal(std::string_view value, std::string_view problem) {
  return Invalid(Quoted(value) + " " + S(problem));
}
Error MetricTagEmpty() { return Invalid("A metric tag must not be empty."); }
Error ScenarioOrCommand() {
  return Invalid(
      "Name scenario files, or give a command after `--`: `caip explore -- python3 train.py`. "
      "Flags of `jobs submit training` may stand there, too.");
}
Error WordsBesideCommand(const std::vector<std::string>& words) {
  return Invalid("'" + Join(words, " ") +
                 "' is not a scenario file. Write the whole command after `--`: `caip explore -- " +
                 Join(words, " ") + " ...`.");
}
Error FlagsAfterCommand(const std::string& flag, const std::vector<std::string>& words) {
  return Invalid(
      flag +
      " after a command may be a flag of the command or of caip. Write the command after "
      "`--`, and flags of caip before it:\n\n  caip explore [flags] -- " +
      Join(words, " ") + "\n");
}
Error OnlyOfCommand() {
  return Invalid(
      "--out-dir, --step-regex and --torchrun describe a command: write `--out-dir DIR -- "
      "COMMAND`. In a scenario, set `trainer: {volumes: [DIR], ranks: N}` and `steps`.");
}
Error OneReportForFiles() {
  return Invalid(
      "--json, --junit and --sarif hold the report of one scenario. Explore the files one "
      "by one.");
}
Error ScenarioHasLimits() {
  return Invalid(
      "--run-timeout, --stall and --grace are for jobs in words. Set `limits` in the scenario "
      "instead.");
}

Error Argument(std::string_view flag, const Error& error) {
  return {error.code, "argument " + S(flag) + ": " + error.message};
}
Error UnrecognizedArguments(const std::vector<std::string>& words, const std::string& nearest,
                            const std::string& remedy) {
  std::string text = "unrecognized arguments: " + Join(words, " ");
  if (!nearest.empty()) text += " (did you mean '" + nearest + "'?)";
  if (!remedy.empty()) text += "\n" + remedy;
  return Invalid(std::move(text));
}
Error NothingAfterBar(const std::string& remedy) {
  return Invalid("unrecognized arguments: --\nThis command takes nothing after `--`." + remedy);
}
Error NoSuchCommand(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(word, known);
  return Invalid("Invalid choice: '" + S(word) + "'.\n" +
                 (nearest.empty() ? "Valid choices are [" + Join(known, ", ") + "]."
                                  : "Maybe you meant:\n  " + nearest));
}
Error GcloudWord() {
  return Invalid(
      "Invalid choice: 'gcloud'.\nWrite `caip` instead of `gcloud`: caip ai-platform jobs "
      "list");
}
Error CommandMissing(const std::vector<std::string>& known) {
  return Invalid("Command name argument expected.\nValid choices are [" + Join(known, ", ") + "].");
}
std::string TrainerArgument(std::string_view command, std::string_view word) {
  return "Arguments of the trainer come after `--`, at the end of the line:\n\n  " + S(command) +
         " ... -- " + S(word) + " ...\n";
}
std::string WholeCommandAfterBar() {
  return "If the job is a command, write all of it after `--`:\n\n  caip explore -- COMMAND ...\n";
}
std::string CommandOfScenario() {
  return " In a scenario, write the command as `trainer: {command: [python3, train.py]}`. `caip "
         "explore -- python3 train.py` needs no scenario.";
}
Error ProgramIsNotAScenario(std::string_view word) {
  return Invalid("'" + S(word) + "' is a program, not a scenario." + CommandOfScenario());
}
std::string ShellCommandAfterBar() {
  return "The command to run comes after `--`:\n\n  caip jobs shell JOB -- COMMAND ...\n";
}
Error JobWordsRefused(std::string_view usage, std::string_view command) {
  const std::string text =
      ReplaceAll(std::string(Trim(usage)), "ERROR: (caip." + S(command) + ") ", "");
  return Invalid(text.empty() ? "The flags of the job contain --help. Leave it out." : text);
}

Error OneJobToMigrate() {
  return Invalid(
      "Exactly one job is required. Name one FILE, or write the command line that submits the job "
      "after `--`.");
}
Error StageNeedsWords() {
  return Invalid(
      "--stage uploads the packages that a command line names. A FILE has no local packages. Leave "
      "--stage out.");
}
Error NoSubmitLine() {
  return Invalid(
      "The words after `--` are not a command line of `jobs submit training`. Write it as you ran "
      "it: caip migrate -- gcloud ai-platform jobs submit training JOB ...");
}
std::string SubmitLineAfterBar() {
  return "The command line that submits the job comes after `--`:\n\n"
         "  caip migrate -- caip jobs submit training JOB ...\n";
}
std::string MigrationReport(std::string_view create_line, std::string_view differences) {
  const std::string command =
      create_line.empty() ? "" : "Create the job with\n  " + S(create_line) + "\n";
  return command + "What differs for the trainer and its owner:\n" + S(differences);
}

std::string AsyncDeprecated() {
  return "WARNING: The --async flag is deprecated, as the default behavior is to submit the job "
         "asynchronously; it can be omitted. For synchronous behavior, please pass "
         "--stream-logs.\n\n";
}
std::string IgnoredWithoutDistributed(std::string_view flag) {
  return "WARNING: " + S(flag) +
         " is ignored if --distributed is not provided.\nDid you mean to run distributed "
         "training?\n";
}
std::string TensorFlowNotImported(std::string_view python) {
  return "WARNING: Cannot import tensorflow under path " + S(python) +
         ". Using \"chief\" for cluster setting.\nIf this is not intended, check that tensorflow "
         "is installed there, or choose another Python: set CLOUDSDK_ML_ENGINE_LOCAL_PYTHON, or "
         "run\n  gcloud config set ml_engine/local_python /usr/bin/python3\n";
}
std::string TensorFlowVersionUnexpected(std::string_view version) {
  return "WARNING: Unexpected tensorflow version " + S(version) +
         ", using the default primary node name, aka \"chief\" for cluster settings\n";
}
std::string Submitted(std::string_view job) {
  return "Job [" + S(job) + "] submitted successfully.\n";
}
std::string FollowUp(std::string_view job) {
  return "Your job is still active. You may view the status of your job with the command\n\n  $ "
         "caip ai-platform jobs describe " +
         S(job) +
         "\n\nor continue streaming the logs with the command\n\n  $ caip ai-platform jobs "
         "stream-logs " +
         S(job) + "\n";
}
std::string Interrupted(int signal) {
  return signal == SIGTERM  ? "Received SIGTERM.\n\n"
         : signal == SIGHUP ? "The terminal was closed.\n\n"
                            : "Received keyboard interrupt.\n\n";
}
std::string InterruptedEarly() { return "Interrupted; nothing was submitted.\n"; }
std::string EmulatorStopped(std::string_view job) {
  return "The emulator was stopped. The job continues when an emulator starts again. To start it "
         "and "
         "continue streaming the logs, run the command\n\n  $ caip ai-platform jobs stream-logs " +
         S(job) + "\n";
}
std::string PollingFailed(std::string_view why) {
  return "Polling logs failed:\n" + S(why) + "\n\n";
}
Error StreamStopped(std::string_view job) { return {Code::kUnavailable, EmulatorStopped(job)}; }
Error StreamFailed(std::string_view why) { return {Code::kUnknown, S(why)}; }
std::string JobFits(std::string_view job) {
  return "Job [" + S(job) + "] is valid; nothing was submitted.\n";
}

Error NoToken(int status) {
  return {Code::kFailedPrecondition,
          "The emulator gave no token (HTTP status " + std::to_string(status) +
              "). If an older version of caip runs, end it with `caip stop`."};
}

Error NoReplicaRuns(std::string_view job, std::string_view state) {
  return {Code::kFailedPrecondition,
          "No replica of the job " + Quoted(job) + " runs: the job is " + std::string(state) + "."};
}

Error ReplicaDoesNotRun(std::string_view job, const std::vector<std::string>& running) {
  return {Code::kNotFound,
          "The job " + Quoted(job) +
              " has no such replica that runs. Those that run: " + Join(running, ", ") + "."};
}

Error SeveralReplicasRun(std::string_view job, const std::vector<std::string>& running) {
  return {Code::kInvalidArgument, "The job " + Quoted(job) + " has several replicas that run (" +
                                      Join(running, ", ") +
                                      "). Name one with --replica, and its --trial."};
}

Error NoUpdatesRequested() {
  return {Code::kFailedPrecondition,
          "No updates requested. Use --update-labels, --remove-labels or --clear-labels."};
}

std::string NoUpdateToPerform() { return "No update to perform.\n"; }

std::string Updated(std::string_view job) {
  return "Updated ml engine job [" + std::string(job) + "].\n";
}

Error UnknownFormat(std::string_view format) {
  const std::vector<std::string>& formats = FormatNames();
  const std::string instead = Instead(format, formats);
  return Format("Format must be one of " + Join(formats, ", ") + "; received " + Bracketed(format) +
                "." + (instead.empty() ? "" : " Nearest to it is " + instead + "."));
}

Error FormatNotTaken() {
  return Format("This command has only one output format. Leave --format out.");
}

Error FormatNeedsKeys(std::string_view format) {
  const std::string name(format);
  return Format("Format " + Bracketed(format) +
                " requires a non-empty projection. Name the keys to print: " + name +
                "(jobId,trainingInput.region).");
}

Error FormatBroken(std::string_view what, std::string_view place) {
  return Format(std::string(what) + " " + Bracketed(place) + ".");
}

Error FormatAttributeUnknown(std::string_view format, std::string_view attribute,
                             const std::vector<std::string>& known) {
  return Format("Format " + std::string(format) + " has no attribute " + Bracketed(attribute) +
                ". It has " + (known.empty() ? "" : Join(known, ", ") + ", ") +
                "no-transforms and private.");
}

Error KeyAttributeUnknown(std::string_view attribute, bool table) {
  return Format("Key attribute " + Bracketed(attribute) + " is not supported. Use label=TEXT" +
                (table ? ", align=left|center|right, sort=N, reverse and optional." : "."));
}

Error TransformUnknown(std::string_view transform, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(transform, known);
  return Format("Transform " + Bracketed(transform) + " is not supported. Use " +
                Join(known, "(), ") + "() or map()." +
                (nearest.empty() ? "" : " Nearest to it is " + nearest + "()."));
}

Error TransformTakes(std::string_view transform, const std::vector<std::string>& parameters) {
  return Format("Transform " + std::string(transform) + "() takes " +
                (parameters.empty() ? std::string("nothing")
                                    : "at most " + Join(parameters, ", ") + ", each once") +
                ".");
}

Error TransformArgument(std::string_view transform, std::string_view parameter,
                        std::string_view value, std::string_view rule) {
  return Format("Transform " + std::string(transform) + "() has " + std::string(parameter) + "=" +
                std::string(value) + ". It must be " + std::string(rule) + ".");
}

Error CannotRunIn(std::string_view directory, std::string_view program, int error_number) {
  return SystemError("cannot run " + Quoted(program) + " in " + Quoted(directory), error_number);
}

}  // namespace caip::cli::errors
