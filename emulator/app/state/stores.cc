#include "emulator/app/state/stores.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/sqlite.h"
#include "emulator/api/optimizer/study_store.h"
#include "emulator/app/port_adapters.h"
#include "emulator/app/state/state_errors.h"
#include "fakes/gcs/store/side_store.h"
#include "fakes/logging/book/log_schema.h"
#include "host/store/job_store.h"
#include "images/image_names.h"

namespace caip::app {
namespace {

constexpr const char* kVersionFile = "version.json";

template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.ok() ? Status(Ok{}) : Status(result.error());
}

Status MigrateJobs(const Path& file) { return StatusOf(host::OpenJobStore(file)); }
Status MigrateStudies(const Path& file) { return StatusOf(api::StudyStore::Open(file)); }
Status MigrateLogs(const Path& file) {
  return StatusOf(logging::OpenLogFile(file, kTrainingLogNames));
}
Status MigrateImageNames(const Path& file) { return StatusOf(images::ImageNames::Open(file)); }

// The first 100 bytes of every database (https://www.sqlite.org/fileformat.html, section 1.3).
constexpr size_t kHeaderBytes = 100;
constexpr size_t kVersionPlace = 60;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

// A write-ahead log: a header, and frames of a header and a page each (the same page, section 4.1).
constexpr size_t kLogHeaderBytes = 32;
constexpr size_t kFrameHeaderBytes = 24;
constexpr size_t kSaltBytes = 8;
constexpr off_t kFramesMax = 4096;  // a longer log is left to SQLite

uint32_t BigEndian(std::string_view bytes, size_t place) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[place + i]);
  return number;
}

std::string BytesAt(const Fd& file, off_t place, size_t size) {
  std::string bytes(size, '\0');
  const ssize_t count = ::pread(file.get(), bytes.data(), size, place);
  return count == static_cast<ssize_t>(size) ? bytes : "";
}

}  // namespace

const std::vector<Store>& Stores() {
  static const std::vector<Store> stores = {
      {"jobs",
       "jobs.db",
       host::kJobStoreVersion,
       MigrateJobs,
       {{"jobs", "SELECT count(*) FROM jobs"},
        {"unfinished jobs", "SELECT count(*) FROM jobs WHERE finished = 0"}}},
      {"studies",
       "studies.db",
       api::kStudyStoreVersion,
       MigrateStudies,
       {{"studies and trials",
         "SELECT count(*) FROM resources WHERE name NOT LIKE '%/operations/%'"}}},
      {"logs",
       "logs.db",
       logging::kLogFileVersion,
       MigrateLogs,
       // An id of a chunk may belong to an entry that was deleted: the number is the most there
       // are.
       {{"log entries",
         "SELECT (SELECT ifnull(sum(last_id - first_id + 1), 0) FROM chunks) + "
         "(SELECT count(*) FROM written)"}}},
      {"buckets",
       kObjectRecords,
       gcs::kSideStoreVersion,
       gcs::MigrateSideStore,
       // Directories and files are buckets and objects, whether they have records or not.
       {{"older versions of objects", "SELECT count(*) FROM versions"}}},
      {"images",
       "images/names.db",
       images::kImageNamesVersion,
       MigrateImageNames,
       {{"names of images", "SELECT count(*) FROM names"},
        {"manifests", "SELECT count(*) FROM manifests"}}},
  };
  return stores;
}

std::optional<int64_t> VersionInHeader(const Path& file) {
  const auto header = ReadPart(file, 0, kHeaderBytes);
  if (!header.ok() || header->size() < kHeaderBytes || !header->starts_with(kMagic)) {
    return std::nullopt;
  }
  return static_cast<int32_t>(BigEndian(*header, kVersionPlace));
}

// Frames of an earlier use of the log have other salts. A transaction counts from its last frame
// on, which has the size of the database.
std::optional<int64_t> VersionInLog(const Path& file) {
  const Fd log(::open((file.string() + "-wal").c_str(), O_RDONLY | O_CLOEXEC));
  if (!log.valid()) return std::nullopt;
  const std::string header = BytesAt(log, 0, kLogHeaderBytes);
  if (header.empty()) return std::nullopt;
  const std::string salts = header.substr(16, kSaltBytes);
  const off_t frame_bytes = kFrameHeaderBytes + BigEndian(header, 8);
  std::optional<int64_t> committed;
  std::optional<int64_t> written;
  off_t place = kLogHeaderBytes;
  for (off_t count = 0; count <= kFramesMax; ++count, place += frame_bytes) {
    const std::string frame = BytesAt(log, place, kFrameHeaderBytes + kHeaderBytes);
    if (frame.empty() || frame.compare(8, kSaltBytes, salts) != 0) return committed;
    if (BigEndian(frame, 0) == 1) {
      written = static_cast<int32_t>(BigEndian(frame, kFrameHeaderBytes + kVersionPlace));
    }
    if (BigEndian(frame, 4) != 0) committed = written;
  }
  return std::nullopt;
}

Result<std::optional<int64_t>> StoredVersion(const Path& file) {
  const auto magic = ReadPart(file, 0, kMagic.size());
  if (!magic.ok() && magic.error().code == Code::kNotFound) return std::optional<int64_t>();
  if (!magic.ok()) return magic.error();
  if (!magic->empty() && *magic != kMagic) return errors::NotADatabase(file);
  SqliteDatabase database(file, errors::StoreFailed);
  RETURN_IF_ERROR(database.Open(SqliteDatabase::Mode::kReadOnly));
  ASSIGN_OR_RETURN(const int64_t tables, database.Number("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(const int64_t version, database.Number("PRAGMA user_version"));
  return std::optional(version);
}

std::optional<LastWriter> ReadLastWriter(const Path& state) {
  const auto text = ReadFileUpTo(state / kVersionFile, 4096);
  if (!text.ok()) return std::nullopt;
  const auto note = ParseJson(*text);
  if (!note.ok() || !note->is_object()) return std::nullopt;
  return LastWriter{StringOr(*note, "caipVersion"), StringOr(*note, "since"),
                    IntOr(*note, "layout", kStateLayout)};
}

Status RecordWriter(const Path& state, std::string_view version, std::string_view now) {
  const auto last = ReadLastWriter(state);
  if (last && last->version == version && last->layout == kStateLayout) return Ok{};
  const Json note = {{"caipVersion", version}, {"since", now}, {"layout", kStateLayout}};
  return WriteFile(state / kVersionFile, CompactJson(note) + "\n");
}

}  // namespace caip::app
