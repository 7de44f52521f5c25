#pragma once
// An engine on its own thread, and parts of the world that a test controls.

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/engine.h"
#include "ml/schema/job_json.h"
#include "tests/support/a_tuning_job.h"

namespace caip::engine {

/// Replicas that start at once and end when the test says so, or when they are stopped.
class ObedientLauncher final : public Launcher {
 public:
  Result<run::Program> Resolve(const run::Program& program) const override {
    const auto* image = std::get_if<run::ContainerImage>(&program);
    if (!image || image->uri == "gcr.io/p/known:1") return program;
    return Error{Code::kFailedPrecondition, "no command for " + image->uri};
  }
  void Launch(ReplicaLaunch launch, Listener listener) override {
    listener.on_started(launch.key);
    std::lock_guard lock(mutex_);
    if (ends_at_once_) {
      listener.on_exit({launch.key, 0, 0, false, "", ""});
    } else {
      live_.emplace(launch.key, std::move(listener));
    }
  }
  void Signal(const ReplicaKey& key, int signal) override { End(key, signal); }
  void Kill(const ReplicaKey& key) override { End(key, SIGKILL); }
  void Discard(const RunKey&) override {}
  void EndAtOnce() {
    std::lock_guard lock(mutex_);
    ends_at_once_ = true;
  }
  size_t live() const {
    std::lock_guard lock(mutex_);
    return live_.size();
  }

 private:
  void End(const ReplicaKey& key, int signal) {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    found->second.on_exit({key, 0, signal, false, "", ""});
    live_.erase(found);
  }
  mutable std::mutex mutex_;
  std::map<ReplicaKey, Listener> live_;
  bool ends_at_once_ = false;
};

class ReadyPackager final : public Packager {
 public:
  void Prepare(PrepareRequest request, std::function<void(Prepared)> done) override {
    done({request.run, request.attempt, "/bin/python3", {}, "", {}});
  }
  void Abandon(const RunKey&) override {}
};

/// Thinks on a thread of its own, for each thought, once it may.
class PatientExecutor final : public Executor {
 public:
  ~PatientExecutor() override {
    LetThink();
    for (std::thread& thread : threads_) thread.join();
  }
  void Do(std::function<void()> work) override {
    std::lock_guard lock(mutex_);
    threads_.emplace_back([this, work = std::move(work)] {
      {
        std::unique_lock waiting(mutex_);
        ++thoughts_;
        changed_.notify_all();
        changed_.wait(waiting, [this] { return may_; });
      }
      work();
    });
  }
  void LetThink() {
    std::lock_guard lock(mutex_);
    may_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool AwaitThought() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [this] { return thoughts_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
  int thoughts_ = 0;
  bool may_ = false;
};

inline Json Sent(const ml::Job& job) { return ml::ToStoredJson(job); }

/// An engine on leaping time, and a way to wait for what it saves.
struct Service {
  explicit Service(EngineOptions given = {}) : options(std::move(given)) {}
  Engine& Start() {
    watch = {};  // of the engine before
    engine = std::make_unique<Engine>(
        options, EnginePorts{launcher, packager, devices, addresses, store, log, api, executor},
        clock);
    watch = engine->Watch([this](const run::Job& job) {
      std::lock_guard lock(mutex);
      states[job.key.job_id] = job.state;
      changed.notify_all();
    });
    EXPECT_TRUE(engine->Start().ok());
    return *engine;
  }
  [[nodiscard]] bool Await(const std::string& id, run::JobState state) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::minutes(1), [&] { return states[id] == state; });
  }

  EngineOptions options;
  LeapClock clock;
  ObedientLauncher launcher;
  ReadyPackager packager;
  CountedDevices devices;
  NumberedAddresses addresses;
  MemoryStore store;
  MemoryLog log;
  FakeStorage storage;
  ml::TrainingApi api{{}, storage};
  PatientExecutor executor;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, run::JobState> states;
  std::unique_ptr<Engine> engine;
  Subscription watch;
};

}  // namespace caip::engine
