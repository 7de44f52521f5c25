#pragma once
// Sources of one trial's reports: its metric file, and the event files below its job-dir.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/metrics/event_file.h"

namespace caip::host {

/// Reads the new reports of one start of one replica, in bounded memory. Ignores everything but
/// regular files. If the metric file is a symbolic link, it is not followed: the link of a replica
/// could lead this process to any file of the host. One thread.
class MetricSources {
 public:
  /// `event_root` is the directory of the trial's job-dir; "": none.
  MetricSources(engine::MetricSource source, Path event_root)
      : source_(std::move(source)), event_root_(std::move(event_root)) {}

  Path metric_file() const { return source_.file; }
  const std::string& tag() const { return source_.tag; }

  // What may have new reports, for the next Read.
  void NoteMetricFile() { is_file_due_ = true; }
  void NoteEventFile(const Path& file);
  /// All event files below the job-dir.
  void NoteEventFiles() { is_list_due_ = true; }
  void NoteAll();

  /// Adds the new reports of what was noted, at most those in a few MiB of event files. False:
  /// something is left to read, because there is more, or no descriptor was free. Then the caller
  /// calls it again later.
  bool Read(std::vector<engine::Report>& reports);
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
  // These return false if something is left to read.
  bool ReadMetricFile(std::vector<engine::Report>& reports);
  bool ListEventFiles();
  bool ReadEventFile(const Path& path, std::vector<engine::Report>& reports);
  bool ReadOn(int fd, uint64_t size, EventFile& file, std::vector<engine::Report>& reports);

  void Place(std::vector<engine::Report>& reports);
  void AddFresh(const std::vector<engine::Report>& found, std::vector<engine::Report>& reports);
  void WarnOfBrokenFile(const Path& path, EventFile& file);
  void Warn(const std::string& text);

  engine::MetricSource source_;
  Path event_root_;
  bool is_file_due_ = false;
  bool is_list_due_ = false;
  std::set<Path> due_;   // event files; their names contain the time of their creation
  uint64_t budget_ = 0;  // in bytes of event files, of this call of Read
  std::map<Path, EventFile> files_;
  std::set<engine::ReportName> known_;
  std::set<std::string> other_tags_;
  // Reports without a timestamp are identified by their position among these, the last contents of
  // the file.
  std::vector<engine::ReportName> untimed_;
  std::map<engine::ReportName, int> untimed_counts_;
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
