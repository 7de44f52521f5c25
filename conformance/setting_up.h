#pragma once
// From the words of the command line to a world that cases can run in: endpoints started and looked
// at, bucket and package there.

#include <string>
#include <vector>

#include "conformance/arguments.h"
#include "conformance/steps/world.h"
#include "conformance/wire/embedded.h"

namespace conform {

/// The world, and the emulators that end with it.
struct Stage {
  World world;
  std::vector<Embedded> emulators;

  Stage() = default;
  Stage(Stage&&) = default;
  ~Stage();
};

/// Starts what is to be started and looks whether anybody is there who speaks like the service.
Result<std::unique_ptr<Stage>> SetUp(const Arguments& arguments, Target target);

/// Puts the bucket and the probe's package in place, on every instance.
std::optional<Problem> PutPackage(Stage& stage);

/// Takes the run's objects away again.
void TakeAway(Stage& stage);

}  // namespace conform
