#pragma once
// Faults of the packets in a run's network. caip describes them, and the packet relay of
// caip-launcher (src/host/launcher/packet_relay.h) asks what happens to each packet. Makes no
// system calls, and includes nothing of caip, because caip-launcher stays small.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace caip::host {

/// What happens to the packets from one address to another, or from one port to another. It is sent
/// as bytes.
struct PacketFault {
  enum Kind : uint32_t {
    kDrop,    // every packet is lost
    kLose,    // a fraction of those that are counted is lost (IsCounted)
    kDelay,   // packets arrive later, in their order
    kRefuse,  // TCP connections are reset and refused, UDP ports are unreachable
  };
  Kind kind = kDrop;
  uint32_t from = 0;  // IPv4, in network byte order
  uint32_t to = 0;
  /// In network byte order; 0: every port, and packets without ports, too.
  uint16_t from_port = 0;
  uint16_t to_port = 0;
  uint64_t number = 0;   // identifies the fault among those of all times
  uint64_t seed = 0;     // kLose: of the draws
  double fraction = 0;   // kLose: from 0 to 1
  int64_t delay_ns = 0;  // kDelay

  bool operator==(const PacketFault&) const = default;
};

/// An IPv4 packet without the header of its link.
struct PacketBytes {
  const uint8_t* bytes = nullptr;
  size_t size = 0;
};

struct PacketFate {
  enum Kind { kPasses, kIsLost, kIsRefused } kind = kPasses;
  int64_t delay_ns = 0;  // kPasses: the time that it waits

  bool operator==(const PacketFate&) const = default;
};

/// The faults of a network and their counts. One thread.
class PacketFaults {
 public:
  /// Faults that remain keep their counts.
  void Replace(std::vector<PacketFault> faults);
  /// Counts the packet, and decides its fate. Bytes that are not an IPv4 packet pass.
  PacketFate Decide(const PacketBytes& packet);

 private:
  bool IsLostNow(const PacketFault& fault);

  std::vector<PacketFault> faults_;
  std::map<uint64_t, uint64_t> counts_;  // of packets, by the number of a kLose fault
};

/// Whether the loss of packets counts this one: acknowledgements without data and resets always
/// pass, because their number depends on time.
bool IsCounted(const PacketBytes& packet);

/// The answer to a packet that is refused: a reset, or that the port is unreachable. Empty for
/// packets that get no answer; these pass.
std::vector<uint8_t> RefusalOf(const PacketBytes& packet);

}  // namespace caip::host
