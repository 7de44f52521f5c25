#pragma once
// The runs of `caip check`: a few runs of one trainer, which several checks use. A new run is one
// function and one row in check_runs.cc.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The trainer under test, as the user gave it.
struct CheckedTrainer {
  Scenario job;               // `document` is complete; no faults, no expectations
  bool is_container = false;  // an image instead of a Python module
  bool is_command = false;    // a command that knows nothing of the service; no `document`
  bool has_own_files =
      false;  // it runs on the files of its image, which machines of the service have
  std::optional<Path> source;  // --package-path: the folder of the package in the source tree
  std::vector<Path> packages;  // the installed archives, as files of this host
  Duration vm_lifetime = std::chrono::hours(4);  // the expected lifetime of a machine
  std::optional<Duration> real_duration;         // the expected running time of the real job
  bool deep = false;                             // --deep: the whole explorer
  std::string metric = {};  // --metric: the metric that a trial would report; "": none
  /// The flags of caip that a run of a finding needs, each after a blank; "": none.
  std::string repeated_flags = {};
  Path here;      // the current directory of the command
  Path home;      // the user's home; "": unknown
  Path workshop;  // the folder of all runs
};

/// A started replica.
struct LaunchedReplica {
  std::string replica;  // "master-0"
  int boot = 1;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string boot_disk = {};
  std::string directory = {};  // its current directory

  /// "" if the variable is not set.
  std::string Variable(std::string_view name) const;
};

/// A flaw that the explorer found in a trainer.
struct ExploredFlaw {
  std::string cause;
  std::string point;  // the point at which the machine went away
  std::string expected;
  std::string found;
  std::string scenario;             // the file that shows the flaw again
  bool is_doubtful = false;         // may be harmless
  bool is_of_second_start = false;  // by a program that starts once more before its job fails
};

/// A file of this host, outside of the buckets, that a replica opened. Identified by its last name.
struct TouchedFile {
  std::string replica;  // the last replica that touched it
  std::string path;
  bool was_there = false;       // existed before the replica started
  bool is_on_own_disk = false;  // of a machine, which sees other files of the host, too
  bool read = false;            // the replica read it before it wrote it, if it wrote it
  bool written = false;
  bool read_again = false;  // a replica read it after the last write
  uint64_t bytes = 0;       // size at the replica's end; 0: empty or deleted
};

/// A line that a replica printed or logged.
struct PrintedLine {
  std::string replica;
  std::string text;
};

/// A process that outlived the main process of its replica.
struct LeftProcess {
  std::string replica;
  std::string command;  // "421 sleep 600"
};

/// A report of a trial with another tag, or without a number.
struct TriedReport {
  std::string where;  // "the metric file"
  std::string tag;
  std::string value;
};

/// Facts about a run that its event list does not have.
struct Traces {
  std::vector<TouchedFile> files = {};       // only if the run's files are watched
  std::vector<PrintedLine> raw_errors = {};  // lines of stderr that do not come from `logging`
  std::vector<LeftProcess> left_running = {};
  std::vector<TriedReport> tried_reports = {};
};

/// A run that was made, or skipped.
struct CheckRun {
  std::string skipped;  // why the run was not made; then the other members are empty
  std::vector<LaunchedReplica> launched = {};
  Evidence evidence = {};
  std::vector<ExploredFlaw> flaws = {};  // of an exploration
  size_t restarts_tried = 0;             // of an exploration
  std::string repeated_flags = {};       // further ones than the trainer's, which findings need
  size_t failures_tried = 0;             // those at which the program failed
  std::string not_all = {};              // why some restarts were not tried
  std::vector<std::string> not_compared = {};  // of an exploration
  Traces traces = {};
  bool has_module = false;  // the job's Python has the module that the output says it misses
  Json look = {};           // the answer of look_at_packages.py
  Duration took{0};

  bool succeeded() const { return skipped.empty() && evidence.state == "SUCCEEDED"; }
};

/// Whether the replicas of the run were machines, not processes of this host.
bool RanOnMachine(const CheckRun& run);

/// The trainer, and the runs that were made so far, by name.
struct CheckSession {
  CheckedTrainer trainer;
  std::map<std::string, CheckRun> runs;

  /// Returns a run that was made or skipped.
  const CheckRun& Run(const std::string& name) const { return runs.at(name); }
};

/// The plan of a run.
struct RunPlan {
  enum class How {
    kRun,      // the scenario runs on an emulator of its own
    kExplore,  // the explorer runs the scenario
    kLook,     // caip inspects the packages; nothing runs
  } how = How::kRun;
  Scenario scenario = {};
  bool on_machines = false;     // replicas are machines, unless the host or a setting forbids it
  bool needs_machines = false;  // skips the run if caip does not choose machines for it
  bool tf_config = true;        // false: replicas are started without the variable
  bool watches_files = false;   // records the files of this host that replicas touch
  std::string moved_to = {};  // the new host name, also a part of HOME and of the current directory
  std::string metric = {};    // replicas run as a trial with this tag
  std::optional<Duration> budget = {};  // kExplore
  int64_t points_max = 400;             // kExplore
  Json look = {};                       // kLook: the question to look_at_packages.py
  std::string skip = {};                // why the run cannot be made for this trainer
};

struct CheckRunKind {
  std::string name;                // "plain"
  std::string what;                // a description for people
  std::vector<std::string> after;  // the names of the runs that `plan` uses
  RunPlan (*plan)(const CheckSession& session);
};

/// The name of the run that repeats the plain run on a machine.
inline constexpr char kRunOnMachine[] = "on-machine";

/// All runs. Each run comes after those that it depends on.
const std::vector<CheckRunKind>& CheckRunKinds();
const CheckRunKind* FindCheckRun(std::string_view name);

}  // namespace caip::harness
