// The flags of `runtimes list`, `install` and `remove`, which gcloud does not have.

#include "emulator/app/settings/setting_readers.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

std::vector<std::string> RuntimeVersions() {
  std::vector<std::string> versions;
  for (const ml::Runtime& runtime : ml::DefaultCatalog().runtimes()) {
    versions.push_back(runtime.version);
  }
  return versions;
}

// A version that the service did not have is a mistake in the command line.
Grammar::Setter ToVersion(std::function<void(const std::string&)> take) {
  return [take = std::move(take)](const std::string& value) -> Status {
    if (!ml::DefaultCatalog().FindRuntime(value)) {
      return errors::NoSuchChoice(value, RuntimeVersions());
    }
    take(value);
    return Ok{};
  };
}

void AddInstall(Grammar& grammar, CLI::App& runtimes, const GcloudFlags& gcloud) {
  const auto install = std::make_shared<RuntimesInstallCommand>();
  CLI::App& app = grammar.Leaf(
      runtimes, "install",
      "Installs the frameworks of a runtime version with pip, for the jobs that name it.",
      "Examples:\n  caip runtimes install 2.11\n"
      "  caip runtimes install 2.11 --python python3.9",
      FinishWith(install, gcloud));
  grammar.Positional(app, "VERSION",
                     "Runtime version of the service. Frameworks that cannot be installed on this "
                     "host are replaced by their nearest versions.",
                     ToVersion([install](const std::string& value) { install->version = value; }));
  grammar.Suggest(app, "VERSION", {.kind = Values::Kind::kWords, .words = RuntimeVersions});
  grammar.Flag(app, "--python", "PATH",
               "Python interpreter of the environment (default: the one whose version is nearest "
               "to the service's).",
               [install](const std::string& value) -> Status {
                 const auto python = app::FindPython(value);
                 if (!python) return errors::NotAPython(value);
                 install->python = *python;
                 return Ok{};
               });
  AddStateFlag(grammar, app, &install->emulator);
}

}  // namespace

void AddRuntimesCommands(Grammar& grammar, const GcloudFlags& gcloud) {
  CLI::App& runtimes = grammar.Group(
      grammar.root(), "runtimes",
      "Lists, installs and removes the frameworks of the service's runtime versions.");
  const auto list = std::make_shared<RuntimesListCommand>();
  CLI::App& list_app = grammar.Leaf(
      runtimes, "list", "Lists the runtime versions of the service, and those that are installed.",
      "Examples:\n  caip runtimes list\n"
      "  caip runtimes list --format 'value(version,installed)'",
      FinishWith(list, gcloud));
  AddStateFlag(grammar, list_app, &list->emulator);
  AddInstall(grammar, runtimes, gcloud);
  const auto remove = std::make_shared<RuntimesRemoveCommand>();
  CLI::App& app =
      grammar.Leaf(runtimes, "remove", "Removes installed runtime versions.",
                   "Examples:\n  caip runtimes remove 2.11", FinishWith(remove, gcloud));
  grammar.Positional(
      app, "VERSION", "Runtime version.",
      ToVersion([remove](const std::string& value) { remove->versions.push_back(value); }), true);
  grammar.Suggest(app, "VERSION", {.kind = Values::Kind::kWords, .words = RuntimeVersions});
  AddStateFlag(grammar, app, &remove->emulator);
}

}  // namespace caip::cli
