#include "emulator/scenario/watch/system_watch.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <iterator>

#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Event;
using harness::Phase;

Event EventOf(const engine::ReplicaKey& key, harness::StorageEvent operation) {
  Event event{.replica = harness::ReplicaNameOf(key), .boot = key.boot};
  if (operation.object.starts_with(harness::kDiskPrefix)) {
    event.body = harness::DiskEvent{std::move(operation)};
  } else {
    event.body = std::move(operation);
  }
  return event;
}

// Files that programs write on their own account say nothing about the trainer's state.
bool IsByProduct(const std::string& path) {
  return (path + "/").find("/__pycache__/") != std::string::npos;
}

std::string WithSlash(std::string directory) {
  if (!directory.ends_with('/')) directory += '/';
  return directory;
}

host::Verdict VerdictOf(const harness::FaultResponse& response) {
  switch (response.kind) {
    case harness::FaultResponse::Kind::kGone:
      return {host::Verdict::Kind::kNever, 0, 0};
    case harness::FaultResponse::Kind::kRefuse:
      return {host::Verdict::Kind::kFail, response.status == 404 ? ENOENT : EIO, 0};
    case harness::FaultResponse::Kind::kBreak:
    case harness::FaultResponse::Kind::kStale:
      assert(false && "refused where storage is a directory: harness/faults/service_faults.cc");
      return {};
    default:
      return {};
  }
}

const char* NameOf(host::FileOperation::Kind kind) {
  switch (kind) {
    case host::FileOperation::Kind::kCreate:
      return "create";
    case host::FileOperation::Kind::kOverwrite:
      return "overwrite";
    case host::FileOperation::Kind::kRename:
      return "rename";
    case host::FileOperation::Kind::kDelete:
      return "delete";
    case host::FileOperation::Kind::kList:
      return "list";
    case host::FileOperation::Kind::kTruncate:
      return "truncate";
    case host::FileOperation::Kind::kLink:
      return "link";
    case host::FileOperation::Kind::kSymlink:
      return "symlink";
    case host::FileOperation::Kind::kMakeDirectory:
      return "mkdir";
    default:
      return "read";
  }
}

}  // namespace

std::string SystemWatch::ObjectOf(const engine::ReplicaKey& key, const std::string& path) const {
  const std::string root = buckets_.string() + "/";
  if (path.starts_with(root)) return path.substr(root.size());
  if (auto name = volumes_.NameOf(path)) return *std::move(name);
  const std::string disk = WithSlash(disk_of_(key));
  return path.starts_with(disk) ? std::string(harness::kDiskPrefix) + path.substr(disk.size())
                                : path;
}

// The trainer's own source files, and its data, say nothing about its state.
bool SystemWatch::IsWatchedInVolume(const std::string& name, const host::FileOperation& operation) {
  if (operation.kind == host::FileOperation::Kind::kList || IsByProduct(name)) return false;
  if (operation.kind != host::FileOperation::Kind::kRead) return true;
  const std::lock_guard lock(mutex_);
  return written_.contains(name);
}

// Remembers the files of volumes that the run has written. A directory may be renamed, too.
void SystemWatch::NoteChange(const host::FileOperation& operation) {
  using Kind = host::FileOperation::Kind;
  const auto name = volumes_.NameOf(operation.path);
  if (!name) return;
  const std::lock_guard lock(mutex_);
  constexpr Kind kWrites[] = {Kind::kCreate, Kind::kOverwrite, Kind::kTruncate, Kind::kLink,
                              Kind::kSymlink};
  if (std::ranges::find(kWrites, operation.kind) != std::end(kWrites)) written_.insert(*name);
  if (operation.kind != Kind::kRename) return;
  const std::string to = volumes_.NameOf(operation.target).value_or("");
  std::set<std::string> renamed;
  for (auto at = written_.lower_bound(*name); at != written_.end() && at->starts_with(*name);
       ++at) {
    const bool is_below = at->size() == name->size() || (*at)[name->size()] == '/';
    if (is_below && !to.empty()) renamed.insert(to + at->substr(name->size()));
  }
  if (renamed.empty() && !to.empty()) renamed.insert(to);
  written_.merge(renamed);
}

// All uses of buckets and volumes, and changes of the replica's own disk.
bool SystemWatch::IsWatched(const engine::ReplicaKey& key, const host::FileOperation& operation) {
  if (IsInBucket(operation.path)) return true;
  if (const auto name = volumes_.NameOf(operation.path)) {
    return IsWatchedInVolume(*name, operation);
  }
  if (operation.kind == host::FileOperation::Kind::kRead) return false;
  if (operation.kind == host::FileOperation::Kind::kList) return false;
  const bool moves_in =
      operation.kind == host::FileOperation::Kind::kRename && IsKept(operation.target);
  if (moves_in && !IsByProduct(operation.target)) return true;
  return IsOnDisk(key, operation.path) && !IsByProduct(operation.path);
}

bool SystemWatch::IsInBucket(const std::string& path) const {
  return path.starts_with(buckets_.string() + "/");
}

bool SystemWatch::IsOnDisk(const engine::ReplicaKey& key, const std::string& path) const {
  const std::string disk = disk_of_(key);
  return !disk.empty() && path.starts_with(WithSlash(disk)) && !IsInBucket(path) &&
         !volumes_.NameOf(path);
}

// On a full disk, files can still be made, renamed and deleted, but not written.
bool SystemWatch::LacksSpace(const engine::ReplicaKey& key,
                             const host::FileOperation& operation) const {
  const bool reserves =
      operation.kind == host::FileOperation::Kind::kTruncate && operation.count > 0;
  if (operation.kind != host::FileOperation::Kind::kWrite && !reserves) return false;
  if (IsKept(operation.path)) return injector_.AreVolumesFull();
  return IsOnDisk(key, operation.path) && injector_.IsDiskFull(harness::ReplicaNameOf(key));
}

harness::StorageEvent SystemWatch::Describe(const engine::ReplicaKey& key,
                                            const host::FileOperation& operation) {
  harness::StorageEvent event;
  event.op = NameOf(operation.kind);
  event.object = ObjectOf(key, operation.path);
  if (operation.kind == host::FileOperation::Kind::kRename ||
      operation.kind == host::FileOperation::Kind::kLink) {
    event.from = ObjectOf(key, operation.target);
  }
  if (operation.kind == host::FileOperation::Kind::kSymlink) event.from = operation.target;
  if (operation.kind == host::FileOperation::Kind::kWhole) {
    event.op = operation.was_created ? "create" : "overwrite";
    event.bytes = static_cast<uint64_t>(operation.bytes);
  }
  if (operation.kind == host::FileOperation::Kind::kWrite) {
    const std::lock_guard lock(mutex_);
    event.op = created_.contains({key, operation.path}) ? "create" : "overwrite";
    event.bytes = static_cast<uint64_t>(operation.bytes);
  }
  return event;
}

host::ReplicaWatcher::Answer SystemWatch::OutputSeen(const engine::ReplicaKey& key) {
  if (ReportMapped(key).kind == host::Verdict::Kind::kNever) return Answer::kNever;
  const std::string replica = harness::ReplicaNameOf(key);
  return injector_.WaitForLineFaults(replica, key.boot) ? Answer::kGoOn : Answer::kNever;
}

host::Verdict SystemWatch::Before(const engine::ReplicaKey& key,
                                  const host::FileOperation& operation) {
  constexpr host::Verdict kNoSpace{host::Verdict::Kind::kFail, ENOSPC, 0};
  if (const auto mapped = ReportMapped(key); mapped.kind != host::Verdict::Kind::kGoOn) {
    return mapped;
  }
  if (LacksSpace(key, operation)) return kNoSpace;
  if (!IsWatched(key, operation)) return {};
  if (operation.kind == host::FileOperation::Kind::kWrite) {
    const host::Verdict verdict = BeforeWrite(key, operation);  // a fault may fill the disk here
    const bool is_dead = verdict.kind == host::Verdict::Kind::kNever;
    return !is_dead && LacksSpace(key, operation) ? kNoSpace : verdict;
  }
  const harness::StorageEvent event = Describe(key, operation);
  if (operation.kind == host::FileOperation::Kind::kCreate ||
      operation.kind == host::FileOperation::Kind::kOverwrite) {
    const std::lock_guard lock(mutex_);
    if (operation.kind == host::FileOperation::Kind::kCreate) created_.emplace(key, operation.path);
    if (operation.kind == host::FileOperation::Kind::kOverwrite)
      created_.erase({key, operation.path});
  }
  const host::Verdict verdict =
      VerdictOf(injector_.ReportAndWait(EventOf(key, event), Phase::kBefore));
  const bool goes_on = verdict.kind == host::Verdict::Kind::kGoOn;
  return goes_on && LacksSpace(key, operation) ? kNoSpace : verdict;
}

// Cuts a write if a fault is due in the middle of it. The program writes the rest in another call.
host::Verdict SystemWatch::BeforeWrite(const engine::ReplicaKey& key,
                                       const host::FileOperation& operation) {
  const harness::StorageEvent event = Describe(key, operation);
  bool was_cut_here = false;
  {
    const std::lock_guard lock(mutex_);
    const auto cut = cut_.find(key);
    was_cut_here = cut != cut_.end() && cut->second == operation.bytes;
    cut_.erase(key);
  }
  if (was_cut_here) {
    const harness::FaultResponse response =
        injector_.ReportAndWait(EventOf(key, event), Phase::kMid);
    if (response.kind != harness::FaultResponse::Kind::kGoOn) return VerdictOf(response);
  }
  const auto next = injector_.NextCut(event, static_cast<uint64_t>(operation.count));
  if (!next) return {};
  const std::lock_guard lock(mutex_);
  cut_[key] = static_cast<int64_t>(*next);
  return {host::Verdict::Kind::kPart, 0, static_cast<int64_t>(*next) - operation.bytes};
}

host::Verdict SystemWatch::After(const engine::ReplicaKey& key,
                                 const host::FileOperation& operation, int error) {
  using Kind = host::FileOperation::Kind;
  if (error == ENOSPC || error == EDQUOT) disk_was_full_ = true;
  if (operation.kind == Kind::kSync) {
    const host::Verdict mapped = ReportMapped(key);
    Record(key, operation, {.object = ObjectOf(key, operation.path)}, error);
    return mapped;
  }
  if (operation.kind == Kind::kAttributes) {  // no crash point of its own
    Record(key, operation, {.object = ObjectOf(key, operation.path)}, error);
    return {};
  }
  if (operation.kind == Kind::kMap) {
    const std::string name = ObjectOf(key, operation.path);
    if (const auto path = PathOf(name)) mapped_.Add(key, name, *path);
    return {};
  }
  if (operation.kind == Kind::kWhole) {  // no call before it was held
    if (const auto mapped = ReportMapped(key); mapped.kind == host::Verdict::Kind::kNever) {
      return mapped;
    }
  }
  if (!IsWatched(key, operation)) return {};
  if (error == 0) NoteChange(operation);
  const bool opens = operation.kind == Kind::kCreate || operation.kind == Kind::kOverwrite;
  if (opens && error == 0) return AfterOpening(key, operation);
  if (operation.kind == Kind::kWrite && error != 0) return {};
  harness::StorageEvent event = Describe(key, operation);
  event.failed = error != 0;
  NotePieces(key, operation, event);
  mapped_.NoteCall(key, event.object);
  Record(key, operation, event, error);
  event.is_unanswered = !operation.is_answered;
  Phase phase = Phase::kAfter;
  if (operation.kind == host::FileOperation::Kind::kWrite) {
    phase = Phase::kMid;
    event.bytes = static_cast<uint64_t>(operation.bytes + operation.count);
  }
  return VerdictOf(injector_.ReportAndWait(EventOf(key, std::move(event)), phase));
}

// The event of a new file is reported when the file is complete, not when it is opened.
host::Verdict SystemWatch::AfterOpening(const engine::ReplicaKey& key,
                                        const host::FileOperation& operation) {
  const harness::StorageEvent event = Describe(key, operation);
  {
    const std::lock_guard lock(mutex_);
    pieces_[{key, operation.path}] = {{0, injector_.CountActs()}};
  }
  Record(key, operation, event, 0);
  return VerdictOf(injector_.ReportAndWait(EventOf(key, event), Phase::kMid));
}

void SystemWatch::NotePieces(const engine::ReplicaKey& key, const host::FileOperation& operation,
                             harness::StorageEvent& event) {
  const std::lock_guard lock(mutex_);
  if (operation.kind == host::FileOperation::Kind::kWrite) {
    const auto written = static_cast<uint64_t>(operation.bytes + operation.count);
    pieces_[{key, operation.path}].push_back({written, injector_.CountActs()});
  }
  if (operation.kind == host::FileOperation::Kind::kDelete) pieces_.erase({key, operation.path});
  if (operation.kind != host::FileOperation::Kind::kWhole) return;
  created_.erase({key, operation.path});
  const auto found = pieces_.extract({key, operation.path});
  if (!found.empty()) event.pieces = std::move(found.mapped());
}

void SystemWatch::Record(const engine::ReplicaKey& key, const host::FileOperation& operation,
                         const harness::StorageEvent& event, int error) {
  const bool is_kept = operation.path.empty() || IsKept(operation.path) ||
                       (!operation.target.empty() && IsKept(operation.target));
  if (!recorder_ || !is_kept) return;
  recorder_->Take({harness::ReplicaNameOf(key), operation, event, error, injector_.CountActs()});
}

// A program changes mapped bytes without a call, so changes are found at its next call.
host::Verdict SystemWatch::ReportMapped(const engine::ReplicaKey& key) {
  for (auto& [name, size] : mapped_.TakeChanged(key)) {
    harness::StorageEvent event{.op = "overwrite", .object = name, .bytes = size};
    event.is_mapped = true;
    if (recorder_) {
      recorder_->TakeMapped({harness::ReplicaNameOf(key), {}, event, 0, injector_.CountActs()});
    }
    const host::Verdict verdict =
        VerdictOf(injector_.ReportAndWait(EventOf(key, std::move(event)), Phase::kAfter));
    if (verdict.kind == host::Verdict::Kind::kNever) return verdict;
  }
  return {};
}

std::optional<Path> SystemWatch::PathOf(const std::string& name) const {
  if (name.starts_with('/')) return volumes_.PathOf(name);
  if (name.starts_with(harness::kDiskPrefix)) return std::nullopt;
  return buckets_ / name;
}

void SystemWatch::LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) {
  if (observer_) observer_->LeftRunning(key, left);
}

void SystemWatch::Seen(const engine::ReplicaKey& key, const host::FileAccess& access) {
  if (observer_) observer_->Seen(key, access);
}

void SystemWatch::Gone(const engine::ReplicaKey& key) {
  injector_.ReportProcessesDead(harness::ReplicaNameOf(key), key.boot);
}

}  // namespace caip::scenario
