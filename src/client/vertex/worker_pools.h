#pragma once
// The values of --worker-pool-spec: reading them, gcloud's checks in its order, and the worker
// pools that they describe (docs/vertex.md).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::client::vertex {

/// One --worker-pool-spec. Empty for `--worker-pool-spec=`, which keeps the place of a pool.
struct PoolFlag {
  std::map<std::string, std::string, std::less<>> texts;  // keys with one text
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  std::optional<int64_t> replica_count;
  std::optional<int64_t> accelerator_count;

  bool IsEmpty() const;
  bool Has(std::string_view key) const;
  /// "" if the key is missing.
  const std::string& Text(std::string_view key) const;
  bool operator==(const PoolFlag&) const = default;
};

/// All keys, sorted.
const std::vector<std::string>& PoolKeys();

/// Parses "machine-type=n1-standard-4,container-image-uri=I". A key that is given twice has its
/// last value. The error is the part of a usage error that follows "argument --worker-pool-spec: ".
Result<PoolFlag> ParsePoolFlag(std::string_view text);

/// Checks the pools together, as gcloud does before it sends a job. There is at least one.
Status CheckPoolFlags(const std::vector<PoolFlag>& pools);

/// The workerPoolSpecs that gcloud sends. Packages go to every pool with an executor image.
/// `image`: all pools run this image, which was built of a local package; "" without one.
Json PoolSpecs(const std::vector<PoolFlag>& pools, const std::vector<std::string>& package_uris,
               const std::string& image);

}  // namespace caip::client::vertex
