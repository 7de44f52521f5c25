#pragma once
// The remedies for mistakes in a file of --config that gcloud passes on and the service rejects:
// unknown fields, unknown names of enums, durations.

#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace caip::client {

/// A mistake, its remedy, and its place.
struct FileHint {
  std::string pointer;  // of the member: "/trainingInput/scaleTeir"
  bool is_key = false;  // the mistake is in the key, not in the value
  std::string text;     // may begin with a value: "'1h' is not a duration in seconds. ..."
};

/// All such mistakes of a file, in its order. The file need not be a Job.
std::vector<FileHint> FindFileHints(const Json& file);

}  // namespace caip::client
