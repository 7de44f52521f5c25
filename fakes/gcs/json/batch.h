#pragma once
// POST /batch/storage/v1: many small requests in one body, as Python's client.batch() sends them.
// https://cloud.google.com/storage/docs/batch

#include <vector>

#include "http/router.h"

namespace caip::gcs {

/// A route that takes requests apart and serves each by `routes`, dressed as they are. At most 100
/// requests a batch.
http::Route BatchRoute(std::vector<http::Route> routes);

}  // namespace caip::gcs
