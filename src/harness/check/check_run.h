#pragma once
// The course of `caip check`: a handful of runs of one trainer that several checks look at.
// One run, one file below runs/, one line in check_runs.cc.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/traces.h"
#include "harness/expectations/expectation.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {

/// The trainer under test, as it was given.
struct CheckedTrainer {
  Scenario job;                // `training_input` is complete; no faults, no expectations
  bool is_container = false;   // a mapped image rather than a Python module
  std::optional<Path> source;  // --package-path: the folder of the package in the source tree
  std::vector<Path> packages;  // what is installed: archives of this host
  Duration vm_lifetime = std::chrono::hours(4);  // of a machine, until it is taken away
  std::optional<Duration> real_duration;         // that the real job is expected to run
  bool deep = false;                             // --deep: the whole explorer
  std::string metric = {};                       // --metric: what a trial would report; "" none
  Path here;                                     // the current directory of who checks
  Path home;                                     // and the home; "" unknown
  Path workshop;                                 // below which all runs are
};

/// A replica as it was started.
struct LaunchedReplica {
  std::string replica;  // "master-0"
  int boot = 1;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string boot_disk = {};
  std::string directory = {};  // that it was started in

  /// "" where it is not set.
  std::string Variable(std::string_view name) const;
};

/// What the explorer found in a trainer.
struct ExploredFlaw {
  std::string cause;
  std::string moment;  // at which the machine went
  std::string expected;
  std::string found;
  std::string scenario;      // the file that shows it again
  bool is_doubtful = false;  // perhaps harmless
};

/// A run of the course, made.
struct CourseRun {
  std::string skipped;  // why it was not made; the rest is empty, then
  std::vector<LaunchedReplica> launched = {};
  Evidence evidence = {};
  std::vector<ExploredFlaw> flaws = {};        // of an exploration
  size_t restarts_tried = 0;                   // likewise
  std::string not_all = {};                    // why not all restarts were tried
  std::vector<std::string> not_compared = {};  // of an exploration: what says nothing of restarts
  Traces traces = {};
  Json look = {};  // of a look at the packages (look_at_packages.py)
  Duration took{0};

  bool succeeded() const { return skipped.empty() && evidence.state == "SUCCEEDED"; }
};

/// The runs that were made so far, by name.
struct Course {
  CheckedTrainer trainer;
  std::map<std::string, CourseRun> runs;

  /// It was made, or skipped.
  const CourseRun& Of(const std::string& name) const { return runs.at(name); }
};

/// How a run of the course is to be made.
struct RunPlan {
  enum class How {
    kPlay,     // the scenario, on an emulator of its own
    kExplore,  // the explorer, with it
    kLook,     // nothing runs: the packages are looked at
  } how = How::kPlay;
  Scenario scenario = {};
  bool tf_config = true;                // false: replicas are started without the variable
  bool watches_files = false;           // of this host
  std::string moved_to = {};            // the host's name; part of HOME and current directory
  std::string metric = {};              // replicas are told that they are a trial with this tag
  std::optional<Duration> budget = {};  // kExplore
  int64_t points_max = 400;             // kExplore
  Json look = {};                       // kLook: what look_at_packages.py is told
  std::string skip = {};                // why it cannot be made for this trainer
};

struct CourseRunKind {
  std::string name;                // "plain"
  std::string what;                // a sentence for people
  std::vector<std::string> after;  // runs that its plan looks at
  RunPlan (*plan)(const Course& course);
};

/// In an order in which each stands behind those that it is after.
const std::vector<CourseRunKind>& CourseRunKinds();
const CourseRunKind* FindCourseRun(std::string_view name);

/// The longest time without progress (progress.h).
Duration LongestQuiet(const CourseRun& run);
/// The job as it was given, as a plan. It may be quiet twice as long as the plain run was, if that
/// was made and is more than the trainer's own limit.
RunPlan AsGiven(const Course& course);
/// A plan that is not made, and why.
RunPlan NotMade(std::string why);
/// Why nothing that needs a job that succeeds in peace can be made; "" it can.
std::string NoPeace(const Course& course);

// One function a file.
CourseRunKind PlainRun();
CourseRunKind WithoutTfConfigRun();
CourseRunKind ChiefClusterRun();
CourseRunKind MasterClusterRun();
CourseRunKind UnknownFlagRun();
CourseRunKind RefusedWritesRun();
CourseRunKind MaintenanceRun();
CourseRunKind RestartsRun();
CourseRunKind PackagesRun();
CourseRunKind MovedRun();

}  // namespace caip::harness
