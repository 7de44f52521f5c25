#include "emulator/app/port_adapters.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "base/encoding.h"
#include "google/gcs_uri.h"
#include "run/severity.h"

namespace caip::app {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

}  // namespace

bool StorageAdapter::BucketExists(const std::string& bucket) const {
  if (buckets_.GetBucket(bucket).ok()) return true;
  return create_buckets_ && buckets_.CreateBucket(bucket).ok();
}

bool StorageAdapter::Writable(const std::string& bucket, const std::string& prefix) {
  // simultaneous probes of one directory need different names
  static std::atomic<unsigned> count{0};
  const std::string name = prefix + (prefix.empty() || prefix.ends_with('/') ? "" : "/") +
                           ".caip-write-probe-" + std::to_string(::getpid()) + "-" +
                           std::to_string(count++);
  auto writer = buckets_.NewObject(bucket, name);
  if (!writer.ok() || !(*writer)->Append("probe").ok()) return false;
  gcs::ObjectInfo info;
  info.bucket = bucket;
  info.name = name;
  if (!(*writer)->Commit(info, {}, std::nullopt, std::nullopt).ok()) return false;
  return buckets_.DeleteObject(bucket, name, {}).ok();
}

bool StorageAdapter::ObjectReadable(const std::string& bucket, const std::string& object) const {
  return buckets_.OpenObject(bucket, object).ok();
}

Result<host::PackageSource::Facts> StorageAdapter::Describe(const std::string& uri) {
  ASSIGN_OR_RETURN(const google::GcsUri where, google::ParseGcsUri(uri));
  ASSIGN_OR_RETURN(const gcs::ObjectInfo info, buckets_.GetObject(where.bucket, where.object));
  return Facts{info.md5.empty() ? "" : "md5:" + Hex(info.md5)};
}

Status StorageAdapter::Fetch(const std::string& uri, const Path& destination) {
  ASSIGN_OR_RETURN(const google::GcsUri where, google::ParseGcsUri(uri));
  ASSIGN_OR_RETURN(const auto reader, buckets_.OpenObject(where.bucket, where.object));
  const Fd file(::open(destination.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return CannotCreate(destination, errno);
  std::vector<char> piece(kPieceBytes);
  for (uint64_t offset = 0;;) {
    ASSIGN_OR_RETURN(const size_t count, reader->ReadAt(offset, piece.data(), piece.size()));
    if (count == 0) return Ok{};
    if (!WriteAll(file.get(), {piece.data(), count})) return CannotWrite(destination, errno);
    offset += count;
  }
}

namespace {

logging::Entry::Form FormOf(run::Payload payload) {
  switch (payload) {
    case run::Payload::kText:
      return logging::Entry::Form::kText;
    case run::Payload::kObject:
      return logging::Entry::Form::kObject;
    case run::Payload::kRecord:
      break;
  }
  return logging::Entry::Form::kRecord;
}

}  // namespace

void LogAdapter::Write(std::vector<engine::LogLine> lines) {
  std::vector<logging::Entry> entries;
  entries.reserve(lines.size());
  for (engine::LogLine& line : lines) {
    entries.push_back({.project = std::move(line.run.project),
                       .job_id = std::move(line.run.job_id),
                       .trial = std::move(line.run.trial),
                       .task = std::move(line.task),
                       .severity = std::string(Name(line.severity)),
                       .timestamp = line.time,
                       .message = std::move(line.message),
                       .pathname = std::move(line.pathname),
                       .lineno = line.line_number,
                       .thread = std::move(line.thread),
                       .form = FormOf(line.payload)});
  }
  book_.Append(std::move(entries));
}

}  // namespace caip::app
