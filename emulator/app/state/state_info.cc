#include "emulator/app/state/state_info.h"

#include <algorithm>

#include "base/json.h"
#include "base/sqlite.h"
#include "emulator/app/state/state_errors.h"
#include "emulator/app/state/stores.h"

namespace caip::app {
namespace {

namespace fs = std::filesystem;

uint64_t SizeOf(const Path& file) {
  std::error_code absent;
  const auto size = fs::file_size(file, absent);
  return absent ? 0 : size;
}

// Stays below the folder: links are not followed. Files that go meanwhile do not count.
FolderInfo MeasureFolder(const Path& folder) {
  FolderInfo info;
  info.name = folder.filename();
  std::error_code error;
  bool is_shown = false;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const fs::file_status status = at->symlink_status(gone);
    const bool is_folder = fs::is_directory(status);
    if (at.depth() == 0) is_shown = is_folder && !at->path().filename().string().starts_with('.');
    if (is_folder) {
      if (at.depth() == 0 && is_shown) ++info.folders;
    } else if (fs::is_regular_file(status)) {
      ++info.files;
      if (is_shown) ++info.shown_files;
      info.bytes += SizeOf(at->path());
    }
  }
  return info;
}

void CountRows(const Path& file, DatabaseInfo* info) {
  SqliteDatabase database(file, errors::StoreFailed);
  if (!database.Open(SqliteDatabase::Mode::kReadOnly).ok()) return;
  for (const StoreCount& count : info->store->counts) {
    const auto number = database.Number(count.sql);
    if (number.ok()) info->counts.emplace_back(count.noun, *number);
  }
}

DatabaseInfo InspectDatabase(const Path& state, const Store& store) {
  DatabaseInfo info;
  info.store = &store;
  const Path file = state / store.file;
  info.bytes = SizeOf(file) + SizeOf(file.string() + "-wal");
  const auto version = StoredVersion(file);
  if (!version.ok()) {
    info.age = SchemaAge::kDamaged;
    info.problem = version.error().message;
    return info;
  }
  if (!*version) return info;
  info.version = **version;
  info.age = info.version == store.version  ? SchemaAge::kCurrent
             : info.version < store.version ? SchemaAge::kOld
                                            : SchemaAge::kNewer;
  if (info.age != SchemaAge::kNewer) CountRows(file, &info);
  return info;
}

// Buckets are directories, and objects files, which a person may make, too.
void CountBuckets(StateInfo* info) {
  const auto folder = std::find_if(info->folders.begin(), info->folders.end(),
                                   [](const FolderInfo& each) { return each.name == kBuckets; });
  if (folder == info->folders.end()) return;
  for (DatabaseInfo& database : info->databases) {
    if (database.store->name != "buckets") continue;
    database.counts.insert(database.counts.begin(),
                           {{"buckets", static_cast<int64_t>(folder->folders)},
                            {"objects", static_cast<int64_t>(folder->shown_files)}});
  }
}

Json DatabaseJson(const DatabaseInfo& info) {
  Json counts = Json::object();
  for (const auto& [noun, count] : info.counts) counts[std::string(noun)] = count;
  Json json = {{"name", info.store->name},          {"file", info.store->file},
               {"schema", SchemaAgeName(info.age)}, {"supportedVersion", info.store->version},
               {"sizeBytes", info.bytes},           {"counts", counts}};
  const bool has_version = info.age != SchemaAge::kMissing && info.age != SchemaAge::kDamaged;
  if (has_version) json["version"] = info.version;
  if (!info.problem.empty()) json["problem"] = info.problem;
  return json;
}

Json CopyJson(const KeptCopy& copy) {
  Json databases = Json::array();
  for (const KeptCopy::Database& database : copy.databases) {
    databases.push_back({{"file", database.file}, {"from", database.from}, {"to", database.to}});
  }
  return {{"directory", copy.directory.string()},
          {"caipVersion", copy.caip_version},
          {"time", copy.time},
          {"finished", copy.is_finished},
          {"databases", databases}};
}

}  // namespace

std::string_view SchemaAgeName(SchemaAge age) {
  switch (age) {
    case SchemaAge::kMissing:
      return "missing";
    case SchemaAge::kCurrent:
      return "current";
    case SchemaAge::kOld:
      return "old";
    case SchemaAge::kNewer:
      return "newer";
    case SchemaAge::kDamaged:
      return "damaged";
  }
  return "";
}

Result<StateInfo> InspectState(const Path& state) {
  std::error_code error;
  if (!fs::is_directory(state, error)) return errors::NoState(state);
  StateInfo info;
  info.path = state;
  ASSIGN_OR_RETURN(info.owner, host::StateDirectory::Peek(state));
  info.last_writer = ReadLastWriter(state);
  for (const Store& store : Stores()) info.databases.push_back(InspectDatabase(state, store));
  for (fs::directory_iterator at(state, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const fs::file_status status = at->symlink_status(gone);
    if (fs::is_directory(status)) {
      info.folders.push_back(MeasureFolder(at->path()));
      info.bytes += info.folders.back().bytes;
    } else if (fs::is_regular_file(status)) {
      info.bytes += SizeOf(at->path());
    }
  }
  if (error) return CannotLookAt(state, error.value());
  std::sort(info.folders.begin(), info.folders.end(),
            [](const FolderInfo& left, const FolderInfo& right) { return left.name < right.name; });
  info.copies = KeptCopies(state);
  CountBuckets(&info);
  return info;
}

Json StateInfoJson(const StateInfo& info) {
  Json json = {{"stateDirectory", info.path.string()},
               {"sizeBytes", info.bytes},
               {"usedBy", nullptr},
               {"lastUsedBy", nullptr},
               {"databases", Json::array()},
               {"folders", Json::array()},
               {"copies", Json::array()}};
  if (info.owner) {
    json["usedBy"] = {{"pid", info.owner->pid},
                      {"caipVersion", info.owner->version},
                      {"url", info.owner->url},
                      {"startedAt", info.owner->started_at}};
  }
  if (info.last_writer) {
    json["lastUsedBy"] = {{"caipVersion", info.last_writer->version},
                          {"since", info.last_writer->since}};
  }
  for (const DatabaseInfo& database : info.databases) {
    json["databases"].push_back(DatabaseJson(database));
  }
  for (const FolderInfo& folder : info.folders) {
    json["folders"].push_back({{"name", folder.name},
                               {"folders", folder.folders},
                               {"files", folder.files},
                               {"sizeBytes", folder.bytes}});
  }
  for (const KeptCopy& copy : info.copies) json["copies"].push_back(CopyJson(copy));
  return json;
}

}  // namespace caip::app
