#pragma once
// Working fakes of the engine's ports: small worlds that behave, not mocks that expect.

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "tests/support/hand_clock.h"
#include "tests/support/memory_store.h"

namespace caip::engine {

/// What one start of a replica does.
struct Script {
  Duration start_after{0};
  Duration run_for = std::chrono::seconds(10);  // kForever: until it is stopped
  int exit_code = 0;
  int signal = 0;
  bool out_of_memory = false;
  std::string traceback = {};
  std::string start_error = {};  // then nothing starts at all
  /// How long it takes to obey SIGTERM; kForever: it does not.
  Duration obeys_in = std::chrono::milliseconds(20);
  int exit_code_when_told = -1;  // -1: it dies of SIGTERM
};
inline constexpr Duration kForever = Duration::max();

/// Replicas that follow a script, in the world's time.
class ScriptedLauncher final : public Launcher {
 public:
  explicit ScriptedLauncher(Agenda& agenda) : agenda_(agenda) {}

  std::function<Script(const ReplicaLaunch&)> script = [](const ReplicaLaunch&) {
    return Script{};
  };
  std::function<void(const ReplicaLaunch&)> on_launch;

  std::string BootDisk(const ReplicaKey& key) const override {
    return "/disks/" + key.run.project + "/" + key.run.job_id + "/" + spec::TaskName(key.replica);
  }
  void Launch(ReplicaLaunch launch, Listener listener) override {
    if (on_launch) on_launch(launch);
    const ReplicaKey key = launch.key;
    const Script does = script(launch);
    live_.emplace(key, Living{does, std::move(listener)});
    ++launches_;
    if (!does.start_error.empty()) {
      agenda_.In(does.start_after, [=, this] { End(key, 1, 0, false); });
      return;
    }
    agenda_.In(does.start_after, [=, this] {
      if (const auto found = live_.find(key); found != live_.end()) {
        found->second.listener.on_started(key);
      }
    });
    if (does.run_for == kForever) return;
    agenda_.In(does.start_after + does.run_for,
               [=, this] { End(key, does.exit_code, does.signal, does.out_of_memory); });
  }
  void Signal(const ReplicaKey& key, int) override {
    const auto found = live_.find(key);
    if (found == live_.end() || found->second.does.obeys_in == kForever) return;
    const int code = found->second.does.exit_code_when_told;
    agenda_.In(found->second.does.obeys_in,
               [=, this] { End(key, code < 0 ? 0 : code, code < 0 ? SIGTERM : 0, false); });
  }
  void Kill(const ReplicaKey& key) override {
    agenda_.In(std::chrono::milliseconds(1), [=, this] { End(key, 0, SIGKILL, false); });
  }
  void Freeze(const ReplicaKey&, std::function<void()> frozen) override { frozen(); }
  void Thaw(const ReplicaKey&) override {}
  void Discard(const RunKey& run) override { discarded_.insert(run); }

  /// The emulator was killed: nothing of it lives.
  void LoseAll() { live_.clear(); }
  std::vector<ReplicaKey> Live() const {
    std::vector<ReplicaKey> keys;
    for (const auto& [key, living] : live_) keys.push_back(key);
    return keys;
  }
  bool AnyLives(const RunKey& run) const {
    const auto first = live_.lower_bound({run, {}, 0});
    return first != live_.end() && first->first.run == run;
  }
  size_t launches() const { return launches_; }
  bool Discarded(const RunKey& run) const { return discarded_.contains(run); }

 private:
  struct Living {
    Script does;
    Listener listener;
  };
  void End(const ReplicaKey& key, int code, int signal, bool out_of_memory) {
    const auto found = live_.find(key);
    if (found == live_.end()) return;
    const Living was = std::move(found->second);
    live_.erase(found);
    was.listener.on_exit(
        {key, code, signal, out_of_memory, was.does.traceback, was.does.start_error});
  }

  Agenda& agenda_;
  std::map<ReplicaKey, Living> live_;
  std::set<RunKey> discarded_;
  size_t launches_ = 0;
};

/// Installs in the world's time.
class ScriptedPackager final : public Packager {
 public:
  explicit ScriptedPackager(Agenda& agenda) : agenda_(agenda) {}
  Duration takes{0};
  std::function<std::optional<Prepared::Failure>(const PrepareRequest&)> fails;

  void Prepare(PrepareRequest request, std::function<void(Prepared)> done) override {
    const uint64_t number = ++numbers_;
    working_[request.run] = number;
    requests_.push_back(request);
    agenda_.In(takes, [=, this] {
      const auto found = working_.find(request.run);
      if (found == working_.end() || found->second != number) return;
      working_.erase(found);
      Prepared prepared{request.run, request.attempt, "/envs/e1/bin/python3",
                        {},          "/envs/e1/bin",  {}};
      if (fails) prepared.failure = fails(request);
      done(std::move(prepared));
    });
  }
  void Abandon(const RunKey& run) override { working_.erase(run); }
  size_t working() const { return working_.size(); }
  const std::vector<PrepareRequest>& requests() const { return requests_; }
  void LoseAll() { working_.clear(); }

 private:
  Agenda& agenda_;
  std::map<RunKey, uint64_t> working_;
  std::vector<PrepareRequest> requests_;
  uint64_t numbers_ = 0;
};

/// Lends out of a stock of devices by type.
class CountedDevices final : public DeviceBinder {
 public:
  std::map<std::string, int64_t> stock;
  bool never = false;  // what exceeds the stock is refused, instead of waiting

  DeviceAnswer Bind(const RunKey& run, const std::vector<spec::ReplicaId>& replicas,
                    const std::vector<DeviceRequest>& requests) override {
    std::map<std::string, int64_t> wanted;
    for (const DeviceRequest& request : requests) wanted[request.type] += request.count;
    for (const auto& [type, count] : wanted) {
      if (Free(type) >= count) continue;
      if (never)
        return {DeviceAnswer::Kind::kNever,
                {},
                {},
                "There are not " + std::to_string(count) + " of " + type + "."};
      return {DeviceAnswer::Kind::kWait, {}, {}, ""};
    }
    lent_[run] = wanted;
    DeviceAnswer answer;
    for (spec::ReplicaId replica : replicas) {
      answer.environment.emplace_back(replica, Environment{{"CUDA_VISIBLE_DEVICES", ""}});
    }
    return answer;
  }
  void Release(const RunKey& run) override { lent_.erase(run); }
  bool Holds(const RunKey& run) const { return lent_.contains(run); }
  size_t lent() const { return lent_.size(); }
  void LoseAll() { lent_.clear(); }

 private:
  int64_t Free(const std::string& type) const {
    const auto found = stock.find(type);
    int64_t free = found == stock.end() ? 0 : found->second;
    for (const auto& [run, counts] : lent_) {
      if (const auto used = counts.find(type); used != counts.end()) free -= used->second;
    }
    return free;
  }
  std::map<RunKey, std::map<std::string, int64_t>> lent_;
};

/// 127.x.y.z:2222, never the same for two runs at a time.
class NumberedAddresses final : public AddressLender {
 public:
  Result<std::vector<std::string>> Lend(const RunKey& run, size_t count,
                                        const std::vector<std::string>& kept) override {
    std::vector<std::string> addresses = kept;
    for (const std::string& address : kept) {
      if (in_use_.contains(address)) addresses.clear();
    }
    while (addresses.size() < count) {
      ++last_;
      addresses.push_back("127." + std::to_string(last_ >> 16 & 255) + "." +
                          std::to_string(last_ >> 8 & 255) + "." + std::to_string(last_ & 255) +
                          ":2222");
    }
    in_use_.insert(addresses.begin(), addresses.end());
    lent_[run] = addresses;
    return addresses;
  }
  void Release(const RunKey& run) override {
    for (const std::string& address : lent_[run]) in_use_.erase(address);
    lent_.erase(run);
  }
  bool Holds(const RunKey& run) const { return lent_.contains(run); }
  size_t lent() const { return lent_.size(); }
  void LoseAll() { lent_.clear(), in_use_.clear(); }

 private:
  std::map<RunKey, std::vector<std::string>> lent_;
  std::set<std::string> in_use_;
  uint32_t last_ = 1;
};

/// Buckets and objects by name; what is not in the sets is not there.
class ListedStorage final : public StorageProbe {
 public:
  std::set<std::string> buckets = {"bucket"};
  std::set<std::string> read_only;
  std::set<std::string> objects = {"trainer-0.1.tar.gz"};

  bool BucketExists(const std::string& bucket) const override { return buckets.contains(bucket); }
  bool Writable(const std::string& bucket, const std::string&) override {
    return !read_only.contains(bucket);
  }
  bool ObjectReadable(const std::string&, const std::string& object) const override {
    return objects.contains(object);
  }
};

/// A valid job: Python, CUSTOM, with so many workers and parameter servers.
inline spec::Job AJob(const std::string& id, int workers = 2, int servers = 1) {
  spec::Job job;
  job.job_id = id;
  spec::TrainingInput& input = job.training_input.emplace();
  input.scale_tier = "CUSTOM";
  input.master.machine_type = "n1-standard-4";
  if (workers > 0) input.worker = {"n1-standard-4", {}, workers};
  if (servers > 0) input.parameter_server = {"n1-standard-4", {}, servers};
  input.package_uris = {"gs://bucket/trainer-0.1.tar.gz"};
  input.python_module = "trainer.task";
  input.args = {"--epochs", "2"};
  input.region = "us-central1";
  input.job_dir = "gs://bucket/out";
  input.runtime_version = "2.11";
  input.python_version = "3.7";
  return job;
}

}  // namespace caip::engine
