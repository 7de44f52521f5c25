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
  std::string expected;  // "job/out/model unchanged, written after step 20"
  std::string found;     // "overwritten by boot 2 after step 1"
  /// Why it may be harmless.
  enum class Doubt {
    kNone,
    kIsRedone,   // a resumed training goes through the steps to it once more
    kMayResume,  // the second start has read what may be a state of the training
  };
  Doubt doubt = Doubt::kNone;
};

/// Looks for objects that `compares` accepts. nullopt if no replica was started again after an
/// error, or if it spoils nothing. `twin` is a run without faults. What it deletes, too, may be
/// deleted: if it has no such object at its end, or after a later step than that of the object.
///
/// A start spoils an object if it deletes or renames it, or if it overwrites it before its first
/// step or after an earlier step. If it has read the state of the last step, it may write its
/// output again. Without steps, a start that has read a state of the training spoils nothing by
/// writing, and one that has read something else, such as a configuration, possibly does.
std::optional<SpoiledObject> FindSpoiledObject(
    const Evidence& run, const Evidence& twin,
    const std::function<bool(const std::string& object)>& compares);

/// Whether a program ended with an error and was started again.
bool WasRestartedAfterError(const Evidence& run);

}  // namespace caip::harness
