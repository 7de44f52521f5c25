#include "fakes/gcs/service/locations.h"

#include <algorithm>
#include <span>

namespace caip::gcs {
namespace {

constexpr std::string_view kRegions[] = {
    // The Americas
    "NORTHAMERICA-NORTHEAST1", "NORTHAMERICA-NORTHEAST2", "NORTHAMERICA-SOUTH1", "US-CENTRAL1",
    "US-CENTRAL2", "US-EAST1", "US-EAST4", "US-EAST5", "US-EAST7", "US-SOUTH1", "US-WEST1",
    "US-WEST2", "US-WEST3", "US-WEST4", "US-WEST8", "SOUTHAMERICA-EAST1", "SOUTHAMERICA-WEST1",
    // Europe
    "EUROPE-CENTRAL2", "EUROPE-NORTH1", "EUROPE-NORTH2", "EUROPE-SOUTHWEST1", "EUROPE-WEST1",
    "EUROPE-WEST2", "EUROPE-WEST3", "EUROPE-WEST4", "EUROPE-WEST5", "EUROPE-WEST6", "EUROPE-WEST8",
    "EUROPE-WEST9", "EUROPE-WEST10", "EUROPE-WEST12",
    // Asia, Australia, the Middle East, Africa
    "ASIA-EAST1", "ASIA-EAST2", "ASIA-NORTHEAST1", "ASIA-NORTHEAST2", "ASIA-NORTHEAST3",
    "ASIA-SOUTH1", "ASIA-SOUTH2", "ASIA-SOUTHEAST1", "ASIA-SOUTHEAST2", "ASIA-SOUTHEAST3",
    "AUSTRALIA-SOUTHEAST1", "AUSTRALIA-SOUTHEAST2", "ME-CENTRAL1", "ME-CENTRAL2", "ME-WEST1",
    "AFRICA-SOUTH1"};

constexpr std::string_view kDualRegions[] = {"ASIA1", "EUR4", "EUR5", "EUR7", "EUR8", "NAM4"};

constexpr std::string_view kMultiRegions[] = {"ASIA", "EU", "US"};

constexpr std::string_view kPairsOfAsia[] = {"ASIA-EAST1", "ASIA-SOUTHEAST1"};
constexpr std::string_view kPairsOfAustralia[] = {"AUSTRALIA-SOUTHEAST1", "AUSTRALIA-SOUTHEAST2"};
constexpr std::string_view kPairsOfCanada[] = {"NORTHAMERICA-NORTHEAST1",
                                               "NORTHAMERICA-NORTHEAST2"};
constexpr std::string_view kPairsOfGermany[] = {"EUROPE-WEST3", "EUROPE-WEST10"};
constexpr std::string_view kPairsOfEurope[] = {
    "EUROPE-CENTRAL2", "EUROPE-NORTH1", "EUROPE-SOUTHWEST1", "EUROPE-WEST1",
    "EUROPE-WEST3",    "EUROPE-WEST4",  "EUROPE-WEST8",      "EUROPE-WEST9"};
constexpr std::string_view kPairsOfIndia[] = {"ASIA-SOUTH1", "ASIA-SOUTH2"};
constexpr std::string_view kPairsOfItaly[] = {"EUROPE-WEST8", "EUROPE-WEST12"};
constexpr std::string_view kPairsOfTheUnitedStates[] = {"US-CENTRAL1", "US-EAST1",  "US-EAST4",
                                                        "US-EAST5",    "US-SOUTH1", "US-WEST1",
                                                        "US-WEST2",    "US-WEST3",  "US-WEST4"};

// Any two of the regions make a configurable dual-region of the location.
struct PairArea {
  std::string_view location;
  std::span<const std::string_view> regions;
};
constexpr PairArea kPairAreas[] = {
    {"ASIA", kPairsOfAsia},  {"AU", kPairsOfAustralia},       {"CA", kPairsOfCanada},
    {"DE", kPairsOfGermany}, {"EU", kPairsOfEurope},          {"IN", kPairsOfIndia},
    {"IT", kPairsOfItaly},   {"US", kPairsOfTheUnitedStates},
};

bool IsAmong(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const char* LocationTypeName(LocationType type) {
  switch (type) {
    case LocationType::kRegion:
      return "region";
    case LocationType::kDualRegion:
      return "dual-region";
    case LocationType::kMultiRegion:
      break;
  }
  return "multi-region";
}

LocationType LocationTypeOf(std::string_view location, bool is_pair) {
  if (is_pair || IsAmong(location, kDualRegions)) return LocationType::kDualRegion;
  return IsAmong(location, kMultiRegions) ? LocationType::kMultiRegion : LocationType::kRegion;
}

bool IsLocation(std::string_view location) {
  return IsAmong(location, kRegions) || IsAmong(location, kDualRegions) ||
         IsAmong(location, kMultiRegions);
}

bool IsRegionPair(std::string_view location, const std::vector<std::string>& regions) {
  if (regions.size() != 2 || regions[0] == regions[1]) return false;
  for (const PairArea& area : kPairAreas) {
    if (area.location != location) continue;
    return IsAmong(regions[0], area.regions) && IsAmong(regions[1], area.regions);
  }
  return false;
}

std::string LocationOfPair(const std::vector<std::string>& regions) {
  for (const PairArea& area : kPairAreas) {
    if (IsRegionPair(area.location, regions)) return std::string(area.location);
  }
  return "";
}

}  // namespace caip::gcs
