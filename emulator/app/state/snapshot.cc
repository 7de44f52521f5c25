#include "emulator/app/state/snapshot.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/sqlite.h"
#include "emulator/app/state/saved_places.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/stores.h"
#include "emulator/app/state/tree_linker.h"
#include "emulator/app/state/upgrade.h"
#include "emulator/app/version.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/moved_records.h"
#include "host/store/state_directory.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSnapshotPrefix = ".backup-";
constexpr const char* kUnfinishedObjects = ".caip-tmp";  // below kBuckets
constexpr const char* kLockPause = "PRAGMA busy_timeout = 100";

// Without the objects that are being written, which no record names yet.
std::vector<TreeEntry> ObjectsOf(std::vector<TreeEntry> entries) {
  std::erase_if(entries,
                [](const TreeEntry& entry) { return entry.first.starts_with(kUnfinishedObjects); });
  return entries;
}

// An emulator has used the directory, or a person has put databases there.
bool IsState(const Path& directory) {
  std::error_code error;
  const auto has = [&](std::string_view name) { return fs::exists(directory / name, error); };
  return has("owner.lock") || std::any_of(Stores().begin(), Stores().end(),
                                          [&](const Store& store) { return has(store.file); });
}

Status CopyPlace(const Path& from, const Path& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return Ok{};
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  const Path itself = fs::canonical(from, error);  // a person may have put a link to it there
  if (error) return CannotRead(from, error.value());
  fs::copy(itself, to, fs::copy_options::recursive | fs::copy_options::skip_symlinks, error);
  return error ? Status(errors::CannotCopy(from, error.value())) : Status(Ok{});
}

/// A database that no other process writes.
struct LockedStore {
  LockedStore(const Store& held, const Path& file)
      : store(&held), writer(file, errors::StoreFailed), reader(file, errors::StoreFailed) {}

  Status Open() {
    RETURN_IF_ERROR(writer.Open(SqliteDatabase::Mode::kExisting));
    RETURN_IF_ERROR(writer.Run(kLockPause));
    return reader.Open(SqliteDatabase::Mode::kExisting);
  }
  /// kUnavailable: another process writes.
  Status Lock() { return writer.Run("BEGIN IMMEDIATE"); }
  /// From now on, `reader` sees this state.
  Status Hold() {
    RETURN_IF_ERROR(reader.Run("BEGIN"));
    const auto tables = reader.Number("SELECT count(*) FROM sqlite_schema");
    return tables.ok() ? Status(Ok{}) : Status(tables.error());
  }
  Status Unlock() { return writer.Run("ROLLBACK"); }

  const Store* store;
  SqliteDatabase writer;
  SqliteDatabase reader;
};

/// How long other processes may be kept waiting.
class TakingLimit {
 public:
  TakingLimit(const Path& state, const SnapshotOptions& options)
      : state_(state), options_(options) {}

  void Begin() { deadline_ = MonotonicNow() + options_.patience; }
  bool IsOver() const { return MonotonicNow() > deadline_; }

  Status Check() const {
    if (options_.stop.stop_requested()) return errors::BackupStopped();
    if (!IsOver()) return Ok{};
    const auto owner = host::StateDirectory::Peek(state_);
    return owner.ok() && !*owner ? Status(Ok{}) : Status(errors::StateTooBusy(state_));
  }

 private:
  const Path& state_;
  const SnapshotOptions& options_;
  MonotonicTime deadline_ = MonotonicNow();
};

/// Takes one snapshot.
class Taking {
 public:
  Taking(const Path& state, const Path& snapshot, const SnapshotOptions& options)
      : state_(state), to_(snapshot), options_(options), limit_(state, options) {}

  Status Run() {
    limit_.Begin();
    RETURN_IF_ERROR(LockImages());
    RETURN_IF_ERROR(LockStores());
    if (options_.when_locked) options_.when_locked();
    Status taken = TakeFiles();
    for (const auto& locked : locked_) {
      if (taken.ok()) taken = locked->Hold();
    }
    for (const auto& locked : locked_) {
      const Status unlocked = locked->Unlock();
      if (taken.ok() && !unlocked.ok()) taken = unlocked;
    }
    images_lock_.Close();
    RETURN_IF_ERROR(taken);
    return CopyStores();
  }

  const gcs::CopiedInodes& copies() const { return copies_; }

 private:
  bool Wants(const Store& store) const { return options_.with_images || store.name != "images"; }
  std::function<Status()> Checks() const {
    return [this] { return limit_.Check(); };
  }

  // The lock keeps a collection of garbage from removing blobs. A collection takes it before it
  // writes to its database, so it comes before all databases here, too.
  Status LockImages() {
    std::error_code error;
    if (!options_.with_images || !fs::exists(state_ / kImageBlobs, error)) return Ok{};
    const Path lock_file = state_ / "images/lock";
    images_lock_ = Fd(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!images_lock_.valid()) return CannotOpen(lock_file, errno);
    while (::flock(images_lock_.get(), LOCK_SH) != 0) {
      if (errno != EINTR) return CannotLock(lock_file, errno);
      RETURN_IF_ERROR(limit_.Check());
    }
    return Ok{};
  }

  // Always in one order, so that two backups never wait for each other. The emulator waits from the
  // first lock on.
  Status LockStores() {
    limit_.Begin();
    for (const Store& store : Stores()) {
      const Path file = state_ / store.file;
      std::error_code error;
      if (!Wants(store) || !fs::exists(file, error)) continue;
      locked_.push_back(std::make_unique<LockedStore>(store, file));
      RETURN_IF_ERROR(locked_.back()->Open());
      RETURN_IF_ERROR(LockPatiently(*locked_.back()));
      if (locked_.size() == 1) limit_.Begin();
    }
    return Ok{};
  }

  Status LockPatiently(LockedStore& store) const {
    while (true) {
      const Status locked = store.Lock();
      if (locked.ok() || locked.error().code != Code::kUnavailable) return locked;
      RETURN_IF_ERROR(limit_.Check());
      if (limit_.IsOver()) return errors::StateTooBusy(state_);
    }
  }

  Status TakeFiles() {
    while (true) {
      ASSIGN_OR_RETURN(const bool is_coherent, LinkFolders());
      if (is_coherent) break;
      if (limit_.IsOver()) return errors::StateTooBusy(state_);
      for (const char* folder : kLinkedFolders) RemoveTree(to_ / folder);
    }
    for (const char* place : kCopiedPlaces) {
      RETURN_IF_ERROR(limit_.Check());
      RETURN_IF_ERROR(CopyPlace(state_ / place, to_ / place));
    }
    if (!options_.with_images) return Ok{};
    RETURN_IF_ERROR(CopyPlace(state_ / kImageMap, to_ / kImageMap));
    std::error_code error;
    if (!fs::exists(state_ / kImageBlobs, error)) return Ok{};
    return TreeLinker(state_ / kImageBlobs, to_ / kImageBlobs, Checks()).Link();
  }

  // False: the objects changed meanwhile. Writers change at most one object each before they wait
  // for their database.
  Result<bool> LinkFolders() {
    std::vector<TreeEntry> linked;
    copies_.clear();
    for (const char* folder : kLinkedFolders) {
      std::error_code error;
      if (!fs::exists(state_ / folder, error)) continue;
      TreeLinker linker(state_ / folder, to_ / folder, Checks());
      RETURN_IF_ERROR(linker.Link());
      copies_.insert(linker.copies().begin(), linker.copies().end());
      linked = linker.TakeEntries();  // of the last: the buckets
    }
    std::error_code error;
    if (!fs::exists(state_ / kBuckets, error)) return true;
    TreeLinker again(state_ / kBuckets, {}, Checks());
    RETURN_IF_ERROR(again.List());
    return ObjectsOf(std::move(linked)) == ObjectsOf(again.TakeEntries());
  }

  // The records of objects first: a writer that had to wait replaces its object soon.
  Status CopyStores() {
    for (const auto& locked : locked_) {
      if (locked->store->file == kObjectRecords) RETURN_IF_ERROR(CopyStore(*locked));
    }
    RETURN_IF_ERROR(Complete());
    for (const auto& locked : locked_) {
      if (locked->store->file != kObjectRecords) RETURN_IF_ERROR(CopyStore(*locked));
    }
    locked_.clear();
    return Ok{};
  }

  Status CopyStore(LockedStore& locked) const {
    if (options_.stop.stop_requested()) return errors::BackupStopped();
    const Path copy = to_ / locked.store->file;
    RETURN_IF_ERROR(MakeDirectories(copy.parent_path()));
    return locked.reader.CopyTo(copy);
  }

  // Objects that were being written get their files, as at the start of an emulator after a kill,
  // or their records, which the emulator has written since.
  Status Complete() const {
    const Path buckets = to_ / kBuckets;
    const Path records = to_ / kObjectRecords;
    std::error_code error;
    if (!fs::exists(buckets, error)) return Ok{};
    const bool has_records = fs::exists(records, error);
    if (has_records) RETURN_IF_ERROR(gcs::RenumberRecords(records, copies_));
    {
      SystemClock clock;
      const auto store = gcs::DirectoryStore::Open({.root = buckets, .durable = false}, clock);
      if (!store.ok()) return store.error();
    }
    RemoveTree(buckets / kUnfinishedObjects);
    {
      SqliteDatabase database(records, errors::StoreFailed);
      RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kExisting));
      RETURN_IF_ERROR(database.Run("PRAGMA journal_mode = DELETE"));  // one file
    }
    if (!has_records) return Ok{};
    ASSIGN_OR_RETURN(const gcs::FileIdentifier identify, gcs::IdentifyBelow(buckets));
    return gcs::AdoptLaterRecords(records, identify, state_ / kObjectRecords, copies_);
  }

  const Path& state_;
  const Path& to_;
  const SnapshotOptions& options_;
  TakingLimit limit_;
  Fd images_lock_;
  gcs::CopiedInodes copies_;
  std::vector<std::unique_ptr<LockedStore>> locked_;
};

}  // namespace

Result<Snapshot> Snapshot::Take(const Path& state, const SnapshotOptions& options) {
  std::error_code error;
  if (!fs::is_directory(state, error)) return errors::NoState(state);
  if (!IsState(state)) return errors::NotAState(state);
  RETURN_IF_ERROR(PlanMigrations(state, kVersion));  // refuses a newer state
  // An earlier caip names a snapshot without the number of its process.
  TemporaryDirectory::RemoveWithoutProcess(state, kSnapshotPrefix);
  ASSIGN_OR_RETURN(TemporaryDirectory made, TemporaryDirectory::MakeIn(state, kSnapshotPrefix));
  Snapshot snapshot(std::move(made));
  {
    Taking taking(state, snapshot.path(), options);
    RETURN_IF_ERROR(taking.Run());
    snapshot.copies_ = taking.copies();
  }
  RETURN_IF_ERROR(snapshot.ListEntries());
  return snapshot;
}

Status Snapshot::ListEntries() {
  std::error_code error;
  for (fs::recursive_directory_iterator at(path(), error), end; !error && at != end;
       at.increment(error)) {
    entries_.push_back(at->path().lexically_relative(path()));
  }
  if (error) return CannotLookAt(path(), error.value());
  std::sort(entries_.begin(), entries_.end());
  return Ok{};
}

}  // namespace caip::app
