#include "harness/simulation/fake_resources.h"

namespace caip::harness {

using engine::DeviceAnswer;
using engine::RunKey;

DeviceAnswer CountedDevices::Bind(const RunKey& run, const std::vector<run::ReplicaId>& replicas,
                                  const std::vector<engine::DeviceRequest>& requests) {
  std::map<std::string, int64_t> wanted;
  for (const engine::DeviceRequest& request : requests) wanted[request.type] += request.count;
  for (const auto& [type, count] : wanted) {
    if (Free(type) >= count) continue;
    if (!never) return {DeviceAnswer::Kind::kWait, {}, {}, ""};
    return {DeviceAnswer::Kind::kNever,
            {},
            {},
            "There are not " + std::to_string(count) + " of " + type + "."};
  }
  lent_[run] = wanted;
  DeviceAnswer answer;
  for (const run::ReplicaId& replica : replicas) {
    answer.replicas.emplace_back(replica, engine::LentDevices{{{"CUDA_VISIBLE_DEVICES", ""}}});
  }
  return answer;
}

int64_t CountedDevices::Free(const std::string& type) const {
  const auto found = stock.find(type);
  int64_t free = found == stock.end() ? 0 : found->second;
  for (const auto& [run, counts] : lent_) {
    if (const auto used = counts.find(type); used != counts.end()) free -= used->second;
  }
  return free;
}

Result<std::vector<std::string>> NumberedAddresses::Lend(const RunKey& run, size_t count,
                                                         const std::vector<std::string>& kept) {
  std::vector<std::string> addresses = kept;
  for (const std::string& address : kept) {
    if (in_use_.contains(address)) addresses.clear();
  }
  while (addresses.size() < count) {
    ++last_;
    addresses.push_back("127." + std::to_string(last_ >> 16 & 255) + "." +
                        std::to_string(last_ >> 8 & 255) + "." + std::to_string(last_ & 255) +
                        ":2222");
  }
  in_use_.insert(addresses.begin(), addresses.end());
  lent_[run] = addresses;
  return addresses;
}

void NumberedAddresses::Release(const RunKey& run) {
  const auto found = lent_.find(run);
  if (found == lent_.end()) return;
  for (const std::string& address : found->second) in_use_.erase(address);
  lent_.erase(found);
}

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
