#include "emulator/cli/commands/client_environment.h"

#include "base/text.h"
#include "emulator/front/front_environment.h"

namespace caip::cli {
namespace {

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

// For gsutil through gcloud, or by itself and then by TLS. Two files, because gsutil hands a
// gs_json_host on to gcloud in a form that gcloud refuses.
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

}  // namespace

Variables ClientVariables(const ClientFacts& facts) {
  const std::string& base = facts.base_url;
  const Path home = facts.state / "gcloud";
  Variables variables = {
      {"CAIP_STATE", facts.state.string()},
      {"CLOUDSDK_CONFIG", home.string()},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", base + "/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", base + "/storage/v1/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", base + "/"},
      {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"},
      {"CLOUDSDK_CORE_PROJECT", facts.project},
      {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
      {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"},
      {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true"},
      {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"},
      {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", "1"},
      {"BOTO_CONFIG", (home / "boto").string()},
      {"STORAGE_EMULATOR_HOST", base},
      {"CLOUD_STORAGE_EMULATOR_ENDPOINT", base},
      {"CLOUD_STORAGE_TESTBENCH_ENDPOINT", base},
      {"TENSORSTORE_GCS_HTTP_URL", base},
      {"FSSPEC_GCS_ENDPOINT_URL", base},
      {"FSSPEC_GCS_TOKEN", "anon"},
      {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"},  // it would ask by gRPC, for 60 s each time
      {"GOOGLE_CLOUD_PROJECT", facts.project},
  };
  front::HttpsFront https{base, BundleOf(facts.state).string(), {}};
  for (const std::string& host : Split(facts.no_proxy, ',')) {
    if (!Trim(host).empty()) https.direct.emplace_back(Trim(host));
  }
  const auto front =
      front::RenderFrontEnvironment({AddressOf(base), "caip", facts.tls ? &https : nullptr});
  variables.insert(variables.end(), front.begin(), front.end());
  return variables;
}

Status WriteClientFiles(const ClientFacts& facts) {
  const Path home = facts.state / "gcloud";
  RETURN_IF_ERROR(MakeDirectories(home));
  // gcloud asks for the metadata server once in a fresh configuration, unless told not to.
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

}  // namespace caip::cli
