#include "host/python/packages.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "host/python/packages_build.h"
#include "host/python/python_errors.h"
#include "host/python/python_hook.h"
#include "host/store/scratch.h"
#include "run/texts.h"

namespace caip::host {

using engine::Prepared;
using engine::PrepareRequest;
using engine::RunKey;
using engine::Severity;

/// A request that Prepare has not answered yet.
struct PackagerOnHost::Order {
  PrepareRequest request;
  Done done;
  Interpreter interpreter = {};  // set before the order is attached to a build
  std::mutex mutex;
  bool is_over = false;                           // answered or abandoned; guarded by mutex
  std::shared_ptr<PackageBuild> build = nullptr;  // guarded by PackagerOnHost::mutex_
};

namespace {

constexpr const char* kUnchanged = "The packages are unchanged: their environment is used again.";

constexpr size_t kPthBytesMax = 64u << 10;

// The interpreter with its libraries, and the packages of its virtual environment, also those that
// were installed there to be edited in place.
std::vector<std::string> NeedsOf(const Interpreter& interpreter) {
  std::vector<std::string> needs = {interpreter.executable.parent_path().parent_path().string()};
  if (interpreter.parent_packages.empty()) return needs;
  needs.push_back(interpreter.parent_packages);
  std::error_code error;
  for (std::filesystem::directory_iterator at(interpreter.parent_packages, error), end;
       !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".pth") continue;
    const Result<std::string> text = ReadFileUpTo(at->path(), kPthBytesMax);
    if (!text.ok()) continue;
    for (const std::string& line : Split(*text, '\n')) {
      if (line.starts_with('/')) needs.emplace_back(Trim(line));
    }
  }
  return needs;
}

std::string FileName(const std::string& uri) { return uri.substr(uri.rfind('/') + 1); }

Result<std::string> DigestFile(const Path& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return "sha256:" + Sha256Hex(bytes);
}

}  // namespace

PackagerOnHost::PackagerOnHost(PackagerOptions options, Interpreters& interpreters,
                               PackageSource& source, engine::LogSink& log, Clock& clock)
    : options_(std::move(options)),
      interpreters_(interpreters),
      source_(source),
      log_(log),
      clock_(clock),
      cache_(options_.state / "environments", options_.environments_kept) {
  threads_.emplace_back([this](std::stop_token stop) { Dispatch(stop); });
}

PackagerOnHost::~PackagerOnHost() {
  std::vector<RunKey> runs;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [run, order] : open_) runs.push_back(run);
    stopping_ = true;
  }
  for (const RunKey& run : runs) Abandon(run);
  for (std::jthread& thread : threads_) thread.request_stop();
}

void PackagerOnHost::Prepare(PrepareRequest request, Done done) {
  auto order = std::make_shared<Order>();
  order->request = std::move(request);
  order->done = std::move(done);
  std::lock_guard lock(mutex_);
  open_[order->request.run] = order;
  orders_.push_back(std::move(order));
  changed_.notify_all();
}

void PackagerOnHost::Abandon(const RunKey& run) {
  OrderPtr order;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = open_.find(run); found != open_.end()) {
      order = found->second;
      open_.erase(found);
      if (order->build && order->build->Unwatch(run)) {
        order->build->stop().request_stop();
        builds_.erase(order->build->plan().key);  // the next request for it starts a new build
      }
    }
  }
  if (order) {
    std::lock_guard lock(order->mutex);
    order->is_over = true;
  }
  cache_.Unuse(run);
}

void PackagerOnHost::Dispatch(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !orders_.empty(); })) {
    const OrderPtr order = std::move(orders_.front());
    orders_.pop_front();
    lock.unlock();
    Handle(order);
    lock.lock();
  }
}

void PackagerOnHost::Handle(const OrderPtr& order) {
  const PrepareRequest& request = order->request;
  auto choice = interpreters_.Choose({request.software_version, request.python_version,
                                      options_.strict_runtime, request.is_python_default});
  if (!choice.ok()) return Refuse(order, choice.error().message);
  const auto write = [&](Severity severity, const std::string& text) {
    if (text.empty()) return;
    log_.Write({{request.run, std::string(run::kServiceTask), severity, clock_.Now(), text}});
  };
  write(Severity::kWarning, choice->warning);
  write(Severity::kInfo, choice->note);
  order->interpreter = choice->interpreter;
  auto packages = Identify(request);
  if (!packages.ok()) {
    Prepared prepared{request.run, request.attempt, "", {}, "", {}};
    prepared.failure = Prepared::Failure{1, packages.error().message, ""};
    return Answer(order, std::move(prepared));
  }
  const std::vector<std::string> pip_facts = PipFacts(options_.own_environment, options_.pip);
  std::vector<PackageIdentity> names = *packages;
  for (PackageIdentity& package : names) package.digest.clear();
  const EnvironmentName name{EnvironmentKey(choice->interpreter, *packages, pip_facts),
                             EnvironmentKey(choice->interpreter, names, pip_facts)};
  Attach(order, name, *std::move(packages), choice->interpreter);
}

Result<std::vector<PackageIdentity>> PackagerOnHost::Identify(const PrepareRequest& request) {
  std::vector<PackageIdentity> packages;
  for (const std::string& uri : request.package_uris) {
    const std::string name = FileName(uri);
    if (name.empty() || name == "." || name == "..") return errors::PackageNameless(uri);
    auto facts = source_.Describe(uri);
    if (!facts.ok()) return errors::PackageUnreadable(uri, facts.error());
    if (facts->digest.empty()) {
      ASSIGN_OR_RETURN(const auto scratch, MakeScratch(options_.state, "package-"));
      const Path file = scratch.path() / "package";
      if (Status fetched = source_.Fetch(uri, file); !fetched.ok()) {
        return errors::PackageUnreadable(uri, fetched.error());
      }
      ASSIGN_OR_RETURN(facts->digest, DigestFile(file));
    }
    packages.push_back({name, std::move(facts->digest)});
  }
  return packages;
}

void PackagerOnHost::Attach(const OrderPtr& order, const EnvironmentName& name,
                            std::vector<PackageIdentity> packages, const Interpreter& interpreter) {
  const RunKey& run = order->request.run;
  const std::string& key = name.key;
  std::unique_lock lock(mutex_);
  const auto open = open_.find(run);
  if (open == open_.end() || open->second != order) return;  // abandoned meanwhile
  auto& build = builds_[key];
  if (!build && cache_.Use(key, run)) {
    builds_.erase(key);
    lock.unlock();
    return AnswerFromCache(order, key);
  }
  if (!build) {
    build = std::make_shared<PackageBuild>(PackageBuild::Plan{
        key, interpreter, order->request.package_uris, std::move(packages), name.family});
    waiting_builds_.push_back(build);
    const auto installing = static_cast<int>(threads_.size()) - 1;
    if (!stopping_ && installing < options_.builds_at_once) {
      threads_.emplace_back([this](std::stop_token stop) { Install(stop); });
    }
    changed_.notify_all();
  }
  order->build = build;
  build->Watch(run, [this, order](const PackageLine& line) { Say(order, line); });
}

void PackagerOnHost::AnswerFromCache(const OrderPtr& order, const std::string& key) {
  const std::vector<std::string>& uris = order->request.package_uris;
  if (uris.empty()) Say(order, Severity::kInfo, run::texts::NoPackages());
  for (const std::string& uri : uris) {
    for (const PackageLine& line : LauncherLines(uri)) Say(order, line);
  }
  if (!uris.empty()) {
    Say(order, Severity::kInfo, kUnchanged);
  }
  Answer(order, EnvironmentOf(order, key));
}

void PackagerOnHost::Install(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  // A stopped build may still be deleting the directory that its successor needs.
  const auto startable = [this] {
    return std::find_if(waiting_builds_.begin(), waiting_builds_.end(),
                        [this](const auto& build) { return !active_.count(build->plan().key); });
  };
  while (changed_.wait(lock, stop, [&] { return startable() != waiting_builds_.end(); })) {
    const auto next = startable();
    const std::shared_ptr<PackageBuild> build = *next;
    waiting_builds_.erase(next);
    active_.insert(build->plan().key);
    lock.unlock();
    if (!build->stop().stop_requested()) Finish(build);
    lock.lock();
    active_.erase(build->plan().key);
    changed_.notify_all();
    const std::vector<Path> unneeded = cache_.TakeUnneeded(active_);
    lock.unlock();
    for (const Path& path : unneeded) RemoveTree(path);
    lock.lock();
  }
}

void PackagerOnHost::Finish(const std::shared_ptr<PackageBuild>& build) {
  const PackageBuild::Outcome outcome = build->Run(options_, source_, cache_);
  const std::string& key = build->plan().key;
  std::vector<OrderPtr> orders;
  {
    std::lock_guard lock(mutex_);
    const auto found = builds_.find(key);
    if (found != builds_.end() && found->second == build) builds_.erase(found);
    for (const auto& [run, order] : open_) {
      if (order->build != build) continue;
      static_cast<void>(build->Unwatch(run));
      if (!outcome) static_cast<void>(cache_.Use(key, run));
      orders.push_back(order);
    }
  }
  for (const OrderPtr& order : orders) {
    Prepared prepared = EnvironmentOf(order, key);
    prepared.failure = outcome;
    Answer(order, std::move(prepared));
  }
}

void PackagerOnHost::Refuse(const OrderPtr& order, const std::string& refusal) {
  Prepared prepared{order->request.run, order->request.attempt, "", {}, "", {}};
  prepared.failure = Prepared::Failure{1, "", refusal};
  Answer(order, std::move(prepared));
}

void PackagerOnHost::Answer(const OrderPtr& order, Prepared prepared) {
  {
    std::lock_guard lock(order->mutex);  // Abandon waits here until `done` has returned
    if (std::exchange(order->is_over, true)) return;
    order->done(std::move(prepared));
  }
  std::lock_guard lock(mutex_);
  const auto open = open_.find(order->request.run);
  if (open != open_.end() && open->second == order) open_.erase(open);
}

// An environment that an earlier caip made may lack them.
std::vector<std::string> PackagerOnHost::PackagesOf(const std::vector<std::string>& uris,
                                                    const std::string& key) const {
  std::vector<std::string> files;
  for (size_t i = 0; i < uris.size(); ++i) {
    const Path file = cache_.PackageOf(key, i, FileName(uris[i]));
    std::error_code error;
    if (std::filesystem::exists(file, error)) files.push_back(file.string());
  }
  return files;
}

Prepared PackagerOnHost::EnvironmentOf(const OrderPtr& order, const std::string& key) const {
  const Path root = cache_.DirectoryOf(key);
  engine::Environment variables = {{"VIRTUAL_ENV", root.string()}};
  if (const Result<Path> hook = InstallPythonHook(options_.state); hook.ok()) {
    CompilePythonHook(*hook, order->interpreter);
    variables.emplace_back("PYTHONPATH", hook->string());
  } else {
    Say(order, Severity::kWarning, hook.error().message);
  }
  return {order->request.run,
          order->request.attempt,
          (root / "bin/python3").string(),
          std::move(variables),
          (root / "bin").string(),
          std::nullopt,
          PackagesOf(order->request.package_uris, key),
          NeedsOf(order->interpreter)};
}

// Only jobs of Vertex AI belong to a location.
void PackagerOnHost::Say(const OrderPtr& order, const PackageLine& line) const {
  if (line.is_command && order->request.run.location.empty()) return;
  Say(order, line.severity, line.text);
}

void PackagerOnHost::Say(const OrderPtr& order, Severity severity,
                         const std::string& message) const {
  std::vector<engine::LogLine> lines;
  const Instant now = clock_.Now();
  for (const std::string& task : order->request.log_tasks) {
    lines.push_back({order->request.run, task, severity, now, message});
  }
  log_.Write(std::move(lines));
}

}  // namespace caip::host
