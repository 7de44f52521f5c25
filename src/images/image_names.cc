// The schema, version 1 (PRAGMA user_version). Digests are "sha256:…".
//
//   manifests  repository, digest   a manifest or an index that the repository has
//              media_type
//              subject              the digest of the manifest that it describes, or ''
//   names      repository, tag      a tag, and the digest of its manifest
//   links      repository, digest   a blob that the repository may use
//   parts      manifest, digest     what a manifest of any repository names. Bytes with a digest
//                                   never change, and so do their parts. Version 1 does not need
//                                   the table: a caip without it leaves it as it is.

#include "images/image_names.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "images/errors.h"
#include "images/image_reference.h"

namespace caip::images {
namespace {

constexpr const char* kNamesSchema = R"sql(
  BEGIN IMMEDIATE;
  CREATE TABLE manifests (
    repository TEXT NOT NULL,
    digest TEXT NOT NULL,
    media_type TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (repository, digest)) WITHOUT ROWID;
  CREATE INDEX manifests_by_subject ON manifests (repository, subject) WHERE subject <> '';
  CREATE TABLE names (
    repository TEXT NOT NULL,
    tag TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (repository, tag)) WITHOUT ROWID;
  CREATE TABLE links (
    repository TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (repository, digest)) WITHOUT ROWID;
  PRAGMA user_version = 1;
  COMMIT;)sql";

constexpr const char* kPartsSchema = R"sql(
  CREATE TABLE IF NOT EXISTS parts (
    manifest TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (manifest, digest)) WITHOUT ROWID;)sql";

constexpr const char* kInsertManifest =
    "INSERT OR REPLACE INTO manifests (repository, digest, media_type, subject) "
    "VALUES (?1, ?2, ?3, ?4)";

constexpr const char* kInsertName =
    "INSERT OR REPLACE INTO names (repository, tag, digest) VALUES (?1, ?2, ?3)";

constexpr const char* kInsertLink =
    "INSERT OR IGNORE INTO links (repository, digest) VALUES (?1, ?2)";

constexpr const char* kInsertPart =
    "INSERT OR IGNORE INTO parts (manifest, digest) VALUES (?1, ?2)";

// The changes that remove the manifest ?2 from the repository ?1, in this order.
constexpr const char* kDeleteManifest[] = {
    "DELETE FROM names WHERE repository = ?1 AND digest = ?2",
    "DELETE FROM parts WHERE manifest = ?2 AND NOT EXISTS "
    "(SELECT 1 FROM manifests WHERE digest = ?2 AND repository <> ?1)",
    "DELETE FROM manifests WHERE repository = ?1 AND digest = ?2"};

constexpr const char* kDeleteLink = "DELETE FROM links WHERE repository = ?1 AND digest = ?2";

#define CAIP_NAME_COLUMNS                                                 \
  "SELECT repository, tag, digest, media_type FROM names JOIN manifests " \
  "USING (repository, digest) "

#define CAIP_MANIFEST_COLUMNS "SELECT digest, media_type, subject FROM manifests "

std::vector<std::string> ManifestRow(const std::string& repository,
                                     const ManifestRecord& manifest) {
  return {repository, manifest.digest.text(), manifest.media_type,
          manifest.subject ? manifest.subject->text() : ""};
}

using NameChanges = std::vector<std::pair<const char*, std::vector<std::string>>>;

void ChangeToAdd(const std::string& repository, const ManifestRecord& manifest,
                 NameChanges& changes) {
  changes.push_back({kInsertManifest, ManifestRow(repository, manifest)});
  for (const Digest& part : manifest.parts) {
    changes.push_back({kInsertPart, {manifest.digest.text(), part.text()}});
  }
}

void ChangeToRemove(const std::string& repository, const Digest& manifest, NameChanges& changes) {
  for (const char* sql : kDeleteManifest) changes.push_back({sql, {repository, manifest.text()}});
}

}  // namespace

std::string ImageName::text() const {
  return tag.empty() ? FamiliarName(repository, digest) : FamiliarName(repository, tag);
}

ImageNames::ImageNames(const Path& file) : database_(file, errors::NameStoreFailed) {}

Result<std::unique_ptr<ImageNames>> ImageNames::Open(const Path& file) {
  RETURN_IF_ERROR(MakeDirectories(file.parent_path()));
  std::unique_ptr<ImageNames> names(new ImageNames(file));
  RETURN_IF_ERROR(names->OpenTables());
  return names;
}

// Only one process at a time makes the tables: SQLite refuses a second one without waiting.
Status ImageNames::OpenTables() {
  const Path lock_file = database_.file().string() + ".lock";
  const Fd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return CannotOpen(lock_file, errno);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return CannotLock(lock_file, errno);
  }
  RETURN_IF_ERROR(database_.Open(SqliteDatabase::Mode::kCreate));
  RETURN_IF_ERROR(database_.Run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  ASSIGN_OR_RETURN(const int64_t version, database_.Number("PRAGMA user_version"));
  if (version > kImageNamesVersion) return errors::NameStoreTooNew(database_.file(), version);
  if (version < kImageNamesVersion) RETURN_IF_ERROR(database_.Run(kNamesSchema));
  return database_.Run(kPartsSchema);
}

Status ImageNames::Change(const char* sql, const Values& values) {
  SqliteStatement statement;
  RETURN_IF_ERROR(database_.Prepare(statement, sql));
  for (size_t i = 0; i < values.size(); ++i) statement.Bind(static_cast<int>(i) + 1, values[i]);
  const int code = statement.Step();
  if (code != SQLITE_DONE) return database_.Failure(code);
  return Ok{};
}

Result<std::vector<ImageNames::Values>> ImageNames::Select(const char* sql, const Values& values,
                                                           int columns) {
  SqliteStatement statement;
  RETURN_IF_ERROR(database_.Prepare(statement, sql));
  for (size_t i = 0; i < values.size(); ++i) statement.Bind(static_cast<int>(i) + 1, values[i]);
  std::vector<Values> rows;
  int code = statement.Step();
  for (; code == SQLITE_ROW; code = statement.Step()) {
    Values& row = rows.emplace_back();
    for (int column = 0; column < columns; ++column) row.push_back(statement.Text(column));
  }
  if (code != SQLITE_DONE) return database_.Failure(code);
  return rows;
}

Status ImageNames::Transact(const std::vector<std::pair<const char*, Values>>& changes) {
  RETURN_IF_ERROR(database_.Run("BEGIN IMMEDIATE"));
  Status status = Ok{};
  for (const auto& [sql, values] : changes) {
    if (status.ok()) status = Change(sql, values);
  }
  if (status.ok()) status = database_.Run("COMMIT");
  if (!status.ok() && database_.IsInTransaction()) (void)database_.Run("ROLLBACK");
  return status;
}

Result<std::vector<ImageName>> ImageNames::SelectNames(const char* sql, const Values& values) {
  ASSIGN_OR_RETURN(const auto rows, Select(sql, values, 4));
  std::vector<ImageName> names;
  for (const Values& row : rows) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(row[2]));
    names.push_back({row[0], row[1], digest, row[3]});
  }
  return names;
}

Result<std::vector<ManifestRecord>> ImageNames::SelectManifests(const char* sql,
                                                                const Values& values) {
  ASSIGN_OR_RETURN(const auto rows, Select(sql, values, 3));
  std::vector<ManifestRecord> manifests;
  for (const Values& row : rows) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(row[0]));
    ManifestRecord& manifest = manifests.emplace_back(ManifestRecord{digest, row[1]});
    if (row[2].empty()) continue;
    ASSIGN_OR_RETURN(manifest.subject, Digest::Parse(row[2]));
  }
  return manifests;
}

Result<std::vector<Digest>> ImageNames::SelectDigests(const char* sql, const Values& values) {
  ASSIGN_OR_RETURN(const auto rows, Select(sql, values, 1));
  std::vector<Digest> digests;
  for (const Values& row : rows) {
    ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(row[0]));
    digests.push_back(digest);
  }
  return digests;
}

Status ImageNames::Set(const std::string& repository, const std::string& tag,
                       const ManifestRecord& manifest) {
  return SetImage(repository, tag, {manifest}, {});
}

Status ImageNames::SetImage(const std::string& repository, const std::string& tag,
                            const std::vector<ManifestRecord>& manifests,
                            const std::vector<Digest>& blobs) {
  assert(!manifests.empty());
  NameChanges changes;
  for (const Digest& blob : blobs) changes.push_back({kInsertLink, {repository, blob.text()}});
  for (const ManifestRecord& manifest : manifests) ChangeToAdd(repository, manifest, changes);
  changes.push_back({kInsertName, {repository, tag, manifests.front().digest.text()}});
  const std::lock_guard lock(mutex_);
  return Transact(changes);
}

Result<ImageName> ImageNames::Find(const std::string& repository, const std::string& tag) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      const std::vector<ImageName> names,
      SelectNames(CAIP_NAME_COLUMNS "WHERE repository = ?1 AND tag = ?2", {repository, tag}));
  if (names.empty()) return errors::NameUnknown(FamiliarName(repository, tag));
  return names.front();
}

Result<std::vector<ImageName>> ImageNames::List(const std::string& repository) {
  const std::lock_guard lock(mutex_);
  return SelectNames(CAIP_NAME_COLUMNS "WHERE repository = ?1 ORDER BY tag", {repository});
}

Result<std::vector<ImageName>> ImageNames::ListAll() {
  const std::lock_guard lock(mutex_);
  return SelectNames(CAIP_NAME_COLUMNS "ORDER BY repository, tag", {});
}

Result<std::vector<ImageName>> ImageNames::ListUntagged() {
  const std::lock_guard lock(mutex_);
  return SelectNames(
      "SELECT repository, '', digest, media_type FROM manifests WHERE NOT EXISTS "
      "(SELECT 1 FROM names WHERE names.repository = manifests.repository "
      "AND names.digest = manifests.digest) ORDER BY repository, digest",
      {});
}

Status ImageNames::Remove(const std::string& repository, const std::string& tag) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(
      Change("DELETE FROM names WHERE repository = ?1 AND tag = ?2", {repository, tag}));
  if (database_.Changes() == 0) return errors::NameUnknown(FamiliarName(repository, tag));
  return Ok{};
}

Status ImageNames::AddManifest(const std::string& repository, const ManifestRecord& manifest,
                               const std::vector<std::string>& tags) {
  NameChanges changes;
  ChangeToAdd(repository, manifest, changes);
  for (const std::string& tag : tags) {
    changes.push_back({kInsertName, {repository, tag, manifest.digest.text()}});
  }
  const std::lock_guard lock(mutex_);
  return Transact(changes);
}

Result<ManifestRecord> ImageNames::FindManifest(const std::string& repository,
                                                const Digest& digest) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<ManifestRecord> manifests,
                   SelectManifests(CAIP_MANIFEST_COLUMNS "WHERE repository = ?1 AND digest = ?2",
                                   {repository, digest.text()}));
  if (manifests.empty()) return errors::ManifestUnknown(repository, digest.text());
  return manifests.front();
}

Result<std::vector<ManifestRecord>> ImageNames::Manifests(const std::string& repository) {
  const std::lock_guard lock(mutex_);
  return SelectManifests(CAIP_MANIFEST_COLUMNS "WHERE repository = ?1 ORDER BY digest",
                         {repository});
}

Result<std::vector<ManifestRecord>> ImageNames::Referrers(const std::string& repository,
                                                          const Digest& subject) {
  const std::lock_guard lock(mutex_);
  return SelectManifests(CAIP_MANIFEST_COLUMNS
                         "WHERE repository = ?1 AND subject = ?2 AND subject <> '' ORDER BY digest",
                         {repository, subject.text()});
}

Status ImageNames::RemoveManifest(const std::string& repository, const Digest& digest) {
  NameChanges changes;
  ChangeToRemove(repository, digest, changes);
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(Transact(changes));
  if (database_.Changes() == 0) return errors::ManifestUnknown(repository, digest.text());
  return Ok{};
}

Status ImageNames::Forget(const std::string& repository, const std::vector<Digest>& manifests,
                          const std::vector<Digest>& blobs) {
  NameChanges changes;
  for (const Digest& manifest : manifests) ChangeToRemove(repository, manifest, changes);
  for (const Digest& blob : blobs) changes.push_back({kDeleteLink, {repository, blob.text()}});
  const std::lock_guard lock(mutex_);
  return Transact(changes);
}

Result<std::vector<Digest>> ImageNames::Parts(const Digest& manifest) {
  const std::lock_guard lock(mutex_);
  return SelectDigests("SELECT digest FROM parts WHERE manifest = ?1 ORDER BY digest",
                       {manifest.text()});
}

Status ImageNames::SetParts(const Digest& manifest, const std::vector<Digest>& parts) {
  NameChanges changes;
  for (const Digest& part : parts) changes.push_back({kInsertPart, {manifest.text(), part.text()}});
  const std::lock_guard lock(mutex_);
  return Transact(changes);
}

Result<std::vector<Digest>> ImageNames::ManifestsWithoutParts() {
  const std::lock_guard lock(mutex_);
  return SelectDigests(
      "SELECT DISTINCT digest FROM manifests WHERE NOT EXISTS "
      "(SELECT 1 FROM parts WHERE parts.manifest = manifests.digest)",
      {});
}

Result<std::vector<std::string>> ImageNames::Repositories() {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const auto rows,
                   Select("SELECT repository FROM manifests UNION SELECT repository FROM names "
                          "UNION SELECT repository FROM links ORDER BY 1",
                          {}, 1));
  std::vector<std::string> repositories;
  for (const Values& row : rows) repositories.push_back(row[0]);
  return repositories;
}

Status ImageNames::Link(const std::string& repository, const Digest& blob) {
  const std::lock_guard lock(mutex_);
  return Change(kInsertLink, {repository, blob.text()});
}

Result<bool> ImageNames::IsLinked(const std::string& repository, const Digest& blob) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const auto rows,
                   Select("SELECT 1 FROM links WHERE repository = ?1 AND digest = ?2",
                          {repository, blob.text()}, 1));
  return !rows.empty();
}

Status ImageNames::Unlink(const std::string& repository, const Digest& blob) {
  const std::lock_guard lock(mutex_);
  return Change(kDeleteLink, {repository, blob.text()});
}

Result<std::vector<Digest>> ImageNames::Links(const std::string& repository) {
  const std::lock_guard lock(mutex_);
  return SelectDigests("SELECT digest FROM links WHERE repository = ?1 ORDER BY digest",
                       {repository});
}

}  // namespace caip::images
