// An emulator ends at SIGTERM and at `caip stop` although requests are running.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "host/store/state_directory.h"
#include "tests/http/raw_peer.h"
#include "tests/support/caip_command.h"

namespace caip::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// An emulator needs 1.5 seconds at most (emulator/app/attach/stop_deadline.h). Without that limit
// it would wait for minutes. The rest of the time is for a busy host.
constexpr int kStopSeconds = 10;

class StoppedRequests : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Eventually([&] { return Port() != 0; })) << server_.err();
    ASSERT_EQ(caip_.Run({"buckets", "create", "bkt"}).exit_code, 0);
  }

  uint16_t Port() const {
    const auto owner = host::StateDirectory::Peek(caip_.state());
    if (!owner.ok() || !*owner) return 0;
    const std::string& url = (*owner)->url;  // "" before the emulator serves
    return url.empty() ? 0 : static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }

  // Sends the head of a request with a body. Returns when its handler reads the body.
  void BeginBody(http::RawPeer& peer, const std::string& target, const std::string& type) {
    peer.Send("POST " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: " + type +
              "\r\nContent-Length: 3000000\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_THAT(peer.ReadUntil("\r\n\r\n"), HasSubstr("100 Continue"));
  }

  // A sparse file, which is an object: no checksums of it are known.
  Path MakeLargeObject(const std::string& name, uintmax_t bytes) {
    const Path file = caip_.BucketFile("bkt", name);
    std::ofstream(file) << "x";
    fs::resize_file(file, bytes);
    return file;
  }

  bool HoldsOpen(const Path& file) const {
    std::error_code error;
    const Path descriptors = "/proc/" + std::to_string(server_.pid()) + "/fd";
    for (const auto& entry : fs::directory_iterator(descriptors, error)) {
      if (fs::equivalent(entry.path(), file, error)) return true;
    }
    return false;
  }

  void ExpectEnd() {
    if (GetParam()) {
      EXPECT_THAT(caip_.Run({"stop"}).err, HasSubstr("Stopped the emulator"));
    } else {
      server_.Signal(SIGTERM);
    }
    const std::string state = caip_.state().string();
    ASSERT_TRUE(Eventually([&] { return ProcessesMentioning(state).empty(); }, kStopSeconds));
    EXPECT_EQ(server_.End().exit_code, 0);
  }

  CaipCommand caip_;
  RunningCommand server_ = caip_.Start({"serve", "--port", "0"});
};

TEST_P(StoppedRequests, LetTheEmulatorEndDuringAnUploadThatStalls) {
  http::RawPeer peer(Port());
  BeginBody(peer, "/upload/storage/v1/b/bkt/o?uploadType=media&name=half", "text/plain");
  peer.Send("only some");
  ExpectEnd();
  EXPECT_FALSE(fs::exists(caip_.BucketFile("bkt", "half")));
}

TEST_P(StoppedRequests, LetTheEmulatorEndDuringAResumableUploadThatStalls) {
  http::RawPeer session(Port());
  session.Send(
      "POST /upload/storage/v1/b/bkt/o?uploadType=resumable&name=half HTTP/1.1\r\n"
      "Host: 127.0.0.1\r\nContent-Length: 0\r\n\r\n");
  const std::string answer = session.ReadAnswer();
  const size_t at = answer.find("upload_id=");
  ASSERT_NE(at, std::string::npos) << answer;
  const std::string id = answer.substr(at, answer.find("\r\n", at) - at);
  http::RawPeer peer(Port());
  BeginBody(peer, "/upload/storage/v1/b/bkt/o?uploadType=resumable&" + id, "text/plain");
  peer.Send("only some");
  ExpectEnd();
  EXPECT_FALSE(fs::exists(caip_.BucketFile("bkt", "half")));
}

TEST_P(StoppedRequests, LetTheEmulatorEndDuringALargeJsonBody) {
  http::RawPeer job(Port());
  http::RawPeer bucket(Port());
  BeginBody(job, "/v1/projects/demo/jobs", "application/json");
  BeginBody(bucket, "/storage/v1/b?project=demo", "application/json");
  job.Send("{\"labels\": {" + std::string(1'000'000, ' '));
  bucket.Send("{\"labels\": {" + std::string(1'000'000, ' '));
  ExpectEnd();
}

TEST_P(StoppedRequests, LetTheEmulatorEndDuringADownloadThatIsNotRead) {
  MakeLargeObject("large", uintmax_t{64} << 20);
  http::RawPeer peer(Port());
  peer.Send("GET /bkt/large HTTP/1.1\r\nHost: storage.googleapis.com\r\n\r\n");
  EXPECT_THAT(peer.ReadUntil("\r\n\r\n"), HasSubstr("200 OK"));
  ExpectEnd();
}

TEST_P(StoppedRequests, LetTheEmulatorEndDuringALongList) {
  const Path file = MakeLargeObject("large", uintmax_t{1} << 40);  // its checksums take minutes
  http::RawPeer peer(Port());
  peer.Send("GET /storage/v1/b/bkt/o HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_TRUE(Eventually([&] { return HoldsOpen(file); }));
  ExpectEnd();
}

INSTANTIATE_TEST_SUITE_P(BySignalAndCommand, StoppedRequests, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Command" : "Signal"; });

}  // namespace
}  // namespace caip::testing
