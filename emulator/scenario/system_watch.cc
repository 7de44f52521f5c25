#include "emulator/scenario/system_watch.h"

#include <cassert>
#include <cerrno>

#include "harness/events/replica_name.h"

namespace caip::scenario {
namespace {

using harness::Happening;
using harness::Phase;

// The exit code of a process that ends with an operation: which one, is not known yet.
constexpr int kEnds = -1;

host::Verdict VerdictOf(const harness::Verdict& verdict) {
  switch (verdict.kind) {
    case harness::Verdict::Kind::kGone:
      return {host::Verdict::Kind::kNever, 0, 0};
    case harness::Verdict::Kind::kRefuse:
      return {host::Verdict::Kind::kFail, verdict.status == 404 ? ENOENT : EIO, 0};
    case harness::Verdict::Kind::kBreak:
    case harness::Verdict::Kind::kStale:
      assert(false && "refused where storage is a directory: harness/faults/fault_checks.cc");
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
    default:
      return "read";
  }
}

}  // namespace

std::string SystemWatch::ObjectOf(const std::string& path) const {
  const std::string root = buckets_.string() + "/";
  return path.starts_with(root) ? path.substr(root.size()) : path;
}

Happening SystemWatch::MomentOf(const engine::ReplicaKey& key,
                                const host::FileOperation& operation) {
  Happening moment;
  moment.kind = Happening::Kind::kStorage;
  moment.replica = harness::ReplicaNameOf(key);
  moment.boot = key.boot;
  moment.op = NameOf(operation.kind);
  moment.object = ObjectOf(operation.path);
  if (operation.kind == host::FileOperation::Kind::kRename)
    moment.detail = ObjectOf(operation.target);
  if (operation.kind == host::FileOperation::Kind::kWhole) {
    moment.op = operation.was_created ? "create" : "overwrite";
    moment.bytes = static_cast<uint64_t>(operation.bytes);
  }
  if (operation.kind == host::FileOperation::Kind::kWrite) {
    const std::lock_guard lock(mutex_);
    moment.op = created_.contains(moment.object) ? "create" : "overwrite";
    moment.bytes = static_cast<uint64_t>(operation.bytes);
  }
  return moment;
}

host::ReplicaWatcher::Answer SystemWatch::OutputSeen(const engine::ReplicaKey& key) {
  const std::string replica = harness::ReplicaNameOf(key);
  return director_.Settle(replica, key.boot) ? Answer::kGoOn : Answer::kNever;
}

host::Verdict SystemWatch::Before(const engine::ReplicaKey& key,
                                  const host::FileOperation& operation) {
  if (operation.kind == host::FileOperation::Kind::kWrite) return BeforeWrite(key, operation);
  Happening moment = MomentOf(key, operation);
  if (operation.kind == host::FileOperation::Kind::kCreate ||
      operation.kind == host::FileOperation::Kind::kOverwrite) {
    const std::lock_guard lock(mutex_);
    if (operation.kind == host::FileOperation::Kind::kCreate) created_.insert(moment.object);
    if (operation.kind == host::FileOperation::Kind::kOverwrite) created_.erase(moment.object);
  }
  return VerdictOf(director_.Meet(std::move(moment), Phase::kBefore));
}

// A write is cut where a fault wants to strike in the middle of it; the rest is asked for again.
host::Verdict SystemWatch::BeforeWrite(const engine::ReplicaKey& key,
                                       const host::FileOperation& operation) {
  Happening moment = MomentOf(key, operation);
  bool was_cut_here = false;
  {
    const std::lock_guard lock(mutex_);
    const auto cut = cut_.find(key);
    was_cut_here = cut != cut_.end() && cut->second == operation.bytes;
    cut_.erase(key);
  }
  if (was_cut_here) {
    const harness::Verdict verdict = director_.Meet(moment, Phase::kMid);
    if (verdict.kind != harness::Verdict::Kind::kGoOn) return VerdictOf(verdict);
  }
  const auto next = director_.NextCut(moment, static_cast<uint64_t>(operation.count));
  if (!next) return {};
  const std::lock_guard lock(mutex_);
  cut_[key] = static_cast<int64_t>(*next);
  return {host::Verdict::Kind::kPart, 0, static_cast<int64_t>(*next) - operation.bytes};
}

host::Verdict SystemWatch::After(const engine::ReplicaKey& key,
                                 const host::FileOperation& operation, int error) {
  if (error == ENOSPC || error == EDQUOT) disk_was_full_ = true;
  // That a file was opened for writing is not yet a file; that it is whole is.
  const bool opened = operation.kind == host::FileOperation::Kind::kCreate ||
                      operation.kind == host::FileOperation::Kind::kOverwrite;
  if (opened && error == 0) return {};
  if (operation.kind == host::FileOperation::Kind::kWrite && error != 0)
    return {};  // no byte was reached
  Happening moment = MomentOf(key, operation);
  moment.failed = error != 0;
  if (!operation.is_told) moment.exit_code = kEnds;
  Phase phase = Phase::kAfter;
  if (operation.kind == host::FileOperation::Kind::kWrite) {
    phase = Phase::kMid;
    moment.bytes = static_cast<uint64_t>(operation.bytes + operation.count);
  }
  return VerdictOf(director_.Meet(std::move(moment), phase));
}

void SystemWatch::LeftRunning(const engine::ReplicaKey& key, const std::vector<std::string>& left) {
  if (onlooker_) onlooker_->LeftRunning(key, left);
}

void SystemWatch::Seen(const engine::ReplicaKey& key, const host::FileSight& sight) {
  if (onlooker_) onlooker_->Seen(key, sight);
}

void SystemWatch::Gone(const engine::ReplicaKey& key) {
  director_.Gone(harness::ReplicaNameOf(key), key.boot);
}

}  // namespace caip::scenario
