#include "host/machine/isolation.h"

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>

#include "host/errors.h"

namespace caip::host {
namespace {

constexpr uint64_t kTrial = 1;
constexpr std::chrono::seconds kTrialLimit{10};

// Ports above Linux's ephemeral ones (60999), at loopback addresses that are never lent to replicas
// (127.0.0.*) and are not 127.0.0.1, where the emulator may have any port.
constexpr int kFirstPrivatePort = 61000;
constexpr int kPrivatePortsOfAnAddress = 4000;
constexpr int kFirstPrivateAddress = 2;

Result<launcher::Endpoint> ParseEndpoint(const std::string& address, uint16_t port) {
  in_addr number{};
  if (::inet_pton(AF_INET, address.c_str(), &number) != 1)
    return errors::EndpointAddressNotValid(address);
  launcher::Endpoint endpoint;
  endpoint.address = number.s_addr;
  endpoint.port = htons(port);
  return endpoint;
}

const char* NameOf(launcher::Step step) {
  using launcher::Step;
  switch (step) {
    case Step::kUserMap:
      return "mapping the user's ID in a user namespace";
    case Step::kAddress:
      return "giving addresses to a network namespace";
    case Step::kEndpointOpened:
      return "listening in a network namespace";
    case Step::kEnterNetwork:
      return "entering a network namespace";
    case Step::kMounts:
      return "making a mount namespace";
    case Step::kCovers:
      return "mounting files over /etc/hosts and the certificate authorities of the host";
    case Step::kHostName:
      return "giving the replica its host name";
    default:
      return "making a network namespace";
  }
}

}  // namespace

Result<uint64_t> RunNetworks::Open(LauncherLink& link, const engine::RunKey& run,
                                   const std::shared_ptr<const engine::RunNetwork>& network) {
  std::vector<launcher::Endpoint> endpoints;
  for (const engine::RunNetwork::Endpoint& endpoint : network->endpoints) {
    ASSIGN_OR_RETURN(const launcher::Endpoint place,
                     ParseEndpoint(endpoint.address, endpoint.port));
    endpoints.push_back(place);
  }
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, opened] : opened_) {
      if (opened.run == run) return number;
    }
    opened_[++last_number_] = {run, network};
  }
  RETURN_IF_ERROR(link.OpenNetwork(last_number_, endpoints));
  return last_number_;
}

void RunNetworks::Close(LauncherLink* link, const engine::RunKey& run) {
  const std::lock_guard lock(mutex_);
  for (auto at = opened_.begin(); at != opened_.end();) {
    if (at->second.run != run) {
      ++at;
      continue;
    }
    if (link) link->CloseNetwork(at->first);
    at = opened_.erase(at);
  }
}

void RunNetworks::Forget() {
  const std::lock_guard lock(mutex_);
  opened_.clear();
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

OwnNetworks::Endpoint PrivateEndpointInNetwork(size_t index) {
  const int number = static_cast<int>(index);
  const int host = kFirstPrivateAddress + number / kPrivatePortsOfAnAddress;
  return {"127.0.0." + std::to_string(host),
          static_cast<uint16_t>(kFirstPrivatePort + number % kPrivatePortsOfAnAddress)};
}

std::string WhyNoNamespaces(const launcher::Report& report) {
  return std::string(NameOf(report.step)) + ": " + std::strerror(report.error);
}

std::optional<std::string> TryIsolation(const Path& program) {
  auto answer = std::make_shared<std::promise<std::optional<std::string>>>();
  auto future = answer->get_future();
  const auto is_answered = std::make_shared<std::atomic<bool>>(false);
  const auto report_answer = [answer, is_answered](std::optional<std::string> why_not) {
    if (!is_answered->exchange(true)) answer->set_value(std::move(why_not));
  };
  LauncherLink::Listener listener;
  listener.report = [](const launcher::Report&) {};
  listener.watched = [](uint64_t, Fd, pid_t) {};
  listener.gone = [report_answer] { report_answer("caip-launcher ended"); };
  listener.network = [report_answer](const launcher::Report& report) {
    const bool opened = report.kind == launcher::Report::kNetworkOpened;
    report_answer(opened ? std::nullopt : std::optional(WhyNoNamespaces(report)));
  };
  const auto link = LauncherLink::Start(program, std::move(listener));
  if (!link.ok()) return link.error().message;
  const auto metadata = ParseEndpoint("169.254.169.254", 80);
  const Status asked = (*link)->OpenNetwork(kTrial, {*metadata}, true);
  if (!asked.ok()) return asked.error().message;
  if (future.wait_for(kTrialLimit) != std::future_status::ready) return "it takes too long";
  return future.get();
}

}  // namespace caip::host
