#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/wire/multipart.h"
#include "http/message.h"
#include "http/text_body.h"

namespace caip::gcs {
namespace {

constexpr size_t kCallsMax = 100;  // documented limit
constexpr size_t kCallBytesMax = 4 << 20;
constexpr std::string_view kBoundary = "batch_caip_boundary";

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return Trim(line);
}

// Reads one inner request; false if it is malformed. The rest of `text` is its body.
bool ParseCall(std::string_view& text, http::Request* request) {
  while (text.starts_with("\r\n") || text.starts_with("\n")) TakeLine(text);
  const std::vector<std::string> words = Split(TakeLine(text), ' ');
  if (words.size() < 2) return false;
  auto target = http::ParseTarget(words[1]);
  if (!target) return false;
  request->method = words[0];
  request->path = WithOneSlash(std::move(target->path));
  request->query = std::move(target->query);
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (line.empty()) return true;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    request->headers.Add(std::string(line.substr(0, colon)),
                         std::string(Trim(line.substr(colon + 1))));
  }
  return true;
}

std::string BodyOf(const http::Response& response) {
  std::string body = response.body;
  if (response.file) {  // small: clients do not send downloads in a batch
    const http::FileSlice& slice = *response.file;
    body.resize(std::min<uint64_t>(slice.length, kCallBytesMax));
    const ssize_t count =
        ::pread(slice.descriptor.get(), body.data(), body.size(), static_cast<off_t>(slice.offset));
    body.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  if (response.write_body) {
    response.write_body([&](std::string_view piece) {
      body.append(piece);
      return body.size() <= kCallBytesMax;
    });
  }
  return body;
}

std::string RenderAnswer(const http::Response& response, std::string_view content_id) {
  std::string text = "--" + std::string(kBoundary) + "\r\nContent-Type: application/http\r\n";
  if (!content_id.empty()) {
    const bool bracketed = content_id.starts_with('<');
    text += bracketed ? "Content-ID: <response-" + std::string(content_id.substr(1))
                      : "Content-ID: response-" + std::string(content_id);
    text += "\r\n";
  }
  const std::string body = BodyOf(response);
  text += "\r\nHTTP/1.1 " + std::to_string(response.status) + " -\r\n";
  for (const auto& [name, value] : response.headers.all())
    text.append(name).append(": ").append(value).append("\r\n");
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return text + body + "\r\n";
}

// Serves the reader's current part and renders the response.
Result<std::string> ServePart(const http::Router& router, const http::Request& batch,
                              MultipartReader& parts) {
  const std::string content_id(parts.headers().Get("Content-ID"));
  ASSIGN_OR_RETURN(const std::string text, parts.ReadPart(kCallBytesMax));
  std::string_view rest = text;
  http::Request call;
  call.scheme = batch.scheme;
  call.userinfo = batch.userinfo;
  call.host = batch.host;
  if (!ParseCall(rest, &call)) {
    return RenderAnswer(errors::ToResponse(errors::BatchPartInvalid()), content_id);
  }
  http::TextBody body(rest);
  call.body = &body;
  return RenderAnswer(router.Handle(call), content_id);
}

Result<http::Response> ServeBatch(const http::Router& router, const http::Request& request) {
  auto boundaries = BoundariesOf(request.headers.Get("Content-Type"));
  if (boundaries.empty()) return errors::MultipartInvalid("the Content-Type names no boundary");
  MultipartReader parts(*request.body, std::move(boundaries));
  std::string answers;
  for (size_t calls = 0;; ++calls) {
    ASSIGN_OR_RETURN(const bool more, parts.NextPart());
    if (!more) break;
    if (calls == kCallsMax) return errors::MultipartInvalid("a batch may hold 100 calls at most");
    ASSIGN_OR_RETURN(const std::string answer, ServePart(router, request, parts));
    answers += answer;
  }
  http::Response response;
  response.headers.Add("Content-Type", "multipart/mixed; boundary=" + std::string(kBoundary));
  response.body = answers + "--" + std::string(kBoundary) + "--\r\n";
  return response;
}

// Most emulators never get a batch, so the router is filled with the first one.
class BatchRouter {
 public:
  explicit BatchRouter(std::vector<http::Route> routes) : routes_(std::move(routes)) {}

  const http::Router& Get() {
    std::call_once(filled_, [this] { router_.Add(std::exchange(routes_, {})); });
    return router_;
  }

 private:
  std::once_flag filled_;
  std::vector<http::Route> routes_;  // until then
  http::Router router_{NoStorageRoute};
};

}  // namespace

http::Route BatchRoute(std::vector<http::Route> routes) {
  return {"POST", "/batch/storage/v1", "storage.batch",
          [router = std::make_shared<BatchRouter>(std::move(routes))](const http::Request& request,
                                                                      const http::PathParameters&) {
            auto response = ServeBatch(router->Get(), request);
            return response.ok() ? std::move(*response) : errors::ToResponse(response.error());
          }};
}

}  // namespace caip::gcs
