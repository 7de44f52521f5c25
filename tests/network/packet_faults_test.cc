#include "host/network/packet_faults.h"

#include <gtest/gtest.h>
#include <netinet/ip_icmp.h>

#include <string>

#include "tests/network/packet_maker.h"

namespace caip::host {
namespace {

constexpr PacketFate kPassesAtOnce{PacketFate::kPasses, 0};
constexpr PacketFate kLost{PacketFate::kIsLost, 0};
constexpr PacketFate kRefused{PacketFate::kIsRefused, 0};

PacketFate FateOf(const Packet& packet, std::vector<PacketFault> faults) {
  PacketFaults all;
  all.Replace(std::move(faults));
  return all.Decide(Seen(packet));
}

/// "x" for each of so many datagrams that is lost, "." for the others.
std::string Losses(PacketFaults& faults, int count) {
  std::string losses;
  for (int i = 0; i < count; ++i) {
    losses += faults.Decide(Seen(Datagram())) == kLost ? "x" : ".";
  }
  return losses;
}

std::string Losses(double fraction, uint64_t seed, int count) {
  PacketFaults faults;
  faults.Replace({LossOf(fraction, seed)});
  return Losses(faults, count);
}

// The sum over a whole packet with its checksum, as the receiver computes it: 0xffff if it is
// right.
uint32_t SumOf(const Packet& packet, size_t from, size_t to, uint32_t sum = 0) {
  for (size_t i = from; i < to; i += 2) {
    sum += static_cast<uint32_t>(packet[i] << 8 | packet[i + 1]);
  }
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

TEST(PacketFaults, ConcernTheirDirectionOnly) {
  PacketFault back = FaultOf(PacketFault::kDrop);
  std::swap(back.from, back.to);
  EXPECT_EQ(FateOf(Datagram(), {FaultOf(PacketFault::kDrop)}), kLost);
  EXPECT_EQ(FateOf(Datagram(), {back}), kPassesAtOnce);
  EXPECT_EQ(FateOf(Datagram(), {}), kPassesAtOnce);
}

TEST(PacketFaults, ConcernTheirPortsOnly) {
  PacketFault to_port = FaultOf(PacketFault::kDrop);
  to_port.to_port = htons(2222);
  PacketFault from_port = FaultOf(PacketFault::kDrop);
  from_port.from_port = htons(2222);
  const Packet segment = Segment([](tcphdr& tcp) { tcp.syn = 1; });
  for (const Packet& packet : {Datagram(), segment}) {
    EXPECT_EQ(FateOf(packet, {to_port}), kLost);
    EXPECT_EQ(FateOf(packet, {from_port}), kPassesAtOnce);
  }
  const Packet echo = PacketOfBytes(IPPROTO_ICMP, Packet(8));
  EXPECT_EQ(FateOf(echo, {FaultOf(PacketFault::kDrop)}), kLost);
  EXPECT_EQ(FateOf(echo, {to_port}), kPassesAtOnce);
}

TEST(PacketFaults, LetBytesPassThatAreNoIpv4Packet) {
  const std::vector<PacketFault> drop = {FaultOf(PacketFault::kDrop)};
  Packet other_version = Datagram();
  other_version[0] = 0x65;
  Packet longer_than_its_bytes = Datagram();
  longer_than_its_bytes.resize(25);
  for (const Packet& packet : {Packet(), Packet(19), other_version, longer_than_its_bytes}) {
    EXPECT_EQ(FateOf(packet, drop), kPassesAtOnce) << packet.size();
    EXPECT_FALSE(IsCounted(Seen(packet)));
    EXPECT_TRUE(RefusalOf(Seen(packet)).empty());
  }
}

TEST(PacketFaults, LoseTheSamePacketsWithTheSameSeed) {
  EXPECT_EQ(Losses(0.5, 7, 200), Losses(0.5, 7, 200));
  EXPECT_NE(Losses(0.5, 7, 200), Losses(0.5, 8, 200));
  EXPECT_EQ(Losses(0, 7, 50), std::string(50, '.'));
  EXPECT_EQ(Losses(1, 7, 50), std::string(50, 'x'));
}

TEST(PacketFaults, LoseTheGivenFraction) {
  const std::string losses = Losses(0.1, 1, 10'000);
  EXPECT_NEAR(static_cast<double>(std::count(losses.begin(), losses.end(), 'x')), 1000, 100);
}

TEST(PacketFaults, KeepTheirCountsWhileTheyLast) {
  const std::string whole = Losses(0.5, 7, 100);
  PacketFaults faults;
  faults.Replace({LossOf(0.5, 7)});
  const std::string first = Losses(faults, 50);
  PacketFault elsewhere = FaultOf(PacketFault::kDrop, 2);
  elsewhere.to = At("10.128.0.4");
  faults.Replace({elsewhere, LossOf(0.5, 7)});
  EXPECT_EQ(first + Losses(faults, 50), whole);
  faults.Replace({});
  faults.Replace({LossOf(0.5, 7)});
  EXPECT_EQ(Losses(faults, 100), whole);
}

TEST(PacketFaults, CountWhatCarriesDataOrBeginsOrEndsAConnection) {
  const struct {
    const char* what;
    Packet packet;
    bool counted;
  } table[] = {
      {"syn", Segment([](tcphdr& tcp) { tcp.syn = 1; }), true},
      {"data", Segment([](tcphdr& tcp) { tcp.ack = 1; }, 10), true},
      {"fin", Segment([](tcphdr& tcp) { tcp.fin = tcp.ack = 1; }), true},
      {"acknowledgement", Segment([](tcphdr& tcp) { tcp.ack = 1; }), false},
      {"reset", Segment([](tcphdr& tcp) { tcp.rst = 1; }), false},
      {"datagram", Datagram(), true},
  };
  for (const auto& row : table) EXPECT_EQ(IsCounted(Seen(row.packet)), row.counted) << row.what;
}

TEST(PacketFaults, AddUpDelaysAndLetLossWin) {
  PacketFault delay = FaultOf(PacketFault::kDelay);
  delay.delay_ns = 5;
  PacketFault longer = delay;
  longer.delay_ns = 7;
  EXPECT_EQ(FateOf(Datagram(), {delay, longer}), (PacketFate{PacketFate::kPasses, 12}));
  EXPECT_EQ(FateOf(Datagram(), {delay, FaultOf(PacketFault::kRefuse)}), kRefused);
  EXPECT_EQ(FateOf(Datagram(), {FaultOf(PacketFault::kRefuse), FaultOf(PacketFault::kDrop)}),
            kLost);
}

TEST(PacketFaults, RefuseConnectionsWithAReset) {
  const Packet syn = Segment([](tcphdr& tcp) { tcp.syn = 1; });
  const Packet answer = RefusalOf(Seen(syn));
  ASSERT_EQ(answer.size(), sizeof(iphdr) + sizeof(tcphdr));
  iphdr ip{};
  tcphdr tcp{};
  std::memcpy(&ip, answer.data(), sizeof ip);
  std::memcpy(&tcp, answer.data() + sizeof ip, sizeof tcp);
  EXPECT_EQ(ip.saddr, At("10.128.0.3"));
  EXPECT_EQ(ip.daddr, At("10.128.0.2"));
  EXPECT_EQ(ntohs(tcp.source), 2222);
  EXPECT_EQ(ntohs(tcp.dest), 40000);
  EXPECT_TRUE(tcp.rst && tcp.ack && !tcp.syn);
  EXPECT_EQ(ntohl(tcp.ack_seq), 1001u);
  EXPECT_EQ(SumOf(answer, 0, sizeof ip), 0xffffu);
  EXPECT_EQ(SumOf(answer, 12, answer.size(), IPPROTO_TCP + sizeof tcp), 0xffffu);
}

TEST(PacketFaults, ResetOpenConnectionsAtTheNumberThatThePeerExpects) {
  const Packet data = Segment(
      [](tcphdr& tcp) {
        tcp.ack = 1;
        tcp.ack_seq = htonl(555);
      },
      10);
  const Packet answer = RefusalOf(Seen(data));
  tcphdr tcp{};
  ASSERT_EQ(answer.size(), sizeof(iphdr) + sizeof tcp);
  std::memcpy(&tcp, answer.data() + sizeof(iphdr), sizeof tcp);
  EXPECT_TRUE(tcp.rst && !tcp.ack);
  EXPECT_EQ(ntohl(tcp.seq), 555u);
}

// Else two machines would answer each other's resets without end.
TEST(PacketFaults, LetResetsPassWhereTheyRefuse) {
  const Packet reset = Segment([](tcphdr& tcp) { tcp.rst = 1; });
  EXPECT_TRUE(RefusalOf(Seen(reset)).empty());
  EXPECT_EQ(FateOf(reset, {FaultOf(PacketFault::kRefuse)}), kPassesAtOnce);
}

TEST(PacketFaults, AnswerDatagramsThatThePortIsUnreachable) {
  const Packet datagram = Datagram(100);
  const Packet answer = RefusalOf(Seen(datagram));
  icmphdr icmp{};
  ASSERT_EQ(answer.size(), sizeof(iphdr) + sizeof icmp + sizeof(iphdr) + sizeof(udphdr));
  std::memcpy(&icmp, answer.data() + sizeof(iphdr), sizeof icmp);
  EXPECT_EQ(icmp.type, ICMP_DEST_UNREACH);
  EXPECT_EQ(icmp.code, ICMP_PORT_UNREACH);
  EXPECT_EQ(SumOf(answer, sizeof(iphdr), answer.size()), 0xffffu);
  EXPECT_TRUE(std::equal(datagram.begin(), datagram.begin() + 28, answer.begin() + 28));
}

}  // namespace
}  // namespace caip::host
