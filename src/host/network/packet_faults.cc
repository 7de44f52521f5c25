#include "host/network/packet_faults.h"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace caip::host {
namespace {

constexpr uint8_t kTimeToLive = 64;
constexpr size_t kUdpHeadBytes = 8;
constexpr uint16_t kOffsetMask = 0x1fff;  // of a fragment

/// The headers of a packet.
struct ReadHeads {
  iphdr ip{};
  size_t ip_bytes = 0;     // of the header with its options
  size_t payload = 0;      // after it
  uint16_t from_port = 0;  // 0: it has none
  uint16_t to_port = 0;
  std::optional<tcphdr> tcp = {};
  size_t tcp_data = 0;  // bytes after the TCP header
};

// TCP and UDP begin with their ports.
void ReadPorts(const PacketBytes& packet, ReadHeads& heads) {
  const bool has_ports = heads.ip.protocol == IPPROTO_TCP || heads.ip.protocol == IPPROTO_UDP;
  uint16_t ports[2] = {};
  if (!has_ports || heads.payload < sizeof ports) return;
  std::memcpy(ports, packet.bytes + heads.ip_bytes, sizeof ports);
  heads.from_port = ports[0];
  heads.to_port = ports[1];
}

bool Concerns(const PacketFault& fault, const ReadHeads& heads) {
  return fault.from == heads.ip.saddr && fault.to == heads.ip.daddr &&
         (fault.from_port == 0 || fault.from_port == heads.from_port) &&
         (fault.to_port == 0 || fault.to_port == heads.to_port);
}

std::optional<ReadHeads> ReadHeadsOf(const PacketBytes& packet) {
  ReadHeads heads;
  if (packet.size < sizeof heads.ip) return std::nullopt;
  std::memcpy(&heads.ip, packet.bytes, sizeof heads.ip);
  heads.ip_bytes = heads.ip.ihl * 4u;
  const size_t total = ntohs(heads.ip.tot_len);
  if (heads.ip.version != 4 || heads.ip_bytes < sizeof heads.ip) return std::nullopt;
  if (total < heads.ip_bytes || total > packet.size) return std::nullopt;
  heads.payload = total - heads.ip_bytes;
  const bool is_first = (ntohs(heads.ip.frag_off) & kOffsetMask) == 0;
  if (is_first) ReadPorts(packet, heads);
  if (!is_first || heads.ip.protocol != IPPROTO_TCP) return heads;
  tcphdr tcp{};
  if (heads.payload < sizeof tcp) return heads;
  std::memcpy(&tcp, packet.bytes + heads.ip_bytes, sizeof tcp);
  heads.tcp = tcp;
  const size_t tcp_bytes = tcp.doff * 4u;
  heads.tcp_data = heads.payload > tcp_bytes ? heads.payload - tcp_bytes : 0;
  return heads;
}

// Uniform in [0, 1), from the seed and the number of the packet alone (splitmix64).
double DrawFor(uint64_t seed, uint64_t count) {
  uint64_t z = seed + count * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

// The sum of RFC 1071, in the byte order of its words.
uint32_t AddWords(const uint8_t* bytes, size_t size, uint32_t sum = 0) {
  for (size_t i = 0; i + 1 < size; i += 2) {
    uint16_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    sum += word;
  }
  if (size % 2 != 0) sum += htons(static_cast<uint16_t>(bytes[size - 1] << 8));
  return sum;
}

uint16_t Complement(uint32_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

template <typename Head>
const uint8_t* BytesOf(const Head& head) {
  return reinterpret_cast<const uint8_t*>(&head);
}

// A header that leads back to the sender.
iphdr HeadBack(const iphdr& ip, uint8_t protocol, size_t payload) {
  iphdr back{};
  back.version = 4;
  back.ihl = sizeof back / 4;
  back.tot_len = htons(static_cast<uint16_t>(sizeof back + payload));
  back.ttl = kTimeToLive;
  back.protocol = protocol;
  back.saddr = ip.daddr;
  back.daddr = ip.saddr;
  back.check = Complement(AddWords(BytesOf(back), sizeof back));
  return back;
}

template <typename Head>
std::vector<uint8_t> JoinHeads(const iphdr& ip, const Head& head, const uint8_t* rest = nullptr,
                               size_t size = 0) {
  std::vector<uint8_t> packet(sizeof ip + sizeof head + size);
  std::memcpy(packet.data(), &ip, sizeof ip);
  std::memcpy(packet.data() + sizeof ip, &head, sizeof head);
  if (size > 0) std::memcpy(packet.data() + sizeof ip + sizeof head, rest, size);
  return packet;
}

// RFC 9293, section 3.10.7.1: the answer to a segment of a connection that does not exist.
std::vector<uint8_t> ResetOf(const ReadHeads& heads) {
  const tcphdr& tcp = *heads.tcp;
  tcphdr reset{};
  reset.source = tcp.dest;
  reset.dest = tcp.source;
  reset.doff = sizeof reset / 4;
  reset.rst = 1;
  if (tcp.ack) {
    reset.seq = tcp.ack_seq;
  } else {
    reset.ack = 1;
    const size_t length = heads.tcp_data + tcp.syn + tcp.fin;
    reset.ack_seq = htonl(ntohl(tcp.seq) + static_cast<uint32_t>(length));
  }
  const iphdr ip = HeadBack(heads.ip, IPPROTO_TCP, sizeof reset);
  uint32_t sum = AddWords(BytesOf(ip.saddr), sizeof ip.saddr);
  sum = AddWords(BytesOf(ip.daddr), sizeof ip.daddr, sum);
  sum += htons(IPPROTO_TCP) + htons(sizeof reset);
  reset.check = Complement(AddWords(BytesOf(reset), sizeof reset, sum));
  return JoinHeads(ip, reset);
}

// RFC 792: with the header of the packet and the first 8 bytes after it.
std::vector<uint8_t> UnreachableOf(const ReadHeads& heads, const PacketBytes& packet) {
  const size_t quoted = heads.ip_bytes + std::min(heads.payload, kUdpHeadBytes);
  icmphdr unreachable{};
  unreachable.type = ICMP_DEST_UNREACH;
  unreachable.code = ICMP_PORT_UNREACH;
  const uint32_t sum = AddWords(packet.bytes, quoted);
  unreachable.checksum = Complement(AddWords(BytesOf(unreachable), sizeof unreachable, sum));
  const iphdr ip = HeadBack(heads.ip, IPPROTO_ICMP, sizeof unreachable + quoted);
  return JoinHeads(ip, unreachable, packet.bytes, quoted);
}

}  // namespace

void PacketFaults::Replace(std::vector<PacketFault> faults) {
  faults_ = std::move(faults);
  std::map<uint64_t, uint64_t> kept;
  for (const PacketFault& fault : faults_) {
    if (const auto found = counts_.find(fault.number); found != counts_.end()) kept.insert(*found);
  }
  counts_ = std::move(kept);
}

PacketFate PacketFaults::Decide(const PacketBytes& packet) {
  const auto heads = ReadHeadsOf(packet);
  PacketFate fate;
  if (!heads) return fate;
  bool is_lost = false;
  bool is_refused = false;
  for (const PacketFault& fault : faults_) {
    if (!Concerns(fault, *heads)) continue;
    if (fault.kind == PacketFault::kDrop) is_lost = true;
    // each fault counts, whatever the others do
    if (fault.kind == PacketFault::kLose && IsCounted(packet)) is_lost |= IsLostNow(fault);
    if (fault.kind == PacketFault::kDelay) fate.delay_ns += fault.delay_ns;
    if (fault.kind == PacketFault::kRefuse) is_refused = true;
  }
  if (is_lost) return {PacketFate::kIsLost, 0};
  if (is_refused && !RefusalOf(packet).empty()) return {PacketFate::kIsRefused, 0};
  return fate;
}

bool PacketFaults::IsLostNow(const PacketFault& fault) {
  return DrawFor(fault.seed, ++counts_[fault.number]) < fault.fraction;
}

bool IsCounted(const PacketBytes& packet) {
  const auto heads = ReadHeadsOf(packet);
  if (!heads) return false;
  if (!heads->tcp) return true;
  const tcphdr& tcp = *heads->tcp;
  return !tcp.rst && (heads->tcp_data > 0 || tcp.syn || tcp.fin);
}

std::vector<uint8_t> RefusalOf(const PacketBytes& packet) {
  const auto heads = ReadHeadsOf(packet);
  if (!heads) return {};
  if (heads->tcp && !heads->tcp->rst) return ResetOf(*heads);
  const bool is_whole = (ntohs(heads->ip.frag_off) & kOffsetMask) == 0;
  if (heads->ip.protocol == IPPROTO_UDP && is_whole && heads->payload >= kUdpHeadBytes) {
    return UnreachableOf(*heads, packet);
  }
  return {};
}

}  // namespace caip::host
