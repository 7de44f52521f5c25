// The side store's rows: how records are bound and read, and those of versions that are not live.
#include "fakes/gcs/store/side_store_parts.h"

namespace caip::gcs {
namespace {

void BindRecord(Statement& put, const ObjectRecord& record) {
  const ObjectInfo& info = record.info;
  put.Bind(1, info.bucket).Bind(2, info.name).Bind(3, info.generation);
  put.Bind(4, static_cast<int64_t>(record.file.inode)).Bind(5, record.file.modified_ns);
  put.Bind(6, static_cast<int64_t>(record.file.size)).Bind(7, int64_t{record.hashed});
  put.BindBytes(8, info.md5).Bind(9, int64_t{info.crc32c});
  put.Bind(10, ObjectRecordText(info));
}

}  // namespace

bool SideStore::Writer::Run(Statement& statement) {
  statement.Step();
  const bool ok = !statement.Failed();
  statement.Reset();
  return ok;
}

bool SideStore::Writer::Put(const ObjectRecord& record) {
  BindRecord(put_object, record);
  return Run(put_object);
}

bool SideStore::Writer::PutVersion(const ObjectRecord& record) {
  BindRecord(put_version, record);
  const auto& gone = record.info.hard_delete_time;
  put_version.Bind(11, gone ? int64_t{gone->time_since_epoch().count()} : int64_t{0});
  return Run(put_version);
}

ObjectRecord SideStore::Reader::RecordOf(const Statement& row, std::string bucket,
                                         std::string name) {
  ObjectRecord record;
  record.info = ObjectFromRecordText(row.Text(7));
  record.info.bucket = std::move(bucket);
  record.info.name = std::move(name);
  record.info.generation = row.Int(0);
  record.file = {static_cast<uint64_t>(row.Int(1)), row.Int(2), static_cast<uint64_t>(row.Int(3))};
  record.info.size = record.file.size;
  record.hashed = row.Int(4) != 0;
  record.info.md5 = row.Text(5);
  record.info.crc32c = static_cast<uint32_t>(row.Int(6));
  return record;
}

std::optional<ObjectRecord> SideStore::FindVersion(const std::string& bucket,
                                                   const std::string& name, int64_t generation) {
  {
    const std::lock_guard lock(mutex_);
    for (const Batch* batch : {&staged_, &writing_}) {
      const auto at = batch->versions.find({bucket, name, generation});
      if (at != batch->versions.end()) return at->second;
      const auto gone = batch->buckets.find(bucket);
      if (gone != batch->buckets.end() && !gone->second) return std::nullopt;
    }
  }
  const std::lock_guard lock(reader_mutex_);
  Statement& select = reader_->version;
  std::optional<ObjectRecord> record;
  if (select.Bind(1, bucket).Bind(2, name).Bind(3, generation).Step()) {
    record = Reader::RecordOf(select, bucket, name);
  }
  select.Reset();
  return record;
}

void SideStore::StageVersion(const ObjectRecord& record) {
  const std::lock_guard lock(mutex_);
  const ObjectInfo& info = record.info;
  staged_.versions[{info.bucket, info.name, info.generation}] = record;
  ++staged_count_;
}

void SideStore::StageVersionRemoval(const std::string& bucket, const std::string& name,
                                    int64_t generation) {
  const std::lock_guard lock(mutex_);
  staged_.versions[{bucket, name, generation}] = std::nullopt;
  ++staged_count_;
}

std::vector<SideStore::VersionName> SideStore::VersionsFrom(const std::string& bucket,
                                                            const std::string& name,
                                                            int64_t generation, bool soft_deleted,
                                                            int limit) {
  const std::lock_guard lock(reader_mutex_);
  Statement& select = reader_->versions;
  select.Bind(1, bucket).Bind(2, name).Bind(3, generation);
  select.Bind(4, int64_t{soft_deleted}).Bind(5, int64_t{limit});
  std::vector<VersionName> names;
  while (select.Step()) names.push_back({select.Text(0), select.Int(1)});
  select.Reset();
  return names;
}

std::vector<ObjectRecord> SideStore::VersionsBeyond(Instant hard_delete_time, int limit) {
  const std::lock_guard lock(reader_mutex_);
  Statement& select = reader_->beyond;
  select.Bind(1, int64_t{hard_delete_time.time_since_epoch().count()}).Bind(2, int64_t{limit});
  std::vector<ObjectRecord> records;
  while (select.Step()) records.push_back(Reader::RecordOf(select, select.Text(8), select.Text(9)));
  select.Reset();
  return records;
}

bool SideStore::KnowsGeneration(const std::string& bucket, int64_t generation) {
  const std::lock_guard lock(reader_mutex_);
  const bool known = reader_->known.Bind(1, bucket).Bind(2, generation).Step();
  reader_->known.Reset();
  return known;
}

}  // namespace caip::gcs
