#include "fakes/gcs/store/side_tables.h"

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

}  // namespace caip::gcs
