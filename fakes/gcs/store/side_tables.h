#pragma once
// The side store's two connections and their statements. Private to the side store.

#include <string>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/object_record.h"
#include "fakes/gcs/store/side_store.h"

namespace caip::gcs {

struct SideStore::Writer {
  explicit Writer(const Path& file) : database(file, errors::SideStoreFailed) {}
  /// Opens the file and creates missing tables. kDataLoss: the file is not a valid database.
  Status Open(bool durable);
  static bool Run(SqliteStatement& statement);
  bool Put(const ObjectRecord& record);
  bool PutVersion(const ObjectRecord& record);
  /// The largest generation in the file; 0 if it is new.
  Result<int64_t> LastGeneration();
  bool PutSmall(uint64_t sequence, const ObjectRecord& record, const std::string& bytes);
  bool PutCommit(const ObjectRecord& record);

  SqliteDatabase database;
  SqliteStatement put_object;
  SqliteStatement remove_object;
  SqliteStatement put_version;
  SqliteStatement remove_version;
  SqliteStatement put_bucket;
  SqliteStatement remove_bucket;
  SqliteStatement remove_objects;
  SqliteStatement remove_versions;
  SqliteStatement put_counter;
  SqliteStatement put_small;
  SqliteStatement remove_small;
  SqliteStatement put_commit;
  SqliteStatement remove_commit;

 private:
  Status MakeTables();
  Status PrepareStatements();
};

struct SideStore::Reader {
  explicit Reader(const Path& file) : database(file, errors::SideStoreFailed) {}
  /// Opens a file whose tables a Writer has created.
  Status Open();
  /// Steps to the next row. False: there is none.
  Result<bool> Next(SqliteStatement& statement) const;
  static ObjectRecord ReadRecord(const SqliteStatement& row, std::string bucket, std::string name);
  Result<std::vector<ObjectRecord>> ReadRecords(const char* sql);
  Result<std::vector<SmallObject>> ReadSmallObjects();
  Result<std::vector<SmallObject>> ReadSmallObjectFiles();
  Result<std::vector<ObjectRecord>> ReadVersionsOfLiveObjects();
  Result<std::vector<ObjectRecord>> ReadCommits();

  SqliteDatabase database;
  SqliteStatement object;
  SqliteStatement version;
  SqliteStatement versions;
  SqliteStatement expired;
  SqliteStatement known;
  SqliteStatement bucket;
};

}  // namespace caip::gcs
