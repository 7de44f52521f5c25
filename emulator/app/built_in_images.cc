#include "emulator/app/built_in_images.h"

#include <filesystem>

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

}  // namespace

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
