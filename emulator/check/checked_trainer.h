#pragma once
// The arguments of `caip check`, and the trainer that they describe.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "emulator/app/settings/emulator_flags.h"
#include "emulator/scenario/run_settings.h"
#include "harness/check/check_run.h"

namespace caip::check {

/// The arguments: the job, and how its runs are made and checked.
struct TrainerRequest {
  client::SubmitRequest job;
  /// The command line before `--`. If it describes a job of Vertex AI, `read_words` parses that
  /// part.
  std::vector<std::string> words = {};
  scenario::ReadJobWords read_words = nullptr;
  std::vector<std::string> command = {};   // instead of a job: any command
  std::vector<Path> out_directories = {};  // of it: --out-dir DIR, repeatable
  int64_t ranks = 1;                       // of it: --torchrun N
  app::EmulatorFlags emulator;
  std::vector<std::string> buckets;                 // --bucket NAME=FOLDER, repeatable
  std::string step_regex;                           // --step-regex REGEX; "" JSON lines
  std::string metric;                               // --metric TAG; "" the job's own
  Duration run_timeout = std::chrono::minutes(10);  // --run-timeout 10m
  Duration stall = std::chrono::minutes(1);         // --stall 1m
  Duration vm_lifetime = std::chrono::hours(4);     // --vm-lifetime 4h
  std::optional<Duration> real_duration;            // --real-duration 12h
  bool deep = false;                                // --deep
};

/// The trainer, and the settings of the emulators on which it runs.
struct CheckedJob {
  harness::CheckedTrainer trainer;
  scenario::RunSettings settings;
  std::string warning = {};              // about the packages; "": none
  Path volumes = {};                     // copies of the volumes of a command; "": there are none
  std::vector<Path> other_volumes = {};  // that the command writes and its user did not name
  /// The run of a command that failed in it. It is the plain run, and no other run is possible.
  std::optional<harness::CheckRun> failed = {};
};

/// Builds the trainer's packages into `workshop` and merges the job as a submit does. Errors are
/// about the arguments and have the client's texts.
Result<CheckedJob> MakeCheckedJob(const TrainerRequest& request, const Path& workshop);

/// The same for a command. Runs it once, and writes its scenario to `findings`, unless it fails.
/// Fails with kFailedPrecondition if its program cannot be started. `interrupted` ends that run.
Result<CheckedJob> MakeCheckedCommand(const TrainerRequest& request, const Path& workshop,
                                      const Path& findings, std::function<bool()> interrupted);

}  // namespace caip::check
