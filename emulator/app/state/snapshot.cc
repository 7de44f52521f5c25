#include "emulator/app/state/snapshot.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/sqlite.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/stores.h"
#include "emulator/app/state/upgrade.h"
#include "emulator/app/version.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/moved_records.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSnapshotPrefix = ".backup-";
constexpr const char* kBuckets = "buckets";
constexpr const char* kUnfinishedObjects = ".caip-tmp";  // below kBuckets
// Their files only appear, get other names, grow at their ends and go.
constexpr const char* kLinkedFolders[] = {"uploads", "xml-uploads", kBuckets};
constexpr const char* kImageBlobs = "images/blobs";
// Small files, which a person may edit in place.
constexpr const char* kCopiedPlaces[] = {"policies", "keys",        "storage-keys",
                                         "ca",       "config.yaml", "version.json"};
constexpr const char* kImageMap = "images/map.json";

/// A file or a directory of a tree, with its inode.
using TreeEntry = std::pair<std::string, uint64_t>;

/// Walks a tree that other processes change, and links its files to another one.
class TreeLinker {
 public:
  TreeLinker(Path from, Path to) : from_(std::move(from)), to_(std::move(to)) {}

  /// Makes the other tree.
  Status Link() {
    RETURN_IF_ERROR(MakeDirectories(to_));
    return Walk("", true);
  }
  Status List() { return Walk("", false); }
  /// What was found, sorted.
  std::vector<TreeEntry> TakeEntries() {
    std::sort(entries_.begin(), entries_.end());
    return std::move(entries_);
  }

 private:
  Status Walk(const std::string& folder, bool links) {
    std::error_code error;
    std::vector<std::string> folders;
    for (fs::directory_iterator at(from_ / folder, error), end; !error && at != end;
         at.increment(error)) {
      const std::string path = (Path(folder) / at->path().filename()).string();
      struct stat facts = {};
      if (::lstat(at->path().c_str(), &facts) != 0) continue;  // it has gone
      if (S_ISDIR(facts.st_mode)) folders.push_back(path);
      if (!S_ISDIR(facts.st_mode) && !S_ISREG(facts.st_mode)) continue;
      entries_.emplace_back(path, facts.st_ino);
      if (links) RETURN_IF_ERROR(Repeat(path, facts.st_mode));
    }
    const bool has_gone = error.value() == ENOENT || error.value() == ENOTDIR;
    if (error && !has_gone) return CannotLookAt(from_ / folder, error.value());
    for (const std::string& path : folders) RETURN_IF_ERROR(Walk(path, links));
    return Ok{};
  }

  Status Repeat(const std::string& path, mode_t mode) const {
    const Path to = to_ / path;
    if (S_ISDIR(mode)) {
      const bool made = ::mkdir(to.c_str(), 0700) == 0 || errno == EEXIST;
      return made ? Status(Ok{}) : Status(CannotMakeDirectory(to, errno));
    }
    if (::link((from_ / path).c_str(), to.c_str()) == 0 || errno == ENOENT) return Ok{};
    return errors::CannotLink(from_ / path, errno);
  }

  Path from_;
  Path to_;
  std::vector<TreeEntry> entries_;
};

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
  return error ? Status(CannotRead(from, error.value())) : Status(Ok{});
}

/// A database that no other process writes.
struct LockedStore {
  LockedStore(const Store& held, const Path& file)
      : store(&held), writer(file, errors::StoreFailed), reader(file, errors::StoreFailed) {}

  Status Lock() {
    RETURN_IF_ERROR(writer.Open(SqliteDatabase::Mode::kExisting));
    RETURN_IF_ERROR(reader.Open(SqliteDatabase::Mode::kExisting));
    return writer.Run("BEGIN IMMEDIATE");
  }
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

/// Takes one snapshot.
class Taking {
 public:
  Taking(const Path& state, const Path& snapshot, const SnapshotOptions& options)
      : state_(state), to_(snapshot), options_(options) {}

  Status Run() {
    RETURN_IF_ERROR(LockStores());
    Status taken = TakeFiles();
    for (const auto& locked : locked_) {
      if (taken.ok()) taken = locked->Hold();
    }
    for (const auto& locked : locked_) {
      const Status unlocked = locked->Unlock();
      if (taken.ok() && !unlocked.ok()) taken = unlocked;
    }
    RETURN_IF_ERROR(taken);
    RETURN_IF_ERROR(CopyStores());
    return Complete();
  }

 private:
  bool Wants(const Store& store) const { return options_.with_images || store.name != "images"; }

  // Always in one order, so that two backups never wait for each other.
  Status LockStores() {
    for (const Store& store : Stores()) {
      const Path file = state_ / store.file;
      std::error_code error;
      if (!Wants(store) || !fs::exists(file, error)) continue;
      locked_.push_back(std::make_unique<LockedStore>(store, file));
      RETURN_IF_ERROR(locked_.back()->Lock());
    }
    return Ok{};
  }

  Status TakeFiles() {
    const MonotonicTime deadline = MonotonicNow() + options_.patience;
    while (true) {
      ASSIGN_OR_RETURN(const bool is_coherent, LinkFolders());
      if (is_coherent) break;
      if (MonotonicNow() > deadline) return errors::StateTooBusy(state_);
      for (const char* folder : kLinkedFolders) RemoveTree(to_ / folder);
    }
    for (const char* place : kCopiedPlaces) RETURN_IF_ERROR(CopyPlace(state_ / place, to_ / place));
    if (!options_.with_images) return Ok{};
    RETURN_IF_ERROR(CopyPlace(state_ / kImageMap, to_ / kImageMap));
    return LinkBlobs();
  }

  // False: the objects changed meanwhile. Writers change at most one object each before they wait
  // for their database.
  Result<bool> LinkFolders() const {
    std::vector<TreeEntry> linked;
    for (const char* folder : kLinkedFolders) {
      std::error_code error;
      if (!fs::exists(state_ / folder, error)) continue;
      TreeLinker linker(state_ / folder, to_ / folder);
      RETURN_IF_ERROR(linker.Link());
      linked = linker.TakeEntries();  // of the last: the buckets
    }
    std::error_code error;
    if (!fs::exists(state_ / kBuckets, error)) return true;
    TreeLinker again(state_ / kBuckets, {});
    RETURN_IF_ERROR(again.List());
    return ObjectsOf(std::move(linked)) == ObjectsOf(again.TakeEntries());
  }

  // The lock keeps a collection of garbage from removing blobs.
  Status LinkBlobs() const {
    std::error_code error;
    if (!fs::exists(state_ / kImageBlobs, error)) return Ok{};
    const Path lock_file = state_ / "images/lock";
    const Fd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.valid()) return CannotOpen(lock_file, errno);
    if (::flock(lock.get(), LOCK_SH) != 0) return CannotLock(lock_file, errno);
    return TreeLinker(state_ / kImageBlobs, to_ / kImageBlobs).Link();
  }

  Status CopyStores() {
    for (const auto& locked : locked_) {
      const Path copy = to_ / locked->store->file;
      RETURN_IF_ERROR(MakeDirectories(copy.parent_path()));
      RETURN_IF_ERROR(locked->reader.CopyTo(copy));
    }
    locked_.clear();
    return Ok{};
  }

  // Objects that were being written get their files, as at the start of an emulator after a kill,
  // or their records, which the emulator has written since.
  Status Complete() const {
    std::error_code error;
    if (!fs::exists(to_ / kBuckets, error)) return Ok{};
    const bool has_records = fs::exists(to_ / "buckets.db", error);
    {
      SystemClock clock;
      const auto store =
          gcs::DirectoryStore::Open({.root = to_ / kBuckets, .durable = false}, clock);
      if (!store.ok()) return store.error();
    }
    RemoveTree(to_ / kBuckets / kUnfinishedObjects);
    {
      SqliteDatabase database(to_ / "buckets.db", errors::StoreFailed);
      RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kExisting));
      RETURN_IF_ERROR(database.Run("PRAGMA journal_mode = DELETE"));  // one file
    }
    return has_records
               ? gcs::AdoptLaterRecords(to_ / "buckets.db", to_ / kBuckets, state_ / "buckets.db")
               : Status(Ok{});
  }

  const Path& state_;
  const Path& to_;
  const SnapshotOptions& options_;
  std::vector<std::unique_ptr<LockedStore>> locked_;
};

// Invalid while another process holds it.
Fd HoldDirectory(const Path& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Close();
  return fd;
}

void RemoveAbandoned(const Path& state) {
  std::error_code error;
  std::vector<Path> found;
  for (fs::directory_iterator at(state, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(kSnapshotPrefix)) found.push_back(at->path());
  }
  for (const Path& directory : found) {
    const Fd held = HoldDirectory(directory);
    if (held.valid()) RemoveTree(directory);
  }
}

}  // namespace

Snapshot::Snapshot(Snapshot&& other) noexcept
    : path_(std::exchange(other.path_, Path())),
      lock_(std::move(other.lock_)),
      entries_(std::move(other.entries_)) {}

Snapshot::~Snapshot() {
  if (!path_.empty()) RemoveTree(path_);
}

Result<Snapshot> Snapshot::MakeDirectory(const Path& state) {
  RemoveAbandoned(state);
  std::string name = (state / kSnapshotPrefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return CannotMakeDirectory(name, errno);
  Snapshot snapshot(name, HoldDirectory(name));
  if (!snapshot.lock_.valid()) return CannotLock(name, errno);
  return snapshot;
}

Result<Snapshot> Snapshot::Take(const Path& state, const SnapshotOptions& options) {
  std::error_code error;
  if (!fs::is_directory(state, error)) return errors::NoState(state);
  if (!IsState(state)) return errors::NotAState(state);
  RETURN_IF_ERROR(PlanMigrations(state, kVersion));  // refuses a newer state
  ASSIGN_OR_RETURN(Snapshot snapshot, MakeDirectory(state));
  RETURN_IF_ERROR(Taking(state, snapshot.path_, options).Run());
  RETURN_IF_ERROR(snapshot.ListEntries());
  return snapshot;
}

Status Snapshot::ListEntries() {
  std::error_code error;
  for (fs::recursive_directory_iterator at(path_, error), end; !error && at != end;
       at.increment(error)) {
    entries_.push_back(at->path().lexically_relative(path_));
  }
  if (error) return CannotLookAt(path_, error.value());
  std::sort(entries_.begin(), entries_.end());
  return Ok{};
}

}  // namespace caip::app
