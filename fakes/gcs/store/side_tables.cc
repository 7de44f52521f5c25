#include "fakes/gcs/store/side_tables.h"

#include <sqlite3.h>

namespace caip::gcs {
namespace {

constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
  bucket TEXT NOT NULL, name TEXT NOT NULL,
  generation INTEGER NOT NULL, inode INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
  size INTEGER NOT NULL, hashed INTEGER NOT NULL, md5 BLOB NOT NULL, crc32c INTEGER NOT NULL,
  record TEXT NOT NULL, PRIMARY KEY (bucket, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS versions (
  bucket TEXT NOT NULL, name TEXT NOT NULL,
  generation INTEGER NOT NULL, inode INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
  size INTEGER NOT NULL, hashed INTEGER NOT NULL, md5 BLOB NOT NULL, crc32c INTEGER NOT NULL,
  record TEXT NOT NULL, hard_delete INTEGER NOT NULL,
  PRIMARY KEY (bucket, name, generation)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS versions_to_go ON versions (hard_delete) WHERE hard_delete > 0;
CREATE INDEX IF NOT EXISTS versions_by_generation ON versions (bucket, generation);
CREATE TABLE IF NOT EXISTS small_objects (
  sequence INTEGER PRIMARY KEY, bucket TEXT NOT NULL, name TEXT NOT NULL,
  inode INTEGER NOT NULL, modified_ns INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS commits (
  bucket TEXT NOT NULL, name TEXT NOT NULL,
  generation INTEGER PRIMARY KEY, inode INTEGER NOT NULL, modified_ns INTEGER NOT NULL,
  size INTEGER NOT NULL, hashed INTEGER NOT NULL, md5 BLOB NOT NULL, crc32c INTEGER NOT NULL,
  record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
)";

void BindRecord(SqliteStatement& put, const ObjectRecord& record) {
  const ObjectInfo& info = record.info;
  put.Bind(1, info.bucket).Bind(2, info.name).Bind(3, info.generation);
  put.Bind(4, static_cast<int64_t>(record.file.inode)).Bind(5, record.file.modified_ns);
  put.Bind(6, static_cast<int64_t>(record.file.size)).Bind(7, int64_t{record.hashed});
  put.BindBytes(8, info.md5).Bind(9, int64_t{info.crc32c});
  put.Bind(10, ObjectRecordText(info));
}

}  // namespace

Status SideStore::Writer::Open(bool durable) {
  RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kCreate));
  RETURN_IF_ERROR(database.Run("PRAGMA journal_mode=WAL"));
  RETURN_IF_ERROR(database.Run(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
  RETURN_IF_ERROR(MakeTables());
  return PrepareStatements();
}

Status SideStore::Writer::MakeTables() {
  ASSIGN_OR_RETURN(const int64_t version, database.Number("PRAGMA user_version"));
  if (version > kSideStoreVersion) return errors::SideStoreTooNew(database.file(), version);
  RETURN_IF_ERROR(database.Run(kSchema));
  if (version == kSideStoreVersion) return Ok{};  // setting it again would write and sync the file
  return database.Run(("PRAGMA user_version=" + std::to_string(kSideStoreVersion)).c_str());
}

Status SideStore::Writer::PrepareStatements() {
  database.PrepareLater(put_object,
                        "INSERT OR REPLACE INTO objects (bucket, name, generation, "
                        "inode, modified_ns, size, hashed, md5, crc32c, record) "
                        "VALUES (?,?,?,?,?,?,?,?,?,?)");
  database.PrepareLater(remove_object, "DELETE FROM objects WHERE bucket=? AND name=?");
  database.PrepareLater(
      put_version,
      "INSERT OR REPLACE INTO versions (bucket, name, generation, inode, modified_ns, size, "
      "hashed, md5, crc32c, record, hard_delete) VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  database.PrepareLater(remove_version,
                        "DELETE FROM versions WHERE bucket=? AND name=? AND generation=?");
  database.PrepareLater(put_bucket, "INSERT OR REPLACE INTO buckets VALUES (?,?)");
  database.PrepareLater(remove_bucket, "DELETE FROM buckets WHERE name=?");
  database.PrepareLater(remove_objects, "DELETE FROM objects WHERE bucket=?");
  database.PrepareLater(remove_versions, "DELETE FROM versions WHERE bucket=?");
  database.PrepareLater(put_small, "INSERT INTO small_objects VALUES (?,?,?,?,?,?)");
  database.PrepareLater(remove_small, "DELETE FROM small_objects WHERE sequence <= ?");
  database.PrepareLater(put_commit,
                        "INSERT OR REPLACE INTO commits (bucket, name, generation, "
                        "inode, modified_ns, size, hashed, md5, crc32c, record) "
                        "VALUES (?,?,?,?,?,?,?,?,?,?)");
  database.PrepareLater(remove_commit, "DELETE FROM commits WHERE generation=?");
  return database.Prepare(put_counter, "INSERT OR REPLACE INTO counters VALUES (?,?)");
}

// Every commit writes the counter. A file of a caip without counters has only the objects.
Result<int64_t> SideStore::Writer::LastGeneration() {
  return database.Number(
      "SELECT ifnull((SELECT value FROM counters WHERE name='generation'), "
      "(SELECT max(value) FROM (SELECT max(generation) AS value FROM objects "
      "UNION ALL SELECT max(generation) FROM versions)))");
}

bool SideStore::Writer::Run(SqliteStatement& statement) {
  const bool ok = statement.Step() == SQLITE_DONE;
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

bool SideStore::Writer::PutSmall(uint64_t sequence, const ObjectRecord& record,
                                 const std::string& bytes) {
  put_small.Bind(1, static_cast<int64_t>(sequence)).Bind(2, record.info.bucket);
  put_small.Bind(3, record.info.name).Bind(4, static_cast<int64_t>(record.file.inode));
  put_small.Bind(5, record.file.modified_ns).BindBytes(6, bytes);
  return Run(put_small);
}

bool SideStore::Writer::PutCommit(const ObjectRecord& record) {
  BindRecord(put_commit, record);
  return Run(put_commit);
}

Status SideStore::Reader::Open() {
  RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kExisting));
  RETURN_IF_ERROR(
      database.Prepare(object,
                       "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record "
                       "FROM objects WHERE bucket=? AND name=?"));
  database.PrepareLater(version,
                        "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record "
                        "FROM versions WHERE bucket=? AND name=? AND generation=?");
  database.PrepareLater(versions,
                        "SELECT name, generation FROM versions WHERE bucket=?1 AND "
                        "(name, generation) >= (?2, ?3) AND (hard_delete > 0) = ?4 "
                        "ORDER BY name, generation LIMIT ?5");
  database.PrepareLater(
      expired,
      "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record, bucket, name "
      "FROM versions WHERE hard_delete > 0 AND hard_delete <= ? LIMIT ?");
  database.PrepareLater(known, "SELECT 1 FROM versions WHERE bucket=? AND generation=?");
  return database.Prepare(bucket, "SELECT record FROM buckets WHERE name=?");
}

Result<bool> SideStore::Reader::Next(SqliteStatement& statement) const {
  const int code = statement.Step();
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error failure = database.LastFailure();
  // a file of the database that does not exist says nothing of the record
  if (failure.code == Code::kNotFound) failure.code = Code::kInternal;
  return failure;
}

ObjectRecord SideStore::Reader::ReadRecord(const SqliteStatement& row, std::string bucket,
                                           std::string name) {
  ObjectRecord record;
  record.info = ObjectFromRecordText(row.Text(7));
  record.info.bucket = std::move(bucket);
  record.info.name = std::move(name);
  record.info.generation = row.Integer(0);
  record.file = {static_cast<uint64_t>(row.Integer(1)), row.Integer(2),
                 static_cast<uint64_t>(row.Integer(3))};
  record.info.size = record.file.size;
  record.hashed = row.Integer(4) != 0;
  record.info.md5 = row.Text(5);
  record.info.crc32c = static_cast<uint32_t>(row.Integer(6));
  return record;
}

// Called when the store opens. Its last columns are those of the name.
Result<std::vector<ObjectRecord>> SideStore::Reader::ReadRecords(const char* sql) {
  SqliteStatement select;
  RETURN_IF_ERROR(database.Prepare(select, sql));
  std::vector<ObjectRecord> records;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, Next(select));
    if (!more) return records;
    records.push_back(ReadRecord(select, select.Text(8), select.Text(9)));
  }
}

// Usually there are fewer versions than objects, so the versions are looked at first: CROSS JOIN
// keeps that order.
Result<std::vector<ObjectRecord>> SideStore::Reader::ReadVersionsOfLiveObjects() {
  return ReadRecords(
      "SELECT o.generation, o.inode, o.modified_ns, o.size, o.hashed, o.md5, o.crc32c, o.record, "
      "o.bucket, o.name FROM versions AS v CROSS JOIN objects AS o "
      "WHERE o.bucket = v.bucket AND o.name = v.name AND o.generation = v.generation");
}

Result<std::vector<ObjectRecord>> SideStore::Reader::ReadCommits() {
  return ReadRecords(
      "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record, bucket, name "
      "FROM commits ORDER BY generation");
}

// Both are called at most once, when the store opens. A record with another file is newer, or its
// file was changed by hand.

Result<std::vector<SideStore::SmallObject>> SideStore::Reader::ReadSmallObjects() {
  SqliteStatement select;
  RETURN_IF_ERROR(database.Prepare(
      select,
      "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record, bucket, name, "
      "bytes, sequence FROM small_objects JOIN objects USING (bucket, name, inode, modified_ns) "
      "WHERE size = length(bytes) ORDER BY sequence"));
  std::vector<SmallObject> objects;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, Next(select));
    if (!more) return objects;
    objects.push_back({ReadRecord(select, select.Text(8), select.Text(9)), select.Text(10),
                       static_cast<uint64_t>(select.Integer(11))});
  }
}

Result<std::vector<SideStore::SmallObject>> SideStore::Reader::ReadSmallObjectFiles() {
  SqliteStatement select;
  RETURN_IF_ERROR(database.Prepare(
      select,
      "SELECT bucket, name, inode, modified_ns, size, sequence FROM small_objects JOIN objects "
      "USING (bucket, name, inode, modified_ns) WHERE size = length(bytes) ORDER BY sequence"));
  std::vector<SmallObject> objects;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, Next(select));
    if (!more) return objects;
    SmallObject& small = objects.emplace_back();
    small.record.info.bucket = select.Text(0);
    small.record.info.name = select.Text(1);
    small.record.file = {static_cast<uint64_t>(select.Integer(2)), select.Integer(3),
                         static_cast<uint64_t>(select.Integer(4))};
    small.sequence = static_cast<uint64_t>(select.Integer(5));
  }
}

}  // namespace caip::gcs
