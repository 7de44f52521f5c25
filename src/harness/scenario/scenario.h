#pragma once
// A scenario: a job, the delays of the service, what goes wrong and when, and what must hold after
// it. docs/scenarios.md is the format; scenarios/schema.json the same for editors.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/result.h"
#include "harness/expectations/expectation.h"
#include "harness/expectations/twin_comparison.h"
#include "harness/faults/fault.h"
#include "run/queueing.h"

namespace caip::harness {

/// How a trainer sees storage: objects over HTTP, or files below a directory.
enum class Semantics { kObject, kPosix };

/// A bucket as it is before the job.
struct BucketContents {
  std::optional<Path> from;                    // a directory whose files are its objects
  std::map<std::string, std::string> objects;  // and these
};

/// `mood` of the format.
struct ServiceDelays {
  run::DelayModel queue_delay = run::NoDelay{};
  run::DelayModel provisioning_delay = run::NoDelay{};
  run::DelayModel restart_delay = run::NoDelay{};
  std::optional<Duration> vm_lifetime;  // mean of an exponential law, emulated
};

struct Limits {
  Duration wall = std::chrono::seconds(60);
  Duration no_progress = std::chrono::seconds(10);  // of steps, changes in storage, boots
  int64_t log_lines = 100'000;
  Duration grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
};

struct Scenario {
  Path file;
  std::string description;
  uint64_t seed = 1;
  Semantics semantics = Semantics::kObject;
  std::vector<std::string> needs;  // abilities of the host beyond those of its faults

  // The job: arguments of gcloud, a trainingInput, or a command that all replicas run.
  Path job_folder;      // relative paths in `submit` begin there
  Path trainer_folder;  // those in `command` there
  std::vector<std::string> submit;
  Json training_input;  // null without one
  std::vector<std::string> command;
  std::vector<std::string> arguments;
  // URI -> command, set by code only.
  std::map<std::string, std::vector<std::string>> images = {};
  bool own_ports = false;  // TF_CONFIG names localhost and ports, not addresses

  std::map<std::string, BucketContents> buckets;
  ServiceDelays mood;
  Limits limits;
  std::string step_regex;  // of trainers that report no JSON; "" none
  std::vector<Fault> faults;
  std::vector<std::shared_ptr<const Expectation>> expectations;
  TwinComparison comparison;           // as the expectations have it
  std::vector<std::string> shows_bug;  // assertions that must fail; empty: none may

  /// True if an expectation compares the run with one without faults.
  bool needs_twin() const;
};

/// Reports all mistakes at once, each with line, column and a caret. Reads the files that the
/// scenario `extends`.
Result<Scenario> ReadScenario(const Path& file);

/// The format as a JSON schema (draft 2020-12).
Json ScenarioSchema();

/// Like ReadScenario(file) for a file with this text.
Result<Scenario> ReadScenarioText(const std::string& text, const Path& file);

}  // namespace caip::harness
