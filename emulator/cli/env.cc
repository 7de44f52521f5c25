// `caip env`: the variables that point Google's clients at the emulator (clients.md, section 1).

#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/commands.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/gcloud_properties.h"

namespace caip::cli {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

Variables VariablesFor(const std::string& base, const std::string& project, const Path& state) {
  return {
      {"CAIP_STATE", state.string()},
      {"CLOUDSDK_CONFIG", (state / "gcloud").string()},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", base + "/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", base + "/storage/v1/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", base + "/"},
      {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"},
      {"CLOUDSDK_CORE_PROJECT", project},
      {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
      {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"},
      {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true"},
      {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"},
      {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", "1"},
      {"STORAGE_EMULATOR_HOST", base},
      {"CLOUD_STORAGE_EMULATOR_ENDPOINT", base},
      {"GOOGLE_CLOUD_PROJECT", project},
  };
}

// gcloud asks for the metadata server once in a fresh configuration, unless this file says not to.
Status MakeGcloudConfiguration(const Path& state) {
  RETURN_IF_ERROR(MakeDirectories(state / "gcloud"));
  return WriteFile(state / "gcloud/gce", "False");
}

std::string Rendered(const Variables& variables, const std::string& format) {
  std::string text;
  if (format == "json") {
    Json object = Json::object();
    for (const auto& [name, value] : variables) object[name] = value;
    return PrettyJson(object) + "\n";
  }
  for (const auto& [name, value] : variables) {
    text += format == "dotenv" ? name + "=" + value + "\n"
                               : "export " + name + "=" + ShellQuoted(value) + "\n";
  }
  if (format != "dotenv") text += "# eval \"$(caip env)\" sets these in a shell.\n";
  return text;
}

}  // namespace

int RunEnv(const EnvCommand& command, const Surroundings& world) {
  const std::string format = command.gcloud.format.value_or("shell");
  if (format != "shell" && format != "dotenv" && format != "json") {
    world.io.err("ERROR: (caip.env) argument --format: '" + format +
                 "' is none of shell, dotenv, json.\n");
    return kExitUsage;
  }
  auto connection = world.connect(command.emulator, Lifetime::kBackground);
  if (!connection.ok()) {
    world.io.err("ERROR: (caip.env) " + connection.error().message + "\n");
    return kExitFailure;
  }
  const Path state = StateDirectory(command.emulator);
  if (const Status made = MakeGcloudConfiguration(state); !made.ok()) {
    world.io.err("ERROR: (caip.env) " + made.error().message + "\n");
    return kExitFailure;
  }
  const auto project = ProjectOf(command.gcloud);
  world.io.out(Rendered(
      VariablesFor((*connection)->base_url(), project.ok() ? *project : "demo-project", state),
      format));
  return kExitSuccess;
}

}  // namespace caip::cli
