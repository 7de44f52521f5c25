#pragma once
// The long-running operations of deletions. caip deletes before it answers, so each is done in its
// first answer.

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"

namespace caip::api {

/// Keeps the newest operations until the emulator ends. Any thread.
class DeleteOperations {
 public:
  static constexpr size_t kKeptMax = 1000;

  explicit DeleteOperations(uint64_t seed) : random_(seed) {}

  /// The resource of a deletion that is done. Its project is the service's number. `version` is
  /// that of the request: clients read the metadata by its type, which has the version in its name.
  Json Add(const std::string& project_number, const std::string& region, const std::string& version,
           Instant now);
  /// nullopt: unknown, or forgotten. The project of the request is not compared, because all
  /// projects share one number.
  std::optional<Json> Find(const std::string& region, const std::string& id) const;
  /// Newest first.
  std::vector<Json> List(const std::string& region) const;
  /// False: there is no such operation.
  bool Forget(const std::string& region, const std::string& id);

 private:
  struct Kept {
    std::string region;
    std::string id;
    Json resource;
  };
  mutable std::mutex mutex_;
  Random random_;
  std::list<Kept> kept_;  // newest first
};

}  // namespace caip::api
