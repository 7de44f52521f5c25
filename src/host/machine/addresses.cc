#include "host/machine/addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <set>

#include "base/text.h"
#include "host/errors.h"
#include "run/texts.h"

namespace caip::host {
namespace {

constexpr int kTriesMax = 64;
constexpr int kFirstHost = 2;
// Below Linux's default range of ephemeral ports (32768 to 60999), above the usual ports of
// servers.
constexpr int kFirstPort = 20000;
constexpr int kPorts = 12000;

bool IsForOthers(LoopbackBlock block) {
  return block.a == 0 && (block.b == 0 || block.b == 1 || block.b == 53);
}

std::string Name(LoopbackBlock block) {
  return "127." + std::to_string(block.a) + "." + std::to_string(block.b);
}

std::string Ip(LoopbackBlock block, size_t i) {
  return Name(block) + "." + std::to_string(static_cast<size_t>(kFirstHost) + i);
}

std::optional<HostClaim> Claim(LoopbackBlock block) {
  return HostClaim::Take("block/" + Name(block));
}

std::optional<HostClaim> Claim(int port) { return HostClaim::Take("port/" + std::to_string(port)); }

// Parses a whole text such as "12" into [0, 255].
std::optional<int> Byte(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 255) {
    return std::nullopt;
  }
  return value;
}

std::optional<int> LocalPort(std::string_view address) {
  const std::string_view prefix = "localhost:";
  if (!address.starts_with(prefix)) return std::nullopt;
  address.remove_prefix(prefix.size());
  int port = 0;
  const auto [end, error] = std::from_chars(address.data(), address.data() + address.size(), port);
  const bool ours = port >= kFirstPort && port < kFirstPort + kPorts;
  if (error != std::errc() || end != address.data() + address.size() || !ours) return std::nullopt;
  return port;
}

// Claims the kept ports again: all or none.
std::optional<std::vector<HostClaim>> ClaimKept(const std::vector<std::string>& kept) {
  std::vector<HostClaim> claims;
  for (const std::string& address : kept) {
    const auto port = LocalPort(address);
    auto claim = port ? Claim(*port) : std::nullopt;
    if (!claim || !CanListen(std::string(kLoopbackAddress), *port)) return std::nullopt;
    claims.push_back(std::move(*claim));
  }
  return claims;
}

constexpr size_t kFirstMachine = 2;  // 10.128.0.1 is the hub

}  // namespace

bool CanListen(const std::string& ip, int port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return false;
  // Servers set this option, so closing connections of a dead server do not prevent listening.
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (::inet_pton(AF_INET, ip.c_str(), &address.sin_addr) != 1) return false;
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

// 127.0.1.x is lent to no replica.
bool IsTaskPortTaken() {
  constexpr char kNobodys[] = "127.0.1.77";
  return CanListen(kNobodys, 0) && !CanListen(kNobodys, kTaskPort);
}

std::optional<LoopbackBlock> BlockOf(std::string_view address) {
  const std::string port = ":" + std::to_string(kTaskPort);
  if (!address.ends_with(port)) return std::nullopt;
  address.remove_suffix(port.size());
  const std::vector<std::string> parts = Split(address, '.');
  if (parts.size() != 4 || parts[0] != "127") return std::nullopt;
  const auto a = Byte(parts[1]);
  const auto b = Byte(parts[2]);
  const auto host = Byte(parts[3]);
  if (!a || !b || !host || *host < kFirstHost) return std::nullopt;
  if (*host >= kFirstHost + static_cast<int>(kBlockAddresses)) return std::nullopt;
  const LoopbackBlock block{*a, *b};
  if (IsForOthers(block)) return std::nullopt;
  return block;
}

bool LoopbackAddresses::TakeKept(const engine::RunKey& run, const std::vector<std::string>& kept) {
  std::set<LoopbackBlock> blocks;
  for (const std::string& address : kept) {
    const auto block = BlockOf(address);
    const std::string ip = address.substr(0, address.find(':'));
    if (!block || !CanListen(ip, kTaskPort)) return false;
    blocks.insert(*block);
  }
  std::vector<HostClaim> claims;
  for (const LoopbackBlock& block : blocks) {
    auto claim = Claim(block);
    if (!claim) return false;
    claims.push_back(std::move(*claim));
  }
  claims_[run] = std::move(claims);
  return true;
}

// Takes `count` addresses of one block that is not claimed and has no listeners.
std::optional<std::vector<std::string>> LoopbackAddresses::TakeBlock(
    size_t count, std::vector<HostClaim>& claims) {
  const LoopbackBlock block{static_cast<int>(random_.Below(255)),
                            static_cast<int>(random_.Below(256))};
  if (IsForOthers(block)) return std::nullopt;
  auto claim = Claim(block);
  if (!claim) return std::nullopt;
  std::vector<std::string> addresses;
  for (size_t i = 0; i < count; ++i) {
    const std::string ip = Ip(block, i);
    if (!CanListen(ip, kTaskPort)) return std::nullopt;
    addresses.push_back(ip + ":" + std::to_string(kTaskPort));
  }
  claims.push_back(std::move(*claim));
  return addresses;
}

Result<std::vector<std::string>> LoopbackAddresses::Lend(const engine::RunKey& run, size_t count,
                                                         const std::vector<std::string>& kept) {
  Release(run);
  if (count > 0 && kept.size() == count && TakeKept(run, kept)) return kept;
  std::vector<HostClaim> claims;
  std::vector<std::string> addresses;
  int failures = 0;
  while (addresses.size() < count) {
    const auto more = TakeBlock(std::min(count - addresses.size(), kBlockAddresses), claims);
    if (more) addresses.insert(addresses.end(), more->begin(), more->end());
    if (!more && ++failures == kTriesMax) return errors::NoLoopbackBlock(kTriesMax);
  }
  claims_[run] = std::move(claims);
  return addresses;
}

Result<std::vector<std::string>> PortAddresses::Lend(const engine::RunKey& run, size_t count,
                                                     const std::vector<std::string>& kept) {
  Release(run);
  if (count > 0 && kept.size() == count) {
    if (auto claims = ClaimKept(kept)) {
      claims_[run] = std::move(*claims);
      return kept;
    }
  }
  std::vector<HostClaim> claims;
  std::vector<std::string> addresses;
  int failures = 0;
  while (addresses.size() < count) {
    const int port = kFirstPort + static_cast<int>(random_.Below(kPorts));
    auto claim = Claim(port);
    if (claim && CanListen(std::string(kLoopbackAddress), port)) {
      claims.push_back(std::move(*claim));
      addresses.push_back("localhost:" + std::to_string(port));
    } else if (++failures == kPorts) {
      return errors::NoFreePort(kPorts);
    }
  }
  claims_[run] = std::move(claims);
  return addresses;
}

Result<std::vector<std::string>> LoopbackElsePorts::Lend(const engine::RunKey& run, size_t count,
                                                         const std::vector<std::string>& kept) {
  Release(run);
  if (kept.empty() || !LocalPort(kept.front())) {
    auto addresses = loopback_.Lend(run, count, kept);
    if (addresses.ok()) return addresses;
    log_.Write({{run, std::string(run::kServiceTask), engine::Severity::kWarning, clock_.Now(),
                 errors::PortsInstead()}});
  }
  return ports_.Lend(run, count, kept);
}

void LoopbackElsePorts::Release(const engine::RunKey& run) {
  loopback_.Release(run);
  ports_.Release(run);
}

Result<std::vector<std::string>> MachineAddresses::Lend(const engine::RunKey&, size_t count,
                                                        const std::vector<std::string>&) {
  std::vector<std::string> addresses;
  for (size_t i = 0; i < count; ++i) {
    const size_t number = i + kFirstMachine;
    addresses.push_back("10.128." + std::to_string(number >> 8) + "." +
                        std::to_string(number & 0xff) + ":" + std::to_string(kTaskPort));
  }
  return addresses;
}

std::optional<HostClaim> HostClaim::Take(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string full = "caip/" + name;
  assert(full.size() + 1 <= sizeof address.sun_path);
  // a leading NUL makes the name abstract
  std::memcpy(address.sun_path + 1, full.data(), full.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + full.size());
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return std::nullopt;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return std::nullopt;
  return HostClaim(std::move(socket));
}

}  // namespace caip::host
