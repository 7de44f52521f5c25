#include "emulator/front/front_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace caip::front {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(FrontEnvironment, NamesTheMetadataServerInEverySpelling) {
  EXPECT_THAT(RenderFrontEnvironment({"127.0.0.1:4711", "ya29.token"}),
              ElementsAre(Pair("GCE_METADATA_HOST", "127.0.0.1:4711"),
                          Pair("GCE_METADATA_IP", "127.0.0.1:4711"),
                          Pair("GCE_METADATA_ROOT", "127.0.0.1:4711"),
                          Pair("GOOGLE_AUTH_TOKEN_FOR_TESTING", "ya29.token")));
}

TEST(FrontEnvironment, ListsEveryPeerBecauseGrpcDoesNotMatchNetworks) {
  const HttpsFront front{"http://127.0.0.1:4711", "/b.pem", {"127.1.2.3", "localhost", ".corp"}};
  for (const auto& [name, value] : RenderFrontEnvironment({"m", "t", &front})) {
    if (LowerCase(name) != "no_proxy" && name != "no_grpc_proxy") continue;
    EXPECT_EQ(value, "localhost,127.0.0.1,::1,127.0.0.0/8,127.1.2.3,.corp") << name;
  }
}

TEST(FrontEnvironment, SetsNoProxyForPlainHttp) {
  const HttpsFront front{"http://127.0.0.1:4711", "/b.pem", {}};
  for (const auto& [name, value] : RenderFrontEnvironment({"m", "t", &front})) {
    EXPECT_NE(LowerCase(name), "http_proxy");
    EXPECT_NE(LowerCase(name), "all_proxy");
  }
}

}  // namespace
}  // namespace caip::front
