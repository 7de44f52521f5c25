#include "emulator/scenario/run_settings.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "base/quoting.h"
#include "emulator/app/settings/settings_table.h"
#include "host/images/kept_mappings.h"
#include "host/process/image_map.h"
#include "ml/catalog/catalog.h"

namespace caip::scenario {
namespace {

using app::EmulatorFlags;
using app::EmulatorOptions;

bool IsOfRuns(const app::Setting& setting) { return setting.in_runs == app::InRuns::kUsed; }

bool IsOfScenarios(const app::Setting& setting) {
  return setting.in_runs == app::InRuns::kScenario;
}

// Sets what the scenario states itself, if a flag of its words says it.
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
    scenario.semantics = is_path ? harness::Semantics::kPosix : harness::Semantics::kObject;
  }
  return Ok{};
}

bool IsImages(const app::Setting& setting) { return setting.key == "images"; }

Result<RunSettings> ReadSettings(const EmulatorFlags& flags, harness::Scenario& scenario) {
  RETURN_IF_ERROR(TakeScenarioFlags(flags, scenario));
  RunSettings settings;
  const Path state = app::StateDirectory(flags);
  ASSIGN_OR_RETURN(settings.options, app::ReadOptions(flags, state, IsOfRuns));
  settings.options.image_store = state / "images";
  settings.options.runtime_store = state / "runtimes";
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
  app::Isolation& isolation = settings.options.isolation;
  const bool is_open = isolation == app::Isolation::kByHost;
  if (is_open && !BringsOwnFiles(job, settings.options)) {
    isolation = app::Isolation::kProcess;
  }
  return settings;
}

Result<RunSettings> ReadSettingsOfScenario(const EmulatorFlags& command, const ReadJobWords& read,
                                           harness::Scenario& scenario) {
  JobWords words;
  if (!scenario.words.empty()) {
    ASSIGN_OR_RETURN(words, ReadWordsOf(scenario, read));
  }
  return ReadSettings(Merged(std::move(words.emulator), command), scenario);
}

Result<bool> UsesDirectories(const EmulatorFlags& flags) {
  ASSIGN_OR_RETURN(const EmulatorOptions options,
                   app::ReadOptions(flags, app::StateDirectory(flags)));
  return options.storage_view == app::StorageView::kPath;
}

std::string RepeatedFlags(const EmulatorFlags& command) {
  std::string text;
  std::error_code error;
  const Path state = app::StateDirectory(command);
  const bool has_file = std::filesystem::exists(state / "config.yaml", error);
  if (command.state && has_file) text += " --state " + ShellQuoted(*command.state);
  if (command.config) text += " --emulator-config " + ShellQuoted(*command.config);
  return text;
}

}  // namespace caip::scenario
