#include "google/client_variables.h"

namespace caip::google {

Variables StorageVariables(const std::string& endpoint) {
  return {
      {"STORAGE_EMULATOR_HOST", endpoint},
      {"CLOUD_STORAGE_EMULATOR_ENDPOINT", endpoint},
      {"CLOUD_STORAGE_TESTBENCH_ENDPOINT", endpoint},  // its older name
      {"TENSORSTORE_GCS_HTTP_URL", endpoint},
      {"FSSPEC_GCS_ENDPOINT_URL", endpoint},
      {"FSSPEC_GCS_TOKEN", "anon"},
      // Else gcsfs asks for the kind of each bucket by gRPC first, for 60 s each time.
      {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false"},
  };
}

Variables GcloudVariables(const std::string& endpoint, const std::string& config_directory,
                          const std::string& project) {
  Variables variables;
  if (!config_directory.empty()) variables.emplace_back("CLOUDSDK_CONFIG", config_directory);
  const Variables others = {
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML", endpoint + "/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", endpoint + "/storage/v1/"},
      {"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING", endpoint + "/"},
      {"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true"},
      {"CLOUDSDK_CORE_PROJECT", project},
      {"CLOUDSDK_CORE_DISABLE_PROMPTS", "1"},
      {"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING", "true"},
      {"CLOUDSDK_SURVEY_DISABLE_PROMPTS", "true"},
      {"CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK", "true"},
      {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", "1"},
  };
  variables.insert(variables.end(), others.begin(), others.end());
  return variables;
}

}  // namespace caip::google
