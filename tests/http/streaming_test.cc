#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "http/client.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

constexpr uint64_t kBytes = 400 << 20;
constexpr size_t kPieceBytes = 1 << 20;
constexpr long kGrowthMaxKib = 32 << 10;

// The most memory that this process has had resident, in KiB, since the last ForgetPeak().
long PeakKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return 0;
}

void ForgetPeak() { std::ofstream("/proc/self/clear_refs") << 5; }

// Bytes made as they are asked for.
class Endless final : public BodyReader {
 public:
  Result<size_t> Read(char* buffer, size_t size) override {
    std::fill_n(buffer, size, 'u');
    return size;
  }
};

Response Stream(const Request& request) {
  Response response;
  std::string piece(kPieceBytes, 'd');
  if (request.method == "POST") {
    uint64_t came = 0;
    while (true) {
      const auto count = request.body->Read(piece.data(), piece.size());
      if (!count.ok() || *count == 0) break;
      came += *count;
    }
    return Text(std::to_string(came));
  }
  response.content_length = kBytes;
  response.write_body = [piece](const Response::Sink& sink) {
    for (uint64_t sent = 0; sent < kBytes && sink(piece); sent += piece.size()) {
    }
  };
  return response;
}

class Streaming : public ::testing::Test {
 protected:
  Streaming() {
    EXPECT_TRUE(client_.Send({.method = "POST", .target = "/"}).ok());
    ForgetPeak();
    before_ = PeakKib();
  }
  ~Streaming() override { EXPECT_LT(PeakKib() - before_, kGrowthMaxKib); }

  Served served_{Stream};
  Client client_{"http://127.0.0.1:" + std::to_string(served_->port())};
  long before_ = 0;
};

TEST_F(Streaming, TakesABodyOfAnySizeInConstantMemory) {
  Endless body;
  const auto sent =
      client_.Send({.method = "POST", .target = "/", .body_reader = &body, .body_size = kBytes});
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(sent->body, std::to_string(kBytes));
}

TEST_F(Streaming, SendsABodyOfAnySizeInConstantMemory) {
  uint64_t came = 0;
  const auto got = client_.Send({.target = "/"}, [&](std::string_view piece) {
    came += piece.size();
    return true;
  });
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(came, kBytes);
}

}  // namespace
}  // namespace caip::http
