// One connection writes. Readers have their own connections, so a long list never delays a write
// (WAL).

#include "host/store/job_store.h"

#include <sqlite3.h>

#include <mutex>
#include <utility>
#include <vector>

#include "base/json.h"
#include "host/errors.h"
#include "host/store/job_schema.h"
#include "host/store/stored_job.h"
#include "host/store/trial_rows.h"

namespace caip::host {
namespace {

using engine::JobQuery;
using engine::JobRecord;

constexpr size_t kIdleReadersMax = 4;

class Writer : public SqliteDatabase {
 public:
  explicit Writer(const Path& file) : SqliteDatabase(file, errors::JobStoreFailed) {}
  Status Open() {
    RETURN_IF_ERROR(SqliteDatabase::Open(Mode::kCreate));
    RETURN_IF_ERROR(Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
    RETURN_IF_ERROR(Run(kFewPages));  // taken_ids has an id of each job that ever was
    ASSIGN_OR_RETURN(const int64_t version, Number("PRAGMA user_version"));
    if (version > kJobStoreVersion) return errors::JobStoreTooNew(file(), version);
    if (version < kJobStoreVersion) RETURN_IF_ERROR(MakeTables(version));
    trials.Prepare(*this);
    RETURN_IF_ERROR(Prepare(insert,
                            "INSERT INTO jobs (project, id, create_time, finished, job, run, "
                            "api, location) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE NOT EXISTS "
                            "(SELECT 1 FROM taken_ids WHERE project = ?1 AND id = ?2)"));
    return Prepare(update,
                   "UPDATE jobs SET create_time = ?3, finished = ?4, job = ?5, run = ?6, "
                   "api = ?7, location = ?8 WHERE project = ?1 AND id = ?2");
  }
  /// Removes a job that has ended, with its trials and their reports, or nothing. kNotFound: there
  /// is no such job.
  Status Remove(const std::string& project, const std::string& job_id, engine::RemovedId id) {
    RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
    const Status removed = RemoveRows(project, job_id, id);
    if (removed.ok()) return Run("COMMIT");
    (void)Run("ROLLBACK");
    return removed;
  }
  SqliteStatement insert;
  SqliteStatement update;
  TrialWriter trials;

 private:
  Status RemoveRows(const std::string& project, const std::string& job_id, engine::RemovedId id) {
    const auto run = [&](const char* sql) -> Status {
      SqliteStatement statement;
      RETURN_IF_ERROR(Prepare(statement, sql));
      SqliteUse use(statement);
      use->Bind(1, project).Bind(2, job_id);
      const int code = use->Step();
      return code == SQLITE_DONE ? Status(Ok{}) : Status(Failure(code));
    };
    RETURN_IF_ERROR(run("DELETE FROM reports WHERE project = ?1 AND job = ?2"));
    RETURN_IF_ERROR(run("DELETE FROM trials WHERE project = ?1 AND job = ?2"));
    RETURN_IF_ERROR(run("DELETE FROM jobs WHERE project = ?1 AND id = ?2 AND finished = 1"));
    if (Changes() == 0) return errors::JobRecordMissing(project, job_id);
    if (id == engine::RemovedId::kFree) return Ok{};
    return run("INSERT INTO taken_ids (project, id) VALUES (?1, ?2)");
  }
  Status MakeTables(int64_t version) {
    const std::string jobs = version == 0 ? kJobSchema : "";
    const std::string trial_tables = version < 2 ? kTrialSchema : "";
    const std::string taken_ids = version < 3 ? kTakenIdsSchema : "";
    const std::string sql = "BEGIN IMMEDIATE;" + jobs + trial_tables + taken_ids + kJobApiSchema +
                            "PRAGMA user_version = " + std::to_string(kJobStoreVersion) +
                            "; COMMIT;";
    return Run(sql.c_str());
  }
};

#define CAIP_COLUMNS "SELECT project, id, job, run, create_time, seq FROM jobs "

class Reader : public SqliteDatabase {
 public:
  explicit Reader(const Path& file) : SqliteDatabase(file, errors::JobStoreFailed) {}
  Status Open() {
    RETURN_IF_ERROR(SqliteDatabase::Open(Mode::kExisting));
    RETURN_IF_ERROR(Run("PRAGMA query_only = ON"));
    RETURN_IF_ERROR(Run(kFewPages));
    trials.Prepare(*this);
    RETURN_IF_ERROR(Prepare(get, CAIP_COLUMNS "WHERE project = ?1 AND id = ?2"));
    PrepareLater(find, CAIP_COLUMNS "WHERE id = ?1 AND api <> ''");
    PrepareLater(list, CAIP_COLUMNS
                 "WHERE project = ?1 AND api = ?5 AND location = ?6 "
                 "AND (create_time, seq) < (?2, ?3) "
                 "ORDER BY create_time DESC, seq DESC LIMIT ?4");
    PrepareLater(list_all, CAIP_COLUMNS
                 "WHERE api = ?5 AND api <> '' AND location = ?6 "
                 "AND (create_time, seq) < (?2, ?3) "
                 "ORDER BY create_time DESC, seq DESC LIMIT ?4");
    RETURN_IF_ERROR(Prepare(created, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'"));
    RETURN_IF_ERROR(Prepare(newest, "SELECT max(create_time) FROM jobs"));
    return Prepare(unfinished, CAIP_COLUMNS "WHERE finished = 0 ORDER BY seq");
  }
  SqliteStatement get;
  SqliteStatement find;
  SqliteStatement list;
  SqliteStatement list_all;  // of all projects
  SqliteStatement created;
  SqliteStatement newest;
  SqliteStatement unfinished;
  TrialReader trials;
};

Result<JobRecord> RecordIn(const SqliteStatement& row, const Path& file) {
  const std::string name = row.Text(0) + "/" + row.Text(1);
  auto job = ParseStoredJob({row.Text(0), row.Text(1), ""}, row.Text(2));
  if (!job.ok()) return errors::JobRecordBroken(file, name, job.error());
  auto note = ParseJson(row.Text(3));
  if (!note.ok()) return errors::JobRecordBroken(file, name, note.error());
  return JobRecord{*std::move(job), *std::move(note)};
}

Result<std::vector<JobRecord>> RecordsOf(SqliteUse& rows, const Reader& reader) {
  std::vector<JobRecord> records;
  int code = rows->Step();
  for (; code == SQLITE_ROW; code = rows->Step()) {
    ASSIGN_OR_RETURN(JobRecord record, RecordIn(*rows.operator->(), reader.file()));
    records.push_back(std::move(record));
  }
  if (code != SQLITE_DONE) return reader.Failure(code);
  return records;
}

int64_t CreateTimeOf(const JobRecord& record) {
  return record.job.create_time ? record.job.create_time->time_since_epoch().count() : 0;
}

void BindRecord(SqliteUse& statement, const JobRecord& record) {
  const run::RunKey& key = record.job.key;
  statement->Bind(1, key.project).Bind(2, key.job_id).Bind(3, CreateTimeOf(record));
  statement->Bind(4, static_cast<int64_t>(run::IsTerminal(record.job.state)));
  statement->Bind(5, StoredJobText(record.job));
  statement->Bind(6, CompactJson(record.note));
  statement->Bind(7, record.job.api).Bind(8, key.location);
}

/// One connection writes. Each read uses its own connection.
class SqliteJobStore final : public engine::JobStore {
 public:
  explicit SqliteJobStore(const Path& file) : file_(file), writer_(file) {}

  Status Open() {
    RETURN_IF_ERROR(writer_.Open());
    ASSIGN_OR_RETURN(auto reader, NewReader());  // reports problems with the file now
    Give(std::move(reader));
    return Ok{};
  }

  Status Create(const JobRecord& record) override {
    std::lock_guard lock(writer_mutex_);
    const Result<int> code = ChangeDurably(writer_.insert, record);
    if (!code.ok()) return code.error();
    if (*code == SQLITE_DONE && writer_.Changes() > 0) return Ok{};
    return errors::JobRecordExists(record.job.key.project, record.job.key.job_id);
  }

  // The states that answers have shown survive a power cut. A running job resumes from an earlier
  // state.
  Status Save(const JobRecord& record) override {
    const run::JobState state = record.job.state;
    std::lock_guard lock(writer_mutex_);
    if (run::IsTerminal(state) || state == run::JobState::kCancelling) {
      const Result<int> code = ChangeDurably(writer_.update, record);
      if (!code.ok()) return code.error();
    } else if (const int code = Change(writer_.update, record); code != SQLITE_DONE) {
      return writer_.Failure(code);
    }
    if (writer_.Changes() == 0) {
      return errors::JobRecordMissing(record.job.key.project, record.job.key.job_id);
    }
    return Ok{};
  }

  Status Remove(const std::string& project, const std::string& job_id,
                engine::RemovedId id) override {
    std::lock_guard lock(writer_mutex_);
    RETURN_IF_ERROR(writer_.Run("PRAGMA synchronous = FULL"));
    const Status removed = writer_.Remove(project, job_id, id);
    RETURN_IF_ERROR(writer_.Run("PRAGMA synchronous = NORMAL"));
    return removed;
  }

  Result<JobRecord> Get(const std::string& project, const std::string& job_id) const override {
    return WithReader([&](Reader& reader) -> Result<JobRecord> {
      SqliteUse row(reader.get);
      row->Bind(1, project).Bind(2, job_id);
      const int code = row->Step();
      if (code == SQLITE_DONE) return errors::JobRecordMissing(project, job_id);
      if (code != SQLITE_ROW) return reader.Failure(code);
      return RecordIn(reader.get, reader.file());
    });
  }

  Result<JobRecord> Find(const std::string& job_id) const override {
    return WithReader([&](Reader& reader) -> Result<JobRecord> {
      SqliteUse row(reader.find);
      row->Bind(1, job_id);
      const int code = row->Step();
      if (code == SQLITE_DONE) return errors::JobRecordMissing("*", job_id);
      if (code != SQLITE_ROW) return reader.Failure(code);
      return RecordIn(reader.find, reader.file());
    });
  }

  Result<std::vector<JobRecord>> List(const JobQuery& query) const override {
    return WithReader([&](Reader& reader) { return ListWith(reader, query); });
  }

  Result<std::vector<JobRecord>> Unfinished() const override {
    return WithReader([&](Reader& reader) -> Result<std::vector<JobRecord>> {
      SqliteUse rows(reader.unfinished);
      return RecordsOf(rows, reader);
    });
  }

  Result<int64_t> CountCreated() const override {
    return WithReader([&](Reader& reader) -> Result<int64_t> {
      SqliteUse row(reader.created);
      const int code = row->Step();
      if (code == SQLITE_DONE) return int64_t{0};
      if (code != SQLITE_ROW) return reader.Failure(code);
      return row->Integer(0);
    });
  }

  Result<std::optional<Instant>> NewestCreateTime() const override {
    return WithReader([&](Reader& reader) -> Result<std::optional<Instant>> {
      SqliteUse row(reader.newest);
      const int code = row->Step();
      if (code != SQLITE_ROW) return reader.Failure(code);
      const int64_t nanoseconds = row->Integer(0);  // 0: there is no job
      if (nanoseconds == 0) return std::optional<Instant>();
      return std::optional<Instant>(Instant(Duration(nanoseconds)));
    });
  }

  Status SaveTrial(const engine::TrialRecord& record) override {
    std::lock_guard lock(writer_mutex_);
    return writer_.trials.Save(writer_, record);
  }

  Status AddReports(const engine::RunKey& trial,
                    const std::vector<engine::Report>& reports) override {
    std::lock_guard lock(writer_mutex_);
    return writer_.trials.Add(writer_, trial, reports);
  }

  Result<std::vector<engine::TrialRecord>> Trials(const std::string& project,
                                                  const std::string& job_id) const override {
    return WithReader([&](Reader& reader) { return reader.trials.Read(reader, project, job_id); });
  }

 private:
  // A commit under FULL syncs the write-ahead log before it returns. The result is SQLITE_DONE, or
  // SQLITE_CONSTRAINT.
  Result<int> ChangeDurably(SqliteStatement& statement, const JobRecord& record) {
    RETURN_IF_ERROR(writer_.Run("PRAGMA synchronous = FULL"));
    const int code = Change(statement, record) & 0xff;
    const Error failure = code == SQLITE_DONE ? Error{} : writer_.Failure(code);
    RETURN_IF_ERROR(writer_.Run("PRAGMA synchronous = NORMAL"));
    if (code != SQLITE_DONE && code != SQLITE_CONSTRAINT) return failure;
    return code;
  }

  static int Change(SqliteStatement& statement, const JobRecord& record) {
    SqliteUse use(statement);
    BindRecord(use, record);
    return use->Step();
  }

  static Result<std::vector<JobRecord>> ListWith(Reader& reader, const JobQuery& query) {
    int64_t time = INT64_MAX;
    int64_t seq = INT64_MAX;
    const bool is_of_all = query.project.empty();
    if (!query.before_id.empty()) {
      SqliteStatement& before = is_of_all ? reader.find : reader.get;
      SqliteUse row(before);
      if (is_of_all) row->Bind(1, query.before_id);
      if (!is_of_all) row->Bind(1, query.project).Bind(2, query.before_id);
      const int code = row->Step();
      if (code == SQLITE_DONE && !query.before_time) {
        return errors::JobRecordMissing(query.project, query.before_id);
      }
      if (code != SQLITE_ROW && code != SQLITE_DONE) return reader.Failure(code);
      const bool is_there = code == SQLITE_ROW;
      time = is_there ? before.Integer(4) : query.before_time->time_since_epoch().count();
      seq = is_there ? before.Integer(5) : 0;
    }
    SqliteUse rows(is_of_all ? reader.list_all : reader.list);
    if (!is_of_all) rows->Bind(1, query.project);
    rows->Bind(2, time).Bind(3, seq);
    rows->Bind(4, static_cast<int64_t>(query.limit > 0 ? query.limit : -1));
    rows->Bind(5, query.api).Bind(6, query.location);
    return RecordsOf(rows, reader);
  }

  /// Calls `read(Reader&)` with a connection that no other thread uses at that time.
  template <typename Read>
  auto WithReader(Read&& read) const -> decltype(read(std::declval<Reader&>())) {
    std::unique_ptr<Reader> reader = Take();
    if (!reader) {
      auto made = NewReader();
      if (!made.ok()) return made.error();
      reader = *std::move(made);
    }
    auto answer = read(*reader);
    Give(std::move(reader));
    return answer;
  }

  Result<std::unique_ptr<Reader>> NewReader() const {
    auto reader = std::make_unique<Reader>(file_);
    RETURN_IF_ERROR(reader->Open());
    return reader;
  }
  std::unique_ptr<Reader> Take() const {
    std::lock_guard lock(readers_mutex_);
    if (readers_.empty()) return nullptr;
    auto reader = std::move(readers_.back());
    readers_.pop_back();
    return reader;
  }
  void Give(std::unique_ptr<Reader> reader) const {
    std::lock_guard lock(readers_mutex_);
    if (readers_.size() < kIdleReadersMax) readers_.push_back(std::move(reader));
  }

  Path file_;
  std::mutex writer_mutex_;
  Writer writer_;
  mutable std::mutex readers_mutex_;
  mutable std::vector<std::unique_ptr<Reader>> readers_;  // idle
};

}  // namespace

Result<std::unique_ptr<engine::JobStore>> OpenJobStore(const Path& file) {
  auto store = std::make_unique<SqliteJobStore>(file);
  RETURN_IF_ERROR(store->Open());
  return std::unique_ptr<engine::JobStore>(std::move(store));
}

bool HasUnfinishedJobs(const Path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return false;
  SqliteDatabase database(file, errors::JobStoreFailed);
  if (!database.Open(SqliteDatabase::Mode::kExisting).ok()) return false;
  const auto unfinished = database.Number("SELECT count(*) FROM jobs WHERE finished = 0");
  return unfinished.ok() && *unfinished > 0;
}

std::vector<StoredJobName> NewestJobNames(const Path& file, const std::string& project,
                                          size_t most) {
  std::vector<StoredJobName> names;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return names;
  SqliteDatabase database(file, errors::JobStoreFailed);
  SqliteStatement newest;
  if (!database.Open(SqliteDatabase::Mode::kExisting).ok()) return names;
  const Status prepared = database.Prepare(newest,
                                           "SELECT api, id, finished FROM jobs WHERE project = ?1 "
                                           "ORDER BY create_time DESC, seq DESC LIMIT ?2");
  if (!prepared.ok()) return names;
  newest.Bind(1, project).Bind(2, static_cast<int64_t>(most));
  while (newest.Next()) {
    names.push_back({newest.Text(0), newest.Text(1), newest.Integer(2) != 0});
  }
  return names;
}

}  // namespace caip::host
