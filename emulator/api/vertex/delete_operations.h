#pragma once
// The long-running operations of deletions. caip deletes before it answers, so each is done in its
// first answer.

#include <cstddef>
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
  // In one piece of memory, not the tree of a JSON object: a thousand of those would lie between
  // the freed memory of the requests that made them, which could not go back to the system.
  struct Kept {
    std::string project_number;
    std::string region;
    std::string version;
    std::string id;
    Instant time;
  };
  static Json ResourceOf(const Kept& kept);

  mutable std::mutex mutex_;
  Random random_;
  std::vector<Kept> kept_;  // newest last
};

}  // namespace caip::api
