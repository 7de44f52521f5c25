#pragma once
// Values that an earlier version stored unchecked. Private to fakes/gcs.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/gcs/service/resource_fields.h"
#include "fakes/gcs/service/violations.h"

namespace caip::gcs {

/// What else holds for stored values.
struct StoredRules {
  /// True for a valid value of a field that the service sets itself.
  bool (*is_derived)(const std::string& name, const Json& value) = nullptr;
  /// Checks an entry of a list that has the right types.
  void (*check_entry)(const Json& entry, const std::string& path, Violations* broken) = nullptr;
};

/// The members that a request could set today, and those that the service sets. An entry of a list
/// is valid as a whole or not at all. `refused`, which may be nullptr, gets the paths of the rest.
Json ValidMembers(const Json& stored, const ResourceMessage& message, const StoredRules& rules,
                  std::vector<std::string>* refused);

}  // namespace caip::gcs
