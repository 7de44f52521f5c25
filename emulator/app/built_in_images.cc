#include "emulator/app/built_in_images.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/text.h"
#include "fakes/algorithms/algorithm_files.h"
#include "host/python/interpreter_scan.h"
#include "ml/catalog/catalog.h"

namespace caip::app {
namespace {

// An absolute path, where possible: a machine sees what belongs to the interpreter that is named.
std::string PythonOf(const BuiltInImages& images, const ml::BuiltInAlgorithm& algorithm) {
  if (!images.python.empty()) return images.python;
  for (const std::string& version : {algorithm.runtime_version, algorithm.python_version}) {
    const auto found = images.runtimes.find(version);
    if (found != images.runtimes.end()) return found->second;
  }
  const Path active = host::ActiveEnvironment(images.environment);
  std::error_code error;
  for (const char* name : {"bin/python3", "bin/python"}) {
    if (!active.empty() && std::filesystem::exists(active / name, error)) {
      return (active / name).string();
    }
  }
  return "python3";
}

Result<std::vector<std::string>> CommandOf(const BuiltInImages& images,
                                           const ml::BuiltInAlgorithm& algorithm,
                                           const std::string& name) {
  ASSIGN_OR_RETURN(const Path program, algorithms::InstallPackage(images.state));
  return std::vector<std::string>{PythonOf(images, algorithm), program.string(), name};
}

constexpr const char* kFindLibraries =
    "import importlib.util as found\n"
    "print(*[one for one in ('numpy', 'xgboost', 'tensorflow') if found.find_spec(one)])";

/// Algorithms, and the libraries that they need.
struct Needs {
  const char* algorithms;
  std::vector<std::string> libraries;
  const char* packages;  // of pip
};

host::HostFact FactFor(const Needs& needs, const std::string& python, const std::string& present) {
  std::vector<std::string> missing;
  const std::vector<std::string> names = Split(present, ' ');
  for (const std::string& library : needs.libraries) {
    if (std::find(names.begin(), names.end(), library) == names.end()) missing.push_back(library);
  }
  host::HostFact fact;
  fact.name = needs.algorithms;
  if (missing.empty()) {
    fact.found = host::HostFact::Found::kYes;
    fact.detail = python + " has " + Join(needs.libraries, " and ");
    return fact;
  }
  fact.detail = python + " lacks " + Join(missing, " and ");
  fact.cost_when_missing = "jobs of these built-in algorithms fail; `pip install " +
                           std::string(needs.packages) + "` in that interpreter";
  return fact;
}

}  // namespace

std::vector<host::HostFact> BuiltInImages::Report() const {
  const Needs all[] = {{"XGBoost algorithms", {"numpy", "xgboost"}, "numpy xgboost-cpu"},
                       {"TensorFlow algorithms", {"numpy", "tensorflow"}, "numpy tensorflow-cpu"}};
  const std::string interpreter =
      PythonOf(*this, ml::DefaultCatalog().built_in_algorithms().front());
  const auto asked = host::CaptureTool({.argv = {interpreter, "-c", kFindLibraries},
                                        .environment = environment,
                                        .timeout = std::chrono::seconds(20)});
  const std::string present = asked.ok() && asked->result.ok() ? std::string(Trim(asked->out)) : "";
  std::vector<host::HostFact> facts;
  for (const Needs& needs : all) facts.push_back(FactFor(needs, interpreter, present));
  return facts;
}

Result<std::optional<std::vector<std::string>>> BuiltInImages::CommandFor(
    const std::string& image_uri) const {
  const ml::BuiltInAlgorithm* algorithm = ml::DefaultCatalog().FindBuiltInAlgorithm(image_uri);
  if (!algorithm) return std::optional<std::vector<std::string>>();
  ASSIGN_OR_RETURN(auto command, CommandOf(*this, *algorithm, algorithm->image));
  return std::optional(std::move(command));
}

Result<std::vector<std::string>> BuiltInImages::Command(const std::string& name) const {
  return CommandOf(*this, ml::DefaultCatalog().built_in_algorithms().front(), name);
}

}  // namespace caip::app
