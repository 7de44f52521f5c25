#pragma once
// Installs the packages of jobs into Python environments.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/ports.h"
#include "host/python/environment_cache.h"
#include "host/python/interpreters.h"
#include "host/python/packages_pip.h"

namespace caip::host {

/// The source of packages: the emulator's buckets. Any thread, several at once.
class PackageSource {
 public:
  struct Facts {
    // a digest of the bytes, such as "md5:..."; "": unknown until they are read
    std::string digest;
  };
  virtual ~PackageSource() = default;
  virtual Result<Facts> Describe(const std::string& uri) = 0;
  /// Writes the object's bytes to a new file.
  virtual Status Fetch(const std::string& uri, const Path& destination) = 0;
};

struct PackagerOptions {
  Path state;
  PipSettings pip;
  Variables own_environment;  // OwnEnvironment(): proxies and pip settings come from there
  bool strict_runtime = false;
  size_t environments_kept = 20;
  int builds_at_once = 2;
  ArchiveLimits limits = {};
  std::chrono::seconds pip_line_each{10};  // a long installation shows a line so often
};

class PackageBuild;
struct PackageLine;

/// Installs packages with pip. One thread answers requests from the cache, others install. Runs
/// that need the same environment at the same time share one installation, and each gets its
/// output.
class PackagerOnHost final : public engine::Packager {
 public:
  /// The references must outlive it.
  PackagerOnHost(PackagerOptions options, Interpreters& interpreters, PackageSource& source,
                 engine::LogSink& log, Clock& clock);
  /// Stops installations; pending callbacks are never called.
  ~PackagerOnHost() override;

  using Done = std::function<void(engine::Prepared)>;
  /// Calls `done` on a thread of the packager. `done` must not call the packager.
  void Prepare(engine::PrepareRequest request, Done done) override;
  /// Also ends the use of an environment by a run that has ended, so that it may be deleted.
  void Abandon(const engine::RunKey& run) override;

 private:
  struct Order;
  using OrderPtr = std::shared_ptr<Order>;

  void Dispatch(std::stop_token stop);
  void Install(std::stop_token stop);
  void Handle(const OrderPtr& order);
  Result<std::vector<PackageIdentity>> Identify(const engine::PrepareRequest& request);
  struct EnvironmentName {
    std::string key;
    std::string family;  // EnvironmentContents::family
  };
  void Attach(const OrderPtr& order, const EnvironmentName& name,
              std::vector<PackageIdentity> packages, const Interpreter& interpreter);
  void AnswerFromCache(const OrderPtr& order, const std::string& key);
  void Finish(const std::shared_ptr<PackageBuild>& build);
  void Refuse(const OrderPtr& order, const std::string& refusal);
  void Answer(const OrderPtr& order, engine::Prepared prepared);
  engine::Prepared EnvironmentOf(const OrderPtr& order, const std::string& key) const;
  std::vector<std::string> PackagesOf(const std::vector<std::string>& uris,
                                      const std::string& key) const;
  void Say(const OrderPtr& order, engine::Severity severity, const std::string& message) const;
  void Say(const OrderPtr& order, const PackageLine& line) const;

  const PackagerOptions options_;
  Interpreters& interpreters_;
  PackageSource& source_;
  engine::LogSink& log_;
  Clock& clock_;
  EnvironmentCache cache_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<OrderPtr> orders_;                                  // guarded by mutex_
  std::map<engine::RunKey, OrderPtr> open_;                      // unanswered; guarded by mutex_
  std::map<std::string, std::shared_ptr<PackageBuild>> builds_;  // by key; guarded by mutex_
  std::deque<std::shared_ptr<PackageBuild>> waiting_builds_;     // guarded by mutex_
  std::set<std::string> active_;  // keys being built at this moment; guarded by mutex_
  bool stopping_ = false;         // guarded by mutex_
  // Dispatch, and an Install for each build so far, up to builds_at_once. Dispatch adds them,
  // unless stopping_. Last, because they use all other members.
  std::vector<std::jthread> threads_;
};

}  // namespace caip::host
