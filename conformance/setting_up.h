#pragma once
// Prepares a run from the command line: starts and checks endpoints, creates the bucket, and
// uploads the probe's package.

#include <string>
#include <vector>

#include "conformance/arguments.h"
#include "conformance/result.h"
#include "conformance/steps/scope.h"
#include "conformance/wire/child.h"

namespace conform {

/// The world of a run, and the emulators that end with it.
struct Setup {
  World world;
  std::vector<Embedded> emulators;

  Setup() = default;
  Setup(Setup&&) = default;
  ~Setup();
};

/// Starts emulators if necessary, and checks that the endpoint answers like the service.
Result<std::unique_ptr<Setup>> SetUp(const Arguments& arguments, Target target);

/// Creates the bucket and uploads the probe's package, on every instance.
std::optional<Problem> UploadPackage(Setup& setup);

/// Deletes the run's objects.
void DeleteObjects(Setup& setup);

/// A .tar.gz with all Python files of `folder` below "caip_probe-1.0/".
Result<std::string> ProbePackage(const std::string& folder);

}  // namespace conform
