#include "http/transport/peer_user.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace caip::http {
namespace {

constexpr size_t kLocalField = 1;  // fields of a line of /proc/net/tcp
constexpr size_t kRemoteField = 2;
constexpr size_t kUserField = 7;
constexpr size_t kInodeField = 9;

// One end of a connection. An IPv4 address in IPv6 form counts as IPv4, as in the kernel's tables.
struct End {
  int family = AF_UNSPEC;
  uint16_t port = 0;      // in network order
  uint32_t address[4]{};  // in network order

  bool known() const { return family != AF_UNSPEC; }
  bool operator==(const End&) const = default;
};

End EndOf(const sockaddr_storage& socket) {
  End end;
  if (socket.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(socket);
    end = {AF_INET, four.sin_port, {four.sin_addr.s_addr}};
  } else if (socket.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(socket);
    end = {AF_INET6, six.sin6_port, {}};
    std::memcpy(end.address, &six.sin6_addr, sizeof end.address);
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
      end = {AF_INET, six.sin6_port, {end.address[3]}};
    }
  }
  return end;
}

template <typename Name>
sockaddr_storage AddressOf(int connection, Name name) {
  sockaddr_storage socket{};
  socklen_t size = sizeof socket;
  if (name(connection, reinterpret_cast<sockaddr*>(&socket), &size) != 0) return {};
  return socket;
}

// An end as a sock_diag answer of this family describes it.
End EndIn(uint8_t family, uint16_t port, const uint32_t (&address)[4]) {
  sockaddr_storage socket{};
  if (family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(socket);
    four.sin_port = port;
    four.sin_addr.s_addr = address[0];
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(socket);
    six.sin6_port = port;
    std::memcpy(&six.sin6_addr, address, sizeof six.sin6_addr);
  }
  socket.ss_family = family;
  return EndOf(socket);
}

// If no connection has these ends, the kernel answers with a socket that listens on the peer's
// port, whose owner has nothing to do with the peer.
bool IsConnection(const inet_diag_msg& answer, const End& peer, const End& own) {
  const inet_diag_sockid& id = answer.id;
  return EndIn(answer.idiag_family, id.idiag_sport, id.idiag_src) == peer &&
         EndIn(answer.idiag_family, id.idiag_dport, id.idiag_dst) == own;
}

struct DiagRequest {
  nlmsghdr head;
  inet_diag_req_v2 body;
};

DiagRequest RequestFor(const End& peer, const End& own, uint32_t sequence) {
  DiagRequest request{};
  request.head.nlmsg_seq = sequence;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = static_cast<uint8_t>(peer.family);
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0u;
  inet_diag_sockid& id = request.body.id;
  id.idiag_sport = peer.port;
  id.idiag_dport = own.port;
  std::memcpy(id.idiag_src, peer.address, sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, own.address, sizeof id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

// The kernel's answer; false if it gives none.
bool AskKernel(int netlink, const End& peer, const End& own, uint32_t sequence,
               std::optional<uid_t>& user) {
  const DiagRequest request = RequestFor(peer, own, sequence);
  if (::send(netlink, &request, sizeof request, 0) < 0) return false;
  alignas(nlmsghdr) char bytes[1024];
  const auto* head = reinterpret_cast<const nlmsghdr*>(bytes);
  ssize_t size;
  do {
    size = ::recv(netlink, bytes, sizeof bytes, 0);
    if (size < 0 && errno != EINTR) return false;
  } while (size < static_cast<ssize_t>(sizeof(nlmsghdr)) ||
           head->nlmsg_seq != request.head.nlmsg_seq);
  if (head->nlmsg_type == NLMSG_ERROR) {
    const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(head));
    return error->error == -ENOENT;  // no such socket; others: the kernel lacks the module
  }
  if (size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) return false;
  const auto* answer = static_cast<const inet_diag_msg*>(NLMSG_DATA(head));
  if (answer->idiag_inode != 0 && IsConnection(*answer, peer, own)) user = answer->idiag_uid;
  return true;
}

// "0100007F:C822" on a little-endian machine.
std::string TableForm(const End& end) {
  std::string text;
  char word[16];
  for (int i = 0; i < (end.family == AF_INET ? 1 : 4); ++i) {
    std::snprintf(word, sizeof word, "%08X", end.address[i]);
    text += word;
  }
  std::snprintf(word, sizeof word, ":%04X", ntohs(end.port));
  return text + word;
}

template <typename Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<uid_t> UserInTable(std::string_view table, std::string_view local,
                                 std::string_view remote) {
  for (const std::string& line : Split(table, '\n')) {
    std::vector<std::string> fields = Split(line, ' ');
    std::erase(fields, "");
    if (fields.size() <= kInodeField || fields[kLocalField] != local) continue;
    if (fields[kRemoteField] != remote || fields[kInodeField] == "0") continue;
    return NumberIn<uid_t>(fields[kUserField]);
  }
  return std::nullopt;
}

PeerUsers::PeerUsers()
    : netlink_(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {}

std::optional<uid_t> PeerUsers::Find(int connection) {
  return Find(AddressOf(connection, ::getpeername), AddressOf(connection, ::getsockname));
}

std::optional<uid_t> PeerUsers::Find(const sockaddr_storage& peer_address,
                                     const sockaddr_storage& own_address) {
  const End peer = EndOf(peer_address);
  const End own = EndOf(own_address);
  if (!peer.known() || !own.known()) return std::nullopt;
  if (netlink_.valid()) {
    const std::lock_guard lock(mutex_);
    std::optional<uid_t> user;
    if (AskKernel(netlink_.get(), peer, own, ++sequence_, user)) return user;
  }
  const auto table = ReadFile(peer.family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6");
  return table.ok() ? UserInTable(*table, TableForm(peer), TableForm(own)) : std::nullopt;
}

std::string UserName(uid_t user) {
  std::vector<char> buffer(16 << 10);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found) {
    return found->pw_name;
  }
  return "user " + std::to_string(user);
}

std::optional<uid_t> UserNamed(const std::string& name) {
  if (const auto number = NumberIn<uid_t>(name)) return number;
  std::vector<char> buffer(16 << 10);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) {
    return std::nullopt;
  }
  return found->pw_uid;
}

}  // namespace caip::http
