#pragma once
// Calls of gRPC as the server's handlers get them.

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grpc/message_frame.h"
#include "http/message.h"

namespace caip::grpc {

class FixedBody final : public http::BodyReader {
 public:
  explicit FixedBody(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, std::min<size_t>(size, 3), at_);  // in small pieces
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

/// A call with a body. It outlives its request.
struct ACall {
  explicit ACall(std::string bytes,
                 const std::vector<std::pair<std::string, std::string>>& metadata = {},
                 std::string path = "/google.cloud.aiplatform.v1.JobService/CreateCustomJob")
      : body(std::move(bytes)) {
    request.method = "POST";
    request.path = std::move(path);
    request.host = "us-central1-aiplatform.googleapis.com";
    request.peer = "127.0.0.1:5";
    request.is_http2 = true;
    request.body = &body;
    request.headers.Add("content-type", "application/grpc");
    for (const auto& [name, value] : metadata) request.headers.Set(name, value);
  }

  FixedBody body;
  http::Request request;
};

}  // namespace caip::grpc
