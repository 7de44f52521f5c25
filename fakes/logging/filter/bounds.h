#pragma once
// The conditions of a filter that an index can answer.

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "fakes/logging/filter/filter.h"

namespace caip::logging {

/// Conditions that every matching entry fulfils; the filter may have more. Texts are those of the
/// filter, and comparisons ignore case.
struct EntryBounds {
  Instant from = Instant::min();
  Instant until = Instant::max();  // exclusive
  // Of entries of jobs. They have the same values in resource.labels and in labels.
  std::optional<std::string> job_id;
  std::optional<std::string> task;
  std::optional<std::string> trial;
  bool no_job_entries = false;  // no entry of a job can match
  // Of entries that clients wrote, whose labels may differ: resource.labels.job_id.
  std::optional<std::string> written_job_id;
  std::optional<std::string> log_id;
  std::optional<std::string> resource_type;
  std::string after_insert_id;         // insertId is greater
  uint32_t severities = ~uint32_t{0};  // bit n: severity n * 100
  bool none = false;                   // nothing can match

  /// `service` is the prefix of the labels of job entries ("ml.googleapis.com").
  static EntryBounds Of(const Filter& filter, std::string_view service);
};

/// The bit of EntryBounds::severities.
uint32_t SeverityBit(int number);

}  // namespace caip::logging
