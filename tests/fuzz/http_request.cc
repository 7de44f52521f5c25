// For any input, a connection of the server answers HTTP or nothing, and ends. An input that begins
// with the preface of HTTP/2 gets frames.

#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "http/compression.h"
#include "http/connection/connection.h"
#include "http/http2/http2_connection.h"
#include "http/router.h"

namespace {

using namespace caip;
using namespace caip::http;

constexpr size_t kInputBytesMax = 32 << 10;  // fits into a socket's buffer, like the answers
constexpr size_t kBodyBytesMax = 16 << 10;

Response Echo(const Request& request, const PathParameters& parameters) {
  const auto body = request.ReadBody(kBodyBytesMax);
  if (!body.ok()) return JsonResponse(400, body.error().message);
  return JsonResponse(200, std::to_string(body->size()) + parameters.At("name"));
}

Router MakeRouter() {
  Router router(
      [](int status, const Request&, const std::string&) { return JsonResponse(status, "{}"); });
  for (const char* method : {"GET", "POST", "PUT"}) {
    router.Add(Route{method, "/a/{name}", "a", Echo});
    router.Add(Route{method, "/a/{name}:verb", "verb", Echo});
    router.Add(Route{method, "/b/{name...}", "b", Echo});
  }
  return router;
}

std::string ReadAll(int fd) {
  std::string all;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count <= 0) return all;
    all.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Router router = MakeRouter();
  static ConnectionContext& context = *[] {
    auto* made = new ConnectionContext;
    made->options.served_names = {"*.served.example"};
    made->handler = WithCompression([](const Request& request) { return router.Handle(request); });
    return made;
  }();
  if (size > kInputBytesMax) return 0;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const Fd peer(ends[0]);
  if (::send(peer.get(), data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  ::shutdown(peer.get(), SHUT_WR);
  {
    Socket socket{Fd(ends[1])};
    Activity activity;
    ServeConnection(socket, {"peer", ""}, context, activity);
  }
  const std::string answer = ReadAll(peer.get());
  const bool is_http2 =
      std::string_view(reinterpret_cast<const char*>(data), size).starts_with(kHttp2Preface);
  if (!is_http2 && !answer.empty() && !answer.starts_with("HTTP/1.1 ")) std::abort();
  if (context.active_requests != 0) std::abort();
  return 0;
}
