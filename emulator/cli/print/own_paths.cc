#include "emulator/cli/print/own_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/json.h"
#include "base/text.h"
#include "host/python/environment_cache.h"
#include "host/python/installed_files.h"

namespace caip::cli {
namespace {

// A note in each line: {"package": URI, "directory": "/home/ann/src"}. A line that a killed process
// has left is ended by the next one, because each begins with its line break.
constexpr const char* kNotesFile = "package-sources.jsonl";
constexpr const char* kOlderFile = "package-sources.json";  // one array, rewritten by each submit
constexpr size_t kNotesKept = 500;
constexpr off_t kNotesBytesMax = 256 << 10;  // a longer file is shortened
constexpr size_t kFileBytesMax = 4 << 20;

// Pairs of URI and directory, the newest last.
using Notes = std::vector<std::pair<std::string, std::string>>;

Notes ReadOlder(const Path& state) {
  Notes notes;
  const auto text = ReadFileUpTo(state / kOlderFile, kFileBytesMax);
  const auto json = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!json.ok() || !json->is_array()) return notes;
  for (const Json& entry : *json) {
    notes.emplace_back(StringOr(entry, "package"), StringOr(entry, "directory"));
  }
  return notes;
}

// The newest ones.
Notes ReadNotes(const Path& state) {
  const auto text = ReadFileUpTo(state / kNotesFile, kFileBytesMax);
  if (!text.ok()) return ReadOlder(state);
  Notes notes;
  for (const std::string& line : Split(*text, '\n')) {
    const auto entry = line.empty() ? Result<Json>(Json()) : ParseJson(line);
    if (!entry.ok() || !entry->is_object()) continue;
    notes.emplace_back(StringOr(*entry, "package"), StringOr(*entry, "directory"));
  }
  const size_t more = notes.size() - std::min(notes.size(), kNotesKept);
  notes.erase(notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(more));
  return notes;
}

std::string LineOf(const std::string& uri, const std::string& directory) {
  return "\n" + CompactJson({{"package", uri}, {"directory", directory}});
}

Status WriteNotes(const Path& state, const Notes& notes) {
  std::string text;
  for (const auto& [uri, directory] : notes) text += LineOf(uri, directory);
  return WriteFile(state / kNotesFile, text);
}

}  // namespace

// Appends, because a job starts meanwhile: to read hundreds of notes takes longer than that.
Status KeepPackageSource(const Path& state, const std::vector<std::string>& uris,
                         const Path& parent) {
  const Fd file(::open((state / kNotesFile).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  struct stat facts {};
  const bool may_append = file.valid() && ::fstat(file.get(), &facts) == 0;
  if (!may_append || facts.st_size > kNotesBytesMax) {
    Notes notes = ReadNotes(state);
    for (const std::string& uri : uris) notes.emplace_back(uri, parent.string());
    return WriteNotes(state, notes);
  }
  std::string lines;
  for (const std::string& uri : uris) lines += LineOf(uri, parent.string());
  const ssize_t written = ::write(file.get(), lines.data(), lines.size());
  return written == static_cast<ssize_t>(lines.size()) ? Status(Ok{})
                                                       : CannotWrite(state / kNotesFile, errno);
}

OwnPaths::OwnPaths(const Path& state) : state_(state) {}

const std::map<std::string, std::string>& OwnPaths::Parents() const {
  if (!parents_) {
    parents_.emplace();
    for (auto& [uri, directory] : ReadNotes(state_)) (*parents_)[uri] = std::move(directory);
  }
  return *parents_;
}

// "": the file is not one of the user's.
std::string OwnPaths::SourceOf(const std::string& key, const std::string& file) const {
  for (const std::string& uri : host::PackageUrisOf(state_ / "environments" / key)) {
    const auto parent = Parents().find(uri);
    const bool is_known = parent != Parents().end();
    if (std::string source = is_known ? host::SourceIn(parent->second, file) : "";
        !source.empty()) {
      return source;
    }
  }
  return "";
}

std::string OwnPaths::In(std::string text) const {
  if (state_.empty()) return text;
  return host::WithSourcesInFrames(
      std::move(text), [this](const auto& key, const auto& file) { return SourceOf(key, file); });
}

void OwnPaths::ShowIn(Json& entry) const {
  const std::string message = StringOr(entry, "message");
  std::string shown = In(message);
  if (shown != message) entry["message"] = std::move(shown);
}

}  // namespace caip::cli
