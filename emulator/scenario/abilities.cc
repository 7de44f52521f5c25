#include "emulator/scenario/abilities.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "emulator/scenario/errors.h"
#include "emulator/scenario/fake_clocks.h"
#include "emulator/scenario/run_isolation.h"
#include "host/devices/devices.h"
#include "host/errors.h"
#include "host/process/child_process.h"
#include "host/python/interpreters.h"
#include "host/watch/call_source.h"

namespace caip::scenario {
namespace {

// A disk with less free space than this counts as full: a program that failed because the disk was
// full leaves a few blocks free.
constexpr uint64_t kFullBelowBytes = 256u << 10;
constexpr size_t kProgramBytesMax = 64u << 20;

constexpr char kReplicaPath[] = "/usr/local/bin:/usr/bin:/bin";  // of replicas
// find_spec imports the packages around a module, which may be missing, too.
constexpr char kPrintMissingModules[] = R"py(
import importlib.util, sys
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
print(', '.join(name for name in sys.argv[1:] if not has(name)))
)py";

// The interpreter of the scenario's command: its program if that is a Python, else python3.
std::string PythonOfCommand(const harness::Scenario& scenario) {
  if (scenario.command.empty()) return "python3";
  const Path program = scenario.command.front();
  if (!program.filename().string().starts_with("python")) return "python3";
  return program.has_parent_path() ? (scenario.command_folder() / program).string()
                                   : program.string();
}

std::string DescribeMissingNeed(const std::string& need) {
  if (need != "libfaketime") return "it needs '" + need + "', which caip does not offer";
  return DescribeMissingFakeTime();
}

std::string DescribeMissingFaultAbility(const harness::FaultKind& kind) {
  return kind.needs == harness::HostAbility::kFakeClock ? DescribeMissingFakeTime() : "";
}

// The path of the program that a word of a command names in the PATH of replicas.
Path ProgramOf(const harness::Scenario& scenario, const std::string& word) {
  if (word.find('/') != std::string::npos) return scenario.command_folder() / word;
  std::error_code error;
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    if (std::filesystem::exists(Path(folder) / word, error)) return Path(folder) / word;
  }
  return {};
}

// The interpreter of a script, also after `#!/usr/bin/env`. A program without `#!` is its own
// interpreter.
Path InterpreterOf(const harness::Scenario& scenario, const Path& program) {
  const auto text = ReadFileUpTo(program, kProgramBytesMax);
  if (!text.ok() || !text->starts_with("#!")) return program;
  const std::vector<std::string> words =
      Split(std::string(Trim(text->substr(2, text->find('\n') - 2))), ' ');
  const bool is_env = words.size() > 1 && words.front().ends_with("/env");
  return ProgramOf(scenario, is_env ? words[1] : words.front());
}

bool IsReportedByReplica(const harness::Trigger& trigger) {
  return trigger.Is<harness::LogTrigger>() || trigger.Is<harness::StepTrigger>();
}

// Whether a fault depends on an action of a replica's process, so that the process must be stopped
// at it.
bool HoldsReplicas(const harness::Scenario& scenario) {
  if (scenario.semantics == harness::Semantics::kPosix) return true;
  return std::ranges::any_of(scenario.faults, [](const harness::Fault& fault) {
    return IsReportedByReplica(fault.when) || (fault.until && IsReportedByReplica(*fault.until));
  });
}

// Describes a program that cannot preload a library, because it is not dynamically linked; "" if
// the program can.
std::string DescribeMissingPreload(const harness::Scenario& scenario, const std::string& reason) {
  if (scenario.command.empty() || !HoldsReplicas(scenario)) return "";
  const Path program = InterpreterOf(scenario, ProgramOf(scenario, scenario.command.front()));
  if (!host::IsStaticProgram(program)) return "";
  return "'" + program.string() +
         "' is linked statically. Only the kernel can stop it at its system calls, and this kernel "
         "does not: " +
         reason;
}

// The real GPUs that caip lends to jobs.
size_t CountGpus() {
  const host::Variables own = host::OwnEnvironment();
  host::DevicePlaces places;
  places.path = host::FindVariable(own, "PATH").value_or("");
  return host::InventoryFor(places, {}, host::FindVariable(own, "CUDA_VISIBLE_DEVICES"))
      .gpus.size();
}

bool NeedsOwnNetwork(const harness::Fault& fault) {
  return fault.kind->needs == harness::HostAbility::kOwnNetwork;
}

}  // namespace

std::string DescribeMissingExtra(const harness::Scenario& scenario,
                                 const app::EmulatorOptions& options, const Path& directory) {
  for (const harness::Fault& fault : scenario.faults) {
    if (std::string missing = DescribeMissingFaultAbility(*fault.kind); !missing.empty())
      return missing;
  }
  const bool needs_machines =
      !scenario.members.empty() || std::ranges::any_of(scenario.faults, NeedsOwnNetwork);
  const bool by_host = options.isolation == app::Isolation::kByHost &&
                       options.addressing != app::Addressing::kPorts && !scenario.own_ports;
  const std::string why_not = needs_machines && by_host ? WhyNoMachinesBelow(directory) : "";
  return why_not.empty() ? "" : "it needs machines, and this host allows none: " + why_not;
}

std::string DescribeMissingAbility(const harness::Scenario& scenario) {
  for (const std::string& need : scenario.needs) {
    if (std::string missing = DescribeMissingNeed(need); !missing.empty()) return missing;
  }
  for (const harness::Fault& fault : scenario.faults) {
    if (std::string missing = DescribeMissingFaultAbility(*fault.kind); !missing.empty())
      return missing;
  }
  const host::Interposition found = host::InterpositionOf();
  if (found.kind == host::Interposition::Kind::kSeccomp) return "";
  if (found.kind == host::Interposition::Kind::kPreload) {
    return DescribeMissingPreload(scenario, found.reason);
  }
  return "replicas cannot be stopped at their system calls: " + found.reason;
}

std::string DescribeMissingGpus(const harness::Scenario& scenario,
                                const app::EmulatorOptions& options) {
  if (scenario.gpus == 0) return "";
  const std::string needs =
      scenario.gpus == 1 ? "it needs a GPU" : "it needs " + std::to_string(scenario.gpus) + " GPUs";
  if (!options.fake_gpus.empty()) return needs + ", and no program can compute on fake GPUs";
  if (options.gpus == app::GpuMode::kCpu) return needs + ", and --gpus cpu gives jobs none";
  const size_t count = CountGpus();
  if (count >= static_cast<size_t>(scenario.gpus)) return "";
  return needs + ", and this host has " + (count == 0 ? "none" : "only " + std::to_string(count));
}

std::string PythonOfPackage(const harness::JobKind& kind, const Json& document,
                            const app::EmulatorOptions& options) {
  const auto module = kind.PythonModuleOf(document);
  if (!module) return "";
  host::InterpreterSearch search = host::DefaultSearch(host::OwnEnvironment());
  search.python = options.python;
  search.installed_runtimes = options.runtime_store;
  search.configured = {options.interpreters.begin(), options.interpreters.end()};
  host::Interpreters interpreters(std::move(search), options.runtimes);
  const auto choice = interpreters.Choose(
      {module->software_version, module->python_version, options.strict_runtime});
  return choice.ok() ? choice->interpreter.path.string() : "";
}

std::string DescribeMissingModules(const harness::Scenario& scenario,
                                   const std::string& package_python) {
  if (scenario.modules.empty()) return "";
  host::Tool tool;
  tool.argv = {package_python.empty() ? PythonOfCommand(scenario) : package_python, "-c",
               kPrintMissingModules};
  tool.argv.insert(tool.argv.end(), scenario.modules.begin(), scenario.modules.end());
  tool.environment = {{"PATH", kReplicaPath}};
  const std::string python = tool.argv.front();
  const auto asked = host::CaptureTool(std::move(tool));
  if (!asked.ok() || !asked->result.ok()) return "'" + python + "' cannot be run";
  const std::string missing(Trim(asked->out));
  return missing.empty() ? "" : "'" + python + "' lacks the modules: " + missing;
}

Status CheckAbilities(const harness::Scenario& scenario, const host::LauncherBundle& replicas) {
  const auto lacks = [&](const std::string& what) {
    return host::errors::LauncherLacks(replicas.name, what);
  };
  if (!replicas.watchable) return lacks("stop replicas at their system calls");
  if (!replicas.disks) return lacks("keep boot disks in directories of this host");
  const bool freezes = std::ranges::any_of(scenario.faults, [](const harness::Fault& fault) {
    return fault.kind->while_until == harness::WhileUntil::kFrozen;
  });
  if (freezes && !replicas.freezable) return lacks("stop a replica in mid-step");
  if (!scenario.members.empty() && !replicas.networks) return errors::ClusterNeedsMachines();
  for (const harness::Fault& fault : scenario.faults) {
    if (NeedsOwnNetwork(fault) && !replicas.networks) {
      return errors::NetworkFaultNeedsMachines(fault.name);
    }
  }
  return Ok{};
}

bool IsFull(const Path& directory) {
  struct statvfs space = {};
  if (::statvfs(directory.c_str(), &space) != 0) return false;
  const bool may_use_reserve = ::geteuid() == 0;
  const uint64_t blocks = may_use_reserve ? space.f_bfree : space.f_bavail;
  return blocks * space.f_frsize < kFullBelowBytes;
}

}  // namespace caip::scenario
