#include "harness/check/missing_module.h"

#include <re2/re2.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "run/traceback.h"

namespace caip::harness {
namespace {

// "from `package` import `name`", which failed.
struct FailedImport {
  std::string package;
  std::string name;
  bool is_partial = false;  // a circular import: the package has not run to its end
};

// Python's words (Python/ceval.c: import_from).
std::optional<FailedImport> FindFailedImport(const std::string& line) {
  static const RE2 words(R"re(ImportError: cannot import name '([^']+)' from )re"
                         R"re((partially initialized module )?'([^']+)')re");
  FailedImport import;
  std::string partial;
  if (!RE2::PartialMatch(line, words, &import.name, &partial, &import.package)) return {};
  import.is_partial = !partial.empty();
  return import;
}

// Python's words (Lib/importlib/_bootstrap.py), and those of `python3 -m` (Lib/runpy.py).
std::string FindModuleNotFound(const std::string& line) {
  static const RE2 quoted(R"re(No module named '([^']+)')re");
  static const RE2 bare(R"re(: No module named ([\w.]+))re");
  std::string module;
  if (RE2::PartialMatch(line, quoted, &module)) return module;
  const bool is_refused = run::RefusesModule(std::string_view(Trim(line)));
  return is_refused && RE2::PartialMatch(line, bare, &module) ? module : "";
}

std::string TopOfModule(const std::string& module) { return module.substr(0, module.find('.')); }

Path FolderOfSource(const CheckedTrainer& trainer) { return trainer.source->parent_path(); }

// The path of a module without the ending of its file.
Path PlaceOfModule(const CheckedTrainer& trainer, const std::string& module) {
  return FolderOfSource(trainer) / ReplaceAll(module, ".", "/");
}

bool IsSourcePackage(const CheckedTrainer& trainer, const std::string& module) {
  std::error_code error;
  return std::filesystem::is_directory(PlaceOfModule(trainer, module), error);
}

// Whether a file of the module, with whatever ending, passes the test.
template <typename Test>
bool HasFile(const Path& module, const Test& test) {
  const std::string begin = module.filename().string() + ".";
  std::error_code error;
  using Files = std::filesystem::directory_iterator;
  for (Files file(module.parent_path(), error), end; !error && file != end; file.increment(error)) {
    if (file->path().filename().string().starts_with(begin) && test(file->path())) return true;
  }
  return false;
}

// A folder, or a file with any ending: extension modules are built from files of other languages.
bool SourceHas(const CheckedTrainer& trainer, const std::string& module) {
  return IsSourcePackage(trainer, module) ||
         HasFile(PlaceOfModule(trainer, module), [](const Path&) { return true; });
}

// Sources of modules, and modules that were built from other languages.
bool IsPartOfModule(const Path& file) {
  const std::string ending = file.extension().string();
  return ending == ".py" || ending == ".so" || ending == ".pyx";
}

// Whether the folder, or one directly in it, has Python files: then it can be imported. Further
// below, data may have copies of programs.
bool HasPython(const Path& folder) {
  std::error_code error;
  using Files = std::filesystem::recursive_directory_iterator;
  for (Files file(folder, error), end; !error && file != end; file.increment(error)) {
    if (IsPartOfModule(file->path())) return true;
    if (file.depth() > 0) file.disable_recursion_pending();
  }
  return false;
}

// Data lie beside the package, too: a folder or a file such as mlflow.db is not a module.
bool IsBesidePackage(const CheckedTrainer& trainer, const std::string& top) {
  const Path place = PlaceOfModule(trainer, top);
  return HasPython(place) || HasFile(place, IsPartOfModule);
}

// Whether the module would be one of the job's own packages, by its first part.
bool IsOwn(const CheckedTrainer& trainer, const std::string& module) {
  const std::string top = TopOfModule(module);
  const auto program = trainer.job.kind->PythonModuleOf(trainer.job.document);
  const bool is_of_program = program && TopOfModule(program->module) == top;
  return is_of_program || (trainer.source && IsBesidePackage(trainer, top));
}

std::string NameOfMissing(const std::string& line, const CheckedTrainer& trainer) {
  const auto import = FindFailedImport(line);
  if (!import) return FindModuleNotFound(line);
  if (LacksNameInModule(line, trainer)) return "";
  return import->package + "." + import->name;
}

bool IsOfRuntime(const std::string& module) {
  return RuntimeModules().contains(TopOfModule(module));
}

// Python found the package "numpy" if it misses "numpy.linalgg".
bool LacksPartOfRuntime(const std::string& line, const CheckedTrainer& trainer) {
  const std::string name = FindModuleNotFound(line);
  return name != ModuleOfDistribution(name) && IsOfRuntime(name) && !IsOwn(trainer, name);
}

MissingModule::Origin OriginOfOther(const std::string& module) {
  using Origin = MissingModule::Origin;
  return IsOfRuntime(module) ? Origin::kRuntime : Origin::kOtherPackage;
}

}  // namespace

const std::set<std::string>& RuntimeModules() {
  static const std::set<std::string> modules = [] {
    const std::vector<std::string> lines = Split(std::string(Trim(RuntimeModulesText())), '\n');
    return std::set<std::string>(lines.begin(), lines.end());
  }();
  return modules;
}

std::string ModuleOfDistribution(const std::string& module) {
  constexpr std::string_view kShared = "google.";
  const size_t after = module.starts_with(kShared) ? kShared.size() : 0;
  return module.substr(0, module.find('.', after));
}

MissingModule FindMissingModule(const std::string& line, const CheckedTrainer& trainer) {
  using Origin = MissingModule::Origin;
  const std::string name = NameOfMissing(line, trainer);
  if (name.empty()) return {};
  if (!IsOwn(trainer, name)) return {OriginOfOther(name), name};
  if (!trainer.source) return {Origin::kUnknown, name};
  return {SourceHas(trainer, name) ? Origin::kSource : Origin::kNowhere, name};
}

bool LacksNameInModule(const std::string& line, const CheckedTrainer& trainer) {
  const auto import = FindFailedImport(line);
  if (!import) return LacksPartOfRuntime(line, trainer);
  if (import->is_partial || !IsOwn(trainer, import->package)) return true;
  return trainer.source && !IsSourcePackage(trainer, import->package);
}

}  // namespace caip::harness
