#pragma once
// Sources of one trial's reports: its metric file, and the event files below its job-dir.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/metrics/event_file.h"

namespace caip::host {

/// Reads the new reports of one start of one replica, in bounded memory. Ignores a directory or
/// FIFO with the name of such a file. One thread.
class MetricSources {
 public:
  /// `event_root` is the directory of the trial's job-dir; "": none.
  MetricSources(engine::MetricSource source, Path event_root)
      : source_(std::move(source)), event_root_(std::move(event_root)) {}

  const Path& event_root() const { return event_root_; }
  Path metric_file() const { return source_.file; }
  const std::string& tag() const { return source_.tag; }

  std::vector<engine::Report> ReadMetricFile();
  std::vector<engine::Report> ReadEventFile(const Path& file);
  /// Reads all event files below the job-dir.
  std::vector<engine::Report> ReadEventFiles();
  /// True if a file was not read since the last call, because no descriptor was free.
  bool TakePostponed() { return std::exchange(postponed_, false); }
  /// The tags that have reports, if the requested tag has none.
  std::set<std::string> OtherTags() const;
  /// Removes and returns the new warnings about sources, for the trial's log.
  std::vector<std::string> TakeWarnings();

 private:
  struct EventFile {
    EventReader reader;
    uint64_t inode = 0;
    uint64_t read = 0;  // in bytes
    bool warned_of_file = false;
    bool warned_of_records = false;
  };
  void Place(std::vector<engine::Report>& reports);
  std::vector<engine::Report> Fresh(std::vector<engine::Report> reports);
  void ReadOn(int fd, uint64_t size, EventFile& file, std::vector<engine::Report>& reports);
  void WarnOfBrokenFile(const Path& path, EventFile& file);
  void Warn(const std::string& text);

  engine::MetricSource source_;
  Path event_root_;
  std::map<Path, EventFile> files_;
  std::set<engine::ReportName> known_;
  std::set<std::string> other_tags_;
  // Reports without a timestamp are identified by their position among these, the last contents of
  // the file.
  std::vector<engine::ReportName> untimed_;
  std::map<engine::ReportName, int> untimed_counts_;
  bool postponed_ = false;
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
};

// The file that cloudml-hypertune writes has one JSON object a line for each of the last hundred
// reports. Each report rewrites the file (docs/service/hyperparameter-tuning.md, section 5).

/// The reports of `tag` in the lines that are JSON objects. Ignores other lines, such as a last
/// line that is not complete. A complete last line may lack its newline.
std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag);

/// The tags with reports in the file, twenty at most.
std::set<std::string> TagsIn(std::string_view text);

}  // namespace caip::host
