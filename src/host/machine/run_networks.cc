#include "host/machine/run_networks.h"

#include <sys/wait.h>

#include <utility>

#include "host/machine/machines.h"

namespace caip::host {
namespace {

std::string WhyNoRelay(int status) {
  const std::string how = WIFSIGNALED(status)
                              ? "was killed by signal " + std::to_string(WTERMSIG(status))
                              : "ended with status " + std::to_string(WEXITSTATUS(status));
  return "the network's packet relay (caip-relay) " + how +
         ", and no packet of the fault's replicas passes any more";
}

}  // namespace

Result<uint64_t> RunNetworks::Open(LauncherLink& link, const engine::RunKey& run,
                                   const std::shared_ptr<const engine::RunNetwork>& network) {
  std::vector<launcher::Endpoint> endpoints;
  for (const engine::RunNetwork::Endpoint& endpoint : network->endpoints) {
    ASSIGN_OR_RETURN(const launcher::Endpoint place, EndpointAt(endpoint.address, endpoint.port));
    endpoints.push_back(place);
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, opened] : opened_) {
      if (opened.run == run) return number;
    }
    opened_[++last_number_] = {run, network};
  }
  const uint64_t number = last_number_;
  const Status asked = link.OpenNetwork(number, endpoints);
  if (!asked.ok()) {
    const std::lock_guard lock(mutex_);
    opened_.erase(number);  // the launcher does not know it
    return asked.error();
  }
  if (const auto found = wanted_.find(run); found != wanted_.end()) {
    Send(link, number, found->second);
  }
  return number;
}

Status RunNetworks::Link(LauncherLink& link, const engine::ReplicaLaunch& launch,
                         LauncherLink::Replica& replica) {
  ASSIGN_OR_RETURN(replica.address, AddressNumber(launch.isolation->address));
  ASSIGN_OR_RETURN(replica.network, Open(link, launch.key.run, launch.isolation->network));
  replica.is_new = false;  // at the launch
  if (ahead_.erase({replica.network, replica.address}) > 0) return Ok{};
  return link.LinkMachine(replica.network, replica.address, launch.fresh_disk);
}

// What fails here fails at the launch again.
void RunNetworks::LinkAhead(LauncherLink& link, const engine::RunKey& run,
                            const std::shared_ptr<const engine::RunNetwork>& network,
                            const std::vector<std::string>& addresses) {
  const Result<uint64_t> number = Open(link, run, network);
  if (!number.ok()) return;
  for (const std::string& address : addresses) {
    const Result<uint32_t> place = AddressNumber(address);
    if (!place.ok() || !link.LinkMachine(*number, *place, true).ok()) return;
    ahead_.emplace(*number, *place);
  }
}

uint64_t RunNetworks::NumberOf(const engine::RunKey& run) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, opened] : opened_) {
    if (opened.run == run) return number;
  }
  return 0;
}

void RunNetworks::SetFaults(LauncherLink* link, const engine::RunKey& run,
                            std::vector<PacketFault> faults, NetworkListener listener) {
  Wanted& wanted = wanted_[run] = {std::move(faults), std::move(listener)};
  const uint64_t number = link ? NumberOf(run) : 0;
  if (number != 0) return Send(*link, number, wanted);
  const auto in_effect = std::exchange(wanted.listener.in_effect, {});
  if (in_effect) in_effect();
}

// The faults of a run may be sent again, but the listener hears once that they are in effect.
void RunNetworks::Send(LauncherLink& link, uint64_t number, Wanted& wanted) {
  const uint64_t request = ++last_request_;
  {
    const std::lock_guard lock(mutex_);
    asked_[request] = {number,
                       {std::exchange(wanted.listener.in_effect, {}), wanted.listener.failed}};
    // Without faults, no packet passes the relay.
    opened_[number].failed = wanted.faults.empty() ? nullptr : wanted.listener.failed;
  }
  const Status sent = link.SetFaults(number, request, wanted.faults);
  if (!sent.ok()) Finish(request, sent.error().message);
}

void RunNetworks::FaultsSet(const launcher::Report& report) {
  if (report.kind == launcher::Report::kRelayLost) return RelayLost(report);
  const bool ok = report.step == launcher::Step::kNone;
  Finish(report.replica, ok ? "" : WhyNoMachine(report));
}

// Nobody may be waiting for an answer: the faults were in effect for long.
void RunNetworks::RelayLost(const launcher::Report& report) {
  const std::string why = WhyNoRelay(report.wait_status);
  std::function<void(const std::string&)> failed;
  std::vector<uint64_t> unanswered;
  {
    const std::lock_guard lock(mutex_);
    const auto found = opened_.find(report.replica);
    if (found != opened_.end()) failed = found->second.failed;
    for (const auto& [request, asked] : asked_) {
      if (asked.network == report.replica) unanswered.push_back(request);
    }
  }
  if (failed) failed(why);
  for (const uint64_t request : unanswered) Finish(request, why);
}

std::optional<engine::RunKey> RunNetworks::RunOf(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(number);
  if (found == opened_.end()) return std::nullopt;
  return found->second.run;
}

// Each request is finished once.
void RunNetworks::Finish(uint64_t request, const std::string& why_not) {
  NetworkListener listener;
  {
    const std::lock_guard lock(mutex_);
    auto asked = asked_.extract(request);
    if (asked.empty()) return;
    listener = std::move(asked.mapped().listener);
  }
  if (!why_not.empty() && listener.failed) listener.failed(why_not);
  if (listener.in_effect) listener.in_effect();
}

// Commands are sent without the lock: a busy launcher may take none until its reports are received,
// on a thread that needs the lock.
void RunNetworks::Close(LauncherLink* link, const engine::RunKey& run) {
  wanted_.erase(run);
  while (const uint64_t number = NumberOf(run)) {
    if (link) link->CloseNetwork(number);
    std::erase_if(ahead_, [&](const auto& place) { return place.first == number; });
    std::vector<uint64_t> unanswered;  // the launcher ended what would answer
    {
      const std::lock_guard lock(mutex_);
      opened_.erase(number);
      for (const auto& [request, asked] : asked_) {
        if (asked.network == number) unanswered.push_back(request);
      }
    }
    for (const uint64_t request : unanswered) Finish(request, "");
  }
}

void RunNetworks::Forget() {
  ahead_.clear();
  std::vector<uint64_t> unanswered;
  {
    const std::lock_guard lock(mutex_);
    opened_.clear();
    for (const auto& [request, asked] : asked_) unanswered.push_back(request);
  }
  for (const uint64_t request : unanswered) Finish(request, "");
}

void RunNetworks::EndpointOpened(uint64_t number, uint32_t endpoint, Fd listening) {
  std::string tag;
  {
    const std::lock_guard lock(mutex_);
    const auto found = opened_.find(number);
    if (found == opened_.end() || endpoint >= found->second.network->endpoints.size()) return;
    tag = found->second.network->endpoints[endpoint].tag;
  }
  if (handler_) handler_(tag, std::move(listening));
}

}  // namespace caip::host
