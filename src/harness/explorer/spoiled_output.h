#pragma once
// Output that a program spoils when it is started once more after an error.
//
// The service starts the program of a custom job again at once, with a fresh disk, while it tears
// the job down (docs/service/vertex.md, section 4). That start may end at any moment. So what the
// first start had written must never go back to an earlier state in it.

#include <functional>
#include <optional>
#include <string>

#include "harness/expectations/expectation.h"

namespace caip::harness {

/// An object that the second start has spoiled first.
struct SpoiledObject {
  std::string name;
  std::string expected;  // "as it was after step 20"
  std::string found;     // "overwritten by boot 2 after step 1"
};

/// Looks for objects that `compares` accepts. `twin` is a run without faults: what it deletes, too,
/// may be deleted. nullopt if no replica was started again after an error, or if it spoils nothing.
///
/// A start spoils an object if it deletes it, or if it overwrites it without having resumed: it has
/// read nothing that was stored, and it begins at the first step again.
std::optional<SpoiledObject> FindSpoiledObject(
    const Evidence& run, const Evidence& twin,
    const std::function<bool(const std::string& object)>& compares);

/// Whether a program ended with an error and was started again.
bool WasRestartedAfterError(const Evidence& run);

}  // namespace caip::harness
