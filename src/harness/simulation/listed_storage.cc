#include "harness/simulation/listed_storage.h"

namespace caip::harness {

ml::Job AJob(const std::string& id, int workers, int servers) {
  ml::Job job;
  job.job_id = id;
  ml::TrainingInput& input = job.training_input.emplace();
  input.scale_tier = "CUSTOM";
  input.master.machine_type = "n1-standard-4";
  if (workers > 0) input.worker = {"n1-standard-4", {}, workers};
  if (servers > 0) input.parameter_server = {"n1-standard-4", {}, servers};
  input.package_uris = {"gs://bucket/trainer-0.1.tar.gz"};
  input.python_module = "trainer.task";
  input.args = {"--epochs", "2"};
  input.region = "us-central1";
  input.job_dir = "gs://bucket/out";
  input.runtime_version = "2.11";
  input.python_version = "3.7";
  return job;
}

}  // namespace caip::harness
