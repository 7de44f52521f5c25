#include "emulator/front/trust_warnings.h"

#include <optional>

#include "emulator/front/errors.h"
#include "emulator/front/replica_network.h"

namespace caip::front {
namespace {

constexpr size_t kWarnedMax = 1024;  // a replica that is forgotten is warned again

}  // namespace

void TrustWarnings::Warn(const http::CertificateRejection& rejection) {
  const std::string listener = world_.machines.ResolveListener(rejection.listener, rejection.peer);
  const auto found = world_.machines.Find(listener);
  if (!found || found->machine.job.empty() || !IsNew(listener)) return;
  const metadata::Machine& machine = found->machine;
  const auto trial = machine.attributes.find("trial_id");
  engine::LogLine line;
  line.run = {machine.project_id, machine.job,
              trial == machine.attributes.end() ? "" : trial->second};
  line.task = machine.replica;
  line.severity = engine::Severity::kWarning;
  line.time = world_.clock.Now();
  const bool is_machine = world_.machines.IsShared(rejection.listener);
  line.message = is_machine ? errors::CertificateRejectedOnMachine(rejection, kBundleOnMachines)
                            : errors::CertificateRejected(rejection, bundle_);
  world_.log.Write({std::move(line)});
}

bool TrustWarnings::IsNew(const std::string& listener) {
  const std::lock_guard lock(mutex_);
  if (warned_.size() >= kWarnedMax) warned_.clear();
  return warned_.insert(listener).second;
}

}  // namespace caip::front
