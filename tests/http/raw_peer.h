#pragma once
// A peer that speaks bytes, not HTTP: for requests that no client would send.

#include <string>
#include <string_view>

#include "http/transport/endpoint.h"

namespace caip::http {

class RawPeer {
 public:
  explicit RawPeer(uint16_t port) {
    auto connected = ConnectTo("127.0.0.1", std::to_string(port), std::chrono::milliseconds(5000));
    if (connected.ok()) socket_ = std::move(*connected);
    socket_.SetSilenceLimit(std::chrono::milliseconds(20000));
  }
  bool Send(std::string_view bytes) { return socket_.Send(bytes) == Flow::kData; }
  void EndWrites() { socket_.ShutdownWrites(); }
  void Close() { socket_.Close(); }

  /// Reads until `text` has been seen (or the end) and answers all that came since the last call.
  std::string ReadUntil(std::string_view text) {
    while (true) {
      const size_t at = pending_.find(text);
      if (at != std::string::npos) {
        std::string seen = pending_.substr(0, at + text.size());
        pending_.erase(0, at + text.size());
        return seen;
      }
      if (!ReceiveMore()) return std::exchange(pending_, {});
    }
  }
  std::string ReadToEnd() {
    while (ReceiveMore()) {
    }
    return std::exchange(pending_, {});
  }
  /// One answer with Content-Length, head and body.
  std::string ReadAnswer() {
    std::string answer = ReadUntil("\r\n\r\n");
    const size_t at = answer.find("Content-Length: ");
    if (at == std::string::npos) return answer;
    const size_t size = std::stoul(answer.substr(at + 16));
    while (pending_.size() < size && ReceiveMore()) {
    }
    answer += pending_.substr(0, size);
    pending_.erase(0, size);
    return answer;
  }

 private:
  bool ReceiveMore() {
    char buffer[4096];
    const Received received = socket_.Receive(buffer, sizeof buffer);
    pending_.append(buffer, received.count);
    return received.flow == Flow::kData;
  }

  Socket socket_;
  std::string pending_;
};

}  // namespace caip::http
