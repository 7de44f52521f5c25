#pragma once
// Every command of caip as a value, and the functions that run them. `arguments` parses argv into
// these values.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "client/submit_flags.h"
#include "emulator/app/attach/connect.h"
#include "emulator/app/settings/emulator_flags.h"
#include "emulator/app/settings/setting_readers.h"
#include "emulator/check/checked_trainer.h"
#include "emulator/cli/arguments/command_shape.h"
#include "emulator/cli/commands/ai_commands.h"
#include "emulator/cli/commands/follow.h"
#include "emulator/cli/commands/gcloud_flags.h"
#include "emulator/cli/commands/migrate_command.h"
#include "emulator/cli/commands/software_commands.h"
#include "emulator/cli/commands/state_commands.h"
#include "emulator/cli/commands/storage_commands.h"
#include "emulator/cli/output.h"
#include "emulator/explore/explored_job.h"

namespace caip::cli {

/// `jobs submit training JOB`.
struct SubmitCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  client::SubmitRequest request;
  bool async = false;  // deprecated; prints a warning
  bool stream_logs = false;
  bool dry_run = false;        // only print the Job
  bool validate_only = false;  // also check it by the service's rules; create nothing
};

/// `jobs describe JOB`.
struct DescribeCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
  bool summarize = false;
};

/// `jobs list`.
struct ListCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::optional<std::string> filter;
  std::optional<int64_t> limit;
  std::optional<int64_t> page_size;
  std::vector<std::string> sort_by;  // "~field" sorts in descending order
  bool uri = false;
};

/// `jobs cancel JOB`.
struct CancelCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
};

/// `jobs delete JOB...`.
struct DeleteCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::vector<std::string> jobs;
  bool strict = false;  // --strict: their ids stay taken
};

/// `ps`.
struct PsCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;  // --state
};

/// `clean`.
struct CleanCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  Duration older_than{};  // --older-than 7d: since the end of the job
  bool dry_run = false;   // --dry-run: only prints
  bool strict = false;    // --strict: the ids stay taken
};

/// `jobs update JOB`.
struct UpdateCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
  std::optional<std::map<std::string, std::string>> update_labels;
  std::optional<std::vector<std::string>> remove_labels;
  bool clear_labels = false;
};

/// `jobs stream-logs JOB`.
struct StreamLogsCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
  int64_t polling_interval = 60;  // seconds; has no effect, lines are shown at once
  std::optional<std::string> task_name;
  bool allow_multiline_logs = false;
};

/// `jobs logs JOB`.
struct LogsCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
  std::optional<std::string> replica;   // "worker-0", or "worker-replica-0"
  std::optional<std::string> trial;     // of a tuning job
  std::optional<std::string> severity;  // the least: one of LogSeverities()
  std::optional<int64_t> tail;          // --tail N: only the last entries of those
  bool follow = false;                  // --follow: until the job has ended
};
/// The severities of log entries, from the least to the greatest.
const std::vector<std::string>& LogSeverities();

/// `jobs trials JOB`: the trials of a tuning job.
struct TrialsCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
  bool watch = false;               // --watch: until the job has ended
  std::optional<std::string> plot;  // --plot FILE.html|FILE.svg
};

/// `local predict`.
struct LocalPredictCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string model_dir;
  std::optional<std::string> framework;       // scikit-learn, tensorflow or xgboost
  std::optional<std::string> signature_name;  // of a SavedModel; default: serving_default
  // Exactly one of these names a file; - is the standard input.
  std::optional<std::string> json_request;
  std::optional<std::string> json_instances;
  std::optional<std::string> text_instances;
};

/// `local train`. Needs no emulator.
struct LocalTrainCommand {
  GcloudFlags gcloud;
  std::string module_name;
  std::optional<std::string> package_path;
  std::optional<std::string> job_dir;
  bool distributed = false;
  std::optional<int64_t> parameter_server_count;
  std::optional<int64_t> worker_count;
  std::optional<int64_t> evaluator_count;
  int64_t start_port = 27182;
  std::vector<std::string> user_args;
};

/// `serve`: a server in the foreground.
struct ServeCommand {
  app::EmulatorFlags emulator;
  std::optional<std::string> address;  // unset: that of the configuration
  std::optional<int64_t> port;         // unset: the emulator's own choice; 0: any free one
  std::vector<std::string> allow_hosts;
  std::optional<std::string> idle_timeout;  // "10m"; unset: the server does not end
};

/// `stop`: ends the emulator of the state directory.
struct StopCommand {
  app::EmulatorFlags emulator;
};

/// `env`: the variables that point Google's clients at the emulator.
struct EnvCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  bool tls = false;                   // --tls: also the variables for clients that use only https
  bool unset = false;                 // --unset: the commands that unset the variables
  bool hosts = false;                 // --hosts: the hosts file's lines for regional endpoints
  std::optional<std::string> remote;  // the host at which clients elsewhere reach the emulator
};

/// `init KIND [FOLDER]`: a new trainer.
struct InitCommand {
  std::string kind;          // one of TemplateKinds()
  std::string folder = ".";  // is made if it is missing
};

/// `doctor`: what this host offers.
struct DoctorCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
};

/// `scenario run FILE...`.
struct ScenarioRunCommand {
  app::EmulatorFlags emulator;           // --state: holds the directories of the runs
  std::vector<std::string> files;        // a folder means all scenarios below it
  std::optional<uint64_t> seed;          // --seed N
  std::optional<std::string> junit;      // --junit FILE
  std::optional<std::string> json;       // --json FILE
  std::optional<std::string> events;     // --events FILE; a folder for several scenarios
  int64_t jobs = 0;                      // --jobs N at the same time; 0: one for each core
  std::optional<std::string> preempt;    // --preempt MODEL, as its user wrote it
  std::optional<std::string> step_time;  // --step-time DURATION
  bool keep = false;                     // --keep: do not delete the directories of the runs
  bool verbose = false;                  // --verbose: also the assertions of passed scenarios
};

/// `scenario validate FILE...`.
struct ScenarioValidateCommand {
  std::vector<std::string> files;
};

/// `scenario schema`: the format as a JSON schema.
struct ScenarioSchemaCommand {};

/// `scenario show EVENTS`: an event list as a timeline.
struct ScenarioShowCommand {
  std::string events;               // "-": the standard input
  std::optional<std::string> html;  // --html FILE; "-": printed
  std::optional<int64_t> width;     // --width COLUMNS
};

/// `explore FILE...`, `explore -- COMMAND` or `explore -- SUBMIT WORDS`.
struct ExploreCommand {
  app::EmulatorFlags emulator;                     // --state
  std::vector<std::string> files;                  // scenarios; their faults are ignored
  std::vector<std::string> command;                // else a command
  std::optional<std::vector<std::string>> submit;  // else the flags of a job
  std::vector<Path> out_directories;               // --out-dir DIR, of a command; repeatable
  std::string step_regex;                          // --step-regex REGEX, of a command
  int64_t ranks = 1;                               // --torchrun N, of a command
  explore::JobLimits limits;                       // --run-timeout, --stall
  std::set<std::string> faults;                    // --faults notice,network-cuts
  std::optional<std::string> junit;                // --junit FILE; "-": printed
  std::optional<std::string> json;                 // --json FILE
  std::optional<std::string> sarif;                // --sarif FILE
  std::string out = "caip-findings";               // --out DIR
  std::optional<Duration> budget;                  // --budget 60s
  std::vector<std::string> points;                 // --points storage,steps,logs,states
  std::vector<std::string> replicas;               // --replicas master-0,worker-1
  int64_t points_max = 400;                        // --max-points N
  int64_t jobs = 0;                                // --jobs N; 0: one for each core
  std::optional<uint64_t> seed;                    // --seed N
  std::optional<bool> pairs;                       // --[no-]pairs; nullopt: a few
  bool all_points = false;                         // --all-points
  bool full_runs = false;
  std::string disks = {};    // --disks new|kept|both; "": new, with a few restarts that keep it
  bool crash = false;        // --crash: the same as kept
  bool drift_fails = false;  // --drift-fails
  bool resume = false;
};

/// `check SUBMIT FLAGS -- USER_ARGS`.
struct CheckCommand {
  check::TrainerRequest trainer;
  bool has_vertex_flags = false;     // --worker-pool-spec and others of jobs of Vertex AI
  std::vector<std::string> filters;  // --filter GLOB, repeatable
  int64_t shard = 1;                 // --shard i/n
  int64_t shards = 1;
  bool list = false;                  // --list
  bool verbose = false;               // --verbose
  std::optional<std::string> junit;   // --junit FILE; "-": printed
  std::optional<std::string> json;    // --json FILE
  std::optional<std::string> tap;     // --tap FILE
  std::string out = "caip-findings";  // --out DIR
  int64_t jobs = 0;                   // --jobs N; 0: one for each core
  std::string replay;                 // the whole command without the flags that choose checks
  std::string replay_args;            // " -- USER_ARGS"
};

/// `simulate`. At most one of the first three.
struct SimulateCommand {
  std::optional<int64_t> seed;                       // --seed N
  std::optional<std::pair<int64_t, int64_t>> seeds;  // --seeds A..B
  std::optional<int64_t> jobs;     // --jobs N: seeds from 1 on until they had N jobs
  std::optional<int64_t> threads;  // --threads N; unset: one for each core
  bool journal = false;            // only with --seed
};

/// The two pages of help that a command has: -h and --help.
enum class HelpKind { kShort, kLong };

/// `help`, -h and --help. The page is as wide as the terminal.
struct HelpCommand {
  std::shared_ptr<const CommandShape> page;
  HelpKind kind = HelpKind::kLong;
};

/// `help --markdown` and `help --man DIR`: all commands.
struct ReferenceCommand {
  std::shared_ptr<const CommandShape> root;
  std::optional<std::string> man_directory;  // --man DIR; unset: --markdown
};

/// `__complete WORD...`: the words that a shell offers for the last word. Only its script calls it.
struct CompleteCommand {
  std::shared_ptr<const CommandShape> root;
  std::vector<std::string> words;
};

/// A completion script or a usage error: the command only prints a text.
struct PrintCommand {
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// `jobs shell JOB`.
struct ShellCommand {
  GcloudFlags gcloud;
  app::EmulatorFlags emulator;
  std::string job;
  std::optional<std::string> replica;  // "worker-0"; unset: the only one
  std::optional<std::string> trial;
  std::vector<std::string> command;  // empty: a shell
};

using Command =
    std::variant<SubmitCommand, DescribeCommand, ListCommand, CancelCommand, DeleteCommand,
                 CleanCommand, PsCommand, UpdateCommand, StreamLogsCommand, LogsCommand,
                 TrialsCommand, LocalTrainCommand, LocalPredictCommand, ServeCommand, StopCommand,
                 EnvCommand, DoctorCommand, InitCommand, VersionCommand, BucketsCreateCommand,
                 BucketsListCommand, BucketsRmCommand, LsCommand, CpCommand, CatCommand, RmCommand,
                 ImagesListCommand, ImagesImportCommand, ImagesRemoveCommand, ImagesMapCommand,
                 RuntimesListCommand, RuntimesInstallCommand, RuntimesRemoveCommand,
                 StateInfoCommand, StateMigrateCommand, StateBackupCommand, StateRestoreCommand,
                 ScenarioRunCommand, ScenarioValidateCommand, ScenarioSchemaCommand,
                 ScenarioShowCommand, ExploreCommand, CheckCommand, SimulateCommand, ShellCommand,
                 CustomJobCreateCommand, TuningJobCreateCommand, AiDescribeCommand, AiListCommand,
                 AiCancelCommand, AiStreamLogsCommand, AiLocalRunCommand, MigrateCommand,
                 HelpCommand, ReferenceCommand, CompleteCommand, PrintCommand>;

/// The surroundings of a command: its streams and its access to an emulator. Tests replace them.
struct Surroundings {
  const Io& io;
  app::Connect connect;
  Follow follow;
};

// Each function runs its command and returns the exit code (output.h).
int RunSubmit(const SubmitCommand& command, const Surroundings& world);
int RunDescribe(const DescribeCommand& command, const Surroundings& world);
int RunList(const ListCommand& command, const Surroundings& world);
int RunCancel(const CancelCommand& command, const Surroundings& world);
int RunDelete(const DeleteCommand& command, const Surroundings& world);
int RunPs(const PsCommand& command, const Surroundings& world);
int RunClean(const CleanCommand& command, const Surroundings& world);
int RunUpdate(const UpdateCommand& command, const Surroundings& world);
int RunStreamLogs(const StreamLogsCommand& command, const Surroundings& world);
int RunLogs(const LogsCommand& command, const Surroundings& world);
int RunTrials(const TrialsCommand& command, const Surroundings& world);
int RunShell(const ShellCommand& command, const Surroundings& world);
int RunLocalTrain(const LocalTrainCommand& command, const Surroundings& world);
int RunLocalPredict(const LocalPredictCommand& command, const Surroundings& world);
int RunServe(const ServeCommand& command, const Surroundings& world);
int RunStop(const StopCommand& command, const Surroundings& world);
int RunEnv(const EnvCommand& command, const Surroundings& world);
int RunInit(const InitCommand& command, const Surroundings& world);
int RunDoctor(const DoctorCommand& command, const Surroundings& world);
int RunVersion(const VersionCommand& command, const Surroundings& world);
int RunBucketsCreate(const BucketsCreateCommand& command, const Surroundings& world);
int RunBucketsList(const BucketsListCommand& command, const Surroundings& world);
int RunBucketsRm(const BucketsRmCommand& command, const Surroundings& world);
int RunLs(const LsCommand& command, const Surroundings& world);
int RunCp(const CpCommand& command, const Surroundings& world);
int RunCat(const CatCommand& command, const Surroundings& world);
int RunRm(const RmCommand& command, const Surroundings& world);
int RunImagesList(const ImagesListCommand& command, const Surroundings& world);
int RunImagesImport(const ImagesImportCommand& command, const Surroundings& world);
int RunImagesMap(const ImagesMapCommand& command, const Surroundings& world);
int RunImagesRemove(const ImagesRemoveCommand& command, const Surroundings& world);
int RunRuntimesList(const RuntimesListCommand& command, const Surroundings& world);
int RunRuntimesInstall(const RuntimesInstallCommand& command, const Surroundings& world);
int RunRuntimesRemove(const RuntimesRemoveCommand& command, const Surroundings& world);
int RunStateInfo(const StateInfoCommand& command, const Surroundings& world);
int RunStateMigrate(const StateMigrateCommand& command, const Surroundings& world);
int RunStateBackup(const StateBackupCommand& command, const Surroundings& world);
int RunStateRestore(const StateRestoreCommand& command, const Surroundings& world);
int RunScenarioRun(const ScenarioRunCommand& command, const Surroundings& world);
int RunScenarioValidate(const ScenarioValidateCommand& command, const Surroundings& world);
int RunScenarioSchema(const ScenarioSchemaCommand& command, const Surroundings& world);
int RunScenarioShow(const ScenarioShowCommand& command, const Surroundings& world);
int RunExplore(const ExploreCommand& command, const Surroundings& world);
int RunCheck(const CheckCommand& command, const Surroundings& world);
int RunSimulate(const SimulateCommand& command, const Surroundings& world);
int RunHelp(const HelpCommand& command, const Surroundings& world);
int RunReference(const ReferenceCommand& command, const Surroundings& world);
int RunComplete(const CompleteCommand& command, const Surroundings& world);
int RunPrint(const PrintCommand& command, const Surroundings& world);

}  // namespace caip::cli
