#pragma once
// What a run left behind beside its event list: files, processes, lines among the errors, reports.

#include <cstdint>
#include <string>
#include <vector>

namespace caip::harness {

/// A file of this host that a replica opened, by its last name. Not those of the buckets.
struct TouchedFile {
  std::string replica;  // who touched it last
  std::string path;
  bool was_there = false;  // before the replica came
  bool read = false;       // before it wrote it, if it did
  bool written = false;
  bool read_behind = false;  // read after it was last written
  uint64_t bytes = 0;        // at the replica's end; 0: empty, or not there any more
};

/// A line that replicas printed or logged.
struct PrintedLine {
  std::string replica;
  std::string text;
};

/// A process that outlived the main process of its replica.
struct LeftProcess {
  std::string replica;
  std::string command;  // "421 sleep 600"
};

/// A value that a trial reported, or tried to.
struct TriedReport {
  std::string where;  // "the metric file"
  std::string tag;
  std::string value;
};

struct Traces {
  std::vector<TouchedFile> files = {};       // only of runs whose files are watched
  std::vector<PrintedLine> raw_errors = {};  // came from stderr and not from `logging`
  std::vector<LeftProcess> left_running = {};
  std::vector<TriedReport> tried_reports = {};  // with another tag, or no number
};

}  // namespace caip::harness
