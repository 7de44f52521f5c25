#include "emulator/app/state/upgrade.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/json.h"
#include "base/sqlite.h"
#include "base/text.h"
#include "base/time_text.h"
#include "emulator/app/state/restoring_directory.h"
#include "emulator/app/state/state_errors.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopiesFolder = "migrations";
constexpr const char* kCopyNote = "migration.json";
constexpr size_t kCopyNoteBytesMax = 64 << 10;

Status WriteCopyNote(const KeptCopy& copy) {
  Json databases = Json::array();
  for (const KeptCopy::Database& database : copy.databases) {
    databases.push_back({{"file", database.file}, {"from", database.from}, {"to", database.to}});
  }
  const Json note = {{"caipVersion", copy.caip_version},
                     {"time", copy.time},
                     {"databases", databases},
                     {"finished", copy.is_finished}};
  return WriteFileDurably(copy.directory / kCopyNote, PrettyJson(note) + "\n", 0600);
}

// The copy of an upgrade that was interrupted.
std::optional<KeptCopy> FindBegun(const Path& state) {
  for (KeptCopy& copy : KeptCopies(state)) {
    if (!copy.is_finished) return std::move(copy);
  }
  return std::nullopt;
}

// The process ended between the last migration and the note of it.
Status FinishBegun(const Path& state) {
  auto begun = FindBegun(state);
  if (!begun) return Ok{};
  begun->is_finished = true;
  return WriteCopyNote(*begun);
}

/// One upgrade in progress.
class Upgrading {
 public:
  Upgrading(Path state, const UpgradeOptions& options, std::vector<Migration> migrations)
      : state_(std::move(state)), options_(options), migrations_(std::move(migrations)) {}

  Result<Path> Run() {
    if (const Status copied = MakeCopies(); !copied.ok()) {
      return errors::CopiesFailed(state_, copied.error());
    }
    for (const Migration& migration : migrations_) {
      const Store& store = *migration.store;
      const Path file = state_ / store.file;
      const Status migrated = store.migrate(file);
      if (!migrated.ok())
        return errors::MigrationFailed(store.file, copy_.directory, migrated.error());
      RETURN_IF_ERROR(WriteIntoFile(file));
      Step("migrated " + std::string(store.name));
    }
    copy_.is_finished = true;
    RETURN_IF_ERROR(WriteCopyNote(copy_));
    Step("finished");
    return copy_.directory;
  }

 private:
  Status MakeCopies() {
    RETURN_IF_ERROR(ChooseDirectory());
    for (const Migration& migration : migrations_) RETURN_IF_ERROR(CopyStore(migration));
    RETURN_IF_ERROR(WriteCopyNote(copy_));
    RETURN_IF_ERROR(SyncDirectory(copy_.directory.parent_path()));
    Step("noted");
    return Ok{};
  }

  // An upgrade that was interrupted has copies of databases that have migrated since.
  Status ChooseDirectory() {
    auto begun = FindBegun(state_);
    if (begun && CanContinue(*begun)) {
      copy_ = *std::move(begun);
      return Ok{};
    }
    RETURN_IF_ERROR(FinishBegun(state_));
    return MakeDirectory();
  }

  // False if a copy would be replaced by one of another schema.
  bool CanContinue(const KeptCopy& begun) const {
    return std::all_of(begun.databases.begin(), begun.databases.end(), [&](const auto& database) {
      return std::all_of(migrations_.begin(), migrations_.end(), [&](const Migration& planned) {
        return planned.store->file != database.file || planned.from == database.from;
      });
    });
  }

  Status MakeDirectory() {
    copy_ = {{}, options_.version, Rfc3339(options_.now), false, {}};
    std::string name = copy_.time;
    std::erase(name, ':');
    std::erase(name, '-');
    const Path parent = state_ / kCopiesFolder;
    RETURN_IF_ERROR(MakeDirectories(parent));
    RemoveUnused(parent);
    std::error_code error;
    copy_.directory = parent / name;
    for (int count = 2; fs::exists(copy_.directory, error); ++count) {
      copy_.directory = parent / (name + "-" + std::to_string(count));
    }
    RETURN_IF_ERROR(MakeDirectories(copy_.directory));
    for (const Path& made : {parent, copy_.directory}) {
      if (::chmod(made.c_str(), 0700) != 0) return CannotProtect(made, errno);
    }
    Step("made the directory");
    return Ok{};
  }

  // Such as 20261126T194709Z: other files are a person's.
  static bool HasNameOfACopy(const Path& path) {
    constexpr size_t kDigits = 8;
    const std::string name = path.filename().string();
    return name.size() > kDigits && name[kDigits] == 'T' &&
           std::all_of(name.begin(), name.begin() + kDigits, IsDigit);
  }

  // A directory without a note is of an upgrade that ended before it changed anything.
  static void RemoveUnused(const Path& parent) {
    std::error_code error;
    std::vector<Path> unused;
    for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
      if (HasNameOfACopy(at->path()) && !fs::exists(at->path() / kCopyNote))
        unused.push_back(at->path());
    }
    for (const Path& directory : unused) RemoveTree(directory);
  }

  // Replaces an earlier copy, whose database may have changed since, in one step.
  Status CopyStore(const Migration& migration) {
    const Store& store = *migration.store;
    const Path target = copy_.directory / store.file;
    const Path temporary = target.string() + ".new";
    RETURN_IF_ERROR(MakeDirectories(target.parent_path()));
    std::error_code error;
    fs::remove(temporary, error);
    {
      SqliteDatabase database(state_ / store.file, errors::StoreFailed);
      RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kExisting));
      RETURN_IF_ERROR(database.CopyTo(temporary));
    }
    Step("copied " + std::string(store.name));
    fs::rename(temporary, target, error);
    if (error) return CannotRename(temporary, error.value());
    RETURN_IF_ERROR(SyncDirectory(target.parent_path()));
    std::erase_if(copy_.databases, [&](const auto& known) { return known.file == store.file; });
    copy_.databases.push_back({std::string(store.file), migration.from, store.version});
    Step("named " + std::string(store.name));
    return Ok{};
  }

  // Programs that read only the file's header see the new schema from now on.
  static Status WriteIntoFile(const Path& file) {
    SqliteDatabase database(file, errors::StoreFailed);
    RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kExisting));
    return database.Run("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  void Step(const std::string& step) const {
    if (options_.after_step) options_.after_step(step);
  }

  Path state_;
  const UpgradeOptions& options_;
  std::vector<Migration> migrations_;
  KeptCopy copy_;
};

std::optional<KeptCopy> ReadKeptCopy(const Path& directory) {
  const auto text = ReadFileUpTo(directory / kCopyNote, kCopyNoteBytesMax);
  const auto note = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!note.ok() || !note->is_object()) return std::nullopt;
  KeptCopy copy{directory, StringOr(*note, "caipVersion"), StringOr(*note, "time"), false, {}};
  const Json* finished = Member(*note, "finished");
  copy.is_finished = finished != nullptr && finished->is_boolean() && finished->get<bool>();
  const Json* databases = Member(*note, "databases");
  if (databases == nullptr || !databases->is_array()) return copy;
  for (const Json& database : *databases) {
    copy.databases.push_back(
        {StringOr(database, "file"), IntOr(database, "from", 0), IntOr(database, "to", 0)});
  }
  return copy;
}

}  // namespace

// The headers suffice if this version was the last to use the state: then no newer schema can be in
// a write-ahead log. A header without a version has never been written back, and a person may have
// put an older database there. Every start of an emulator comes through here, and opening takes
// milliseconds.
Result<std::vector<Migration>> PlanMigrations(const Path& state, std::string_view own_version) {
  if (IsBeingRestored(state)) return errors::RestoreUnfinished(state);
  std::vector<Migration> migrations;
  std::vector<errors::NewerStore> newer;
  const auto last = ReadLastWriter(state);
  const bool is_own = last && last->version == own_version;
  for (const Store& store : Stores()) {
    const Path file = state / store.file;
    const auto header = is_own ? VersionInHeader(file) : std::nullopt;
    if (header == store.version) continue;
    if (header == 0 && VersionInLog(file) == store.version) continue;
    const auto found = StoredVersion(file);
    if (!found.ok() && found.error().code == Code::kDataLoss) continue;
    if (!found.ok()) return found.error();
    if (!*found || **found == store.version) continue;
    if (**found > store.version) {
      newer.push_back({store.file, **found, store.version});
    } else {
      migrations.push_back({&store, **found});
    }
  }
  if (last && last->layout > kStateLayout) {
    newer.push_back({"The layout of the directory", last->layout, kStateLayout});
  }
  if (newer.empty()) return migrations;
  return errors::StateTooNew(state, newer, last ? last->version : "", own_version);
}

Result<Upgrade> UpgradeState(const Path& state, const UpgradeOptions& options) {
  ASSIGN_OR_RETURN(auto migrations, PlanMigrations(state, options.version));
  Upgrade upgrade;
  if (!migrations.empty()) {
    ASSIGN_OR_RETURN(upgrade.copy, Upgrading(state, options, migrations).Run());
    upgrade.migrations = std::move(migrations);
  } else {
    RETURN_IF_ERROR(FinishBegun(state));
  }
  RETURN_IF_ERROR(RecordWriter(state, options.version, Rfc3339(options.now)));
  return upgrade;
}

std::vector<KeptCopy> KeptCopies(const Path& state) {
  std::vector<KeptCopy> copies;
  std::error_code error;
  for (fs::directory_iterator at(state / kCopiesFolder, error), end; !error && at != end;
       at.increment(error)) {
    if (auto copy = ReadKeptCopy(at->path())) copies.push_back(*std::move(copy));
  }
  std::sort(copies.begin(), copies.end(), [](const KeptCopy& left, const KeptCopy& right) {
    return left.directory < right.directory;
  });
  return copies;
}

}  // namespace caip::app
