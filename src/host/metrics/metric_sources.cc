#include "host/metrics/metric_sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "host/errors.h"

namespace caip::host {
namespace {

// A hundred lines are a few kilobytes. A larger file comes from another program, and only its end
// is read.
constexpr uint64_t kMetricFileMax = uint64_t{1} << 20;
constexpr uint64_t kPiece = uint64_t{256} << 10;
constexpr uint64_t kReportTurnBytesMax = uint64_t{4} << 20;

struct Opened {
  Fd fd = {};  // not valid: the file cannot be read
  struct stat facts {};
  std::string what_else = {};  // what is there instead of a regular file; "": nothing, or unknown
  bool is_postponed = false;   // no descriptor is free
};

bool LacksDescriptors(int error) { return error == EMFILE || error == ENFILE; }

std::string NameOfKind(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  return S_ISLNK(mode) ? "a symbolic link" : "not a regular file";
}

// Opens only regular files, because a FIFO would block. `flags`: O_NOFOLLOW, or 0.
Opened OpenRegular(const Path& path, int flags) {
  Opened opened;
  opened.fd = Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags));
  opened.is_postponed = !opened.fd.valid() && LacksDescriptors(errno);
  const bool is_known = opened.fd.valid() ? ::fstat(opened.fd.get(), &opened.facts) == 0
                                          : ::lstat(path.c_str(), &opened.facts) == 0;
  if (is_known && S_ISREG(opened.facts.st_mode)) return opened;
  if (is_known) opened.what_else = NameOfKind(opened.facts.st_mode);
  opened.fd.Close();
  return opened;
}

std::string ReadBytes(int fd, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t got =
        ::pread(fd, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

void MetricSources::NoteEventFile(const Path& file) {
  if (IsEventFileName(file.filename().string())) due_.insert(file);
}

void MetricSources::NoteAll() {
  NoteMetricFile();
  NoteEventFiles();
}

bool MetricSources::Read(std::vector<engine::Report>& reports) {
  budget_ = kReportTurnBytesMax;
  if (is_file_due_) is_file_due_ = !ReadMetricFile(reports);
  if (is_list_due_) is_list_due_ = !ListEventFiles();
  while (!due_.empty() && ReadEventFile(*due_.begin(), reports)) due_.erase(due_.begin());
  return !is_file_due_ && !is_list_due_ && due_.empty();
}

bool MetricSources::ReadMetricFile(std::vector<engine::Report>& reports) {
  if (source_.file.empty()) return true;
  const Opened opened = OpenRegular(source_.file, O_NOFOLLOW);
  if (!opened.what_else.empty()) Warn(errors::MetricFileIsNone(source_.file, opened.what_else));
  if (!opened.fd.valid()) return !opened.is_postponed;
  const auto size = static_cast<uint64_t>(opened.facts.st_size);
  const uint64_t from = size > kMetricFileMax ? size - kMetricFileMax : 0;
  const std::string text = ReadBytes(opened.fd.get(), from, size - from);
  std::vector<engine::Report> found = ReportsIn(text, source_.tag);
  if (found.empty()) other_tags_ = TagsIn(text);
  Place(found);
  AddFresh(found, reports);
  return true;
}

bool MetricSources::ReadEventFile(const Path& path, std::vector<engine::Report>& reports) {
  const Opened opened = OpenRegular(path, 0);
  if (!opened.fd.valid()) return !opened.is_postponed;
  const auto [place, is_new] = files_.try_emplace(path, EventFile{EventReader(source_.tag)});
  EventFile& file = place->second;
  const auto size = static_cast<uint64_t>(opened.facts.st_size);
  // An object that has grown is a new file. Reports of the old file are not repeated.
  const bool is_another = file.inode != opened.facts.st_ino || size < file.read;
  if (!is_new && is_another) file = EventFile{EventReader(source_.tag)};
  file.inode = opened.facts.st_ino;
  std::vector<engine::Report> found;
  const bool is_all = ReadOn(opened.fd.get(), size, file, found);
  WarnOfBrokenFile(path, file);
  AddFresh(found, reports);
  return is_all;
}

bool MetricSources::ReadOn(int fd, uint64_t size, EventFile& file,
                           std::vector<engine::Report>& reports) {
  while (file.read < size && !file.reader.broken()) {
    const uint64_t skip = std::min(file.reader.to_skip(), size - file.read);
    file.reader.Skip(skip);
    file.read += skip;
    const uint64_t left = size - file.read;
    if (left > 0 && budget_ == 0) return false;
    const std::string piece = ReadBytes(fd, file.read, std::min({kPiece, left, budget_}));
    if (piece.empty()) return true;
    budget_ -= piece.size();
    file.read += piece.size();
    file.reader.Feed(piece, reports);
  }
  return true;
}

void MetricSources::WarnOfBrokenFile(const Path& path, EventFile& file) {
  if (file.reader.broken() && !std::exchange(file.warned_of_file, true)) {
    Warn(errors::EventFileBroken(path.filename().string()));
  }
  if (file.reader.bad_records() > 0 && !std::exchange(file.warned_of_records, true)) {
    Warn(errors::EventRecordBroken(path.filename().string()));
  }
}

bool MetricSources::ListEventFiles() {
  if (event_root_.empty()) return true;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(event_root_, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    NoteEventFile(entry->path());
  }
  return !LacksDescriptors(error.value());
}

// A trainer that writes no timestamps may report the same value at the same step again. Lines that
// the file had at the last reading are not new: the file begins with all or the last of them. Each
// other line gets as its time the number of equal lines that were reported before.
void MetricSources::Place(std::vector<engine::Report>& reports) {
  std::vector<engine::ReportName> names;
  for (const engine::Report& report : reports) {
    if (report.time == 0) names.push_back(NameOf(report));
  }
  size_t kept = 0;
  for (size_t from = 0; from < untimed_.size() && kept == 0; ++from) {
    const size_t both = std::min(untimed_.size() - from, names.size());
    const auto old = untimed_.begin() + static_cast<long>(from);
    if (std::equal(old, old + static_cast<long>(both), names.begin())) kept = both;
  }
  if (kept < names.size()) untimed_ = names;  // otherwise the file is being rewritten
  size_t place = 0;
  std::erase_if(reports, [&](engine::Report& report) {
    if (report.time != 0) return false;
    const engine::ReportName& name = names[place];
    if (place++ < kept) return true;
    report.time = untimed_counts_[name]++;
    return false;
  });
}

void MetricSources::AddFresh(const std::vector<engine::Report>& found,
                             std::vector<engine::Report>& reports) {
  for (const engine::Report& report : found) {
    if (known_.insert(NameOf(report)).second) reports.push_back(report);
  }
}

std::set<std::string> MetricSources::OtherTags() const {
  if (!known_.empty()) return {};
  std::set<std::string> tags = other_tags_;
  for (const auto& [path, file] : files_) {
    tags.insert(file.reader.other_tags().begin(), file.reader.other_tags().end());
  }
  return tags;
}

void MetricSources::Warn(const std::string& text) {
  if (warned_.insert(text).second) warnings_.push_back(text);
}

std::vector<std::string> MetricSources::TakeWarnings() { return std::exchange(warnings_, {}); }

namespace {

// Parses numbers that Python's str() writes: "0.91", "1e-05", "nan", "inf", "-inf".
std::optional<double> ParsePythonNumber(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    const bool small = text.find("e-") != std::string_view::npos;
    number = small ? 0 : std::numeric_limits<double>::infinity();
    if (text.starts_with('-')) number = -number;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  if (end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> NumberOf(const Json* value) {
  if (!value) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  if (!value->is_string()) return std::nullopt;
  return ParsePythonNumber(value->get_ref<const std::string&>());
}

// Turns NaN, Infinity and -Infinity, which Python's json writes without quotes, into JSON strings.
std::string WithQuotedNumbers(std::string_view line) {
  std::string quoted;
  bool in_text = false;
  while (!line.empty()) {
    size_t length = 1;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (!in_text && line.starts_with(word)) length = word.size();
    }
    if (in_text && line.front() == '\\') length = std::min<size_t>(2, line.size());
    if (line.front() == '"') in_text = !in_text;
    const std::string_view piece = line.substr(0, length);
    quoted += in_text || length == 1 ? std::string(piece) : '"' + std::string(piece) + '"';
    line.remove_prefix(length);
  }
  return quoted;
}

std::optional<Json> ObjectIn(std::string_view line) {
  auto json = ParseJson(line);
  if (!json.ok()) json = ParseJson(WithQuotedNumbers(line));
  if (!json.ok() || !json->is_object()) return std::nullopt;
  return *std::move(json);
}

std::optional<engine::Report> ReportIn(std::string_view line, std::string_view tag) {
  const auto json = ObjectIn(line);
  if (!json) return std::nullopt;
  const auto value = NumberOf(Member(*json, tag));
  if (!value) return std::nullopt;
  const double step = NumberOf(Member(*json, "global_step")).value_or(0);
  const double time = NumberOf(Member(*json, "timestamp")).value_or(0);
  if (!(std::abs(step) < 9e18) || !std::isfinite(time)) return std::nullopt;
  return engine::Report{static_cast<int64_t>(step), *value, time, false};
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

constexpr size_t kMetricFileTagsMax = 20;

}  // namespace

std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag) {
  std::vector<engine::Report> reports;
  for (const std::string_view line : LinesOf(text)) {
    if (auto report = ReportIn(line, tag)) reports.push_back(*report);
  }
  return reports;
}

std::set<std::string> TagsIn(std::string_view text) {
  std::set<std::string> tags;
  for (const std::string_view line : LinesOf(text)) {
    const auto json = ObjectIn(line);
    if (!json) continue;
    for (const auto& [key, value] : json->items()) {
      const bool is_tag = key != "global_step" && key != "timestamp" && key != "trial";
      if (is_tag && tags.size() < kMetricFileTagsMax && NumberOf(&value)) tags.insert(key);
    }
  }
  return tags;
}

}  // namespace caip::host
