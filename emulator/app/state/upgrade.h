#pragma once
// Brings the databases of an earlier caip to today's schemas, after it has copied them.
//
//   <state>/migrations/<time>/       the databases before one upgrade, under their own names
//                    migration.json  the versions, and whether all migrations have finished
//
// Each database migrates in one transaction. A process that is killed at any instant leaves each
// database in its old schema or in the new one, and a copy of each old one that it began to change.
// The next upgrade continues in the same directory.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "emulator/app/state/stores.h"

namespace caip::app {

/// A migration of one database.
struct Migration {
  const Store* store = nullptr;
  int64_t from = 0;
};

/// The migrations that the state needs. kFailedPrecondition: a newer caip wrote the state, or a
/// backup is being restored into it. A file that is not a database is left to the part that opens
/// it. Changes no file.
Result<std::vector<Migration>> PlanMigrations(const Path& state, std::string_view own_version);

struct UpgradeOptions {
  std::string version;  // of this program
  Instant now;
  /// Called after each step, for tests that end the process there.
  std::function<void(const std::string& step)> after_step = {};
};

/// An upgrade that was carried out.
struct Upgrade {
  std::vector<Migration> migrations;  // none: nothing was changed
  Path copy;                          // the directory with the old databases
};

/// Carries out the migrations of a state that this process owns, and records this version as the
/// last that used the state. Errors as PlanMigrations; what the disk says.
Result<Upgrade> UpgradeState(const Path& state, const UpgradeOptions& options);

/// A copy that an upgrade kept.
struct KeptCopy {
  struct Database {
    std::string file;
    int64_t from = 0;
    int64_t to = 0;
  };
  Path directory;
  std::string caip_version;  // that upgraded
  std::string time;          // RFC 3339
  bool is_finished = false;
  std::vector<Database> databases;
};

/// The copies of a state, oldest first.
std::vector<KeptCopy> KeptCopies(const Path& state);

}  // namespace caip::app
