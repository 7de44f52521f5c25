#include "emulator/app/settings/part_options.h"

#include <optional>
#include <thread>

#include "emulator/api/ml/ml_routes.h"
#include "emulator/app/listener.h"
#include "google/gcs_uri.h"
#include "host/process/child_process.h"

namespace caip::app {

std::string ServiceAccountOf(const EmulatorOptions& options) {
  return options.service_account.empty() ? api::ManagedServiceAccount(options.project_number)
                                         : options.service_account;
}

metadata::Machine HostMachine(const EmulatorOptions& options, Instant now) {
  const auto own = host::OwnEnvironment();
  metadata::Machine machine;
  machine.project_id = ProjectOf(own);
  machine.project_number = options.project_number;
  machine.instance_id = 1;
  machine.name = "caip";
  machine.hostname = "caip.c." + machine.project_id + ".internal";
  machine.zone = "us-central1-b";
  machine.machine_type = "n1-standard-4";
  machine.created = now;
  machine.service_account = ServiceAccountOf(options);
  return machine;
}

front::MetadataOptions MetadataSettings(const EmulatorOptions& options, const Path& bundle) {
  front::MetadataOptions settings;
  settings.project_number = options.project_number;
  settings.service_account = ServiceAccountOf(options);
  if (options.gs_front == GsFront::kProxy) {
    settings.https = front::HttpsFront{"", bundle.string(), DirectHosts(host::OwnEnvironment())};
  }
  if (options.isolation == Isolation::kMachine) {
    settings.network.emplace();
    if (settings.https) {
      settings.network->names = NamesOfHostsFile();
      settings.network->covered = http::SystemBundles();
    }
  }
  return settings;
}

// If the buckets cannot be listed, replicas still reach them by the names of the service.
std::vector<std::string> NamesOfBuckets(const gcs::DirectoryStore& buckets) {
  std::vector<std::string> names;
  const auto listed = buckets.ListBuckets();
  if (!listed.ok()) return names;
  for (const gcs::Bucket& bucket : *listed) {
    names.push_back(bucket.name + ".storage.googleapis.com");
  }
  return names;
}

engine::EngineOptions EngineSettings(const EmulatorOptions& options, const std::string& base_url,
                                     const gcs::DirectoryStore& buckets) {
  engine::EngineOptions settings;
  settings.rules.seed = options.seed;
  settings.rules.queue_delay = options.queue_delay;
  settings.rules.provisioning_delay = options.provision_delay;
  settings.rules.vm_restart_delay = options.restart_delay;
  settings.rules.failing_restart = options.failing_restart;
  settings.rules.grace = options.grace;
  settings.rules.launch.host.endpoint = base_url;
  settings.rules.launch.host.cpus = static_cast<int>(std::thread::hardware_concurrency());
  if (options.storage_view == StorageView::kPath) {
    settings.rules.launch.storage_view = [&buckets](const std::string& uri) {
      const auto place = google::ParseGcsUri(uri);
      return place.ok() ? buckets.PathOf(place->bucket, place->object).string() : uri;
    };
  }
  settings.jobs_max = options.jobs_max;
  return settings;
}

ml::TrainingApiOptions TrainingSettings(const EmulatorOptions& options) {
  ml::TrainingApiOptions settings;
  settings.validation.extra_regions = options.extra_regions;
  settings.service_account = ServiceAccountOf(options);
  settings.project_number = options.project_number;
  return settings;
}

vertex::TrainingApiOptions VertexTrainingSettings(const EmulatorOptions& options) {
  vertex::TrainingApiOptions settings;
  settings.validation.extra_regions = options.extra_regions;
  settings.validation.persistent_resources = options.persistent_resources;
  settings.validation.nfs_exports = options.nfs_exports;
  settings.service_account = ServiceAccountOf(options);
  settings.project_number = options.project_number;
  return settings;
}

std::string ProjectOf(const Variables& own) {
  return host::FindVariable(own, "CLOUDSDK_CORE_PROJECT")
      .value_or(host::FindVariable(own, "GOOGLE_CLOUD_PROJECT").value_or("demo-project"));
}

host::CompanionOptions CompanionsOf(const EmulatorOptions& options, const Variables& own) {
  host::CompanionOptions companions;
  companions.state = options.state;
  companions.names = options.companions;
  if (!options.cloud_sdk.empty()) companions.search.sdk_root = options.cloud_sdk;
  companions.search.path = host::FindVariable(own, "PATH").value_or("");
  companions.search.home = host::FindVariable(own, "HOME").value_or("");
  companions.project = ProjectOf(own);
  for (const char* name : {"PATH", "JAVA_HOME", "JAVA", "LANG", "TZ", "TMPDIR"}) {
    if (const auto value = host::FindVariable(own, name))
      companions.environment.emplace_back(name, *value);
  }
  return companions;
}

}  // namespace caip::app
