#include "host/metrics/metric_sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "host/errors.h"
#include "host/metrics/metric_file.h"

namespace caip::host {
namespace {

// A hundred lines are some kilobytes; of a file that somebody else made the end is looked at.
constexpr uint64_t kMetricFileMax = uint64_t{1} << 20;
constexpr size_t kPiece = size_t{256} << 10;

struct Opened {
  Fd fd;
  struct stat facts {};
};

// Opens regular files only; never waits, as a FIFO would.
std::optional<Opened> OpenRegular(const Path& path, std::string& what_else) {
  Opened opened{Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)), {}};
  if (!opened.fd.valid() || ::fstat(opened.fd.get(), &opened.facts) != 0) return std::nullopt;
  if (S_ISREG(opened.facts.st_mode)) return opened;
  what_else = S_ISDIR(opened.facts.st_mode)    ? "a directory"
              : S_ISFIFO(opened.facts.st_mode) ? "a FIFO"
                                               : "no regular file";
  return std::nullopt;
}

std::string Read(int fd, uint64_t offset, size_t size) {
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

std::vector<engine::Report> MetricSources::ReadMetricFile() {
  if (source_.file.empty()) return {};
  std::string what_else;
  const auto opened = OpenRegular(source_.file, what_else);
  if (!what_else.empty()) Warn(errors::MetricFileIsNone(source_.file, what_else));
  if (!opened) return {};
  const auto size = static_cast<uint64_t>(opened->facts.st_size);
  const uint64_t from = size > kMetricFileMax ? size - kMetricFileMax : 0;
  const std::string text = Read(opened->fd.get(), from, size - from);
  std::vector<engine::Report> reports = ReportsIn(text, source_.tag);
  if (reports.empty()) other_tags_ = TagsIn(text);
  Place(reports);
  return Fresh(std::move(reports));
}

std::vector<engine::Report> MetricSources::ReadEventFile(const Path& path) {
  std::string what_else;
  const auto opened = OpenRegular(path, what_else);
  if (!opened) return {};
  const auto [place, is_new] = files_.try_emplace(path, EventFile{EventReader(source_.tag)});
  EventFile& file = place->second;
  const auto size = static_cast<uint64_t>(opened->facts.st_size);
  // An object that has grown is a new file; reports from the old one are not repeated.
  const bool is_another = file.inode != opened->facts.st_ino || size < file.read;
  if (!is_new && is_another) file = EventFile{EventReader(source_.tag)};
  file.inode = opened->facts.st_ino;
  std::vector<engine::Report> reports;
  ReadOn(opened->fd.get(), size, file, reports);
  Judge(path, file);
  return Fresh(std::move(reports));
}

void MetricSources::ReadOn(int fd, uint64_t size, EventFile& file,
                           std::vector<engine::Report>& reports) {
  while (file.read < size && !file.reader.broken()) {
    const uint64_t skip = std::min(file.reader.to_skip(), size - file.read);
    file.reader.Skip(skip);
    file.read += skip;
    const std::string piece =
        Read(fd, file.read, static_cast<size_t>(std::min<uint64_t>(kPiece, size - file.read)));
    if (piece.empty()) return;
    file.read += piece.size();
    file.reader.Feed(piece, reports);
  }
}

void MetricSources::Judge(const Path& path, EventFile& file) {
  if (file.reader.broken() && !std::exchange(file.told_broken, true)) {
    Warn(errors::EventFileBroken(path.filename().string()));
  }
  if (file.reader.bad_records() > 0 && !std::exchange(file.told_bad, true)) {
    Warn(errors::EventRecordBroken(path.filename().string()));
  }
}

std::vector<engine::Report> MetricSources::ReadEventFiles() {
  std::vector<engine::Report> reports;
  if (event_root_.empty()) return reports;
  std::vector<Path> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(event_root_, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    if (IsEventFileName(entry->path().filename().string())) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());  // their names begin with the time they were made at
  for (const Path& file : files) {
    std::vector<engine::Report> more = ReadEventFile(file);
    reports.insert(reports.end(), more.begin(), more.end());
  }
  return reports;
}

// A trainer that writes no timestamps may report the same value at the same step again. Lines that
// the file had when it was read last are not new: all, or the last of them stand at its start now.
// Each other line gets as its time how often the very same line was reported before.
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
  if (kept < names.size()) untimed_ = names;  // else it is being written again
  size_t place = 0;
  std::erase_if(reports, [&](engine::Report& report) {
    if (report.time != 0) return false;
    const engine::ReportName& name = names[place];
    if (place++ < kept) return true;
    report.time = untimed_told_[name]++;
    return false;
  });
}

std::vector<engine::Report> MetricSources::Fresh(std::vector<engine::Report> reports) {
  std::erase_if(reports, [this](const engine::Report& report) {
    return !told_.insert(NameOf(report)).second;
  });
  return reports;
}

std::set<std::string> MetricSources::OtherTags() const {
  if (!told_.empty()) return {};
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

}  // namespace caip::host
