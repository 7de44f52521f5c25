// `caip state info|migrate|backup|restore`.

#include <filesystem>

#include "base/json.h"
#include "base/text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/app/state/backup.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/state_info.h"
#include "emulator/app/state/upgrade.h"
#include "emulator/app/version.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/byte_count.h"
#include "emulator/cli/print/resource_text.h"

namespace caip::cli {
namespace {

constexpr std::string_view kDatabaseColumns =
    "table(file:label=DATABASE,version,schema,size,contents)";
constexpr std::string_view kFolderColumns = "table(name:label=FOLDER,files,size)";

std::string CountsText(const app::DatabaseInfo& database) {
  std::vector<std::string> counts;
  for (const auto& [noun, count] : database.counts) {
    counts.push_back(std::to_string(count) + " " + std::string(noun));
  }
  return Join(counts, ", ");
}

std::string SchemaText(const app::DatabaseInfo& database) {
  const std::string supported = std::to_string(database.store->version);
  switch (database.age) {
    case app::SchemaAge::kOld:
      return "old: caip migrates it to " + supported;
    case app::SchemaAge::kNewer:
      return "newer: this caip supports " + supported;
    default:
      return std::string(app::SchemaAgeName(database.age));
  }
}

std::string OwnerText(const std::optional<host::StateOwner>& owner) {
  if (!owner) return "no emulator";
  if (owner->pid == 0) return "an emulator that is starting";
  return "process " + std::to_string(owner->pid) + ", caip " + owner->version +
         (owner->url.empty() ? "" : ", at " + owner->url);
}

std::string WriterText(const std::optional<app::LastWriter>& writer) {
  if (!writer) return "not recorded: only caip before 0.2, or nothing, has used it";
  return "caip " + writer->version + ", since " + writer->since;
}

Result<std::string> InfoText(const app::StateInfo& info) {
  Json databases = Json::array();
  for (const app::DatabaseInfo& database : info.databases) {
    const bool is_missing = database.age == app::SchemaAge::kMissing;
    databases.push_back({{"file", database.store->file},
                         {"version", database.version > 0 ? Json(database.version) : Json()},
                         {"schema", SchemaText(database)},
                         {"size", is_missing ? "" : ByteCountText(database.bytes)},
                         {"contents", CountsText(database)}});
  }
  Json folders = Json::array();
  for (const app::FolderInfo& folder : info.folders) {
    folders.push_back(
        {{"name", folder.name}, {"files", folder.files}, {"size", ByteCountText(folder.bytes)}});
  }
  std::string text = info.path.string() + "\n  used by       " + OwnerText(info.owner) +
                     "\n  last used by  " + WriterText(info.last_writer) + "\n  size          " +
                     ByteCountText(info.bytes) + "\n";
  for (const app::DatabaseInfo& database : info.databases) {
    if (!database.problem.empty()) text += "  damaged       " + database.problem + "\n";
  }
  for (const app::KeptCopy& copy : info.copies) {
    text += "  copy          " + copy.directory.string() + ", made by caip " + copy.caip_version +
            (copy.is_finished ? "" : ", whose migration did not finish") + "\n";
  }
  ASSIGN_OR_RETURN(const std::string database_table, FormatResources(databases, kDatabaseColumns));
  ASSIGN_OR_RETURN(const std::string folder_table, FormatResources(folders, kFolderColumns));
  return text + "\n" + database_table + (folders.empty() ? "" : "\n" + folder_table);
}

Status PrintInfo(const StateInfoCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const app::StateInfo info,
                   app::InspectState(app::StateDirectory(command.emulator)));
  if (command.json) {
    world.io.out(PrettyJson(app::StateInfoJson(info)) + "\n");
    return Ok{};
  }
  ASSIGN_OR_RETURN(const std::string text, InfoText(info));
  world.io.out(text);
  return Ok{};
}

std::string MigrationText(const app::Migration& migration) {
  return std::string(migration.store->file) + " from version " + std::to_string(migration.from) +
         " to " + std::to_string(migration.store->version);
}

Result<host::StateDirectory> OwnState(const Path& state) {
  std::error_code error;
  if (!std::filesystem::is_directory(state, error)) return app::errors::NoState(state);
  auto owned = host::StateDirectory::Own(state, app::kVersion, SystemClock().Now());
  if (!owned.ok() && owned.error().code == Code::kAborted) {
    return app::errors::StateInUse(state, "migrated", owned.error());
  }
  return owned;
}

Status Migrate(const StateMigrateCommand& command, const Surroundings& world) {
  const Path state = app::StateDirectory(command.emulator);
  std::vector<app::Migration> migrations;
  std::string copy;
  if (command.dry_run) {
    std::error_code error;
    if (!std::filesystem::is_directory(state, error)) return app::errors::NoState(state);
    ASSIGN_OR_RETURN(migrations, app::PlanMigrations(state, app::kVersion));
  } else {
    ASSIGN_OR_RETURN(const host::StateDirectory owned, OwnState(state));
    ASSIGN_OR_RETURN(app::Upgrade upgrade, app::UpgradeState(state, {.version = app::kVersion,
                                                                     .now = SystemClock().Now()}));
    migrations = std::move(upgrade.migrations);
    copy = upgrade.copy.string();
  }
  const std::string verb = command.dry_run ? "Would migrate " : "Migrated ";
  for (const app::Migration& migration : migrations) {
    world.io.out(verb + MigrationText(migration) + ".\n");
  }
  if (migrations.empty()) world.io.out("All databases have the schemas of this version.\n");
  if (!copy.empty()) world.io.out("The databases as they were before are in " + copy + ".\n");
  return Ok{};
}

std::string SizeOfBackup(const app::BackupSize& size) {
  return std::to_string(size.files) + (size.files == 1 ? " file" : " files") + ", " +
         ByteCountText(size.bytes);
}

Status BackUp(const StateBackupCommand& command, const Surroundings& world) {
  const Path state = app::StateDirectory(command.emulator);
  app::BackupOptions options{app::kVersion, SystemClock().Now()};
  const app::StopOnInterrupt interrupt;
  options.snapshot.with_images = command.with_images;
  options.snapshot.stop = interrupt.token();
  ASSIGN_OR_RETURN(const app::BackupSize size, app::BackUpState(state, command.file, options));
  world.io.out("Saved " + state.string() + " to " + command.file + " (" + SizeOfBackup(size) +
               ").\n");
  return Ok{};
}

Status Restore(const StateRestoreCommand& command, const Surroundings& world) {
  const Path state = app::StateDirectory(command.emulator);
  const app::StopOnInterrupt interrupt;
  ASSIGN_OR_RETURN(const app::BackupSize size,
                   app::RestoreState(command.file, state, app::kVersion, interrupt.token()));
  world.io.out("Restored " + command.file + " to " + state.string() + " (" + SizeOfBackup(size) +
               ").\n");
  return Ok{};
}

int StateExitCode(const Status& done, const char* command, const Io& io) {
  if (done.ok()) return kExitSuccess;
  const bool is_interrupted = done.error().code == Code::kCancelled;
  return is_interrupted ? Fail(io, command, done.error().message, kExitInterrupted)
                        : Fail(io, command, done.error());
}

}  // namespace

int RunStateInfo(const StateInfoCommand& command, const Surroundings& world) {
  return StateExitCode(PrintInfo(command, world), "state.info", world.io);
}

int RunStateMigrate(const StateMigrateCommand& command, const Surroundings& world) {
  return StateExitCode(Migrate(command, world), "state.migrate", world.io);
}

int RunStateBackup(const StateBackupCommand& command, const Surroundings& world) {
  return StateExitCode(BackUp(command, world), "state.backup", world.io);
}

int RunStateRestore(const StateRestoreCommand& command, const Surroundings& world) {
  return StateExitCode(Restore(command, world), "state.restore", world.io);
}

}  // namespace caip::cli
