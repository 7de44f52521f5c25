#include "host/python/packages_build.h"

#include <algorithm>
#include <deque>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/python_errors.h"
#include "host/python/source_update.h"
#include "host/store/scratch.h"
#include "run/texts.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;
using engine::Severity;

constexpr std::chrono::milliseconds kStopGrace{500};
constexpr int kPairsMax = 2;            // "the pair tried at most twice"
constexpr size_t kTailBytesMax = 1800;  // an errorMessage has at most 2048
constexpr size_t kTailLinesMax = 40;
constexpr size_t kEarlierTried = 3;
constexpr const char* kSourcesUpdated =
    "Only sources of the packages have changed: they were replaced without pip.";
constexpr const char* kDistributionWheels = "/usr/share/python-wheels";

// Finds "wheel-0.38.4-py3-none-any.whl" in one of the directories, the newest by name.
std::optional<Path> FindWheel(const std::string& name, const std::vector<Path>& directories) {
  for (const Path& directory : directories) {
    std::optional<Path> best;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; it != end; it.increment(error)) {
      const std::string file = it->path().filename();
      if (!file.starts_with(name + "-") || !file.ends_with("-none-any.whl")) continue;
      if (!best || best->filename().string() < file) best = it->path();
    }
    if (best) return best;
  }
  return std::nullopt;
}

// Keeps the end of a tool's output, because pip prints the reason last.
class Tail {
 public:
  void Add(std::string_view line) {
    lines_.emplace_back(line);
    bytes_ += line.size() + 1;
    while (lines_.size() > 1 && (bytes_ > kTailBytesMax || lines_.size() > kTailLinesMax)) {
      bytes_ -= lines_.front().size() + 1;
      lines_.pop_front();
    }
  }
  std::string Text() const {
    std::string text = Join({lines_.begin(), lines_.end()}, "\n");
    return text.size() > kTailBytesMax ? text.substr(text.size() - kTailBytesMax) : text;
  }

 private:
  std::deque<std::string> lines_;
  size_t bytes_ = 0;
};

// Holds back what pip prints while all is well. A long installation shows a line from time to time.
class FoldedOutput {
 public:
  using Send = std::function<void(const std::string& line)>;

  FoldedOutput(std::chrono::seconds shown_each, Send send)
      : shown_each_(shown_each), send_(std::move(send)) {}

  void Add(std::string_view line) {
    lines_.emplace_back(line);
    if (lines_.size() > kLinesMax) lines_.pop_front();
    const auto now = MonotonicNow();
    if (now - shown_ < shown_each_) return;
    shown_ = now;
    send_(lines_.back());
  }
  // pip succeeded: its last line says what it installed, unless there was nothing to do, or it says
  // the same as `earlier`.
  void SendLast(std::string& earlier) const {
    if (lines_.empty() || lines_.back().starts_with(kNothingToDo)) return;
    if (lines_.back() != earlier) send_(lines_.back());
    earlier = lines_.back();
  }
  // pip failed: everything may matter.
  void SendAll() const {
    for (const std::string& line : lines_) send_(line);
  }

 private:
  static constexpr size_t kLinesMax = 10'000;
  static constexpr std::string_view kNothingToDo = "Requirement already satisfied";

  const std::chrono::seconds shown_each_;
  const Send send_;
  std::deque<std::string> lines_;
  MonotonicTime shown_ = MonotonicNow();
};

std::string NameInUri(const std::string& uri) { return uri.substr(uri.rfind('/') + 1); }

PackageLine CommandLineOf(const std::string& command) {
  return {Severity::kInfo, run::texts::RunningCommand(command), true};
}

PackageLine CopyCommandOf(const std::string& uri) {
  return CommandLineOf("gsutil -q cp " + uri + " " + NameInUri(uri));
}

}  // namespace

std::vector<PackageLine> LauncherLines(const std::string& uri) {
  std::vector<PackageLine> lines = {{Severity::kInfo, run::texts::DownloadingPackage(uri)},
                                    CopyCommandOf(uri),
                                    {Severity::kInfo, run::texts::InstallingPackage(uri)}};
  for (const PipCommand& command : InstallCommands("", NameInUri(uri), {}, false)) {
    lines.push_back(CommandLineOf(command.quoted));
  }
  return lines;
}

BuildTools SeedBuildTools(const Interpreter& interpreter, const Path& environment) {
  const Path packages =
      environment / "lib" / ("python" + Text(interpreter.minor)) / "site-packages";
  BuildTools tools{interpreter.pip, !interpreter.setuptools.empty(), !interpreter.wheel.empty()};
  const auto seed = [&](const std::string& name, const std::vector<Path>& directories) {
    const auto wheel = FindWheel(name, directories);
    if (!wheel || !UnpackWheel(*wheel, packages).ok()) return std::string();
    return Split(wheel->filename().string(), '-')[1];
  };
  // ensurepip's wheels fit the interpreter; a distribution's setuptools fits only its own Python.
  const Path bundled = interpreter.wheel_directory;
  if (tools.pip.empty()) tools.pip = seed("pip", {bundled});
  if (!tools.has_setuptools) tools.has_setuptools = !seed("setuptools", {bundled}).empty();
  if (tools.has_setuptools && !tools.has_wheel && interpreter.minor >= PythonMinor{3, 7}) {
    tools.has_wheel = !seed("wheel", {bundled, kDistributionWheels}).empty();
  }
  return tools;
}

void PackageBuild::Watch(const engine::RunKey& run, Say say) {
  std::lock_guard lock(mutex_);
  for (const PackageLine& line : said_) say(line);
  watchers_[run] = std::move(say);
}

bool PackageBuild::Unwatch(const engine::RunKey& run) {
  std::lock_guard lock(mutex_);
  watchers_.erase(run);
  return watchers_.empty();
}

void PackageBuild::Send(const PackageLine& line) {
  std::lock_guard lock(mutex_);
  said_.push_back(line);
  for (const auto& [run, say] : watchers_) say(line);
}

void PackageBuild::SendLine(Severity severity, const std::string& text) { Send({severity, text}); }

PackageBuild::Outcome PackageBuild::Run(const PackagerOptions& options, PackageSource& source,
                                        EnvironmentCache& cache) {
  const Path root = cache.DirectoryOf(plan_.key);
  const Path downloads = options.state / "packages" / plan_.key;
  RemoveTree(downloads);  // left by an interrupted build
  Status status = Ok{};
  Outcome outcome;
  if (!UpdateEarlier(options, source, cache)) {
    status = cache.Begin(plan_.key, plan_.interpreter);
    if (status.ok()) outcome = InstallAll(options, source, root);
  }
  if (status.ok() && !outcome) status = KeepPackages(cache);
  if (status.ok() && !outcome) {
    EnvironmentContents contents{
        plan_.interpreter.path, plan_.interpreter.version, plan_.uris, {}, plan_.family};
    for (const PackageIdentity& package : plan_.packages) {
      contents.digests.push_back(package.digest);
    }
    status = cache.Finish(plan_.key, contents);
  }
  if (!status.ok()) {
    outcome = engine::Prepared::Failure{1, "", errors::EnvironmentNotMade(status.error()).message};
  }
  if (outcome) cache.Drop(plan_.key);
  RemoveTree(downloads);
  return outcome;
}

// True: the environment was made from an earlier one, because only sources differ. Packages of
// several projects may have the same file name.
bool PackageBuild::UpdateEarlier(const PackagerOptions& options, PackageSource& source,
                                 const EnvironmentCache& cache) {
  if (plan_.uris.empty()) return false;
  const auto members = cache.MembersOf(plan_.family);
  if (members.empty()) return false;
  for (size_t i = 0; i < plan_.packages.size(); ++i) {
    if (!Fetch(i, options, source).ok()) return false;  // the installation reports it
  }
  const size_t tried = std::min(members.size(), kEarlierTried);
  return std::any_of(members.begin(), members.begin() + tried, [&](const auto& earlier) {
    return !stop_.stop_requested() && UpdateFrom(earlier, cache);
  });
}

bool PackageBuild::UpdateFrom(const EnvironmentCache::Member& earlier,
                              const EnvironmentCache& cache) {
  if (earlier.contents.digests.size() != plan_.packages.size()) return false;
  std::vector<PackageUpdate> updates;
  for (size_t i = 0; i < plan_.packages.size(); ++i) {
    const PackageIdentity& package = plan_.packages[i];
    const Path before = cache.PackageOf(earlier.key, i, package.file_name);
    if (earlier.contents.digests[i] == package.digest) continue;
    updates.push_back({i, before, fetched_.at(i).directory / package.file_name});
  }
  const auto place = [&](const std::string& key) {
    const Path root = cache.DirectoryOf(key);
    return EnvironmentPlace{
        root, key, root / "lib" / ("python" + Text(plan_.interpreter.minor)) / "site-packages"};
  };
  const EnvironmentPlace to = place(plan_.key);
  RemoveTree(to.root);
  if (!MakeDirectories(to.root).ok()) return false;
  const auto updated = UpdateSources(place(earlier.key), to, updates);
  if (!updated.ok() || !*updated || stop_.stop_requested()) return false;
  for (const std::string& uri : plan_.uris) {
    for (const PackageLine& line : LauncherLines(uri)) Send(line);
  }
  SendLine(Severity::kInfo, kSourcesUpdated);
  return true;
}

// The next build compares its packages with these.
Status PackageBuild::KeepPackages(const EnvironmentCache& cache) const {
  for (const auto& [index, package] : fetched_) {
    const Path kept = cache.PackageOf(plan_.key, index, package.file_name);
    RETURN_IF_ERROR(MakeDirectories(kept.parent_path()));
    std::error_code error;
    fs::rename(package.directory / package.file_name, kept, error);
    if (error) return CannotMake(kept, error.value());
  }
  return Ok{};
}

PackageBuild::Outcome PackageBuild::InstallAll(const PackagerOptions& options,
                                               PackageSource& source, const Path& root) {
  using Failure = engine::Prepared::Failure;
  if (plan_.uris.empty()) {
    SendLine(Severity::kInfo, run::texts::NoPackages());
    return std::nullopt;
  }
  const BuildTools tools = SeedBuildTools(plan_.interpreter, root);
  if (tools.pip.empty()) {
    return Failure{1, "", errors::InterpreterWithoutPip(plan_.interpreter.path).message};
  }
  for (size_t i = 0; i < plan_.uris.size() && !stop_.stop_requested(); ++i) {
    SendLine(Severity::kInfo, run::texts::DownloadingPackage(plan_.uris[i]));
    Send(CopyCommandOf(plan_.uris[i]));
    auto package = Fetch(i, options, source);
    if (!package.ok() && package.error().code == Code::kInvalidArgument) {
      return Failure{1, "", package.error().message};  // pip must not get it
    }
    // The service's launcher ends with pip's error for a broken file, as for a rejected package.
    if (!package.ok()) return Failure{1, package.error().message, ""};
    SendLine(Severity::kInfo, run::texts::InstallingPackage(plan_.uris[i]));
    const auto failure = Install(*package, options, root, tools);
    if (failure) return Failure{failure->exit_code, failure->text, ""};
  }
  if (stop_.stop_requested()) return Failure{1, "", errors::InstallationStopped().message};
  return std::nullopt;
}

Result<PackageBuild::Package> PackageBuild::Fetch(size_t index, const PackagerOptions& options,
                                                  PackageSource& source) {
  if (const auto known = fetched_.find(index); known != fetched_.end()) return known->second;
  Package package;
  package.uri = plan_.uris[index];
  package.file_name = plan_.packages[index].file_name;
  package.directory = options.state / "packages" / plan_.key / std::to_string(index);
  const Path file = package.directory / package.file_name;
  RETURN_IF_ERROR(MakeDirectories(package.directory));
  if (Status fetched = source.Fetch(package.uri, file); !fetched.ok()) {
    return errors::PackageUnreadable(package.uri, fetched.error());
  }
  auto facts = CheckArchive(file, options.limits);
  if (!facts.ok()) return errors::PackageRefused(package.uri, facts.error());
  package.facts = *std::move(facts);
  return fetched_.emplace(index, std::move(package)).first->second;
}

// The first attempt builds with the installed tools instead of tools from the network. The second
// attempt is pip's own way, for dependencies that need other tools.
std::optional<PackageBuild::PipFailure> PackageBuild::Install(const Package& package,
                                                              const PackagerOptions& options,
                                                              const Path& root,
                                                              const BuildTools& tools) {
  const auto scratch = MakeScratch(options.state, "pip-");
  if (!scratch.ok()) return PipFailure{1, scratch.error().message};
  const Variables environment = PipEnvironment(options.own_environment, root, scratch->path());
  const Path python = root / "bin/python3";
  std::optional<PipFailure> failure;
  for (int pair = 0; pair < kPairsMax && !stop_.stop_requested(); ++pair) {
    const bool in_place = pair == 0 && SparesBuildIsolation(package.facts, tools);
    failure.reset();
    for (const PipCommand& command :
         InstallCommands(python, package.file_name, options.pip, in_place)) {
      Send(CommandLineOf(command.quoted));
      failure = RunPip(command, package, options, environment);
      if (failure) break;
    }
    if (!failure) break;
  }
  return failure;
}

std::optional<PackageBuild::PipFailure> PackageBuild::RunPip(const PipCommand& command,
                                                             const Package& package,
                                                             const PackagerOptions& options,
                                                             const Variables& environment) {
  Tail tail;
  FoldedOutput output(options.pip_line_each,
                      [this](const std::string& line) { SendLine(Severity::kInfo, line); });
  Tool tool{.argv = command.argv, .environment = environment};
  tool.directory = package.directory;
  tool.is_guarded = true;
  tool.grace = kStopGrace;
  tool.stop = stop_.get_token();
  tool.on_line = [&](ToolStream stream, std::string_view line) {
    if (Trim(line).empty()) return;
    if (stream == ToolStream::kOut) return output.Add(line);
    SendLine(Severity::kError, std::string(line));
    tail.Add(line);
  };
  const auto result = RunTool(tool);
  if (!result.ok()) return PipFailure{1, result.error().message};
  if (result->ok()) {
    output.SendLast(pip_outcome_);
    return std::nullopt;
  }
  output.SendAll();
  return PipFailure{result->ShellStatus(),
                    errors::PipFailed(command.shown, result->ShellStatus(), tail.Text()).message};
}

}  // namespace caip::host
