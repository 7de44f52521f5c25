// bench_http [BYTES] compares our server with nginx on this machine, in turns: downloads of one
// file over 1 and 4 connections, small requests over 16. Each server is a separate process; the
// client is the same. Without nginx it prints only our own numbers.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/files.h"
#include "http/server.h"
#include "http/transport/endpoint.h"

namespace {

using namespace caip;
using Steady = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int kSmallRequests = 4000;  // of each connection

struct Contender {
  const char* name;
  pid_t process;
  uint16_t port;
};

http::Response Serve(const http::Request& request, const Path& file, uint64_t size) {
  http::Response response;
  if (request.path == "/small") {
    response.body = std::string(4096, 's');
    return response;
  }
  auto slice = std::make_shared<http::FileSlice>();
  slice->descriptor = Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  slice->length = size;
  response.file = slice;
  return response;
}

Contender StartOurs(const Path& file, uint64_t size) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto server = http::Server::Start(
        {}, [&](const http::Request& request) { return Serve(request, file, size); });
    const uint16_t port = server.ok() ? (*server)->port() : 0;
    if (::write(ends[1], &port, sizeof port) != sizeof port) std::abort();
    ::pause();
  }
  uint16_t port = 0;
  if (::read(ends[0], &port, sizeof port) != sizeof port) std::abort();
  return {"caip", child, port};
}

uint16_t FreePort() {
  const auto listener = http::ListenOn("127.0.0.1", 0);
  return listener.ok() ? http::LocalPort(listener->get()) : 0;
}

Contender StartNginx(const Path& directory) {
  const uint16_t port = FreePort();
  const std::string place = directory.string();
  const std::string settings =
      std::string(::geteuid() == 0 ? "user root; " : "") +  // the directory is ours alone
      "daemon off; worker_processes 2; pid " + place + "/nginx.pid; error_log " + place +
      "/error.log;\nevents { worker_connections 512; }\nhttp { sendfile on; tcp_nopush on; "
      "access_log off; keepalive_requests 1000000; client_body_temp_path " +
      place + "/t; proxy_temp_path " + place + "/t; fastcgi_temp_path " + place +
      "/t; uwsgi_temp_path " + place + "/t; scgi_temp_path " + place +
      "/t; server { listen 127.0.0.1:" + std::to_string(port) + "; root " + place + "; } }\n";
  if (!WriteFile(directory / "nginx.conf", settings).ok()) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string config = place + "/nginx.conf";
    ::execlp("nginx", "nginx", "-p", place.c_str(), "-c", config.c_str(), nullptr);
    ::execl("/usr/sbin/nginx", "nginx", "-p", place.c_str(), "-c", config.c_str(), nullptr);
    ::_exit(127);
  }
  return {"nginx", child, port};
}

// Sends `times` requests on one connection and discards the answers. False if one failed.
bool AskAgain(uint16_t port, const std::string& path, uint64_t size, int times) {
  auto socket = http::ConnectTo("127.0.0.1", std::to_string(port), std::chrono::seconds(5));
  if (!socket.ok()) return false;
  const std::string ask = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static thread_local std::string buffer(1 << 20, '\0');
  for (int i = 0; i < times; ++i) {
    if (socket->Send(ask) != http::Flow::kData) return false;
    std::string head;
    size_t end;
    while ((end = head.find("\r\n\r\n")) == std::string::npos) {
      const auto got = socket->Receive(buffer.data(), 8192);
      if (got.flow != http::Flow::kData) return false;
      head.append(buffer, 0, got.count);
    }
    if (!head.starts_with("HTTP/1.1 200")) return false;
    uint64_t left = size - (head.size() - end - 4);
    while (left > 0) {
      const auto got = socket->Receive(buffer.data(), std::min<uint64_t>(left, buffer.size()));
      if (got.flow != http::Flow::kData) return false;
      left -= got.count;
    }
  }
  return true;
}

// Waits at most ten seconds. False: the program has ended, or did not answer and was killed.
bool Answers(const Contender& contender) {
  for (int i = 0; i < 100; ++i) {
    if (AskAgain(contender.port, "/small", 4096, 1)) return true;
    if (::waitpid(contender.process, nullptr, WNOHANG) != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::kill(contender.process, SIGKILL);
  ::waitpid(contender.process, nullptr, 0);
  return false;
}

// Seconds until all connections have received all their answers.
double Measure(uint16_t port, const std::string& path, uint64_t size, int connections, int times) {
  const auto begin = Steady::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&] {
      if (!AskAgain(port, path, size, times)) std::fprintf(stderr, "no answer from %d\n", port);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Compare(const std::vector<Contender>& contenders, const char* what, const char* unit,
             double amount, const std::function<double(uint16_t)>& seconds_of) {
  std::vector<std::vector<double>> taken(contenders.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      taken[i].push_back(seconds_of(contenders[i].port));
    }
  }
  std::vector<double> rates;
  for (const auto& seconds : taken) rates.push_back(amount / MedianOf(seconds));
  std::printf("%-28s", what);
  for (size_t i = 0; i < rates.size(); ++i) {
    std::printf("  %s %.2f %s", contenders[i].name, rates[i], unit);
  }
  if (rates.size() > 1) std::printf("  ratio %.2f", rates[0] / rates[1]);
  std::printf("\n");
}

}  // namespace

int main(int count, char** words) {
  const uint64_t size = count > 1 ? std::strtoull(words[1], nullptr, 10) : uint64_t{1} << 30;
  const TemporaryDirectory directory;
  const Path file = directory.path() / "file";
  const std::string piece(1 << 20, 'x');
  std::string bytes;
  while (bytes.size() < size)
    bytes.append(piece, 0, std::min<uint64_t>(piece.size(), size - bytes.size()));
  if (!WriteFile(file, bytes).ok() ||
      !WriteFile(directory.path() / "small", std::string(4096, 's')).ok()) {
    return 1;
  }
  bytes = {};
  std::vector<Contender> contenders = {StartOurs(file, size), StartNginx(directory.path())};
  if (!Answers(contenders[1])) {
    std::printf("nginx is not installed, or does not start\n");
    contenders.pop_back();
  }
  const double gibibytes = static_cast<double>(size) / (1 << 30);
  for (const int connections : {1, 4}) {
    const std::string what = "download, " + std::to_string(connections) + " connection(s)";
    Compare(contenders, what.c_str(), "GiB/s", gibibytes * connections,
            [&](uint16_t port) { return Measure(port, "/file", size, connections, 1); });
  }
  Compare(contenders, "4 KiB, 16 connections", "/s", 16.0 * kSmallRequests,
          [](uint16_t port) { return Measure(port, "/small", 4096, 16, kSmallRequests); });
  for (const Contender& contender : contenders) {
    ::kill(contender.process, SIGTERM);
    ::waitpid(contender.process, nullptr, 0);
  }
}
