#include "emulator/check/checked_trainer.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "client/packaging.h"
#include "emulator/check/errors.h"
#include "emulator/explore/explored_command.h"
#include "emulator/scenario/built_job.h"
#include "host/process/image_map.h"

namespace caip::check {
namespace {

constexpr char kJobsOwnBucket[] = "job";
// Flags by their beginnings, and the jobs that have them.
struct FlagOwners {
  std::vector<const harness::JobKind*> kinds;
  std::string_view name;
  std::vector<std::string_view> flags;
};

const std::vector<FlagOwners>& OwnersOfFlags() {
  static const std::vector<FlagOwners> owners = {
      {{&harness::CustomJobs()},
       "custom jobs",
       {"--worker-pool-spec", "--args", "--command", "--python-package-uris",
        "--persistent-resource-id"}},
      {{&harness::TuningJobs()},
       "tuning jobs of Vertex AI",
       {"--max-trial-count", "--parallel-trial-count", "--algorithm"}},
      {{&harness::CustomJobs(), &harness::TuningJobs()},
       "jobs of Vertex AI",
       {"--display-name", "--enable-dashboard-access", "--no-enable-dashboard-access"}},
      {{&harness::TrainingJobs()},
       "training jobs",
       {"--package-path", "--packages", "--module-name", "--job-dir", "--staging-", "--scale-tier",
        "--runtime-version", "--python-version", "--master-", "--worker-count", "--worker-machine",
        "--worker-accelerator", "--worker-image", "--parameter-", "--use-chief",
        "--tpu-tf-version"}},
      {{&harness::TrainingJobs(), &harness::CustomJobs(), &harness::TuningJobs()},
       "all jobs",
       {"--config", "--region", "--service-account", "--network", "--labels", "--enable-web-access",
        "--kms-", "--no-enable-web", "--project"}},
  };
  return owners;
}

Status AddInputBuckets(const TrainerRequest& request, harness::Scenario& job) {
  for (const std::string& word : request.buckets) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Path folder = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::error_code error;
    if (name.empty() || !std::filesystem::is_directory(folder, error)) {
      return errors::NotABucketFolder(word);
    }
    if (name == kJobsOwnBucket) return errors::BucketIsTheJobs(name);
    job.buckets[name].from = std::filesystem::absolute(folder, error);
  }
  return Ok{};
}

// The file of the job, which findings extend, states some settings itself: the commands of its
// images, the kind of addresses and the view of storage. A run of a finding needs the other flags.
void AddSettings(const app::EmulatorOptions& options, app::EmulatorFlags flags,
                 harness::CheckedTrainer& trainer) {
  harness::Scenario& job = trainer.job;
  for (const std::string& image : job.kind->ImagesOf(job.document)) {
    if (const auto* command = host::FindImage(options.images, image)) job.images[image] = *command;
  }
  job.own_ports = options.addressing == app::Addressing::kPorts;
  for (const char* stated : {"addressing", "storage_view"}) flags.settings.erase(stated);
  trainer.repeated_flags = scenario::RepeatedFlags(flags);
}

void AddFolders(const TrainerRequest& request, const Path& workshop,
                harness::CheckedTrainer& trainer) {
  std::error_code error;
  if (request.job.package_path) {
    trainer.source = std::filesystem::weakly_canonical(*request.job.package_path, error);
  }
  trainer.here = std::filesystem::current_path(error);
  if (const char* home = std::getenv("HOME")) trainer.home = home;
  trainer.workshop = std::filesystem::canonical(workshop, error);
}

void AddCommon(const TrainerRequest& request, const Path& workshop,
               harness::CheckedTrainer& trainer) {
  trainer.job.limits.wall = request.run_timeout;
  trainer.job.limits.no_progress = request.stall;
  AddFolders(request, workshop, trainer);
  trainer.vm_lifetime = request.vm_lifetime;
  trainer.real_duration = request.real_duration;
  trainer.deep = request.deep;
}

// nullptr: a flag of the check or of its emulators.
const FlagOwners* FindOwners(const std::string& flag) {
  for (const FlagOwners& owners : OwnersOfFlags()) {
    const bool is_one = std::ranges::any_of(
        owners.flags, [&](std::string_view beginning) { return flag.starts_with(beginning); });
    if (is_one) return &owners;
  }
  return nullptr;
}

bool OwnsFlag(const FlagOwners& owners, const harness::JobKind& kind) {
  return std::ranges::find(owners.kinds, &kind) != owners.kinds.end();
}

// The flags of the command line that the command which creates jobs of the kind takes, too.
std::vector<std::string> CreateWords(const harness::JobKind& kind,
                                     const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string flag = words[i].substr(0, words[i].find('='));
    const FlagOwners* owners = FindOwners(flag);
    if (!owners || !OwnsFlag(*owners, kind)) continue;
    found.push_back(words[i]);
    const bool is_switch = flag.find("enable-") != std::string::npos;
    const bool has_next = flag == words[i] && !is_switch && i + 1 < words.size();
    if (has_next) found.push_back(words[++i]);
  }
  return found;
}

Result<scenario::JobWords> WordsOf(const TrainerRequest& request) {
  const harness::JobKind& kind = scenario::KindOfFlags(request.words);
  for (const std::string& word : request.words) {
    const std::string flag = word.substr(0, word.find('='));
    const FlagOwners* owners = word.starts_with("--") ? FindOwners(flag) : nullptr;
    if (owners && !OwnsFlag(*owners, kind)) {
      return errors::FlagOfOtherJob(flag, owners->name, kind.noun());
    }
  }
  if (&kind == &harness::TrainingJobs()) return scenario::JobWords{request.job, {}};
  ASSIGN_OR_RETURN(scenario::JobWords words,
                   request.read_words(kind, CreateWords(kind, request.words)));
  return words;
}

/// A command's scenario as it becomes known: first as its user gives it, then with what a run of
/// it shows.
class CommandFile {
 public:
  CommandFile(const TrainerRequest& request, Path findings) : findings_(std::move(findings)) {
    command_.words = request.command;
    command_.out_directories = request.out_directories;
    command_.step_regex = request.step_regex;
    command_.ranks = request.ranks;
    command_.limits.wall = request.run_timeout;
    command_.limits.stall = request.stall;
  }

  Result<harness::Scenario> Write() {
    ASSIGN_OR_RETURN(const Path file, explore::WriteExploredCommand(command_, findings_));
    std::error_code error;
    if (!file_.empty() && file_ != file) std::filesystem::remove(file_, error);
    file_ = file;
    return harness::ReadScenario(file);
  }

  Result<harness::Scenario> Complete(const harness::Scenario& first,
                                     const explore::TrialRun& trial) {
    if (command_.step_regex.empty()) command_.step_format = trial.step_format;
    if (command_.out_directories.empty() && !trial.other_volumes.empty()) {
      command_.out_directories = first.volumes;
      command_.out_directories.insert(command_.out_directories.end(), trial.other_volumes.begin(),
                                      trial.other_volumes.end());
    }
    return Write();
  }

  void Remove() const {
    std::error_code error;
    std::filesystem::remove(file_, error);
  }

 private:
  Path findings_;
  explore::ExploredCommand command_;
  Path file_;
};

bool CouldNotStart(const harness::Evidence& run) {
  return std::ranges::any_of(run.events, [](const harness::Event& event) {
    const auto* exit = event.As<harness::ExitEvent>();
    return exit && !exit->lost.empty();
  });
}

// What is known of a command without a run that shows more.
void SetCommand(const TrainerRequest& request, const Path& workshop, harness::Scenario job,
                harness::CheckedTrainer& trainer) {
  trainer.job = std::move(job);
  trainer.is_command = true;
  trainer.repeated_flags = scenario::RepeatedFlags(request.emulator);
  AddCommon(request, workshop, trainer);
}

}  // namespace

Result<CheckedJob> MakeCheckedCommand(const TrainerRequest& request, const Path& workshop,
                                      const Path& findings, std::function<bool()> interrupted) {
  CheckedJob checked;
  CommandFile file(request, findings);
  ASSIGN_OR_RETURN(harness::Scenario first, file.Write());
  ASSIGN_OR_RETURN(checked.settings,
                   scenario::ReadSettingsOfScenario(request.emulator, nullptr, first));
  explore::ExploreOptions options;
  options.workshop = workshop;
  options.settings = checked.settings;
  options.interrupted = std::move(interrupted);
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(harness::Evidence run, explore::RunCommand(first, options));
  const bool has_failed = run.state != "SUCCEEDED";
  if (has_failed) file.Remove();
  if (has_failed && !CouldNotStart(run)) {
    checked.failed.emplace().evidence = std::move(run);
    checked.failed->took = stopwatch.Elapsed();
    SetCommand(request, workshop, std::move(first), checked.trainer);
    return checked;
  }
  ASSIGN_OR_RETURN(const explore::TrialRun trial, explore::ReadTrial(run, options));
  ASSIGN_OR_RETURN(harness::Scenario job, file.Complete(first, trial));
  SetCommand(request, workshop, std::move(job), checked.trainer);
  ASSIGN_OR_RETURN(checked.settings, scenario::ReadSettingsOfScenario(request.emulator, nullptr,
                                                                      checked.trainer.job));
  RETURN_IF_ERROR(explore::KeepVolumes(checked.trainer.job, options));
  checked.volumes = options.volumes;
  if (request.out_directories.empty()) checked.other_volumes = trial.other_volumes;
  return checked;
}

Result<CheckedJob> MakeCheckedJob(const TrainerRequest& request, const Path& workshop) {
  CheckedJob checked;
  harness::CheckedTrainer& trainer = checked.trainer;
  trainer.job.package_parent = client::ParentOfPackage(request.job.package_path);
  ASSIGN_OR_RETURN(scenario::JobWords words, WordsOf(request));
  ASSIGN_OR_RETURN(scenario::BuiltJob built,
                   scenario::BuildJob(std::move(words), request.metric, workshop));
  trainer.packages = built.packages;
  checked.warning = built.warning;
  scenario::UseBuiltJob(std::move(built), trainer.job);
  const auto& user_args = request.job.flags.user_args;
  if (user_args && !trainer.job.kind->AddsJobDir()) {  // a training job has them already
    trainer.job.kind->AddArguments(*user_args, trainer.job.document);
  }
  RETURN_IF_ERROR(AddInputBuckets(request, trainer.job));
  ASSIGN_OR_RETURN(checked.settings, scenario::ReadSettingsOfJob(request.emulator, trainer.job));
  AddSettings(checked.settings.options, request.emulator, trainer);
  trainer.job.steps.regex = request.step_regex;
  trainer.is_container = trainer.job.kind->RunsImage(trainer.job.document);
  trainer.has_own_files = scenario::BringsOwnFiles(trainer.job, checked.settings.options);
  AddCommon(request, workshop, trainer);
  const bool tunes = !trainer.job.kind->MetricTagOf(trainer.job.document).empty();
  if (!tunes) trainer.metric = request.metric;
  return checked;
}

}  // namespace caip::check
