#pragma once
// The runs of `caip check`: a handful of runs of one trainer that several checks look at. A new run
// is one function and one row in check_runs.cc.

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
  Scenario job;                // `training_input` is complete; no faults, no expectations
  bool is_container = false;   // a mapped image rather than a Python module
  std::optional<Path> source;  // --package-path: the folder of the package in the source tree
  std::vector<Path> packages;  // what is installed: archives of this host
  Duration vm_lifetime = std::chrono::hours(4);  // of a machine
  std::optional<Duration> real_duration;         // that the real job is expected to run
  bool deep = false;                             // --deep: the whole explorer
  std::string metric = {};                       // --metric: what a trial would report; "" none
  Path here;                                     // the current directory of the command
  Path home;                                     // the user's home; "" unknown
  Path workshop;                                 // the folder of all runs
};

/// A replica as it was started.
struct LaunchedReplica {
  std::string replica;  // "master-0"
  int boot = 1;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string boot_disk = {};
  std::string directory = {};  // its current directory

  /// "" where it is not set.
  std::string Variable(std::string_view name) const;
};

/// What the explorer found in a trainer.
struct ExploredFlaw {
  std::string cause;
  std::string point;  // at which the machine went away
  std::string expected;
  std::string found;
  std::string scenario;      // the file that shows it again
  bool is_doubtful = false;  // may be harmless
};

/// A file of this host that a replica opened, by its last name. Not those of the buckets.
struct TouchedFile {
  std::string replica;  // that touched it last
  std::string path;
  bool was_there = false;  // before the replica started
  bool read = false;       // before the replica wrote it, if it did
  bool written = false;
  bool read_again = false;  // after it was last written
  uint64_t bytes = 0;       // at the replica's end; 0: empty or deleted
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

/// What a run left behind beside its event list.
struct Traces {
  std::vector<TouchedFile> files = {};       // only of runs whose files are watched
  std::vector<PrintedLine> raw_errors = {};  // came from stderr and not from `logging`
  std::vector<LeftProcess> left_running = {};
  std::vector<TriedReport> tried_reports = {};
};

/// A run that was made, or skipped.
struct CheckRun {
  std::string skipped;  // why it was not made; the rest is empty, then
  std::vector<LaunchedReplica> launched = {};
  Evidence evidence = {};
  std::vector<ExploredFlaw> flaws = {};        // of an exploration
  size_t restarts_tried = 0;                   // of an exploration
  std::string not_all = {};                    // why not all restarts were tried
  std::vector<std::string> not_compared = {};  // of an exploration
  Traces traces = {};
  Json look = {};  // the answer of look_at_packages.py
  Duration took{0};

  bool succeeded() const { return skipped.empty() && evidence.state == "SUCCEEDED"; }
};

/// The trainer, and the runs that were made so far, by name.
struct CheckSession {
  CheckedTrainer trainer;
  std::map<std::string, CheckRun> runs;

  /// The run must have been made or skipped.
  const CheckRun& Run(const std::string& name) const { return runs.at(name); }
};

/// How a run is to be made.
struct RunPlan {
  enum class How {
    kPlay,     // the scenario, on an emulator of its own
    kExplore,  // the explorer, with the scenario
    kLook,     // nothing runs: the packages are inspected
  } how = How::kPlay;
  Scenario scenario = {};
  bool tf_config = true;                // false: replicas are started without the variable
  bool watches_files = false;           // of this host
  std::string moved_to = {};            // the host's name; part of HOME and current directory
  std::string metric = {};              // replicas run as a trial with this tag
  std::optional<Duration> budget = {};  // kExplore
  int64_t points_max = 400;             // kExplore
  Json look = {};                       // kLook: the question to look_at_packages.py
  std::string skip = {};                // why the run cannot be made for this trainer
};

struct CheckRunKind {
  std::string name;                // "plain"
  std::string what;                // a sentence for people
  std::vector<std::string> after;  // runs that its plan looks at
  RunPlan (*plan)(const CheckSession& session);
};

/// In an order in which each run comes after those that it depends on.
const std::vector<CheckRunKind>& CheckRunKinds();
const CheckRunKind* FindCheckRun(std::string_view name);

}  // namespace caip::harness
