#pragma once
// IPv4 packets as bytes.

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "host/network/packet_faults.h"

namespace caip::host {

using Packet = std::vector<uint8_t>;

inline uint32_t At(const std::string& address) { return ::inet_addr(address.c_str()); }

inline PacketBytes Seen(const Packet& packet) { return {packet.data(), packet.size()}; }

/// A packet from 10.128.0.2 to 10.128.0.3.
inline Packet PacketOfBytes(uint8_t protocol, const Packet& payload) {
  iphdr ip{};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 64;
  ip.protocol = protocol;
  ip.tot_len = htons(static_cast<uint16_t>(sizeof ip + payload.size()));
  ip.saddr = At("10.128.0.2");
  ip.daddr = At("10.128.0.3");
  Packet packet(sizeof ip + payload.size());
  std::memcpy(packet.data(), &ip, sizeof ip);
  std::memcpy(packet.data() + sizeof ip, payload.data(), payload.size());
  return packet;
}

/// A segment from port 40000 to port 2222 with the sequence number 1000.
inline Packet Segment(const std::function<void(tcphdr&)>& edit, size_t data = 0) {
  tcphdr tcp{};
  tcp.source = htons(40000);
  tcp.dest = htons(2222);
  tcp.seq = htonl(1000);
  tcp.doff = 5;
  edit(tcp);
  Packet payload(sizeof tcp + data);
  std::memcpy(payload.data(), &tcp, sizeof tcp);
  return PacketOfBytes(IPPROTO_TCP, payload);
}

/// From port 40000 to port 2222.
inline Packet Datagram(size_t data = 4) {
  udphdr udp{};
  udp.source = htons(40000);
  udp.dest = htons(2222);
  udp.len = htons(static_cast<uint16_t>(sizeof udp + data));
  Packet payload(sizeof udp + data);
  std::memcpy(payload.data(), &udp, sizeof udp);
  return PacketOfBytes(IPPROTO_UDP, payload);
}

/// A fault of the packets from 10.128.0.2 to 10.128.0.3.
inline PacketFault FaultOf(PacketFault::Kind kind, uint64_t number = 1) {
  PacketFault fault;
  fault.kind = kind;
  fault.from = At("10.128.0.2");
  fault.to = At("10.128.0.3");
  fault.number = number;
  return fault;
}

inline PacketFault LossOf(double fraction, uint64_t seed, uint64_t number = 1) {
  PacketFault fault = FaultOf(PacketFault::kLose, number);
  fault.fraction = fraction;
  fault.seed = seed;
  return fault;
}

}  // namespace caip::host
