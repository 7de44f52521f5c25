#pragma once
// What the words of `caip check` say about the trainer.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "client/submit_flags.h"
#include "emulator/app/settings/emulator_flags.h"

namespace caip::check {

/// The job, and how its runs are made and judged.
struct TrainerRequest {
  client::SubmitRequest job;
  app::EmulatorFlags emulator;
  std::vector<std::string> buckets;                 // --bucket NAME=FOLDER, repeatable
  std::string step_regex;                           // --step-regex REGEX; "" JSON lines
  std::string metric;                               // --metric TAG; "" none but the job's
  Duration run_timeout = std::chrono::minutes(10);  // --run-timeout 10m
  Duration stall = std::chrono::minutes(1);         // --stall 1m
  Duration vm_lifetime = std::chrono::hours(4);     // --vm-lifetime 4h
  std::optional<Duration> real_duration;            // --real-duration 12h
  bool deep = false;                                // --deep
};

}  // namespace caip::check
