#pragma once
// Requests to the kernel's route service (man 7 rtnetlink). A socket acts on the network namespace
// in which it was made, whichever process uses it.

#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace caip::host::launcher {

/// A new socket of this process's network namespace; -1 with errno.
int OpenNetlink();

/// Requests that the kernel carries out in their order.
class NetlinkRequests {
 public:
  /// Whether Send reports a failure of the request. Those after it are carried out in any case.
  enum class Failure { kCounts, kIsIgnored };

  /// Begins a request; `flags` beside NLM_F_REQUEST and NLM_F_ACK. Its fixed part follows.
  void Begin(uint16_t type, uint16_t flags = 0, Failure failure = Failure::kCounts);
  template <typename Part>
  void Put(const Part& part) {
    PutBytes(&part, sizeof part);
  }
  void Attribute(uint16_t type, uint32_t value) { PutAttribute(type, &value, sizeof value); }
  void Attribute(uint16_t type, uint8_t value) { PutAttribute(type, &value, sizeof value); }
  /// With its final NUL.
  void Attribute(uint16_t type, const char* text);
  /// Begins an attribute that consists of others, and ends it.
  size_t BeginNest(uint16_t type);
  void EndNest(size_t nest);

  /// Sends all and waits for their answers. Returns 0, or the errno of the first failure that
  /// counts.
  int Send(int socket);

 private:
  void PutBytes(const void* bytes, size_t size);
  void PutAttribute(uint16_t type, const void* bytes, size_t size);
  void EndRequest();

  std::vector<char> bytes_;
  std::vector<bool> counts_;  // by the sequence number
  size_t begin_ = 0;          // of the last request
};

/// True if the kernel reports that the device is up in the sense of RFC 2863. The state of a device
/// whose link the kernel has not seen yet is unknown.
bool IsOperational(int socket, int index);

}  // namespace caip::host::launcher
