#include "fakes/gcs/store/moved_records.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/store/side_store.h"

namespace caip::gcs {
namespace {

/// A row of `objects` or `versions`.
struct FiledRow {
  std::string bucket;
  std::string name;
  int64_t generation = 0;
  FileIdentity file;
};

/// Finds the files of one store's rows, and rewrites their identities.
class RecordMover {
 public:
  RecordMover(const Path& file, FileIdentifier identify)
      : database_(file, errors::SideStoreFailed), identify_(std::move(identify)) {}

  Status Open() { return database_.Open(SqliteDatabase::Mode::kExisting); }

  /// Runs `body` in a transaction. It locks only what `body` uses: other processes write to an
  /// attached file.
  Status Transact(const std::function<Status()>& body) {
    RETURN_IF_ERROR(database_.Run("BEGIN"));
    Status done = body();
    if (done.ok()) done = database_.Run("COMMIT");
    if (!done.ok()) (void)database_.Run("ROLLBACK").ok();
    return done;
  }

  Status Run(const char* sql) { return database_.Run(sql); }

  /// Lets statements use the tables of another file as live.TABLE.
  Status Attach(const Path& live) {
    SqliteStatement attach;
    RETURN_IF_ERROR(database_.Prepare(attach, "ATTACH ?1 AS live"));
    attach.Bind(1, live.string());
    const int code = attach.Step();
    return code == SQLITE_DONE ? Status(Ok{}) : Status(database_.Failure(code));
  }

  /// The rows of a table that name a file.
  Result<std::vector<FiledRow>> Rows(const std::string& table) {
    return Select("SELECT bucket, name, generation, inode, modified_ns, size FROM " + table +
                  " WHERE inode <> 0");
  }

  Result<std::vector<FiledRow>> Select(const std::string& sql) {
    SqliteStatement select;
    RETURN_IF_ERROR(database_.Prepare(select, sql.c_str()));
    std::vector<FiledRow> rows;
    int code = select.Step();
    for (; code == SQLITE_ROW; code = select.Step()) {
      rows.push_back({select.Text(0), select.Text(1), select.Integer(2),
                      FileIdentity{static_cast<uint64_t>(select.Integer(3)), select.Integer(4),
                                   static_cast<uint64_t>(select.Integer(5))}});
    }
    if (code != SQLITE_DONE) return database_.Failure(code);
    return rows;
  }

  /// nullopt: there is no plain file.
  std::optional<FileIdentity> FindFile(const std::string& table, const FiledRow& row) const {
    if (table == "versions") {
      return identify_(".caip-versions/" + row.bucket + "/" + std::to_string(row.generation));
    }
    if (const auto plain = identify_(row.bucket + "/" + PlainPath(row.name))) return plain;
    return identify_(row.bucket + "/" + BesidePath(row.name));
  }

  /// Copies a row of live.objects.
  Status Adopt(const FiledRow& row) {
    SqliteStatement adopt;
    RETURN_IF_ERROR(database_.Prepare(adopt,
                                      "REPLACE INTO main.objects SELECT * FROM live.objects "
                                      "WHERE bucket = ?1 AND name = ?2 AND generation = ?3"));
    adopt.Bind(1, row.bucket).Bind(2, row.name).Bind(3, row.generation);
    const int code = adopt.Step();
    return code == SQLITE_DONE ? Status(Ok{}) : Status(database_.Failure(code));
  }

  Status Remove(const std::string& table, const FiledRow& row) {
    SqliteStatement remove;
    const std::string sql =
        "DELETE FROM " + table + " WHERE bucket = ?1 AND name = ?2 AND generation = ?3";
    RETURN_IF_ERROR(database_.Prepare(remove, sql.c_str()));
    remove.Bind(1, row.bucket).Bind(2, row.name).Bind(3, row.generation);
    const int code = remove.Step();
    return code == SQLITE_DONE ? Status(Ok{}) : Status(database_.Failure(code));
  }

  /// Fills the temporary table `copies` (kCopiesTable).
  Status AddCopies(const CopiedInodes& copies) {
    SqliteStatement add;
    RETURN_IF_ERROR(database_.Prepare(add, "INSERT INTO copies VALUES (?1, ?2, ?3)"));
    for (const auto& [original, copy] : copies) {
      SqliteUse use(add);
      use->Bind(1, static_cast<int64_t>(original.first)).Bind(2, original.second);
      const int code = use->Bind(3, static_cast<int64_t>(copy)).Step();
      if (code != SQLITE_DONE) return database_.Failure(code);
    }
    return Ok{};
  }

  Status SetFile(const std::string& table, const FiledRow& row, uint64_t inode, int64_t modified) {
    SqliteStatement& update = table == "versions" ? set_version_ : set_object_;
    if (Status prepared = PrepareUpdates(); !prepared.ok()) return prepared;
    SqliteUse use(update);
    use->Bind(1, static_cast<int64_t>(inode)).Bind(2, modified);
    use->Bind(3, row.bucket).Bind(4, row.name).Bind(5, row.generation);
    const int code = use->Step();
    return code == SQLITE_DONE ? Status(Ok{}) : Status(database_.Failure(code));
  }

 private:
  Status PrepareUpdates() {
    if (is_prepared_) return Ok{};
    is_prepared_ = true;
    RETURN_IF_ERROR(database_.Prepare(set_object_,
                                      "UPDATE objects SET inode = ?1, modified_ns = ?2 "
                                      "WHERE bucket = ?3 AND name = ?4 AND generation = ?5"));
    return database_.Prepare(set_version_,
                             "UPDATE versions SET inode = ?1, modified_ns = ?2 "
                             "WHERE bucket = ?3 AND name = ?4 AND generation = ?5");
  }

  SqliteDatabase database_;
  FileIdentifier identify_;
  bool is_prepared_ = false;
  SqliteStatement set_object_;
  SqliteStatement set_version_;
};

constexpr const char* kLaterRows =
    "SELECT later.bucket, later.name, later.generation, later.inode, later.modified_ns, later.size "
    "FROM live.objects AS later LEFT JOIN main.objects AS known USING (bucket, name) "
    "WHERE known.generation IS NOT later.generation";

// No later object may get a generation that an adopted record has.
constexpr const char* kAdoptCounter =
    "REPLACE INTO main.counters SELECT * FROM live.counters WHERE name = 'generation'";

constexpr const char* kDropUnfinished =
    "DELETE FROM small_objects; DELETE FROM commits; DELETE FROM counters WHERE name = 'boot';";

// One statement changes each row once, also where an inode of a copy is that of another original.
constexpr const char* kCopiesTable =
    "CREATE TEMP TABLE copies (inode INTEGER, modified_ns INTEGER, copy INTEGER,"
    " PRIMARY KEY (inode, modified_ns)) WITHOUT ROWID";

std::string RenumberSql(const std::string& table) {
  const std::string of_row = " FROM copies WHERE copies.inode = " + table +
                             ".inode AND copies.modified_ns = " + table + ".modified_ns)";
  return "UPDATE " + table + " SET inode = (SELECT copy" + of_row + " WHERE EXISTS (SELECT 1" +
         of_row;
}

Status MoveRows(RecordMover& mover, const std::string& table,
                const std::function<Status(const FiledRow&, std::optional<FileIdentity>)>& take) {
  ASSIGN_OR_RETURN(const std::vector<FiledRow> rows, mover.Rows(table));
  for (const FiledRow& row : rows) RETURN_IF_ERROR(take(row, mover.FindFile(table, row)));
  return Ok{};
}

}  // namespace

Result<FileIdentifier> IdentifyBelow(const Path& root) {
  const auto directory =
      std::make_shared<Fd>(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory->valid()) return CannotOpen(root, errno);
  return FileIdentifier([directory](const std::string& path) -> std::optional<FileIdentity> {
    const OpenFile file = OpenPlainFile(directory->get(), path);
    return file.fd.valid() ? std::optional(file.identity) : std::nullopt;
  });
}

Status RenumberRecords(const Path& file, const CopiedInodes& copies) {
  if (copies.empty()) return Ok{};
  RETURN_IF_ERROR(MigrateSideStore(file));  // an earlier caip made fewer tables
  RecordMover mover(file, nullptr);
  RETURN_IF_ERROR(mover.Open());
  RETURN_IF_ERROR(mover.Run(kCopiesTable));
  return mover.Transact([&]() -> Status {
    RETURN_IF_ERROR(mover.AddCopies(copies));
    for (const char* table : {"objects", "versions", "small_objects", "commits"}) {
      RETURN_IF_ERROR(mover.Run(RenumberSql(table).c_str()));
    }
    return Ok{};
  });
}

Status AdoptLaterRecords(const Path& file, const FileIdentifier& identify, const Path& live,
                         const CopiedInodes& copies) {
  RecordMover mover(file, identify);
  RETURN_IF_ERROR(mover.Open());
  RETURN_IF_ERROR(mover.Attach(live));
  return mover.Transact([&]() -> Status {
    ASSIGN_OR_RETURN(const std::vector<FiledRow> later, mover.Select(kLaterRows));
    bool adopts = false;
    for (const FiledRow& row : later) {
      const auto copy = copies.find({row.file.inode, row.file.modified_ns});
      FileIdentity wanted = row.file;
      if (copy != copies.end()) wanted.inode = copy->second;
      if (mover.FindFile("objects", row) != wanted) continue;
      RETURN_IF_ERROR(mover.Adopt(row));
      RETURN_IF_ERROR(mover.SetFile("objects", row, wanted.inode, wanted.modified_ns));
      adopts = true;
    }
    return adopts ? mover.Run(kAdoptCounter) : Status(Ok{});
  });
}

Status DetachRecords(const Path& file, const FileIdentifier& identify) {
  RecordMover mover(file, identify);
  RETURN_IF_ERROR(mover.Open());
  return mover.Transact([&]() -> Status {
    for (const std::string table : {"objects", "versions"}) {
      const auto detach = [&](const FiledRow& row, std::optional<FileIdentity> found) -> Status {
        if (!found) return mover.Remove(table, row);
        return found == row.file ? Status(Ok{}) : mover.SetFile(table, row, 0, 0);
      };
      RETURN_IF_ERROR(MoveRows(mover, table, detach));
    }
    return mover.Run(kDropUnfinished);
  });
}

Status AttachRecords(const Path& file, const Path& root) {
  ASSIGN_OR_RETURN(const FileIdentifier identify, IdentifyBelow(root));
  RecordMover mover(file, identify);
  RETURN_IF_ERROR(mover.Open());
  return mover.Transact([&]() -> Status {
    for (const std::string table : {"objects", "versions"}) {
      const auto attach = [&](const FiledRow& row, std::optional<FileIdentity> found) -> Status {
        if (!found || found->size != row.file.size) {
          return errors::RecordWithoutFile(row.bucket, row.name);
        }
        return mover.SetFile(table, row, found->inode, found->modified_ns);
      };
      RETURN_IF_ERROR(MoveRows(mover, table, attach));
    }
    return Ok{};
  });
}

}  // namespace caip::gcs
