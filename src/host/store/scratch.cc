#include "host/store/scratch.h"

namespace caip::host {
namespace {

Path PlaceIn(const Path& state) { return state / "tmp"; }

}  // namespace

Result<TemporaryDirectory> MakeScratch(const Path& state, std::string_view prefix) {
  RETURN_IF_ERROR(MakeDirectories(PlaceIn(state)));
  return TemporaryDirectory::MakeIn(PlaceIn(state), prefix);
}

void RemoveScratch(const Path& state) { RemoveTree(PlaceIn(state)); }

}  // namespace caip::host
