#pragma once
// Adds the definitions of commands to the grammar; one function for each group of commands.

#include "emulator/app/settings/settings_table.h"
#include "emulator/cli/arguments/grammar.h"

namespace caip::cli {

/// Adds gcloud's flags that every command takes. `into` must outlive the grammar.
void AddGcloudFlags(Grammar& grammar, GcloudFlags* into);

/// Finishes a command line: copies gcloud's flags into the command.
template <typename T>
Grammar::Finish FinishWith(const std::shared_ptr<T>& command, const GcloudFlags& gcloud) {
  return [command, &gcloud](const Words&) -> Result<Command> {
    command->gcloud = gcloud;
    return Command(*command);
  };
}

/// The help of --strict where jobs are removed.
inline constexpr std::string_view kKeepIds =
    "Keep the names taken, as the service does: no job may have them again.";

/// A flag whose value is an integer.
Grammar::Setter ToInteger(std::optional<int64_t>* into);

/// Whether the command can print in the given --format. Checked before the command does any work.
Status CheckFormat(const Command& command, const GcloudFlags& gcloud);

/// The values of --format that `doctor` takes.
std::vector<std::string> DoctorFormats();

/// Adds the flags of the emulator itself, under their own heading.
void AddEmulatorFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into);
/// Adds the flag of one setting (app/settings/settings_table.h), which must have a flag.
void AddSettingFlag(Grammar& grammar, CLI::App& app, std::string_view key,
                    app::EmulatorFlags* into);
/// Adds the flags of those settings for which `is_wanted` is true, under the heading of settings.
void AddSettingFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into,
                     bool (*is_wanted)(const app::Setting& setting));
/// Adds --state and --emulator-config, for commands that run jobs on emulators of their own.
void AddRunFlags(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into);
/// The flags of a command that is explored or checked: --out-dir and --torchrun.
void AddCommandFlags(Grammar& grammar, CLI::App& app, std::vector<Path>* directories,
                     int64_t* ranks);
/// Adds the flags of an encryption key.
void AddKmsFlags(Grammar& grammar, CLI::App& app, client::KmsFlags* kms);
/// A flag that completes --kms-key needs it.
Status CheckKmsFlags(const client::KmsFlags& kms);
/// Adds only --state, for commands that only look for an emulator.
void AddStateFlag(Grammar& grammar, CLI::App& app, app::EmulatorFlags* into);

/// Checks the flags of a job together, after all of them are set.
using FinishJob = std::function<Status(const Words& words)>;
/// Adds the flags that describe a job, for every command that makes one. `job` outlives the grammar
/// and the result.
FinishJob AddJobFlags(Grammar& grammar, CLI::App& app, client::SubmitRequest* job);

// `gcloud` holds the gcloud-wide flags after the command line was parsed.
void AddSubmitCommand(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud);
void AddJobsCommands(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud);
void AddAiLocalRun(Grammar& grammar, CLI::App& custom_jobs, const GcloudFlags& gcloud);
void AddAiCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddMigrateCommand(Grammar& grammar, const GcloudFlags& gcloud);
void AddLocalCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddServerCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddStorageCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddImagesCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddRuntimesCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddStateCommands(Grammar& grammar, const GcloudFlags& gcloud);
void AddVersionCommand(Grammar& grammar);
void AddScenarioCommands(Grammar& grammar);
void AddCheckCommand(Grammar& grammar, const GcloudFlags& gcloud);
void AddSimulateCommand(Grammar& grammar);
void AddHelpCommands(Grammar& grammar);

/// Setters for plain values.
Grammar::Setter To(std::optional<std::string>* into);
Grammar::Setter To(std::string* into);
/// For repeatable flags.
Grammar::Setter Append(std::vector<std::string>* into);

}  // namespace caip::cli
