#pragma once
// Where one trial's reports come from: its metric file, and the event files below its job-dir.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "engine/report_name.h"
#include "host/metrics/event_file.h"

namespace caip::host {

/// Reads what is new, in bounded memory. Ignores a directory or a FIFO where a file should be. One
/// start of one replica; one thread.
class MetricSources {
 public:
  /// `event_root` is the directory of the trial's job-dir; "" none.
  MetricSources(engine::MetricSource source, Path event_root)
      : source_(std::move(source)), event_root_(std::move(event_root)) {}

  const Path& event_root() const { return event_root_; }
  Path metric_file() const { return source_.file; }
  const std::string& tag() const { return source_.tag; }

  std::vector<engine::Report> ReadMetricFile();
  std::vector<engine::Report> ReadEventFile(const Path& file);
  /// All event files below the job-dir.
  std::vector<engine::Report> ReadEventFiles();
  /// Tags that numbers were reported of, where there were none of the one that is asked for.
  std::set<std::string> OtherTags() const;
  /// Takes the warnings about sources that are not in the trial's log yet.
  std::vector<std::string> TakeWarnings();

 private:
  struct EventFile {
    EventReader reader;
    uint64_t inode = 0;
    uint64_t read = 0;  // bytes
    bool told_broken = false;
    bool told_bad = false;
  };
  void Place(std::vector<engine::Report>& reports);
  std::vector<engine::Report> Fresh(std::vector<engine::Report> reports);
  void ReadOn(int fd, uint64_t size, EventFile& file, std::vector<engine::Report>& reports);
  void Judge(const Path& path, EventFile& file);
  void Warn(const std::string& text);

  engine::MetricSource source_;
  Path event_root_;
  std::map<Path, EventFile> files_;
  std::set<engine::ReportName> told_;
  std::set<std::string> other_tags_;
  // Reports without a timestamp are known by their place among these: what the file had last.
  std::vector<engine::ReportName> untimed_;
  std::map<engine::ReportName, int> untimed_told_;
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
};

// The file that cloudml-hypertune writes: one JSON object a line, the last hundred reports, the
// whole file written again at each (docs/service/hyperparameter-tuning.md, section 5).

/// The reports of `tag` in the lines that are objects: the last may be half written, and any may be
/// garbage. A last line that is whole counts without its newline, too.
std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag);

/// The names under which numbers are reported there, twenty at the most.
std::set<std::string> TagsIn(std::string_view text);

}  // namespace caip::host
