#pragma once
// The module that Python did not find, and whose it is.

#include <set>
#include <string>
#include <string_view>

#include "harness/check/check_run.h"

namespace caip::harness {

struct MissingModule {
  enum class Origin {
    kUnknown,       // the line names no module, or caip has no source tree of the job
    kSource,        // the source tree has it, so the package lacks it
    kNowhere,       // it would belong to the source tree, which does not have it either
    kOtherPackage,  // it comes from another package
    kRuntime,       // the runtime version has it, so the Python of this host lacks it
  } origin = Origin::kUnknown;
  std::string name = {};  // "trainer.model"; "" if the line names none
};

/// The modules of a runtime version: the frameworks of documentation page
/// runtime-version-list, and their dependencies. Packages need not declare them.
const std::set<std::string>& RuntimeModules();
/// runtime_modules.txt. module.cmake generates the definition.
std::string_view RuntimeModulesText();

/// The part of a module's name that one distribution has: "numpy" of "numpy.linalg", but
/// "google.cloud" of "google.cloud.storage", because several distributions share "google".
std::string ModuleOfDistribution(const std::string& module);

/// The module that is missing by a line of Python, or of `python3 -m`.
MissingModule FindMissingModule(const std::string& line, const CheckedTrainer& trainer);

/// Whether the line reports an import of a name from a module that has no such name, or that has
/// not run to its end because of a circular import; or that of a module which a package of the
/// runtime version does not have, because Python names the first package that it does not find.
/// False if the name may be that of a module in a package of the job.
bool LacksNameInModule(const std::string& line, const CheckedTrainer& trainer);

}  // namespace caip::harness
