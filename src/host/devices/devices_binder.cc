#include "host/devices/devices_binder.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/devices/device_errors.h"

namespace caip::host {
namespace {

using engine::DeviceAnswer;
using engine::DeviceRequest;
using engine::Environment;

constexpr const char* kTpuClaim = "tpu";

bool IsTpu(const DeviceRequest& request) { return request.type.starts_with("TPU_"); }

// "3 NVIDIA_TESLA_T4 and 1 NVIDIA_TESLA_V100"
std::string AskedInWords(const std::vector<DeviceRequest>& requests) {
  std::map<std::string, int64_t> by_type;
  for (const DeviceRequest& request : requests) by_type[request.type] += request.count;
  std::vector<std::string> words;
  for (const auto& [type, count] : by_type) words.push_back(std::to_string(count) + " " + type);
  return Join(words, " and ");
}

int64_t Total(const std::vector<DeviceRequest>& requests) {
  return std::accumulate(
      requests.begin(), requests.end(), int64_t{0},
      [](int64_t sum, const DeviceRequest& request) { return sum + request.count; });
}

void Append(const engine::LentDevices& more, engine::LentDevices& lent) {
  lent.environment.insert(lent.environment.end(), more.environment.begin(), more.environment.end());
  lent.nodes.insert(lent.nodes.end(), more.nodes.begin(), more.nodes.end());
}

// The chip bounds that libtpu reads: 1 chip is 1x1x1, 4 chips are a 2x2x1 board, 8 chips are two
// boards.
std::string ChipBounds(size_t chips) {
  if (chips == 4) return "2,2,1";
  if (chips == 8) return "2,4,1";
  return std::to_string(chips) + ",1,1";
}

// `chips`: that the replica gets; 0: the variables only.
std::string WarningOfTpu(const DeviceRequest& request, size_t chips, bool is_fake) {
  if (chips == 0) return errors::NoTpu(request.type, request.count);
  const auto given = static_cast<int64_t>(chips);
  return is_fake ? errors::FakeTpu(request.type, request.count, given)
                 : errors::OtherTpu(request.type, request.count, given);
}

}  // namespace

DeviceBinderOnHost::DeviceBinderOnHost(DeviceMode mode, ReadDevices read)
    : mode_(mode), read_(std::move(read)) {}

const DeviceInventory& DeviceBinderOnHost::Inventory() {
  std::call_once(read_once_, [this] {
    inventory_ = read_();
    lent_.assign(inventory_.gpus.size(), 0);
  });
  return inventory_;
}

DeviceMode DeviceBinderOnHost::ModeNow() {
  if (mode_ != DeviceMode::kByHost) return mode_;
  return Inventory().gpus.empty() ? DeviceMode::kCpu : DeviceMode::kQueue;
}

// Takes all requested GPUs or none. The first round takes GPUs of the requested types for all
// replicas, the second round takes any GPUs.
bool DeviceBinderOnHost::TakeExclusively(const std::vector<DeviceRequest>& requests,
                                         Granted& granted, Loan& loan) {
  std::vector<HostClaim> claims;
  std::set<size_t> taken;
  for (const bool any_type : {false, true}) {
    for (const DeviceRequest& request : requests) {
      std::vector<size_t>& own = granted[request.replica];
      for (size_t i = 0; i < inventory_.gpus.size(); ++i) {
        if (static_cast<int64_t>(own.size()) == request.count) break;
        const Gpu& gpu = inventory_.gpus[i];
        if (lent_[i] > 0 || taken.count(i) || (!any_type && gpu.type != request.type)) continue;
        if (!inventory_.gpus_are_fake) {
          auto claim = HostClaim::Take("gpu/" + gpu.uuid);
          if (!claim) continue;  // another emulator has lent it to a replica
          claims.push_back(std::move(*claim));
        }
        taken.insert(i);
        own.push_back(i);
      }
    }
  }
  for (const DeviceRequest& request : requests) {
    if (static_cast<int64_t>(granted[request.replica].size()) < request.count) return false;
  }
  loan.gpus.assign(taken.begin(), taken.end());
  loan.claims = std::move(claims);
  return true;
}

// Prefers GPUs of the requested type, then the least used ones. A replica never gets the same GPU
// twice.
void DeviceBinderOnHost::TakeShared(const std::vector<DeviceRequest>& requests, Granted& granted,
                                    Loan& loan, std::vector<std::string>& warnings) {
  std::vector<int> held = lent_;
  for (const DeviceRequest& request : requests) {
    std::vector<size_t> order(inventory_.gpus.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto rank = [&](size_t i) {
        return std::pair(inventory_.gpus[i].type != request.type, held[i]);
      };
      return rank(a) < rank(b);
    });
    const size_t count = std::min(order.size(), static_cast<size_t>(request.count));
    order.resize(count);
    const std::string task = run::Name(request.replica);
    if (static_cast<int64_t>(count) < request.count) {
      warnings.push_back(
          errors::FewerGpus(task, request.count, request.type, static_cast<int64_t>(count)));
    }
    if (std::any_of(order.begin(), order.end(), [&](size_t i) { return held[i] > 0; })) {
      warnings.push_back(errors::GpusShared(task, static_cast<int64_t>(count)));
    }
    for (const size_t i : order) ++held[i];
    loan.gpus.insert(loan.gpus.end(), order.begin(), order.end());
    granted[request.replica] = std::move(order);
  }
}

// Takes the TPU of this host, or only sets the variables of a TPU if the host has none. False if
// the TPU is in use.
bool DeviceBinderOnHost::TakeTpu(const DeviceRequest& request, engine::LentDevices& lent,
                                 Loan& loan, std::vector<std::string>& warnings) {
  const bool is_present = !inventory_.tpu_chips.empty() && mode_ != DeviceMode::kCpu;
  if (is_present && mode_ != DeviceMode::kShare) {
    if (tpu_holder_) return false;
    if (!inventory_.tpu_is_fake) {
      auto claim = HostClaim::Take(kTpuClaim);
      if (!claim) return false;
      loan.claims.push_back(std::move(*claim));
    }
  }
  const size_t chips = is_present ? inventory_.tpu_chips.size() : 1;
  warnings.push_back(WarningOfTpu(request, is_present ? chips : 0, inventory_.tpu_is_fake));
  std::vector<std::string> visible;
  for (size_t i = 0; i < chips; ++i) visible.push_back(std::to_string(i));
  lent.environment = {{"TPU_VISIBLE_CHIPS", Join(visible, ",")},
                      {"TPU_CHIPS_PER_PROCESS_BOUNDS", ChipBounds(chips)},
                      {"TPU_PROCESS_BOUNDS", "1,1,1"}};
  if (is_present) lent.nodes = inventory_.tpu_nodes;
  return true;
}

void DeviceBinderOnHost::WarnOfOtherTypes(const std::vector<DeviceRequest>& requests,
                                          const Granted& granted,
                                          std::vector<std::string>& warnings) {
  for (const DeviceRequest& request : requests) {
    std::map<std::string, int> others;
    for (const size_t i : granted.at(request.replica)) {
      const Gpu& gpu = inventory_.gpus[i];
      if (gpu.type != request.type) ++others[gpu.name];
    }
    std::vector<std::string> words;
    for (const auto& [name, count] : others) words.push_back(std::to_string(count) + " " + name);
    if (words.empty()) continue;
    warnings.push_back(errors::OtherGpu(run::Name(request.replica), request.count, request.type,
                                        Join(words, " and ")));
  }
}

engine::LentDevices DeviceBinderOnHost::Lent(const std::vector<size_t>& gpus) const {
  std::vector<std::string> uuids;
  for (const size_t i : gpus) uuids.push_back(inventory_.gpus[i].uuid);
  const std::string list = Join(uuids, ",");  // an empty list hides all GPUs
  engine::LentDevices lent = {{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                               {"CUDA_VISIBLE_DEVICES", list},
                               {"NVIDIA_VISIBLE_DEVICES", list}}};
  if (gpus.empty()) return lent;
  lent.nodes = inventory_.gpu_control_nodes;
  for (const size_t i : gpus) {
    for (const engine::DeviceNode& node : inventory_.gpus[i].nodes) {
      // instances of one GPU share its file
      const bool is_lent =
          std::find(lent.nodes.begin(), lent.nodes.end(), node) != lent.nodes.end();
      if (!is_lent) lent.nodes.push_back(node);
    }
  }
  return lent;
}

DeviceAnswer DeviceBinderOnHost::Bind(const engine::RunKey& run,
                                      const std::vector<run::ReplicaId>& replicas,
                                      const std::vector<DeviceRequest>& requests) {
  Release(run);  // a run that asks again first returns its devices
  DeviceAnswer answer;
  std::vector<DeviceRequest> gpu_requests;
  std::map<run::ReplicaId, engine::LentDevices> tpus;
  Granted granted;
  Loan loan;
  bool has_tpu = false;
  if (!requests.empty()) Inventory();
  for (const DeviceRequest& request : requests) {
    if (!IsTpu(request)) {
      gpu_requests.push_back(request);
    } else if (!TakeTpu(request, tpus[request.replica], loan, answer.warnings)) {
      answer.kind = DeviceAnswer::Kind::kWait;
      return answer;
    } else {
      has_tpu = !inventory_.tpu_chips.empty();
    }
  }
  const int64_t asked = Total(gpu_requests);
  const int64_t present = static_cast<int64_t>(inventory_.gpus.size());
  const DeviceMode mode = asked > 0 ? ModeNow() : DeviceMode::kCpu;
  if (mode == DeviceMode::kQueue && asked > present) {
    answer.kind = DeviceAnswer::Kind::kNever;
    answer.refusal =
        errors::GpusNeverEnough(AskedInWords(gpu_requests), present, inventory_.gpu_source).message;
    return answer;
  }
  if (mode == DeviceMode::kQueue && !TakeExclusively(gpu_requests, granted, loan)) {
    answer.kind = DeviceAnswer::Kind::kWait;
    return answer;
  }
  if (mode == DeviceMode::kShare && present > 0) {
    TakeShared(gpu_requests, granted, loan, answer.warnings);
  } else if (mode != DeviceMode::kQueue && asked > 0) {
    answer.warnings.push_back(errors::OnCpuInstead(AskedInWords(gpu_requests), present > 0));
  }
  if (!granted.empty()) WarnOfOtherTypes(gpu_requests, granted, answer.warnings);
  for (const run::ReplicaId& replica : replicas) {
    engine::LentDevices lent = Lent(granted[replica]);
    const auto tpu = tpus.find(replica);
    if (tpu != tpus.end()) Append(tpu->second, lent);
    answer.replicas.emplace_back(replica, std::move(lent));
  }
  for (const size_t i : loan.gpus) ++lent_[i];
  if (has_tpu) tpu_holder_ = run;
  loans_[run] = std::move(loan);
  return answer;
}

void DeviceBinderOnHost::Release(const engine::RunKey& run) {
  const auto loan = loans_.find(run);
  if (loan == loans_.end()) return;
  for (const size_t i : loan->second.gpus) --lent_[i];
  if (tpu_holder_ == run) tpu_holder_.reset();
  loans_.erase(loan);
}

}  // namespace caip::host
