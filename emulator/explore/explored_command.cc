#include "emulator/explore/explored_command.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <system_error>

#include "base/json.h"
#include "base/text.h"
#include "emulator/explore/baseline_facts.h"
#include "emulator/explore/errors.h"
#include "emulator/explore/fingerprint.h"
#include "emulator/explore/plan.h"
#include "emulator/scenario/contents/run_volumes.h"
#include "emulator/scenario/run_isolation.h"
#include "emulator/scenario/scenario_run.h"

namespace caip::explore {
namespace {

using harness::Evidence;

// Directories in which programs keep files for themselves.
constexpr std::string_view kOwnPlaces[] = {"/dev", "/run", "/proc", "/sys"};
constexpr std::string_view kTemporaryPlaces[] = {"/tmp", "/var/tmp"};
// How names of temporary directories begin there.
constexpr std::string_view kTemporaryNames[] = {"tmp", ".", "torchinductor", "pymp-",
                                                "matplotlib-"};

bool IsIn(const Path& path, const Path& directory) {
  const auto ends = std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return ends.first == directory.end();
}

std::string HomeOfUser() {
  const char* home = std::getenv("HOME");
  return home ? home : "";
}

// Also hidden files of the home directory: ~/.cache/huggingface.
bool IsOfPrograms(const Path& file) {
  const auto is_in = [&file](std::string_view place) { return IsIn(file, Path(place)); };
  if (std::ranges::any_of(kOwnPlaces, is_in)) return true;
  for (const std::string_view place : kTemporaryPlaces) {
    if (!is_in(place)) continue;
    const Path below = file.lexically_relative(place);
    const std::string name = below.begin()->string();
    const auto begins = [&name](std::string_view own) { return name.starts_with(own); };
    return below == name || std::ranges::any_of(kTemporaryNames, begins);
  }
  const Path home = HomeOfUser();
  if (!home.is_absolute() || !IsIn(file, home)) return false;
  return file.lexically_relative(home).string().starts_with(".");
}

// The directory of the file, or the highest one above it that this host does not have yet.
Path VolumeOf(const Path& file) {
  Path volume = file.parent_path();
  std::error_code error;
  while (!std::filesystem::exists(volume, error)) {
    if (std::filesystem::exists(volume.parent_path(), error)) break;
    volume = volume.parent_path();
  }
  return volume;
}

Path PathOnDisk(const std::string& object) {
  return "/" + object.substr(std::min(object.size(), harness::kDiskPrefix.size()));
}

// Files that the run wrote and left. A directory may be renamed, too.
std::set<Path> FilesLeft(const Evidence& run) {
  std::set<Path> files;
  for (const harness::Event& event : run.events) {
    const auto* operation = event.As<harness::DiskEvent>();
    if (!operation || operation->failed) continue;
    const Path file = PathOnDisk(operation->object);
    if (operation->op == "create" || operation->op == "overwrite") files.insert(file);
    if (operation->op != "delete" && operation->op != "rename") continue;
    std::set<Path> moved;
    for (auto at = files.lower_bound(file); at != files.end() && IsIn(*at, file);) {
      moved.insert(at->lexically_relative(file));
      at = files.erase(at);
    }
    const bool stays = operation->from.starts_with(harness::kDiskPrefix);
    if (operation->op == "delete" || !stays) continue;
    const Path to = PathOnDisk(operation->from);
    for (const Path& below : moved) files.insert(below == "." ? to : to / below);
  }
  return files;
}

std::vector<Path> DirectoriesWritten(const Evidence& run) {
  std::set<Path> directories;
  for (const Path& file : FilesLeft(run)) {
    if (!IsOfPrograms(file)) directories.insert(VolumeOf(file));
  }
  return {directories.begin(), directories.end()};
}

std::string YamlList(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(harness::YamlQuoted(text));
  return "[" + Join(quoted, ", ") + "]";
}

// Directories near the scenario are named relative to it, so that both can be moved together.
std::string PlaceFrom(const Path& out, const Path& here, const Path& directory) {
  std::error_code error;
  const Path path = std::filesystem::absolute(directory, error).lexically_normal();
  return IsIn(path, here) ? RelativeTo(out, path).string() : path.string();
}

bool HasWord(const std::vector<std::string>& words, std::string_view wanted) {
  return std::ranges::any_of(
      words, [wanted](const std::string& word) { return word.find(wanted) != std::string::npos; });
}

std::string TrainerText(const ExploredCommand& command, const Path& out, const Path& here) {
  std::vector<Path> volumes = command.out_directories;
  if (volumes.empty() && !HasWord(command.words, harness::kJobDirWord)) volumes = {here};
  std::vector<std::string> places;
  for (const Path& volume : volumes) places.push_back(PlaceFrom(out, here, volume));
  return "trainer:\n  command: " + YamlList(command.words) +
         "\n  working_directory: " + harness::YamlQuoted(PlaceFrom(out, here, here)) +
         "\n  volumes: " + YamlList(places) + "\n  job_dir: none\n  environment: user\n" +
         (command.ranks > 1 ? "  ranks: " + std::to_string(command.ranks) + "\n" : "");
}

}  // namespace

bool IsCommand(const std::vector<std::string>& words) {
  return !words.empty() && !words.front().starts_with("-");
}

std::vector<std::string> CommandOfWords(std::vector<std::string> words) {
  std::error_code error;
  const Path program = words.front();
  const bool is_script = program.extension() == ".py" && std::filesystem::exists(program, error);
  if (is_script) words.insert(words.begin(), "python3");
  return words;
}

Result<Path> WriteExploredCommand(const ExploredCommand& command, const Path& out) {
  std::error_code error;
  const Path here = std::filesystem::current_path(error);
  RETURN_IF_ERROR(MakeDirectories(out));
  const bool is_posix = HasWord(command.words, harness::kJobDirWord);
  std::string text = "description: The command that was given to caip explore.\n" +
                     LimitsText(command.limits) + (is_posix ? "semantics: posix\n" : "");
  if (!command.step_regex.empty()) {
    text += "steps: {regex: " + harness::YamlQuoted(command.step_regex) + "}\n";
  } else if (!command.step_format.empty()) {
    text += "steps: {format: " + command.step_format + "}\n";
  }
  text += TrainerText(command, out, here);
  const Path file = out / ("command-" + ShortHash(text) + ".yaml");
  RETURN_IF_ERROR(WriteFile(file, text));
  return file;
}

Result<harness::Evidence> RunCommand(const harness::Scenario& scenario,
                                     const ExploreOptions& options) {
  RETURN_IF_ERROR(CheckFaults(scenario, options));
  scenario::RunOptions run;
  run.state = options.workshop / "trial-run";
  run.caches = options.workshop / "caches";
  run.disturbed = false;
  run.seed = scenario.seed;
  run.watch_disks = true;
  run.interrupted = options.interrupted;
  run.settings = options.settings;
  RETURN_IF_ERROR(MakeDirectories(run.state));
  const Path state = run.state;
  auto evidence = scenario::ScenarioRun(scenario, std::move(run)).Run();
  RemoveTree(state);
  if (options.interrupted && options.interrupted()) return errors::Interrupted();
  return evidence;
}

Result<TrialRun> ReadTrial(const harness::Evidence& run, const ExploreOptions& options) {
  if (run.state != "SUCCEEDED") return errors::BaselineFailed(run);
  TrialRun trial{DirectoriesWritten(run), RecognizeSteps(run)};
  const bool on_machines =
      scenario::IsolationOf(options.settings.options, options.workshop) == app::Isolation::kMachine;
  if (!trial.other_volumes.empty() && !on_machines) {
    return errors::OtherVolumesNeedMachines(trial.other_volumes);
  }
  return trial;
}

Result<TrialRun> TryCommand(const harness::Scenario& scenario, const ExploreOptions& options) {
  ASSIGN_OR_RETURN(const harness::Evidence run, RunCommand(scenario, options));
  return ReadTrial(run, options);
}

Status KeepVolumes(const harness::Scenario& scenario, ExploreOptions& options) {
  if (scenario.volumes.empty() && scenario.working_directory.empty()) return Ok{};
  const app::EmulatorOptions& emulator = options.settings.options;
  options.volumes = options.workshop / "volumes";
  RemoveTree(options.volumes);
  const bool on_machines =
      scenario::IsolationOf(emulator, options.workshop) == app::Isolation::kMachine;
  RETURN_IF_ERROR(scenario::RunVolumes::Make(
      scenario,
      {.directory = options.volumes, .states = emulator.outer_states, .on_machines = on_machines}));
  return Ok{};
}

}  // namespace caip::explore
