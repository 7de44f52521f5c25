#include "emulator/check/trace_recorder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "harness/events/replica_name.h"

namespace caip::check {
namespace {

constexpr size_t kFileBytesMax = 1u << 20;  // the library keeps a hundred lines

bool IsContext(const std::string& key) {
  return key == "global_step" || key == "timestamp" || key == "trial";
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void ReadReportLines(const std::string& where, const std::string& text,
                     std::vector<harness::TriedReport>& reports) {
  std::set<std::string> known;
  for (const std::string& line : Split(text, '\n')) {
    const auto json = ParseJson(line);
    if (Trim(line).empty()) continue;
    if (!json.ok() || !json->is_object()) {
      if (known.insert("").second) reports.push_back({where, "", std::string(Trim(line))});
      continue;
    }
    for (const auto& [key, value] : json->items()) {
      if (!IsContext(key) && known.insert(key).second)
        reports.push_back({where, key, TextOf(value)});
    }
  }
}

// The reports in the metric file with another tag, or without a number.
std::vector<harness::TriedReport> ReadTriedReports(const Path& file) {
  std::vector<harness::TriedReport> reports;
  const auto text = ReadFileUpTo(file, kFileBytesMax);
  if (text.ok()) ReadReportLines("the metric file", *text, reports);
  return reports;
}

// The system and Python read these all the time, and no check needs them.
constexpr const char* kSystem[] = {"/usr/", "/lib", "/bin/", "/etc/", "/dev/", "/proc/", "/sys/"};

bool IsOfSystem(const host::FileAccess& access) {
  if (access.path.starts_with("/dev/") || access.path.starts_with("/sys/")) return true;
  return access.kind == host::FileAccess::Kind::kRead &&
         std::any_of(std::begin(kSystem), std::end(kSystem),
                     [&](const char* folder) { return access.path.starts_with(folder); });
}

}  // namespace

void TraceRecorder::Launching(const engine::ReplicaLaunch& launch, engine::LocalDisks& disks) {
  const std::string boot_disk = disks.BootDisk(launch.key);
  const std::lock_guard lock(mutex_);
  disks_ = &disks;
  const std::string replica = harness::ReplicaNameOf(launch.key);
  boot_disks_[replica] = boot_disk;
  if (launch.metrics) metrics_[replica] = *launch.metrics;
  launched_.push_back({replica, launch.key.boot, launch.Argv(), launch.environment, boot_disk,
                       boot_disk + "/" + launch.working_directory});
}

TraceRecorder::FileKey TraceRecorder::KeyOf(const engine::ReplicaKey& key,
                                            const std::string& path) const {
  const std::string replica = harness::ReplicaNameOf(key);
  const auto disk = boot_disks_.find(replica);
  const bool is_machine = disk != boot_disks_.end() && disk->second.empty();
  return {is_machine ? replica : "", path};
}

// A machine sees the host's files until it changes them.
bool TraceRecorder::IsOnOwnDisk(const engine::ReplicaKey& key, const std::string& path) const {
  if (KeyOf(key, path).first.empty()) return false;
  std::error_code error;
  return std::filesystem::exists(disks_->OnHost(key, path), error);
}

void TraceRecorder::Seen(const engine::ReplicaKey& key, const host::FileAccess& access) {
  if (access.path.starts_with(buckets_) || IsOfSystem(access)) return;
  const std::lock_guard lock(mutex_);
  switch (access.kind) {
    case host::FileAccess::Kind::kRead:
    case host::FileAccess::Kind::kWrite:
      return Open(key, access);
    case host::FileAccess::Kind::kRename:
      return Rename(KeyOf(key, access.path), KeyOf(key, access.target), access.is_there);
    case host::FileAccess::Kind::kDelete:
      return Delete(KeyOf(key, access.path));
  }
}

void TraceRecorder::Open(const engine::ReplicaKey& key, const host::FileAccess& access) {
  const FileKey name = KeyOf(key, access.path);
  const auto [entry, is_new] = files_.try_emplace(name);
  harness::TouchedFile& file = entry->second;
  if (is_new) {
    file.was_there = access.is_there;
    file.is_on_own_disk = IsOnOwnDisk(key, access.path);
  }
  file.path = access.path;
  file.replica = harness::ReplicaNameOf(key);
  const bool reads = access.kind == host::FileAccess::Kind::kRead || access.reads_too;
  if (reads && file.written) file.read_again = true;
  if (reads && !file.written) file.read = true;
  if (access.kind != host::FileAccess::Kind::kWrite) return;
  file.read_again = access.reads_too;
  file.written = true;
}

// A file that was read before stays in the list.
void TraceRecorder::Delete(const FileKey& name) {
  const auto entry = files_.find(name);
  if (entry == files_.end()) return;
  entry->second.written = false;
  if (!entry->second.read) files_.erase(entry);
}

// The rename of a directory renames all files below it.
void TraceRecorder::Rename(const FileKey& from, const FileKey& to, bool is_there) {
  std::map<FileKey, harness::TouchedFile> renamed;
  for (auto entry = files_.lower_bound(from); entry != files_.end();) {
    const auto& [machine, path] = entry->first;
    if (machine != from.first || !path.starts_with(from.second)) break;
    if (!(path + "/").starts_with(from.second + "/")) {
      ++entry;
      continue;
    }
    harness::TouchedFile file = std::move(entry->second);
    file.path = to.second + file.path.substr(from.second.size());
    file.was_there = is_there;
    renamed[{to.first, file.path}] = std::move(file);
    entry = files_.erase(entry);
  }
  if (to.second.starts_with(buckets_)) return;
  for (auto& [name, file] : renamed) files_[name] = std::move(file);
}

void TraceRecorder::Printed(const engine::LogLine& line) {
  // A record of `logging` and a line with TensorFlow's or gRPC's prefix have a path.
  if (line.severity != engine::Severity::kError || !line.pathname.empty()) return;
  const std::lock_guard lock(mutex_);
  if (launched_.empty()) return;  // a line of pip, which installs the packages
  traces_.raw_errors.push_back({harness::ReplicaNameOf(line.task, line.run.trial), line.message});
}

void TraceRecorder::LeftRunning(const engine::ReplicaKey& key,
                                const std::vector<std::string>& left) {
  const std::lock_guard lock(mutex_);
  for (const std::string& command : left) {
    traces_.left_running.push_back({harness::ReplicaNameOf(key), command});
  }
}

void TraceRecorder::Ended(const engine::ReplicaExit& exit) {
  const std::lock_guard lock(mutex_);
  Measure(exit.key);
  const auto source = metrics_.find(harness::ReplicaNameOf(exit.key));
  if (source == metrics_.end()) return;
  const Path file = disks_->OnHost(exit.key, source->second.file);
  for (harness::TriedReport& report : ReadTriedReports(file)) {
    traces_.tried_reports.push_back(std::move(report));
  }
}

void TraceRecorder::Measure(const engine::ReplicaKey& key) {
  const std::string replica = harness::ReplicaNameOf(key);
  for (auto& [name, file] : files_) {
    if (file.replica != replica || !file.written) continue;
    const Path on_host = name.first.empty() ? file.path : disks_->OnHost(key, file.path);
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(on_host, error);
    file.bytes = is_file ? std::filesystem::file_size(on_host, error) : 0;
    if (error) file.bytes = 0;
  }
}

void TraceRecorder::HandOver(harness::CheckRun& run) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, file] : files_) traces_.files.push_back(std::move(file));
  run.launched = std::move(launched_);
  run.traces = std::move(traces_);
}

}  // namespace caip::check
