#pragma once
// Sinks, metrics and exclusions: kept by their full names, as JSON.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/logging/book/log_readers.h"

namespace caip::logging {

/// In the log book's file. Durable when a call returns. Any thread.
class ResourceTable {
 public:
  explicit ResourceTable(const Path& book_file) : files_(book_file) {}

  Result<std::optional<Json>> Get(const std::string& name);
  /// Calls `change` with what is there, and stores what that answers; all of it at once.
  Result<Json> Change(const std::string& name,
                      const std::function<Result<Json>(const std::optional<Json>&)>& change);
  /// False: there was none.
  Result<bool> Remove(const std::string& name);
  /// Those whose names begin with `prefix`, in their order, behind `after`.
  Result<std::vector<std::pair<std::string, Json>>> List(const std::string& prefix,
                                                         const std::string& after, size_t limit);

 private:
  LogReaders files_;
};

}  // namespace caip::logging
