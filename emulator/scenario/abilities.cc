#include "emulator/scenario/abilities.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "emulator/scenario/fake_clocks.h"
#include "host/errors.h"
#include "host/watch/call_source.h"

namespace caip::scenario {
namespace {

// A program that failed for want of room leaves what did not fit into a block or two.
constexpr uint64_t kRoomBytes = 256u << 10;
constexpr size_t kProgramBytesMax = 64u << 20;

std::string LackOfNamed(const std::string& need) {
  if (need != "libfaketime") return "it needs '" + need + "', which caip does not offer";
  return LackOfFakeTime();
}

std::string LackOfKind(const harness::FaultKind& kind) {
  return kind.needs == harness::HostAbility::kFakeClock ? LackOfFakeTime() : "";
}

// Where a word of a command leads, as the replica's own PATH has it.
Path ProgramOf(const harness::Scenario& scenario, const std::string& word) {
  if (word.find('/') != std::string::npos) return scenario.trainer_folder / word;
  std::error_code error;
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    if (std::filesystem::exists(Path(folder) / word, error)) return Path(folder) / word;
  }
  return {};
}

// "#!/usr/bin/env python3" is a program of its interpreter's.
Path InterpreterOf(const harness::Scenario& scenario, const Path& program) {
  const auto text = ReadFileUpTo(program, kProgramBytesMax);
  if (!text.ok() || !text->starts_with("#!")) return program;
  const std::vector<std::string> words =
      Split(std::string(Trim(text->substr(2, text->find('\n') - 2))), ' ');
  const bool is_env = words.size() > 1 && words.front().ends_with("/env");
  return ProgramOf(scenario, is_env ? words[1] : words.front());
}

bool WaitsForTheReplica(const harness::Trigger& trigger) {
  using Kind = harness::Trigger::Kind;
  return trigger.kind == Kind::kLog || trigger.kind == Kind::kStep;
}

// Whether something is to happen at a moment of the replica's own process.
bool HoldsReplicas(const harness::Scenario& scenario) {
  if (scenario.semantics == harness::Semantics::kPosix) return true;
  return std::ranges::any_of(scenario.faults, [](const harness::Fault& fault) {
    return WaitsForTheReplica(fault.when) || (fault.until && WaitsForTheReplica(*fault.until));
  });
}

// A library is loaded into programs that have a loader.
std::string LackOfPreload(const harness::Scenario& scenario, const std::string& reason) {
  if (scenario.command.empty() || !HoldsReplicas(scenario)) return "";
  const Path program = InterpreterOf(scenario, ProgramOf(scenario, scenario.command.front()));
  if (!host::IsStaticProgram(program)) return "";
  return "'" + program.string() +
         "' is linked statically: it can be held at its system calls by the kernel only, and this "
         "one does not (" +
         reason + ")";
}

}  // namespace

std::string LackOf(const harness::Scenario& scenario) {
  for (const std::string& need : scenario.needs) {
    if (std::string lack = LackOfNamed(need); !lack.empty()) return lack;
  }
  for (const harness::Fault& fault : scenario.faults) {
    if (std::string lack = LackOfKind(*fault.kind); !lack.empty()) return lack;
  }
  const host::Interposition found = host::InterpositionOf();
  if (found.kind == host::Interposition::Kind::kSeccomp) return "";
  if (found.kind == host::Interposition::Kind::kPreload) {
    return LackOfPreload(scenario, found.reason);
  }
  return "replicas cannot be held at their system calls: " + found.reason;
}

Status CheckAbilities(const harness::Scenario& scenario, const host::LauncherBundle& replicas) {
  const auto lacks = [&](const std::string& what) {
    return host::errors::LauncherLacks(replicas.name, what);
  };
  if (!replicas.watchable) return lacks("hold replicas at their system calls");
  if (!replicas.disks) return lacks("keep boot disks in directories of this host");
  const bool freezes = std::ranges::any_of(scenario.faults, [](const harness::Fault& fault) {
    return fault.kind->while_until == harness::WhileUntil::kFrozen;
  });
  if (freezes && !replicas.freezable) return lacks("stop a replica in mid-step");
  return Ok{};
}

bool IsFull(const Path& directory) {
  struct statvfs space = {};
  if (::statvfs(directory.c_str(), &space) != 0) return false;
  const uint64_t blocks = ::geteuid() == 0 ? space.f_bfree : space.f_bavail;  // root has a reserve
  return blocks * space.f_frsize < kRoomBytes;
}

}  // namespace caip::scenario
