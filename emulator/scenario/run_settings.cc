#include "emulator/scenario/run_settings.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/quoting.h"
#include "emulator/app/settings/settings_table.h"
#include "emulator/scenario/errors.h"
#include "host/images/kept_mappings.h"
#include "host/process/image_map.h"
#include "ml/catalog/catalog.h"

namespace caip::scenario {
namespace {

constexpr char kImages[] = "images";
constexpr char kRuntimes[] = "runtimes";
constexpr const char* kUsedOfState[] = {"config.yaml", kImages, kRuntimes};

using app::EmulatorFlags;
using app::EmulatorOptions;

bool IsOfRuns(const app::Setting& setting) { return setting.in_runs == app::InRuns::kUsed; }

bool IsOfScenarios(const app::Setting& setting) {
  return setting.in_runs == app::InRuns::kScenario;
}

// Sets what the scenario states itself, if a flag of its words or of the command says it.
Status TakeScenarioFlags(const EmulatorFlags& flags, harness::Scenario& scenario) {
  EmulatorFlags own;
  for (const app::Setting& setting : app::Settings()) {
    if (IsOfScenarios(setting) && flags.Has(setting.key)) {
      own.settings.insert(*flags.settings.find(setting.key));
    }
  }
  if (own.settings.empty()) return Ok{};
  EmulatorOptions options;
  RETURN_IF_ERROR(app::ReadFlags(own, IsOfScenarios, options));
  if (own.Has("seed")) scenario.seed = options.seed;
  if (own.Has("queue_delay")) scenario.service_delays.queue_delay = options.queue_delay;
  if (own.Has("provision_delay")) {
    scenario.service_delays.provisioning_delay = options.provision_delay;
  }
  if (own.Has("failing_restart")) {
    scenario.service_delays.failing_restart = options.failing_restart;
  }
  if (own.Has("storage_view")) {
    const bool is_path = options.storage_view == app::StorageView::kPath;
    if (!is_path && scenario.CommandHas(harness::kJobDirWord)) return errors::JobDirIsADirectory();
    scenario.semantics = is_path ? harness::Semantics::kPosix : harness::Semantics::kObject;
  }
  return Ok{};
}

// The kind of addresses, which a scenario and the configuration may state: a flag overrides both.
Status TakeAddressing(const EmulatorFlags& flags, const EmulatorOptions& options,
                      harness::Scenario& scenario) {
  if (flags.Has("addressing")) {
    scenario.own_ports = options.addressing == app::Addressing::kPorts;
  }
  const bool wants_machines =
      flags.Has("isolation") && options.isolation == app::Isolation::kMachine;
  return wants_machines && scenario.own_ports ? errors::PortsOnMachines() : Status(Ok{});
}

bool IsImages(const app::Setting& setting) { return setting.key == "images"; }

// Whether runs find something there: the configuration, installed runtime versions or images.
bool HasSettings(const Path& state) {
  std::error_code error;
  return std::ranges::any_of(
      kUsedOfState, [&](const char* name) { return std::filesystem::exists(state / name, error); });
}

Result<RunSettings> ReadSettings(const EmulatorFlags& flags, harness::Scenario& scenario) {
  RETURN_IF_ERROR(TakeScenarioFlags(flags, scenario));
  RunSettings settings;
  const Path state = app::StateDirectory(flags);
  ASSIGN_OR_RETURN(settings.options, app::ReadOptions(flags, state, IsOfRuns));
  RETURN_IF_ERROR(TakeAddressing(flags, settings.options, scenario));
  settings.options.outer_states = {state};
  settings.options.image_store = state / kImages;
  settings.options.runtime_store = state / kRuntimes;
  return settings;
}

// Replicas run in folders of their own, so the files that flags name get complete paths.
Status CompleteImages(const EmulatorFlags& flags, EmulatorOptions& options) {
  EmulatorOptions given;
  RETURN_IF_ERROR(app::ReadFlags(flags, IsImages, given));
  std::error_code error;
  const Path here = std::filesystem::current_path(error);
  for (const auto& [image, command] : given.images) {
    options.images[image] = CommandFrom(here, command);
  }
  ASSIGN_OR_RETURN(const host::ImageMap kept, host::KeptMappings(options.image_store).Read());
  host::AddKeptMappings(kept, options.images);
  return Ok{};
}

}  // namespace

bool IsFlagOfScenarios(const app::Setting& setting) {
  const bool has_effect = setting.in_runs != app::InRuns::kUnused && !setting.flag.empty();
  return has_effect && setting.key != "seed" && !IsImages(setting);
}

bool BringsOwnFiles(const harness::Scenario& job, const EmulatorOptions& options) {
  if (job.kind->PythonModuleOf(job.document)) return false;
  const std::vector<std::string> images = job.kind->ImagesOf(job.document);
  return std::ranges::any_of(images, [&](const std::string& uri) {
    const auto own = job.images.find(uri);
    const auto* entry =
        own != job.images.end() ? &own->second : host::FindImage(options.images, uri);
    const bool is_replaced = entry || ml::DefaultCatalog().FindBuiltInAlgorithm(uri);
    return !is_replaced || (entry && host::ImageLocation(*entry));
  });
}

EmulatorFlags Merged(EmulatorFlags words, const EmulatorFlags& command) {
  if (command.state) words.state = command.state;
  if (command.config) words.config = command.config;
  for (const auto& [key, values] : command.settings) words.settings[key] = values;
  return words;
}

Result<RunSettings> ReadSettingsOfJob(const EmulatorFlags& flags, harness::Scenario& job) {
  ASSIGN_OR_RETURN(const bool is_posix, UsesDirectories(flags));
  ASSIGN_OR_RETURN(RunSettings settings, ReadSettings(flags, job));
  RETURN_IF_ERROR(CompleteImages(flags, settings.options));
  job.semantics = is_posix ? harness::Semantics::kPosix : harness::Semantics::kObject;
  return settings;
}

Result<RunSettings> ReadSettingsOfScenario(const EmulatorFlags& command, const ReadJobWords& read,
                                           harness::Scenario& scenario) {
  JobWords words;
  if (!scenario.words.empty()) {
    ASSIGN_OR_RETURN(words, ReadWordsOf(scenario, read));
  }
  ASSIGN_OR_RETURN(RunSettings settings,
                   ReadSettings(Merged(std::move(words.emulator), command), scenario));
  std::vector<Path>& states = settings.options.outer_states;  // the words may name another one
  if (const Path own = app::StateDirectory(command); own != states.front()) states.push_back(own);
  return settings;
}

Result<bool> UsesDirectories(const EmulatorFlags& flags) {
  ASSIGN_OR_RETURN(const EmulatorOptions options,
                   app::ReadOptions(flags, app::StateDirectory(flags)));
  return options.storage_view == app::StorageView::kPath;
}

std::string RepeatedFlags(const EmulatorFlags& command) {
  std::string text;
  if (command.state && HasSettings(*command.state)) {
    text += " --state " + ShellQuoted(*command.state);
  }
  if (command.config) text += " --emulator-config " + ShellQuoted(*command.config);
  for (const auto& [key, values] : command.settings) {
    const app::Setting& setting = *app::FindSetting(key);
    if (!IsFlagOfScenarios(setting)) continue;
    for (const std::string& value : values) {
      text += " " + std::string(setting.flag);
      if (setting.form != app::Setting::Form::kSwitch) text += " " + ShellQuoted(value);
    }
  }
  return text;
}

}  // namespace caip::scenario
