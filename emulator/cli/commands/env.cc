// `caip env`: the variables that point Google's clients at the emulator (docs/service/clients.md,
// section 1).

#include "emulator/cli/commands/env.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "client/gcloud_properties.h"
#include "emulator/app/settings/emulator_flags.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/output.h"
#include "emulator/front/front_environment.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

ClientFacts FactsOf(const EnvCommand& command, std::string base_url) {
  ClientFacts facts;
  facts.base_url = std::move(base_url);
  facts.project =
      client::ProjectOf(command.gcloud).ok() ? *client::ProjectOf(command.gcloud) : "demo-project";
  facts.state = app::StateDirectory(command.emulator);
  facts.tls = command.tls;
  facts.no_proxy = app::OwnVariable("no_proxy");
  if (facts.no_proxy.empty()) facts.no_proxy = app::OwnVariable("NO_PROXY");
  return facts;
}

std::vector<std::string> RegionNames() {
  std::vector<std::string> names;
  for (const ml::Region& region : ml::DefaultCatalog().regions()) names.push_back(region.name);
  return names;
}

constexpr std::string_view kLocalName = "ml.local";

// "http://127.0.0.1:2247" -> "127.0.0.1:2247".
std::string AddressOf(const std::string& base_url) {
  const size_t scheme = base_url.find("://");
  return scheme == std::string::npos ? base_url : base_url.substr(scheme + 3);
}

std::string HostOf(const std::string& base_url) {
  const std::string address = AddressOf(base_url);
  return address.substr(0, address.rfind(':'));
}

std::string PortOf(const std::string& base_url) {
  const std::string address = AddressOf(base_url);
  return address.substr(address.rfind(':') + 1);
}

Path BundleOf(const Path& state) { return state / "ca/bundle.pem"; }

// Leads the clients to the host, with the emulator's token.
Status AddRemote(client::Connection& emulator, const std::string& host, ClientFacts& facts) {
  ASSIGN_OR_RETURN(const auto response, emulator.Send({.target = "/emulator/v1/token"}));
  ASSIGN_OR_RETURN(const Json body, ParseJson(response.body));
  facts.token = StringOr(body, "token");
  if (facts.token.empty()) return errors::NoToken(response.status);
  facts.base_url = "http://" + host + ":" + PortOf(facts.base_url);
  return Ok{};
}

// "http://caip:TOKEN@10.0.0.7:2247".
std::string UrlWithToken(const ClientFacts& facts) {
  if (facts.token.empty()) return facts.base_url;
  return "http://caip:" + PercentEncoded(facts.token) + "@" + AddressOf(facts.base_url);
}

// gcloud refuses URLs with a password, and reads a token only from a file. But it can send a
// password to a proxy, which is the emulator itself.
std::string GcloudUrl(const ClientFacts& facts) {
  return facts.token.empty() ? facts.base_url : "http://localhost:" + PortOf(facts.base_url);
}

// Variables that name files of the state directory, and addresses that a token cannot reach.
void AddLocal(const ClientFacts& facts, Variables& variables) {
  const Path home = facts.state / "gcloud";
  variables.emplace_back("CAIP_STATE", facts.state.string());
  variables.emplace_back("CLOUDSDK_CONFIG", home.string());
  variables.emplace_back("BOTO_CONFIG", (home / "boto").string());
  front::HttpsFront https{facts.base_url, BundleOf(facts.state).string(), {}};
  for (const std::string& host : Split(facts.no_proxy, ',')) {
    if (!Trim(host).empty()) https.direct.emplace_back(Trim(host));
  }
  const auto front = front::RenderFrontEnvironment(
      {AddressOf(facts.base_url), "caip", facts.tls ? &https : nullptr});
  variables.insert(variables.end(), front.begin(), front.end());
  for (const auto& variable : front::RenderGrpcEnvironment(https)) {
    const auto has_its_name = [&](const auto& known) { return known.first == variable.first; };
    if (std::none_of(front.begin(), front.end(), has_its_name)) variables.push_back(variable);
  }
}

// The boto file for gsutil through gcloud, or for gsutil alone, which then uses TLS. There are two
// files, because gsutil passes gs_json_host to gcloud in a form that gcloud rejects.
std::string BotoText(const ClientFacts& facts, bool through_gcloud) {
  const std::string credentials = "[Credentials]\ngs_json_host = " + HostOf(facts.base_url) +
                                  "\ngs_json_port = " + PortOf(facts.base_url) + "\n\n";
  return "# Made by `caip env`.\n" + (through_gcloud ? "" : credentials) +
         "[Boto]\nhttps_validate_certificates = True\nca_certificates_file = " +
         BundleOf(facts.state).string() +
         "\n\n[GSUtil]\nuse_gcloud_storage = " + (through_gcloud ? "True" : "False") +
         "\nsoftware_update_check_period = 0\ndisable_analytics_prompt = True\n"
         "default_api_version = 2\ndefault_project_id = " +
         facts.project + "\nstate_dir = " + (facts.state / "gcloud/gsutil").string() + "\n";
}

// Quotes a value that could be misread, in the form that all readers of dotenv files accept.
std::string DotenvValue(const std::string& value) {
  if (value.find_first_of(" \t\"'#$\\`") == std::string::npos) return value;
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') quoted += '\\';
    quoted += c;
  }
  return "\"" + quoted + "\"";
}

std::string PowershellQuoted(const std::string& value) {
  return "'" + ReplaceAll(value, "'", "''") + "'";
}

// `eval "$(caip env)"` ignores the exit code of caip, so the lines themselves fail.
int FailEnv(const EnvCommand& command, VariablesFormat format, const Error& error, const Io& io) {
  if (format == VariablesFormat::kShell && !command.hosts) io.out("false\n");
  return Fail(io, "env", error);
}

}  // namespace

int RunEnv(const EnvCommand& command, const Surroundings& world) {
  const std::string name = command.gcloud.format.value_or("shell");
  const auto format = VariablesFormatNamed(name);
  if (!format) {
    const Error error = errors::NoSuchChoice(name, VariablesFormatNames());
    return Fail(world.io, "env", "argument --format: " + error.message, kExitUsage);
  }
  if (command.unset) {  // needs no emulator
    ClientFacts facts = FactsOf(command, "http://127.0.0.1:0");
    facts.tls = true;  // includes everything that may have been set
    Variables variables = ClientVariables(facts);
    facts.token = "none";
    for (const auto& variable : ClientVariables(facts)) {
      const bool is_known = std::any_of(variables.begin(), variables.end(), [&](const auto& known) {
        return known.first == variable.first;
      });
      if (!is_known) variables.push_back(variable);
    }
    world.io.out(UnsetText(variables, *format));
    return kExitSuccess;
  }
  const auto connection = world.connect(command.emulator, app::Lifetime::kBackground);
  if (!connection.ok()) return FailEnv(command, *format, connection.error(), world.io);
  ClientFacts facts = FactsOf(command, (*connection)->base_url());
  if (command.remote) {
    const Status known = AddRemote(**connection, *command.remote, facts);
    if (!known.ok()) return FailEnv(command, *format, known.error(), world.io);
    world.io.out(SetText(ClientVariables(facts), *format));
    return kExitSuccess;
  }
  if (command.hosts) {
    world.io.out(HostsLines(facts, RegionNames()));
    return kExitSuccess;
  }
  const Status written = WriteClientFiles(facts);
  if (!written.ok()) return FailEnv(command, *format, written.error(), world.io);
  world.io.out(SetText(ClientVariables(facts), *format));
  return kExitSuccess;
}

Variables ClientVariables(const ClientFacts& facts) {
  const std::string base = UrlWithToken(facts);
  const std::string for_gcloud = GcloudUrl(facts);
  Variables variables = {
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", for_gcloud + "/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM", for_gcloud + "/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", for_gcloud + "/storage/v1/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", for_gcloud + "/"},
      {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"},
      {"CLOUDSDK_CORE_PROJECT", facts.project},
      {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
      {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"},
      {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true"},
      {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"},
      {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", "1"},
      {"STORAGE_EMULATOR_HOST", base},
      {"CLOUD_STORAGE_EMULATOR_ENDPOINT", base},
      {"CLOUD_STORAGE_TESTBENCH_ENDPOINT", base},
      {"TENSORSTORE_GCS_HTTP_URL", base},
      {"FSSPEC_GCS_ENDPOINT_URL", base},
      {"FSSPEC_GCS_TOKEN", "anon"},
      {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT",
       "false"},  // it would use gRPC, which fails after 60 s each time
      {"GOOGLE_CLOUD_PROJECT", facts.project},
  };
  if (facts.token.empty()) {
    AddLocal(facts, variables);
  } else {
    variables.emplace_back("CAIP_ENDPOINT", base);
    variables.emplace_back("GOOGLE_AUTH_TOKEN_FOR_TESTING", facts.token);
    variables.emplace_back("CLOUDSDK_PROXY_TYPE", "http");
    variables.emplace_back("CLOUDSDK_PROXY_ADDRESS", HostOf(facts.base_url));
    variables.emplace_back("CLOUDSDK_PROXY_PORT", PortOf(facts.base_url));
    variables.emplace_back("CLOUDSDK_PROXY_USERNAME", "caip");
    variables.emplace_back("CLOUDSDK_PROXY_PASSWORD", facts.token);
  }
  return variables;
}

Status WriteClientFiles(const ClientFacts& facts) {
  const Path home = facts.state / "gcloud";
  RETURN_IF_ERROR(MakeDirectories(home));
  // Without this file, gcloud looks for the metadata server when its configuration is new.
  RETURN_IF_ERROR(WriteFile(home / "gce", "False"));
  RETURN_IF_ERROR(WriteFile(home / "boto", BotoText(facts, true)));
  return WriteFile(home / "boto-tls", BotoText(facts, false));
}

std::string HostsLines(const ClientFacts& facts, const std::vector<std::string>& regions) {
  const std::string name(kLocalName);
  std::string text =
      "# caip: gcloud puts REGION- before the name of the ml endpoint. Start it as\n"
      "#   caip serve --allow-host " +
      name + " --allow-host '*-" + name +
      "'\n# and beside `caip env` set\n"
      "#   export CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=http://" +
      name + ":" + PortOf(facts.base_url) + "/\n";
  text += HostOf(facts.base_url) + " " + name + "\n";
  for (const std::string& region : regions) {
    text += HostOf(facts.base_url) + " " + region + "-" + name + "\n";
  }
  return text;
}

const std::vector<std::string>& VariablesFormatNames() {
  static const std::vector<std::string> names = {"shell", "dotenv", "json", "github", "powershell"};
  return names;
}

std::optional<VariablesFormat> VariablesFormatNamed(std::string_view name) {
  const auto& names = VariablesFormatNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<VariablesFormat>(found - names.begin());
}

std::string SetText(const Variables& variables, VariablesFormat format) {
  std::string text;
  Json object = Json::object();
  for (const auto& [name, value] : variables) {
    switch (format) {
      case VariablesFormat::kShell:
        text += "export " + name + "=" + ShellQuoted(value) + "\n";
        break;
      case VariablesFormat::kDotenv:
        text += name + "=" + DotenvValue(value) + "\n";
        break;
      case VariablesFormat::kJson:
        object[name] = value;
        break;
      case VariablesFormat::kGithub:
        text += name + "=" + value + "\n";
        break;
      case VariablesFormat::kPowershell:
        text += "$env:" + name + " = " + PowershellQuoted(value) + "\n";
        break;
    }
  }
  if (format == VariablesFormat::kJson) return PrettyJson(object) + "\n";
  if (format == VariablesFormat::kShell) text += "# eval \"$(caip env)\" sets these in a shell.\n";
  return text;
}

std::string UnsetText(const Variables& variables, VariablesFormat format) {
  std::string text;
  Json object = Json::object();
  for (const auto& [name, value] : variables) {
    switch (format) {
      case VariablesFormat::kShell:
        text += "unset " + name + "\n";
        break;
      case VariablesFormat::kDotenv:
      case VariablesFormat::kGithub:
        text += name + "=\n";
        break;
      case VariablesFormat::kJson:
        object[name] = nullptr;
        break;
      case VariablesFormat::kPowershell:
        text += "Remove-Item -ErrorAction Ignore Env:" + name + "\n";
        break;
    }
  }
  return format == VariablesFormat::kJson ? PrettyJson(object) + "\n" : text;
}

}  // namespace caip::cli
