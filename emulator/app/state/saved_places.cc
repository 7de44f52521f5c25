#include "emulator/app/state/saved_places.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "emulator/app/state/stores.h"

namespace caip::app {
namespace {

// The place itself, or something below it.
bool IsIn(std::string_view place, std::string_view path) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

}  // namespace

bool IsSavedPlace(std::string_view path) {
  const auto holds = [path](std::string_view place) { return IsIn(place, path); };
  return path == "images" || path == kImageMap || holds(kImageBlobs) ||
         std::any_of(std::begin(kLinkedFolders), std::end(kLinkedFolders), holds) ||
         std::any_of(std::begin(kCopiedPlaces), std::end(kCopiedPlaces), holds) ||
         std::any_of(Stores().begin(), Stores().end(),
                     [path](const Store& store) { return path == store.file; });
}

}  // namespace caip::app
