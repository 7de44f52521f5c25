#pragma once
// The names of jobs in the log, and reading a job's log as a follower does.

#include <string>
#include <vector>

#include "fakes/logging/book/log_book.h"

namespace caip::logging {

inline const JobLogNames kMlNames = {"ml_job", "ml.googleapis.com"};

/// The job's entries after `after_id`, oldest first.
inline Result<std::vector<Entry>> ReadAfter(const LogBook& book, const std::string& project,
                                            const std::string& job_id, uint64_t after_id,
                                            size_t limit = 1000) {
  EntryQuery query;
  query.project = project;
  query.job_id = job_id;
  query.after_id = after_id;
  query.limit = limit;
  return book.Query(query);
}

}  // namespace caip::logging
