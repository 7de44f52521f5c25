// For any call, and any answer of the REST API, the transcoder gives a status of gRPC, and messages
// whose frames are whole. The input is a path, a compression, an answer, and the body, each but the
// last with a line end.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grpc/transcoder.h"

namespace {

using namespace caip;

class PieceBody final : public http::BodyReader {
 public:
  explicit PieceBody(std::string_view bytes) : bytes_(bytes) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, std::min<size_t>(size, 7));
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
};

std::string_view TakeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

void Require(bool holds) {
  if (!holds) std::abort();
}

// Only whole frames without compression.
void CheckFrames(std::string_view body) {
  while (!body.empty()) {
    Require(body.size() >= 5 && body[0] == 0);
    size_t length = 0;
    for (const char c : body.substr(1, 4)) length = length << 8 | static_cast<unsigned char>(c);
    Require(body.size() - 5 >= length);
    body.remove_prefix(5 + length);
  }
}

http::Response AnswerOf(std::string_view json) {
  http::Response answer = http::JsonResponse(json.starts_with("{\"error\"") ? 400 : 200, "");
  if (!json.starts_with('[')) {
    answer.body = std::string(json);
    return answer;
  }
  answer.write_body = [json = std::string(json)](const http::Response::Sink& sink) {
    for (const char c : json) {
      if (!sink({&c, 1})) return;
    }
  };
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  http::Request call;
  call.method = "POST";
  call.path = std::string(TakeLine(text));
  call.host = "localhost";
  call.is_http2 = true;
  call.headers.Add("content-type", "application/grpc");
  if (const std::string_view coding = TakeLine(text); !coding.empty()) {
    call.headers.Add("grpc-encoding", coding);
  }
  const std::string_view json = TakeLine(text);
  PieceBody body(text);
  call.body = &body;
  const auto rest = [json](const http::Request& request) {
    Require(request.path.starts_with('/') && request.path.find_first_of("? ") == std::string::npos);
    return AnswerOf(json);
  };
  const http::Response response = grpc::WithGrpc(rest, nullptr, nullptr)(call);
  std::string bytes = response.body;
  if (response.write_body) {
    response.write_body([&bytes](std::string_view piece) {
      bytes += piece;
      return true;
    });
  }
  CheckFrames(bytes);
  const http::Headers& end = response.trailers ? *response.trailers : response.headers;
  const std::string_view status = end.Get("grpc-status");
  Require(response.status == 200 && !status.empty() && status.size() <= 2);
  Require(end.Get("grpc-message").size() <= 7000);
  return 0;
}
