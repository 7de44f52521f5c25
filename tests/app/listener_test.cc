#include "emulator/app/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "http/compression.h"
#include "http/connection/guard.h"

namespace caip::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Listener, AnswersForGooglesNamesAndNoOthers) {
  const auto serving = ServingOptions({}, 0, nullptr, {});
  for (const char* name :
       {"storage.googleapis.com", "bucket.storage.googleapis.com", "us-central1-ml.googleapis.com",
        "aiplatform.googleapis.com", "europe-west4-aiplatform.googleapis.com",
        "metadata.google.internal", "metadata", "169.254.169.254", "oauth2.googleapis.com",
        "gcr.io", "eu.gcr.io", "us-central1-docker.pkg.dev"}) {
    EXPECT_TRUE(http::MatchesAnyName(name, serving.served_names)) << name;
  }
  for (const char* name : {"googleapis.com", "mail.google.com", "bigquery.googleapis.com",
                           "xgcr.io", "pkg.dev", "docker.io"}) {
    EXPECT_FALSE(http::MatchesAnyName(name, serving.served_names)) << name;
  }
}

TEST(Listener, AdmitsOtherUsersOnlyIfTheOptionsNameThem) {
  const auto closed = ServingOptions({}, 0, nullptr, {});
  EXPECT_FALSE(closed.admission.anyone);
  EXPECT_THAT(closed.admission.users, IsEmpty());
  EmulatorOptions options;
  options.allowed_users = {1234};
  EXPECT_THAT(ServingOptions(options, 0, nullptr, {}).admission.users, ElementsAre(1234u));
  options.allow_all_users = true;
  EXPECT_TRUE(ServingOptions(options, 0, nullptr, {}).admission.anyone);
}

TEST(Listener, HasAUrlThatClientsCanRead) {
  EXPECT_EQ(BaseUrlAt("127.0.0.1", 2247), "http://127.0.0.1:2247");
  EXPECT_EQ(BaseUrlAt("localhost", 2247), "http://localhost:2247");
  EXPECT_EQ(BaseUrlAt("::1", 2247), "http://[::1]:2247");
  for (const char* any : {"0.0.0.0", "::"}) {
    EXPECT_EQ(BaseUrlAt(any, 2247), "http://127.0.0.1:2247") << any;
  }
}

TEST(Listener, RelaysThroughTheHostsOwnProxy) {
  const auto small = ServingOptions(
      {}, 0, nullptr,
      {{"HTTPS_PROXY", "http://big"}, {"https_proxy", "http://small"}, {"NO_PROXY", "localhost"}});
  EXPECT_EQ(small.relay.upstream, "http://small");
  EXPECT_EQ(small.relay.upstream_exempt, "localhost");
  EXPECT_EQ(ServingOptions({}, 0, nullptr, {{"HTTPS_PROXY", "http://big"}}).relay.upstream,
            "http://big");
  EXPECT_EQ(ServingOptions({}, 0, nullptr, {}).relay.upstream, "");
}

TEST(Listener, LetsNoExemptionHideGooglesNames) {
  const auto direct = [](const std::string& no_proxy) {
    return DirectHosts({{"no_proxy", no_proxy}});
  };
  EXPECT_THAT(direct("localhost, .corp.example,10.0.0.0/8"),
              ElementsAre("localhost", ".corp.example", "10.0.0.0/8"));
  EXPECT_THAT(direct("*"), IsEmpty());
  EXPECT_THAT(direct(".googleapis.com,*.google.internal,169.254.169.254,storage.googleapis.com"),
              IsEmpty());
  EXPECT_THAT(DirectHosts({}), IsEmpty());
}

class Bytes final : public http::BodyReader {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, size);
    bytes_.erase(0, count);
    return count;
  }

 private:
  std::string bytes_;
};

// The body that the APIs see when `packed` is sent as gzip.
std::string Seen(const std::string& path, const std::string& packed) {
  Bytes body(packed);
  http::Request request;
  request.path = path;
  request.headers.Add("Content-Encoding", "gzip");
  request.body = &body;
  return WithEncodings([](const http::Request& inner) {
           return http::JsonResponse(200, *inner.ReadBody(1 << 20));
         })(request)
      .body;
}

TEST(Listener, UnpacksBodiesOfTheJsonApisAndLeavesObjectsAndBlobs) {
  const std::string packed = http::Gzip("{}");
  for (const char* path :
       {"/v1/projects/p/jobs", "/v2/entries:list", "/storage/v1/b", "/batch/storage/v1",
        "/b/bucket/o", "/upload/storage/v1/b/bucket/o", "/resumable/upload/storage/v1/b/b/o"}) {
    EXPECT_EQ(Seen(path, packed), "{}") << path;
  }
  for (const char* path : {"/bucket/object", "/v1x/object", "/bucket/upload/x", "*",
                           "/v2/p/i/blobs/uploads/x", "/v2/p/i/manifests/latest"}) {
    EXPECT_EQ(Seen(path, packed), packed) << path;
  }
}

TEST(NamesOfHostsFile, HaveNoWildcards) {
  const auto names = NamesOfHostsFile();
  EXPECT_THAT(names, testing::IsSupersetOf({"storage.googleapis.com", "www.googleapis.com",
                                            "oauth2.googleapis.com", "ml.googleapis.com",
                                            "us-central1-ml.googleapis.com"}));
  for (const std::string& name : names) {
    EXPECT_EQ(name.find('*'), std::string::npos) << name;
    EXPECT_FALSE(name.starts_with("metadata")) << name;
  }
}

}  // namespace

namespace {

TEST(PortsToTry, AreTheSameForEveryNewStateDirectory) {
  TemporaryDirectory state;
  const auto ports = PortsToTry(state.path());
  EXPECT_EQ(ports[0], 2247);
  EXPECT_EQ(ports[1], 2248);
  EXPECT_EQ(ports.back(), 0);
}

TEST(PortsToTry, BeginWithTheLastPort) {
  TemporaryDirectory state;
  ASSERT_TRUE(RememberPort(state.path(), 2250).ok());
  const auto ports = PortsToTry(state.path());
  EXPECT_EQ(ports[0], 2250);
  EXPECT_EQ(ports[1], 2247);
  EXPECT_EQ(std::count(ports.begin(), ports.end(), 2250), 1);
}

TEST(PortsToTry, IgnoreAFileThatIsNotAPort) {
  TemporaryDirectory state;
  for (const char* text : {"", "abc", "99999", "-1", "2250x"}) {
    ASSERT_TRUE(WriteFile(state.path() / "port", text).ok());
    EXPECT_EQ(PortsToTry(state.path())[0], 2247) << text;
  }
}

}  // namespace

}  // namespace caip::app
