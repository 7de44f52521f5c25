#pragma once
// Sinks, metrics and exclusions, stored as JSON under their full names.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/logging/book/log_schema.h"

namespace caip::logging {

/// A table in the log book's file. Changes are durable when a call returns. Any thread.
class ResourceTable {
 public:
  ResourceTable(const Path& book_file, const JobLogNames& names) : files_(book_file, names) {}

  Result<std::optional<Json>> Get(const std::string& name);
  /// Calls `change` with the stored resource and stores its result, in one transaction.
  Result<Json> Change(const std::string& name,
                      const std::function<Result<Json>(const std::optional<Json>&)>& change);
  /// False: it did not exist.
  Result<bool> Remove(const std::string& name);
  /// The resources whose names begin with `prefix`, sorted, after `after`.
  Result<std::vector<std::pair<std::string, Json>>> List(const std::string& prefix,
                                                         const std::string& after, size_t limit);

 private:
  LogReaders files_;
};

}  // namespace caip::logging
