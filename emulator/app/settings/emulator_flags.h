#pragma once
// The flags that configure the emulator itself, unparsed. `settings_table.h` defines their meaning,
// so that a config file and the command line go through the same checks.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "host/machine/addresses.h"

namespace caip::app {

/// The emulator listens here unless a setting names another address. Only programs of this host
/// reach it.
inline constexpr std::string_view kDefaultAddress = host::kLoopbackAddress;

/// Flags that gcloud does not have. Accepted by `serve` and by every command that may start an
/// emulator.
struct EmulatorFlags {
  std::optional<std::string> state;   // --state DIR
  std::optional<std::string> config;  // --emulator-config FILE
  /// The values of the given flags, by the key of the setting. The value of a switch is "true".
  std::map<std::string, std::vector<std::string>, std::less<>> settings = {};

  bool Has(std::string_view key) const { return settings.find(key) != settings.end(); }
  bool operator==(const EmulatorFlags&) const = default;
};

/// The value of a variable of this process's environment; "" if it is not set.
std::string OwnVariable(const char* name);

/// --state, else $CAIP_STATE, else $XDG_STATE_HOME/caip, else ~/.local/state/caip.
Path StateDirectory(const EmulatorFlags& flags);

}  // namespace caip::app
