#include "fakes/gcs/store/moved_records.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cerrno>
#include <functional>
#include <optional>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "fakes/gcs/store/names.h"

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
  explicit RecordMover(const Path& file) : database_(file, errors::SideStoreFailed) {}

  Status Open(const Path& root) {
    root_ = Fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root_.valid()) return CannotOpen(root, errno);
    return database_.Open(SqliteDatabase::Mode::kExisting);
  }

  /// Runs `body` in a transaction.
  Status Transact(const std::function<Status()>& body) {
    RETURN_IF_ERROR(database_.Run("BEGIN IMMEDIATE"));
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
      return Identify(".caip-versions/" + row.bucket + "/" + std::to_string(row.generation));
    }
    if (const auto plain = Identify(row.bucket + "/" + PlainPath(row.name))) return plain;
    return Identify(row.bucket + "/" + BesidePath(row.name));
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
  std::optional<FileIdentity> Identify(const std::string& path) const {
    const OpenFile file = OpenPlainFile(root_.get(), path);
    return file.fd.valid() ? std::optional(file.identity) : std::nullopt;
  }

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

  Fd root_;
  SqliteDatabase database_;
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

// The bytes of a small object without its file must stay together with the record.
constexpr const char* kDetachSmall =
    "UPDATE small_objects SET inode = 0 WHERE EXISTS (SELECT 1 FROM objects WHERE "
    "objects.bucket = small_objects.bucket AND objects.name = small_objects.name AND "
    "objects.modified_ns = small_objects.modified_ns AND objects.inode = 0);"
    "DELETE FROM small_objects WHERE inode <> 0;"
    "DELETE FROM counters WHERE name = 'boot';";

Status MoveRows(RecordMover& mover, const std::string& table,
                const std::function<Status(const FiledRow&, std::optional<FileIdentity>)>& take) {
  ASSIGN_OR_RETURN(const std::vector<FiledRow> rows, mover.Rows(table));
  for (const FiledRow& row : rows) RETURN_IF_ERROR(take(row, mover.FindFile(table, row)));
  return Ok{};
}

}  // namespace

Status AdoptLaterRecords(const Path& file, const Path& root, const Path& live) {
  RecordMover mover(file);
  RETURN_IF_ERROR(mover.Open(root));
  RETURN_IF_ERROR(mover.Attach(live));
  return mover.Transact([&]() -> Status {
    ASSIGN_OR_RETURN(const std::vector<FiledRow> later, mover.Select(kLaterRows));
    bool adopts = false;
    for (const FiledRow& row : later) {
      if (mover.FindFile("objects", row) != row.file) continue;
      RETURN_IF_ERROR(mover.Adopt(row));
      adopts = true;
    }
    return adopts ? mover.Run(kAdoptCounter) : Status(Ok{});
  });
}

Status DetachRecords(const Path& file, const Path& root) {
  RecordMover mover(file);
  RETURN_IF_ERROR(mover.Open(root));
  return mover.Transact([&]() -> Status {
    for (const std::string table : {"objects", "versions"}) {
      const auto detach = [&](const FiledRow& row, std::optional<FileIdentity> found) -> Status {
        if (found == row.file) return Ok{};
        const bool keeps_bytes = !found;  // else the changed file counts, not the bytes of before
        return mover.SetFile(table, row, 0, keeps_bytes ? row.file.modified_ns : 0);
      };
      RETURN_IF_ERROR(MoveRows(mover, table, detach));
    }
    return mover.Run(kDetachSmall);
  });
}

Status AttachRecords(const Path& file, const Path& root) {
  RecordMover mover(file);
  RETURN_IF_ERROR(mover.Open(root));
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
