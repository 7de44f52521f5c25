// The limit of storage_peers.py: a server that answers every request with the same 4 KiB from
// memory. It reads no request, opens no file, and has a thread for each connection, as caip has.
//
//   bench_storage_limit      prints its address, and serves until it is killed

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

namespace {

constexpr size_t kBodyBytes = 4096;

std::string Answer() {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
         std::to_string(kBodyBytes) + "\r\n\r\n" + std::string(kBodyBytes, 'x');
}

void Serve(int connection) {
  const std::string answer = Answer();
  const int on = 1;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  char request[16384];
  while (::recv(connection, request, sizeof request, 0) > 0) {
    if (::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::close(connection);
}

}  // namespace

int main() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, length) != 0 || ::listen(listener, 64) != 0 ||
      ::getsockname(listener, generic, &length) != 0) {
    std::perror("bench_storage_limit");
    return 1;
  }
  std::printf("http://127.0.0.1:%d\n", ::ntohs(address.sin_port));
  std::fflush(stdout);
  while (true) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection >= 0) std::thread(Serve, connection).detach();
  }
}
