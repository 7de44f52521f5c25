#pragma once
// The engine's log port on the log book.

#include "engine/ports.h"
#include "fakes/logging/book/log_book.h"

namespace caip::app {

/// The names that AI Platform Training gives the entries of its jobs.
inline const logging::JobLogNames kTrainingLogNames = {.resource_type = "ml_job",
                                                       .service = "ml.googleapis.com"};

/// Any thread. `book` outlives it.
class LogAdapter final : public engine::LogSink {
 public:
  explicit LogAdapter(logging::LogBook& book) : book_(book) {}
  void Write(std::vector<engine::LogLine> lines) override;
  void Flush() override;

 private:
  logging::LogBook& book_;
};

}  // namespace caip::app
