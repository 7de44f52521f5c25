#include "emulator/app/log_adapter.h"

#include "run/severity.h"

namespace caip::app {

void LogAdapter::Write(std::vector<engine::LogLine> lines) {
  std::vector<logging::Entry> entries;
  entries.reserve(lines.size());
  for (engine::LogLine& line : lines) {
    entries.push_back({.project = std::move(line.run.project),
                       .job_id = std::move(line.run.job_id),
                       .trial = std::move(line.run.trial),
                       .task = std::move(line.task),
                       .severity = std::string(Name(line.severity)),
                       .timestamp = line.time,
                       .message = std::move(line.message),
                       .pathname = std::move(line.pathname),
                       .lineno = line.line_number,
                       .thread = std::move(line.thread)});
  }
  book_.Append(std::move(entries));
}

// The book's Health() reports a full disk. The engine continues, because nothing is lost.
void LogAdapter::Flush() { (void)book_.Flush(); }

}  // namespace caip::app
