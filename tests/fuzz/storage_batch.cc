// A batch of storage requests is answered with as many parts as it has requests, each of which is a
// response of HTTP. The answer does not depend on how the bytes of the batch arrive. The input: one
// byte (how many bytes arrive at a time), the Content-Type up to a line end, the body.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/wire/multipart.h"

namespace {

using namespace caip;

constexpr size_t kBodyBytesMax = 1 << 20;
constexpr size_t kCallsMax = 100;

void Require(bool holds) {
  if (!holds) std::abort();
}

class SlowBody final : public http::BodyReader {
 public:
  SlowBody(std::string_view bytes, size_t piece) : bytes_(bytes), piece_(piece) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, std::min(size, piece_));
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
  size_t piece_;
};

int calls = 0;  // that a route has served

http::Response CountCall(const http::Request& request, const http::PathParameters& parameters) {
  ++calls;
  const auto body = request.ReadBody(kBodyBytesMax);
  Require(body.ok());
  const size_t bytes = body->size() + parameters.At("object").size() + request.query.size();
  return http::JsonResponse(200, "{\"bytes\":" + std::to_string(bytes) + "}");
}

http::Route MakeBatchRoute() {
  std::vector<http::Route> routes;
  for (const char* method : {"GET", "POST", "PATCH", "DELETE"}) {
    routes.push_back({method, "/storage/v1/b/{bucket}/o/{object}", "storage.objects", CountCall});
    routes.push_back({method, "/storage/v1/b/{bucket}", "storage.buckets", CountCall});
  }
  return gcs::BatchRoute(std::move(routes));
}

http::Response Serve(std::string_view content_type, std::string_view body, size_t piece) {
  static const http::Route route = MakeBatchRoute();
  SlowBody reader(body, piece);
  http::Request request;
  request.method = "POST";
  request.path = "/batch/storage/v1";
  request.headers.Add("Content-Type", content_type);
  request.body = &reader;
  return route.handler(request, {});
}

size_t CountAnswers(const http::Response& response) {
  SlowBody reader(response.body, response.body.size() + 1);
  gcs::MultipartReader parts(reader, gcs::BoundariesOf(response.headers.Get("Content-Type")));
  size_t count = 0;
  while (true) {
    const auto more = parts.NextPart();
    Require(more.ok());
    if (!*more) return count;
    ++count;
    Require(parts.headers().Get("Content-Type") == "application/http");
    const std::string_view id = parts.headers().Get("Content-ID");
    Require(id.empty() || id.starts_with("response-") || id.starts_with("<response-"));
    const auto answer = parts.ReadPart(kBodyBytesMax);
    Require(answer.ok() && answer->starts_with("HTTP/1.1 "));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const size_t piece = static_cast<unsigned char>(input.front()) + size_t{1};
  input.remove_prefix(1);
  const std::string_view content_type = input.substr(0, input.find('\n'));
  input.remove_prefix(std::min(input.size(), content_type.size() + 1));
  calls = 0;
  const http::Response whole = Serve(content_type, input, kBodyBytesMax);
  const size_t served = static_cast<size_t>(calls);
  const http::Response slow = Serve(content_type, input, piece);
  Require(whole.status == slow.status && whole.body == slow.body);
  Require(whole.status < 500);
  if (whole.status != 200) return 0;
  const size_t answers = CountAnswers(whole);
  Require(answers <= kCallsMax && answers >= served);
  return 0;
}
