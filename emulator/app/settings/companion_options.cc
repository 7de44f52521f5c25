#include "emulator/app/settings/companion_options.h"

#include <optional>

namespace caip::app {
namespace {

std::optional<std::string> Find(const Variables& variables, std::string_view name) {
  for (const auto& [variable, value] : variables) {
    if (variable == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string ProjectOf(const Variables& own) {
  return Find(own, "CLOUDSDK_CORE_PROJECT")
      .value_or(Find(own, "GOOGLE_CLOUD_PROJECT").value_or("demo-project"));
}

host::CompanionOptions CompanionsOf(const EmulatorOptions& options, const Variables& own) {
  host::CompanionOptions companions;
  companions.state = options.state;
  companions.names = options.companions;
  if (!options.cloud_sdk.empty()) companions.search.sdk_root = options.cloud_sdk;
  companions.search.path = Find(own, "PATH").value_or("");
  companions.search.home = Find(own, "HOME").value_or("");
  companions.project = ProjectOf(own);
  for (const char* name : {"PATH", "JAVA_HOME", "JAVA", "LANG", "TZ", "TMPDIR"}) {
    if (const auto value = Find(own, name)) companions.environment.emplace_back(name, *value);
  }
  return companions;
}

}  // namespace caip::app
