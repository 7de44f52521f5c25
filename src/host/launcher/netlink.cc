#include "host/launcher/netlink.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace caip::host::launcher {
namespace {

constexpr size_t kAnswerBytes = 16u << 10;

size_t Aligned(size_t size) { return NLMSG_ALIGN(size); }

// In the kernel's answer to RTM_GETLINK.
bool ReportsOperational(nlmsghdr* head) {
  auto* const link = static_cast<ifinfomsg*>(NLMSG_DATA(head));
  auto left = static_cast<int>(IFLA_PAYLOAD(head));
  for (rtattr* part = IFLA_RTA(link); RTA_OK(part, left); part = RTA_NEXT(part, left)) {
    if (part->rta_type != IFLA_OPERSTATE) continue;
    return *static_cast<const uint8_t*>(RTA_DATA(part)) == IF_OPER_UP;
  }
  return false;
}

}  // namespace

int OpenNetlink() { return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }

void NetlinkRequests::Begin(uint16_t type, uint16_t flags, Failure failure) {
  EndRequest();
  begin_ = bytes_.size();
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<uint16_t>(flags | NLM_F_REQUEST | NLM_F_ACK);
  head.nlmsg_seq = static_cast<uint32_t>(counts_.size());
  counts_.push_back(failure == Failure::kCounts);
  Put(head);
}

void NetlinkRequests::Attribute(uint16_t type, const char* text) {
  PutAttribute(type, text, std::strlen(text) + 1);
}

size_t NetlinkRequests::BeginNest(uint16_t type) {
  const size_t nest = bytes_.size();
  PutAttribute(type, nullptr, 0);
  return nest;
}

void NetlinkRequests::EndNest(size_t nest) {
  const auto size = static_cast<uint16_t>(bytes_.size() - nest);
  std::memcpy(bytes_.data() + nest + offsetof(rtattr, rta_len), &size, sizeof size);
}

void NetlinkRequests::PutBytes(const void* bytes, size_t size) {
  const char* first = static_cast<const char*>(bytes);
  bytes_.insert(bytes_.end(), first, first + size);
  bytes_.resize(Aligned(bytes_.size()));
}

void NetlinkRequests::PutAttribute(uint16_t type, const void* bytes, size_t size) {
  rtattr head{};
  head.rta_type = type;
  head.rta_len = static_cast<uint16_t>(sizeof head + size);
  Put(head);
  if (size > 0) PutBytes(bytes, size);
}

void NetlinkRequests::EndRequest() {
  if (bytes_.empty()) return;
  const auto size = static_cast<uint32_t>(bytes_.size() - begin_);
  std::memcpy(bytes_.data() + begin_ + offsetof(nlmsghdr, nlmsg_len), &size, sizeof size);
}

int NetlinkRequests::Send(int socket) {
  EndRequest();
  if (::send(socket, bytes_.data(), bytes_.size(), 0) < 0) return errno;
  int failed = 0;
  alignas(nlmsghdr) char answer[kAnswerBytes];
  for (size_t open = counts_.size(); open > 0;) {
    const ssize_t received = ::recv(socket, answer, sizeof answer, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) return errno;
    auto left = static_cast<uint32_t>(received);
    for (auto* head = reinterpret_cast<nlmsghdr*>(answer); NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
      if (head->nlmsg_type != NLMSG_ERROR || head->nlmsg_seq >= counts_.size()) continue;
      const int error = -static_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
      if (failed == 0 && counts_[head->nlmsg_seq]) failed = error;
      --open;
    }
  }
  return failed;
}

bool IsOperational(int socket, int index) {
  struct {
    nlmsghdr head{};
    ifinfomsg link{};
  } request;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = RTM_GETLINK;
  request.head.nlmsg_flags = NLM_F_REQUEST;  // one answer: the link, or an error
  request.link.ifi_index = index;
  if (::send(socket, &request, sizeof request, 0) < 0) return false;
  alignas(nlmsghdr) char answer[kAnswerBytes];
  ssize_t received = -1;
  do {
    received = ::recv(socket, answer, sizeof answer, 0);
  } while (received < 0 && errno == EINTR);
  auto* const head = reinterpret_cast<nlmsghdr*>(answer);
  return received > 0 && NLMSG_OK(head, static_cast<uint32_t>(received)) &&
         head->nlmsg_type == RTM_NEWLINK && ReportsOperational(head);
}

}  // namespace caip::host::launcher
