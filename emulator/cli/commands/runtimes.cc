// `caip runtimes list|install|remove`: the frameworks of the service's runtime versions, in Python
// environments of the state directory. An emulator may use them at the same time.

#include "base/json.h"
#include "base/text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/live_line.h"
#include "emulator/cli/print/resource_text.h"
#include "host/process/child_process.h"
#include "host/python/runtime_installation.h"
#include "host/store/state_directory.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

constexpr std::string_view kRuntimeColumns =
    "table(version:label=RUNTIME,python,frameworks,installed)";

Path RuntimesOf(const app::EmulatorFlags& flags) { return app::StateDirectory(flags) / "runtimes"; }

std::string PackagesText(const host::RuntimeEnvironment& runtime) {
  std::string text = "Python " + runtime.python_version;
  for (const host::RuntimePackage& package : runtime.packages) {
    text += ", " + package.name + " " + package.installed;
  }
  return text;
}

host::RuntimeOrder OrderFor(const ml::Runtime& runtime) {
  host::RuntimeOrder order{runtime.version, runtime.pythons.front(), {}};
  for (const auto& [name, version] : runtime.frameworks) {
    order.packages.push_back({name, ml::FrameworkModule(name), version, ""});
  }
  return order;
}

Json AsJson(const ml::Runtime& runtime, const Path& runtimes) {
  std::vector<std::string> frameworks;
  Json versions = Json::object();
  for (const auto& [name, version] : runtime.frameworks) {
    frameworks.push_back(name + " " + version);
    versions[name] = version;
  }
  Json object = {{"version", runtime.version},
                 {"python", Join(runtime.pythons, ", ")},
                 {"frameworks", Join(frameworks, ", ")},
                 {"frameworkVersions", std::move(versions)}};
  const auto found = host::FindRuntime(runtimes, runtime.version);
  if (!found) return object;
  object["installed"] = PackagesText(*found);
  object["path"] = found->root.string();
  for (const host::RuntimePackage& package : found->packages) {
    object["installedVersions"][package.name] = package.installed;
  }
  return object;
}

Status ListAll(const RuntimesListCommand& command, const Surroundings& world) {
  Json resources = Json::array();
  for (const ml::Runtime& runtime : ml::DefaultCatalog().runtimes()) {
    resources.push_back(AsJson(runtime, RuntimesOf(command.emulator)));
  }
  const std::string format = command.gcloud.format.value_or("table");
  ASSIGN_OR_RETURN(
      const std::string text,
      FormatResources(resources, format == "table" ? kRuntimeColumns : std::string_view(format)));
  world.io.out(text);
  return Ok{};
}

// The frameworks are installed for the Python of the service, or for the nearest one of this host.
// Packages of a virtual environment belong to its owner, so its base is taken.
Result<host::Interpreter> InterpreterFor(const host::RuntimeOrder& order, const std::string& python,
                                         const Path& state) {
  host::InterpreterSearch search = host::DefaultSearch(host::OwnEnvironment());
  search.active_environment.clear();
  search.python = python;
  search.cache_file = state / "interpreters.json";
  const host::PythonRequest request{"", order.wanted_python, false};
  ASSIGN_OR_RETURN(const host::InterpreterChoice choice,
                   host::Interpreters(search, {}).Choose(request));
  if (choice.interpreter.parent_packages.empty()) return choice.interpreter;
  search.python = choice.interpreter.executable.string();
  ASSIGN_OR_RETURN(const host::InterpreterChoice base,
                   host::Interpreters(search, {}).Choose(request));
  return base.interpreter;
}

// What pip prints is one line that changes; without a terminal, only the steps are printed.
std::function<void(std::string_view)> Reporter(const Io& io, const std::string& version) {
  const auto live = LiveLine(io);
  if (!live) {
    return [&io](std::string_view line) {
      if (line.starts_with("Looking for ") || line.starts_with("Importing ")) {
        io.err(std::string(line) + " ...\n");
      }
    };
  }
  return [live, version](std::string_view line) {
    live(line.empty() ? "" : "Runtime version " + version + ": " + std::string(Trim(line)));
  };
}

Status Install(const RuntimesInstallCommand& command, const Surroundings& world) {
  const Path state = app::StateDirectory(command.emulator);
  RETURN_IF_ERROR(host::StateDirectory::Make(state));
  const host::RuntimeOrder order = OrderFor(*ml::DefaultCatalog().FindRuntime(command.version));
  ASSIGN_OR_RETURN(const host::Interpreter interpreter,
                   InterpreterFor(order, command.python, state));
  const app::StopOnInterrupt interrupt;
  const auto report = Reporter(world.io, command.version);
  const auto installed = host::InstallRuntime(order, {.runtimes = state / "runtimes",
                                                      .interpreter = interpreter,
                                                      .own_environment = host::OwnEnvironment(),
                                                      .on_line = report,
                                                      .stop = interrupt.token()});
  report("");
  if (!installed.ok()) return installed.error();
  world.io.err("Installed runtime version " + command.version + " (" + PackagesText(*installed) +
               ").\n");
  const std::vector<std::string> differences = installed->Differences();
  if (!differences.empty()) {
    world.io.err("The service's versions, in parentheses, are not available here: " +
                 Join(differences, ", ") + ".\n");
  }
  return Ok{};
}

Status Remove(const RuntimesRemoveCommand& command, const Surroundings& world) {
  const Path runtimes = RuntimesOf(command.emulator);
  for (const std::string& version : command.versions) {
    ASSIGN_OR_RETURN(const bool was_there, host::RemoveRuntime(runtimes, version));
    if (was_there) {
      world.io.err("Removed runtime version " + version + ".\n");
      continue;
    }
    std::vector<std::string> installed;
    for (const host::RuntimeEnvironment& runtime : host::ListRuntimes(runtimes)) {
      installed.push_back(runtime.version);
    }
    return errors::RuntimeMissing(version, installed);
  }
  return Ok{};
}

int RuntimesExitCode(const Status& done, const char* command, const Io& io) {
  if (done.ok()) return kExitSuccess;
  const bool is_interrupted = done.error().code == Code::kCancelled;
  return is_interrupted ? Fail(io, command, done.error().message, kExitInterrupted)
                        : Fail(io, command, done.error());
}

}  // namespace

int RunRuntimesList(const RuntimesListCommand& command, const Surroundings& world) {
  return RuntimesExitCode(ListAll(command, world), "runtimes.list", world.io);
}

int RunRuntimesInstall(const RuntimesInstallCommand& command, const Surroundings& world) {
  return RuntimesExitCode(Install(command, world), "runtimes.install", world.io);
}

int RunRuntimesRemove(const RuntimesRemoveCommand& command, const Surroundings& world) {
  return RuntimesExitCode(Remove(command, world), "runtimes.remove", world.io);
}

}  // namespace caip::cli
