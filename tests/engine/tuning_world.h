#pragma once
// What tests of tuning jobs share: a small world whose trials report a metric.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/a_tuning_job.h"

namespace caip::engine {

inline const run::ReplicaId kTrialMaster{"master", 0};

/// The number of the trial that the launch belongs to.
inline int TrialOf(const ReplicaLaunch& launch) { return std::stoi(launch.key.run.trial); }

/// A world in which the master of trial n runs for ten seconds and reports n/10 in the fifth.
struct Tuning {
  explicit Tuning(EngineOptions options = {}) : world(std::move(options)) {
    world.launcher.script = [this](const ReplicaLaunch& launch) {
      launches.push_back(launch);
      most_live = std::max(most_live, world.launcher.live() + 1);
      return script ? script(launch) : Usual(launch);
    };
    world.Boot();
  }
  static Script Usual(const ReplicaLaunch& launch) {
    Script does;
    if (launch.key.replica != kTrialMaster) does.run_for = kForever;
    if (launch.metrics) does.reports = {ReportAt(5, 100, 0.1 * TrialOf(launch))};
    return does;
  }
  ml::Job Run(ml::Job job) {
    const std::string id = job.job_id;
    EXPECT_TRUE(world.Submit(std::move(job)).ok());
    world.RunUntilIdle();
    return world.JobOf(id);
  }
  std::vector<std::string> TrialIds(const std::string& id) {
    std::vector<std::string> ids;
    const ml::Job job = world.JobOf(id);
    for (const auto& trial : job.training_output->trials) ids.push_back(trial.trial_id);
    return ids;
  }
  const ml::HyperparameterOutput& Trial(const ml::Job& job, const std::string& id) {
    for (const auto& trial : job.training_output->trials) {
      if (trial.trial_id == id) return trial;
    }
    static const ml::HyperparameterOutput none;
    ADD_FAILURE() << "no trial " << id;
    return none;
  }
  std::vector<TrialRecord> Kept(const std::string& job) { return *world.store.Trials("p", job); }
  std::vector<double> Steps(const std::string& job, size_t trial) {
    std::vector<double> steps;
    const std::vector<TrialRecord> kept = Kept(job);
    for (const Report& report : kept.at(trial - 1).reports) {
      steps.push_back(static_cast<double>(report.step));
    }
    return steps;
  }

  std::function<Script(const ReplicaLaunch&)> script;
  std::vector<ReplicaLaunch> launches;
  size_t most_live = 0;
  Instant reported = Instant::max();  // when reports come, if a test needs it
  SimulatedEngine world;
};

}  // namespace caip::engine
