#include "emulator/cli/print/missing_module.h"

#include <re2/re2.h>

#include "base/json.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

// "sklearn" of "sklearn.svm".
std::string TopOf(const std::string& module) { return module.substr(0, module.find('.')); }

// The framework of the runtime version that has the module; "": none.
std::string FrameworkWith(const std::string& module, const std::string& runtime_version) {
  const ml::Runtime* runtime = ml::DefaultCatalog().FindRuntime(runtime_version);
  if (runtime == nullptr) return "";
  for (const auto& [framework, version] : runtime->frameworks) {
    if (ml::FrameworkModule(framework) == module) return framework + " " + version;
  }
  return "";
}

}  // namespace

std::string MissingModuleHint(const Json& job) {
  // Python's words for an import that fails (Lib/importlib/_bootstrap.py).
  static const RE2 missing(R"re(ModuleNotFoundError: No module named '([^']+))re");
  const Json* input = Member(job, "trainingInput");
  const std::string program = input ? StringOr(*input, "pythonModule") : "";
  std::string module;
  if (program.empty() || !RE2::PartialMatch(StringOr(job, "errorMessage"), missing, &module)) {
    return "";
  }
  if (TopOf(module) == TopOf(program)) {
    return "The job's own package has no module '" + module +
           "'. Correct the import, or add the file. If the source has it, name its folder in the "
           "packages of setup.py. `caip check` compares the package with the source.\n";
  }
  const std::string version = StringOr(*input, "runtimeVersion");
  const std::string framework = FrameworkWith(TopOf(module), version);
  if (!framework.empty()) {
    return "Runtime version " + version + " of the service has " + framework +
           ", but the Python that ran the job has no module '" + module +
           "'. Run `caip runtimes install " + version +
           "`, or choose a Python that has it with --python.\n";
  }
  return "The Python that ran the job has no module '" + module +
         "'. Name its package in install_requires of setup.py, pass it with --packages, or choose "
         "a "
         "Python that has it with --python.\n";
}

}  // namespace caip::cli
