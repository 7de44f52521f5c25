#pragma once
// The arguments of `caip check`, and the trainer that they describe.

#include <chrono>
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
};

/// Builds the trainer's packages into `workshop` and merges the job as a submit does. Errors are
/// about the arguments and have the client's texts.
Result<CheckedJob> MakeCheckedJob(const TrainerRequest& request, const Path& workshop);

}  // namespace caip::check
