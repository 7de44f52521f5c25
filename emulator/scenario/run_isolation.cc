#include "emulator/scenario/run_isolation.h"

#include <sys/stat.h>

#include <map>
#include <mutex>

#include "emulator/app/replica_host.h"
#include "host/machine/machines.h"
#include "host/process/launcher_link.h"
#include "host/watch/call_source.h"

namespace caip::scenario {
namespace {

using app::Isolation;

std::string TryMachineBelow(const Path& directory) {
  const host::Interposition found = host::InterpositionOf();
  if (found.kind == host::Interposition::Kind::kNone) {
    return "their calls cannot be held: " + found.reason;
  }
  return host::TryMachine(host::OwnLauncher(), directory / "trial").value_or("");
}

}  // namespace

std::string WhyNoMachinesBelow(const Path& directory) {
  static std::mutex mutex;
  static std::map<dev_t, std::string> tried;  // by file system
  struct stat place {};
  if (::stat(directory.c_str(), &place) != 0) return "'" + directory.string() + "' does not exist";
  const std::lock_guard lock(mutex);
  const auto [answer, is_new] = tried.try_emplace(place.st_dev);
  if (is_new) {
    answer->second = TryMachineBelow(directory);
    RemoveTree(directory / "trial");
  }
  return answer->second;
}

Isolation IsolationOf(const app::EmulatorOptions& options, const Path& directory) {
  if (options.isolation != Isolation::kByHost) return options.isolation;
  if (options.addressing == app::Addressing::kPorts) return Isolation::kProcess;
  return WhyNoMachinesBelow(directory).empty() ? Isolation::kMachine : Isolation::kProcess;
}

std::string IsolationNote(const app::EmulatorFlags& command, const Path& workshop) {
  const auto options = app::ReadOptions(command, app::StateDirectory(command));
  if (!options.ok() || options->isolation != Isolation::kByHost) return "";
  if (options->addressing == app::Addressing::kPorts) return "";
  const std::string why_not = WhyNoMachinesBelow(workshop);
  return why_not.empty() ? "" : app::NoMachinesNote(why_not);
}

}  // namespace caip::scenario
