// Faults of the network: network_cut, network_drop, network_loss, network_delay, network_refused.

#include <utility>

#include "harness/faults/fault.h"
#include "harness/faults/fault_texts.h"
#include "harness/scenario/scenario.h"

namespace caip::harness {
namespace {

using PacketKind = NetworkFault::Kind;

/// Begins a fault of the network, and ends it after a time or with the fault's `until`. A fault
/// without an end lasts as long as the run.
class DisturbNetwork final : public FaultAction {
 public:
  DisturbNetwork(NetworkFault fault, std::optional<Duration> lasts)
      : fault_(std::move(fault)), lasts_(lasts) {}

  FaultResponse Inject(const Fault& fault, FaultContext& context) const override {
    NetworkFault one = fault_;
    one.replica = fault.replica;
    one.peer = fault.peer;
    one.seed = context.NextSeed();
    const uint64_t number = context.run().BeginNetworkFault(one);
    const auto end = [&run = context.run(), number] { run.EndNetworkFault(number); };
    if (lasts_) {
      context.After(*lasts_, end);
    } else if (fault.until) {
      context.WhenUntilComes(end);
    }
    return {};
  }

 private:
  NetworkFault fault_;
  std::optional<Duration> lasts_;
};

std::optional<Duration> ReadTimeOfFault(const char* kind, const Cursor& parameters) {
  if (!parameters.Has("for")) return std::nullopt;
  if (parameters.Has("until")) parameters.At("for").Wrong(texts::FaultWithTwoEnds(kind));
  return parameters.At("for").Time();
}

double ReadFraction(const Cursor& parameters) {
  if (!parameters.Has("fraction")) return 0;  // reported already
  const double fraction = parameters.At("fraction").Number();
  if (fraction <= 0 || fraction > 1) parameters.At("fraction").Wrong(texts::FractionOutOfRange());
  return fraction;
}

Duration ReadPacketDelay(const Cursor& parameters) {
  if (!parameters.Has("by")) return Duration(0);  // reported already
  const Duration by = parameters.At("by").Time();
  if (by == Duration(0)) parameters.At("by").Wrong(texts::PacketDelayZero());
  return by;
}

const char* NameOfKind(PacketKind kind) {
  switch (kind) {
    case PacketKind::kCut:
      return "network_cut";
    case PacketKind::kDrop:
      return "network_drop";
    case PacketKind::kLoss:
      return "network_loss";
    case PacketKind::kDelay:
      return "network_delay";
    case PacketKind::kRefused:
      break;
  }
  return "network_refused";
}

template <PacketKind kKind>
FaultActionPtr ReadNetworkFault(const Cursor& parameters) {
  NetworkFault fault{.kind = kKind};
  if (kKind == PacketKind::kLoss) fault.fraction = ReadFraction(parameters);
  if (kKind == PacketKind::kDelay) fault.by = ReadPacketDelay(parameters);
  return std::make_shared<DisturbNetwork>(std::move(fault),
                                          ReadTimeOfFault(NameOfKind(kKind), parameters));
}

std::string TrialOf(const std::string& replica) {
  const size_t slash = replica.find('/');
  return slash == std::string::npos ? "" : replica.substr(slash);
}

void CheckNetworkFault(const Fault& fault, const Cursor& element, const Scenario& scenario) {
  const Cursor parameters = element.At(fault.kind->name);
  if (scenario.own_ports) parameters.Wrong(texts::NetworkFaultWithPorts());
  if (fault.peer.empty() || !parameters.Has("peer")) return;
  const Cursor peer = parameters.At("peer");
  if (fault.peer == kStoragePeer) {
    if (scenario.semantics == Semantics::kPosix) peer.Wrong(texts::StorageIsDirectory());
    return;
  }
  if (fault.peer == fault.replica) peer.Wrong(texts::OwnPeer(fault.replica));
  if (TrialOf(fault.peer) != TrialOf(fault.replica)) peer.Wrong(texts::PeerInOtherTrial());
}

FaultKind NetworkRow(PacketKind kind, std::string summary, std::vector<std::string> further,
                     FaultActionPtr (*read)(const Cursor&)) {
  FaultKind row{.name = NameOfKind(kind),
                .summary = std::move(summary),
                .parameters = {"replica", "peer", "until", "for"},
                .required = {"replica", "peer"},
                .while_until = WhileUntil::kNetworkIsFaulty,
                .needs = HostAbility::kOwnNetwork,
                .read = read,
                .check = CheckNetworkFault};
  row.parameters.insert(row.parameters.end(), further.begin(), further.end());
  row.required.insert(row.required.end(), further.begin(), further.end());
  return row;
}

}  // namespace

std::vector<FaultKind> NetworkFaultKinds() {
  return {
      NetworkRow(PacketKind::kCut,
                 "No packet passes between the replica and its peer (a replica, or `storage`), "
                 "until `until` comes, for `for: 2s`, or to the end.",
                 {}, ReadNetworkFault<PacketKind::kCut>),
      NetworkRow(PacketKind::kDrop,
                 "No packet passes from the replica to its peer; those of the peer arrive.", {},
                 ReadNetworkFault<PacketKind::kDrop>),
      NetworkRow(PacketKind::kLoss,
                 "A fraction of the packets between the replica and its peer is lost, by the "
                 "seed (`fraction: 0.1`).",
                 {"fraction"}, ReadNetworkFault<PacketKind::kLoss>),
      NetworkRow(PacketKind::kDelay,
                 "Packets between the replica and its peer arrive later (`by: 50ms`).", {"by"},
                 ReadNetworkFault<PacketKind::kDelay>),
      NetworkRow(PacketKind::kRefused,
                 "Connections between the replica and its peer are refused, and open ones are "
                 "reset.",
                 {}, ReadNetworkFault<PacketKind::kRefused>),
  };
}

Fault DisturbNetworkFault(const NetworkFault& how, std::string name, std::string replica,
                          std::string peer, Trigger when, std::optional<Duration> lasts) {
  Fault fault = MakeFault(NameOfKind(how.kind), std::move(name), std::move(replica),
                          std::move(when), std::make_shared<DisturbNetwork>(how, lasts));
  fault.peer = std::move(peer);
  return fault;
}

Fault NetworkCutFault(std::string name, std::string replica, std::string peer, Trigger when,
                      std::optional<Duration> lasts) {
  return DisturbNetworkFault({.kind = PacketKind::kCut}, std::move(name), std::move(replica),
                             std::move(peer), std::move(when), lasts);
}

}  // namespace caip::harness
