// The flags of `state info`, `migrate`, `backup`, `restore` and of `version`, which gcloud does not
// have.

#include "emulator/cli/arguments/definitions.h"

namespace caip::cli {
namespace {

void AddInfo(Grammar& grammar, CLI::App& state, const GcloudFlags& gcloud) {
  const auto info = std::make_shared<StateInfoCommand>();
  CLI::App& app = grammar.Leaf(state, "info",
                               "Shows what the state directory holds, and which versions wrote it.",
                               "It changes nothing, and an emulator may use the directory.\n\n"
                               "Examples:\n  caip state info\n  caip state info --json",
                               FinishWith(info, gcloud));
  grammar.Switch(app, "--json", "Print JSON.", &info->json);
  AddStateFlag(grammar, app, &info->emulator);
}

void AddMigrate(Grammar& grammar, CLI::App& state, const GcloudFlags& gcloud) {
  const auto migrate = std::make_shared<StateMigrateCommand>();
  CLI::App& app = grammar.Leaf(
      state, "migrate", "Brings the databases of an earlier caip to the schemas of this one.",
      "An emulator does the same when it starts. The databases as they were before stay below "
      "<state>/migrations.\n\n"
      "Examples:\n  caip state migrate --dry-run\n  caip state migrate",
      FinishWith(migrate, gcloud));
  grammar.Switch(app, "--dry-run", "Only print what would be migrated.", &migrate->dry_run);
  AddStateFlag(grammar, app, &migrate->emulator);
}

void AddBackup(Grammar& grammar, CLI::App& state, const GcloudFlags& gcloud) {
  const auto backup = std::make_shared<StateBackupCommand>();
  CLI::App& app = grammar.Leaf(
      state, "backup", "Saves the state directory as it is at one instant to an archive.",
      "An emulator may run. Environments, unpacked images and disks are left out: caip makes them "
      "again.\n\n"
      "Examples:\n  caip state backup caip-backup.tar.zst\n"
      "  caip state backup objects.tar --no-images",
      FinishWith(backup, gcloud));
  grammar.Positional(app, "FILE",
                     "The new archive. It is compressed if its name ends with .gz or .zst.",
                     To(&backup->file));
  grammar.Switch(app, "--images", "Save container images, too (default).", &backup->with_images);
  AddStateFlag(grammar, app, &backup->emulator);
}

void AddRestore(Grammar& grammar, CLI::App& state, const GcloudFlags& gcloud) {
  const auto restore = std::make_shared<StateRestoreCommand>();
  CLI::App& app = grammar.Leaf(
      state, "restore", "Makes a missing or empty state directory of a backup.",
      "The directory appears complete or not at all: every file is compared with its digest before."
      "\n\nExamples:\n  caip state restore caip-backup.tar.zst --state restored",
      FinishWith(restore, gcloud));
  grammar.Positional(app, "FILE", "An archive of `caip state backup`.", To(&restore->file));
  AddStateFlag(grammar, app, &restore->emulator);
}

}  // namespace

void AddStateCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  CLI::App& state = grammar.Group(grammar.root(), "state",
                                  "Shows, migrates, saves and restores the state directory.");
  AddInfo(grammar, state, gcloud);
  AddMigrate(grammar, state, gcloud);
  AddBackup(grammar, state, gcloud);
  AddRestore(grammar, state, gcloud);
}

void AddVersionCommand(Grammar& grammar) {
  const auto json = std::make_shared<bool>(false);
  CLI::App& app = grammar.Leaf(
      grammar.root(), "version", "Prints the version, how it was built, and the schemas it reads.",
      "Examples:\n  caip version\n  caip version --json", [json](const Words&) -> Result<Command> {
        using Form = VersionCommand::Form;
        return Command(VersionCommand{*json ? Form::kJson : Form::kLong});
      });
  grammar.Switch(app, "--json", "Print JSON.", json.get());
}

}  // namespace caip::cli
