#pragma once
// The locations of buckets: regions, dual-regions and multi-regions, and the pairs of regions of
// which a configurable dual-region can consist. https://cloud.google.com/storage/docs/locations

#include <string>
#include <string_view>
#include <vector>

namespace caip::gcs {

enum class LocationType { kRegion, kDualRegion, kMultiRegion };

/// "region", "dual-region" or "multi-region".
const char* LocationTypeName(LocationType type);

/// The type of a location's upper-case name. `is_pair`: the bucket has a configurable dual-region.
/// kRegion for an unknown name.
LocationType LocationTypeOf(std::string_view location, bool is_pair);

/// True for the upper-case name of a region, of a predefined dual-region or of a multi-region.
bool IsLocation(std::string_view location);

/// True if the location ("US", "IN") has a configurable dual-region of these two regions.
bool IsRegionPair(std::string_view location, const std::vector<std::string>& regions);

/// The location that has a configurable dual-region of these two regions; "" if none has.
std::string LocationOfPair(const std::vector<std::string>& regions);

}  // namespace caip::gcs
