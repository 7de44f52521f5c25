// The schema, version 1 (PRAGMA user_version):
//
//   resources  seq     order of creation
//              name    "projects/p/locations/l/studies/s", ".../trials/1", ".../operations/o"
//              parent  the name of the parent: a location or a study
//              body    JSON, see study_service.h

#include "emulator/api/optimizer/study_store.h"

#include <sqlite3.h>

#include <charconv>
#include <cmath>

#include "emulator/api/errors.h"

namespace caip::api {
namespace {

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

// JSON lacks NaN and infinities, which metrics may have: they are stored as {"$number": text}.
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

}  // namespace

Result<std::unique_ptr<StudyStore>> StudyStore::Open(const Path& file) {
  std::unique_ptr<StudyStore> store(new StudyStore(file));
  RETURN_IF_ERROR(store->Opened());
  return store;
}

std::unique_ptr<StudyStore> StudyStore::OpenLater(const Path& file) {
  return std::unique_ptr<StudyStore>(new StudyStore(file));
}

StudyStore::StudyStore(const Path& file) : db_(file, errors::StudyStoreFailed) {}

Status StudyStore::Opened() const {
  if (is_open_) return Ok{};
  RETURN_IF_ERROR(db_.Open(SqliteDatabase::Mode::kCreate));
  RETURN_IF_ERROR(db_.Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  RETURN_IF_ERROR(db_.Run(kFewPages));
  ASSIGN_OR_RETURN(const int64_t version, db_.Number("PRAGMA user_version"));
  if (version > kStudyStoreVersion) return errors::StudyStoreTooNew(db_.file(), version);
  if (version == 0) RETURN_IF_ERROR(db_.Run(kSchema));
  db_.PrepareLater(get_, "SELECT body FROM resources WHERE name = ?1");
  db_.PrepareLater(below_,
                   "SELECT body FROM resources WHERE parent = ?1 AND "
                   "substr(name, 1, length(?2)) = ?2 ORDER BY seq");
  db_.PrepareLater(put_,
                   "INSERT INTO resources (name, parent, body) VALUES (?1, ?2, ?3) "
                   "ON CONFLICT (name) DO UPDATE SET body = excluded.body");
  db_.PrepareLater(remove_, "DELETE FROM resources WHERE name = ?1 OR parent = ?1");
  is_open_ = true;
  return Ok{};
}

Result<std::optional<Json>> StudyStore::Get(const std::string& name) const {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(Opened());
    SqliteUse row(get_);
    row->Bind(1, name);
    const int code = row->Step();
    if (code == SQLITE_DONE) return std::optional<Json>();
    if (code != SQLITE_ROW) return db_.Failure(code);
    text = row->Text(0);
  }
  ASSIGN_OR_RETURN(Json body, ParseJson(text));
  return std::optional<Json>(Restored(std::move(body)));
}

// Parses without the lock, because a thousand trials take a while and other studies need the lock.
Result<std::vector<Json>> StudyStore::Below(const std::string& parent,
                                            const std::string& prefix) const {
  std::vector<std::string> texts;
  {
    std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(Opened());
    SqliteUse rows(below_);
    rows->Bind(1, parent).Bind(2, prefix);
    int code = SQLITE_ROW;
    while ((code = rows->Step()) == SQLITE_ROW) texts.push_back(rows->Text(0));
    if (code != SQLITE_DONE) return db_.Failure(code);
  }
  std::vector<Json> bodies;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Json body, ParseJson(text));
    bodies.push_back(Restored(std::move(body)));
  }
  return bodies;
}

Status StudyStore::Put(const StudyChange& change) {
  SqliteUse put(put_);
  put->Bind(1, change.name).Bind(2, change.parent);
  put->Bind(3, CompactJson(Storable(*change.body)));
  const int code = put->Step();
  if (code != SQLITE_DONE) return db_.Failure(code);
  return Ok{};
}

Status StudyStore::Remove(const std::string& name) {
  SqliteUse remove(remove_);
  remove->Bind(1, name);
  const int code = remove->Step();
  if (code != SQLITE_DONE) return db_.Failure(code);
  return Ok{};
}

Status StudyStore::Apply(const std::vector<StudyChange>& changes) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(Opened());
  RETURN_IF_ERROR(db_.Run("BEGIN IMMEDIATE"));
  for (const StudyChange& change : changes) {
    const Status done = change.body ? Put(change) : Remove(change.name);
    if (done.ok()) continue;
    (void)db_.Run("ROLLBACK");
    return done;
  }
  const Status committed = db_.Run("COMMIT");
  if (!committed.ok()) (void)db_.Run("ROLLBACK");
  return committed;
}

StudyLocks::Held::Held(StudyLocks& locks, const std::string& study) : locks_(locks) {
  std::unique_lock lock(locks_.mutex_);
  locks_.released_.wait(lock, [&] { return !locks_.held_.contains(study); });
  at_ = locks_.held_.insert(study).first;
}

StudyLocks::Held::~Held() {
  {
    std::lock_guard lock(locks_.mutex_);
    locks_.held_.erase(at_);
  }
  locks_.released_.notify_all();
}

}  // namespace caip::api
