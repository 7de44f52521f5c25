#pragma once
// The side store's two connections and their statements. Private to the side store.

#include <memory>
#include <string>

#include "fakes/gcs/store/object_record.h"
#include "fakes/gcs/store/side_store.h"

namespace caip::gcs {

struct SideStore::Writer {
  explicit Writer(std::unique_ptr<Database> opened) : database(std::move(opened)) {}
  std::unique_ptr<Database> database;
  Statement put_object{database->get(),
                       "INSERT OR REPLACE INTO objects (bucket, name, generation, inode, "
                       "modified_ns, size, hashed, md5, crc32c, record) "
                       "VALUES (?,?,?,?,?,?,?,?,?,?)"};
  Statement remove_object{database->get(), "DELETE FROM objects WHERE bucket=? AND name=?"};
  Statement put_version{database->get(),
                        "INSERT OR REPLACE INTO versions (bucket, name, generation, inode, "
                        "modified_ns, size, hashed, md5, crc32c, record, hard_delete) "
                        "VALUES (?,?,?,?,?,?,?,?,?,?,?)"};
  Statement remove_version{database->get(),
                           "DELETE FROM versions WHERE bucket=? AND name=? AND generation=?"};
  Statement put_bucket{database->get(), "INSERT OR REPLACE INTO buckets VALUES (?,?)"};
  Statement remove_bucket{database->get(), "DELETE FROM buckets WHERE name=?"};
  Statement remove_objects{database->get(), "DELETE FROM objects WHERE bucket=?"};
  Statement remove_versions{database->get(), "DELETE FROM versions WHERE bucket=?"};
  Statement put_counter{database->get(), "INSERT OR REPLACE INTO counters VALUES (?,?)"};

  static bool Run(Statement& statement);
  bool Put(const ObjectRecord& record);
  bool PutVersion(const ObjectRecord& record);
};

struct SideStore::Reader {
  explicit Reader(std::unique_ptr<Database> opened) : database(std::move(opened)) {}
  std::unique_ptr<Database> database;
  Statement object{database->get(),
                   "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record "
                   "FROM objects WHERE bucket=? AND name=?"};
  Statement version{database->get(),
                    "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record "
                    "FROM versions WHERE bucket=? AND name=? AND generation=?"};
  Statement versions{database->get(),
                     "SELECT name, generation FROM versions WHERE bucket=?1 AND "
                     "(name, generation) >= (?2, ?3) AND (hard_delete > 0) = ?4 "
                     "ORDER BY name, generation LIMIT ?5"};
  Statement beyond{database->get(),
                   "SELECT generation, inode, modified_ns, size, hashed, md5, crc32c, record, "
                   "bucket, name FROM versions WHERE hard_delete > 0 AND hard_delete <= ? LIMIT ?"};
  Statement known{database->get(), "SELECT 1 FROM versions WHERE bucket=? AND generation=?"};
  Statement bucket{database->get(), "SELECT record FROM buckets WHERE name=?"};

  static ObjectRecord RecordOf(const Statement& row, std::string bucket, std::string name);
};

}  // namespace caip::gcs
