#pragma once
// The load of storage_load.cc: many requests over kept connections from one thread, with little
// work for each, because the generator shares the machine with the server that it measures.

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "http/transport/endpoint.h"

namespace caip {

[[noreturn]] inline void GiveUp(const std::string& why) {
  std::fprintf(stderr, "storage_load: %s\n", why.c_str());
  std::exit(1);
}

/// The length of the first answer, or 0 while it is incomplete. Supports lengths and chunks.
class AnswerReader {
 public:
  static size_t LengthOf(std::string_view input) {
    const size_t head = input.find("\r\n\r\n");
    if (head == input.npos) return 0;
    const std::string_view fields = input.substr(0, head + 2);
    const size_t body = head + 4;
    if (const std::string_view length = FieldOf(fields, "\r\ncontent-length:"); !length.empty()) {
      size_t count = 0;
      std::from_chars(length.data(), length.data() + length.size(), count);
      return input.size() >= body + count ? body + count : 0;
    }
    if (FieldOf(fields, "\r\ntransfer-encoding:") == "chunked") return ChunksEnd(input, body);
    return body;
  }

 private:
  // `name` is in lower case.
  static std::string_view FieldOf(std::string_view fields, std::string_view name) {
    for (size_t at = 0; (at = fields.find("\r\n", at)) != fields.npos; at += 2) {
      size_t same = 0;
      while (same < name.size() && at + same < fields.size() &&
             (fields[at + same] | (same < 2 ? 0 : 0x20)) == name[same]) {
        ++same;
      }
      if (same < name.size()) continue;
      const std::string_view rest = fields.substr(at + same);
      return Trim(rest.substr(0, rest.find("\r\n")));
    }
    return {};
  }

  static size_t ChunksEnd(std::string_view input, size_t at) {
    for (;;) {
      const size_t line = input.find("\r\n", at);
      if (line == input.npos) return 0;
      size_t size = 0;
      std::from_chars(input.data() + at, input.data() + line, size, 16);
      at = line + 2 + size + 2;
      if (at > input.size()) return 0;
      if (size == 0) return at;
    }
  }
};

/// Sends every index of 0 ... count-1 once, on any free connection. Ends the program at an answer
/// that is not 2xx.
class WireLoad {
 public:
  /// Writes the whole request of an index.
  using Write = std::function<void(int index, std::string& request)>;

  WireLoad(const std::string& host, const std::string& port, int connections)
      : host_(host),
        port_(port),
        poll_(::epoll_create1(EPOLL_CLOEXEC)),
        links_(static_cast<size_t>(connections)) {
    for (Link& link : links_) Connect(link);
  }

  void Run(int count, const Write& write) {
    next_ = 0;
    count_ = count;
    write_ = &write;
    int left = count;
    for (Link& link : links_) Begin(link);
    std::vector<epoll_event> events(links_.size());
    while (left > 0) {
      const int ready =
          ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < ready; ++i) {
        left -= Continue(links_[events[static_cast<size_t>(i)].data.u64]);
      }
    }
  }

 private:
  struct Link {
    http::Socket socket;
    std::string request;
    std::string answer;
  };
  static int Descriptor(const Link& link) { return link.socket.get(); }

  void Connect(Link& link) {
    auto socket = http::ConnectTo(host_, port_, std::chrono::seconds(10));
    if (!socket.ok()) GiveUp(socket.error().message);
    link.socket = std::move(*socket);  // closes the one before
    ::fcntl(Descriptor(link), F_SETFL, O_NONBLOCK);
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u64 = static_cast<uint64_t>(&link - links_.data());
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, Descriptor(link), &wanted);
  }

  void Begin(Link& link) {
    if (next_ == count_) return;
    link.request.clear();
    (*write_)(next_++, link.request);
    // A request is much smaller than a socket's buffer, so one write sends it.
    const ssize_t sent =
        ::send(Descriptor(link), link.request.data(), link.request.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(link.request.size())) GiveUp("a request was not sent whole");
  }

  // Returns 1 when an answer is complete; the next request has then been sent.
  int Continue(Link& link) {
    const size_t had = link.answer.size();
    link.answer.resize(had + kPiece);
    const ssize_t count = ::recv(Descriptor(link), link.answer.data() + had, kPiece, 0);
    link.answer.resize(had + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (link.answer.starts_with("HTTP/1.0 2")) return ContinueOld(link, count <= 0);
    if (count <= 0) GiveUp("the connection was closed after " + link.answer);
    const size_t length = AnswerReader::LengthOf(link.answer);
    if (length == 0) return 0;
    if (link.answer.compare(0, 10, "HTTP/1.1 2") != 0) {
      GiveUp(link.request.substr(0, 200) + " was answered by " + link.answer.substr(0, 600));
    }
    link.answer.erase(0, length);
    Begin(link);
    return 1;
  }

  // A server of HTTP/1.0 ends an answer by closing, so each request has its own connection.
  int ContinueOld(Link& link, bool closed) {
    if (!closed) return 0;
    link.answer.clear();
    Connect(link);
    Begin(link);
    return 1;
  }

  static constexpr size_t kPiece = 32 << 10;
  std::string host_;
  std::string port_;
  Fd poll_;
  std::vector<Link> links_;
  const Write* write_ = nullptr;
  int next_ = 0;
  int count_ = 0;
};

}  // namespace caip
