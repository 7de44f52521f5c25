// The schema, version 1 (PRAGMA user_version):
//
//   resources  seq     order of creation
//              name    "projects/p/locations/l/studies/s", ".../trials/1", ".../operations/o"
//              parent  the name of what it belongs to: a location or a study
//              body    JSON, as study_desk.h keeps it

#include "emulator/api/optimizer/study_store.h"

#include <sqlite3.h>

#include <charconv>
#include <cmath>

#include "base/sqlite.h"
#include "emulator/api/optimizer/study_errors.h"

namespace caip::api {
namespace {

constexpr int kSchemaVersion = 1;
constexpr const char* kSchema = R"sql(
  BEGIN IMMEDIATE;
  CREATE TABLE resources (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    parent TEXT NOT NULL,
    body TEXT NOT NULL);
  CREATE INDEX resources_by_parent ON resources (parent, seq);
  PRAGMA user_version = 1;
  COMMIT;)sql";

// JSON has no NaN and no infinities, which metrics may have: they are kept as {"$number": text}.
Json Storable(Json value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const double number = value;
    return {{"$number", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
  }
  if (value.is_structured()) {
    for (Json& member : value) member = Storable(std::move(member));
  }
  return value;
}

Json Restored(Json value) {
  if (const Json* number = Member(value, "$number")) {
    double read = 0;
    const std::string text = number->is_string() ? number->get<std::string>() : "";
    std::from_chars(text.data(), text.data() + text.size(), read);
    return read;
  }
  if (value.is_structured()) {
    for (Json& member : value) member = Restored(std::move(member));
  }
  return value;
}

// One statement's run, from binding to its end.
class Query {
 public:
  Query(sqlite3* db, const char* sql) { sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() { sqlite3_finalize(statement_); }

  Query& Bind(const std::string& text) {
    sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
    return *this;
  }
  int Step() { return sqlite3_step(statement_); }
  int64_t Integer() const { return sqlite3_column_int64(statement_, 0); }
  std::string Text() const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, 0));
    return text ? std::string(text, size) : std::string();
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

}  // namespace

Result<std::unique_ptr<StudyStore>> StudyStore::Open(const Path& file) {
  sqlite3* db = nullptr;
  sqlite3_open_v2(file.c_str(), &db,
                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<StudyStore> store(new StudyStore(file, db));
  RETURN_IF_ERROR(store->Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  int64_t version = 0;
  {
    Query query(db, "PRAGMA user_version");
    if (query.Step() != SQLITE_ROW) return store->Failure();
    version = query.Integer();
  }
  if (version > kSchemaVersion) return errors::StudyStoreTooNew(file.string(), version);
  if (version == 0) RETURN_IF_ERROR(store->Run(kSchema));
  return store;
}

StudyStore::~StudyStore() { CloseLeavingShortLog(db_); }

Error StudyStore::Failure() const {
  return errors::StudyStoreFailed(file_.string(), db_ ? sqlite3_errmsg(db_) : "no memory");
}

Status StudyStore::Run(const char* sql) const {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return Failure();
  return Ok{};
}

Result<std::optional<Json>> StudyStore::Get(const std::string& name) const {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    Query query(db_, "SELECT body FROM resources WHERE name = ?1");
    const int code = query.Bind(name).Step();
    if (code == SQLITE_DONE) return std::optional<Json>();
    if (code != SQLITE_ROW) return Failure();
    text = query.Text();
  }
  ASSIGN_OR_RETURN(Json body, ParseJson(text));
  return std::optional<Json>(Restored(std::move(body)));
}

// A thousand trials take long to parse: not under the lock, for which other studies wait.
Result<std::vector<Json>> StudyStore::Below(const std::string& parent,
                                            const std::string& prefix) const {
  std::vector<std::string> texts;
  {
    std::lock_guard lock(mutex_);
    Query query(db_,
                "SELECT body FROM resources WHERE parent = ?1 AND "
                "substr(name, 1, length(?2)) = ?2 ORDER BY seq");
    query.Bind(parent).Bind(prefix);
    int code = SQLITE_ROW;
    while ((code = query.Step()) == SQLITE_ROW) texts.push_back(query.Text());
    if (code != SQLITE_DONE) return Failure();
  }
  std::vector<Json> bodies;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Json body, ParseJson(text));
    bodies.push_back(Restored(std::move(body)));
  }
  return bodies;
}

Status StudyStore::Put(const StudyChange& change) const {
  Query query(db_,
              "INSERT INTO resources (name, parent, body) VALUES (?1, ?2, ?3) "
              "ON CONFLICT (name) DO UPDATE SET body = excluded.body");
  query.Bind(change.name).Bind(change.parent).Bind(CompactJson(Storable(*change.body)));
  if (query.Step() != SQLITE_DONE) return Failure();
  return Ok{};
}

Status StudyStore::Remove(const std::string& name) const {
  Query query(db_, "DELETE FROM resources WHERE name = ?1 OR parent = ?1");
  if (query.Bind(name).Step() != SQLITE_DONE) return Failure();
  return Ok{};
}

Status StudyStore::Apply(const std::vector<StudyChange>& changes) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
  for (const StudyChange& change : changes) {
    const Status done = change.body ? Put(change) : Remove(change.name);
    if (done.ok()) continue;
    (void)Run("ROLLBACK");
    return done;
  }
  return Run("COMMIT");
}

}  // namespace caip::api
