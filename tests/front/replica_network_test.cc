#include "emulator/front/replica_network.h"

#include <gtest/gtest.h>

namespace caip::front {
namespace {

TEST(HostsFile, HasTheMetadataServerAtItsRealAddress) {
  EXPECT_EQ(RenderHostsFile({}),
            "127.0.0.1 localhost\n"
            "::1 localhost ip6-localhost ip6-loopback\n"
            "169.254.169.254 metadata.google.internal metadata\n");
}

TEST(HostsFile, MapsServedNamesToTheEmulatorAndReplicasToTheirAddresses) {
  const std::string text =
      RenderHostsFile({.replicas = {{"cmle-training-master-e1-0", "10.128.0.2"},
                                    {"cmle-training-worker-e1-0", "10.128.0.3"}},
                       .served = {"storage.googleapis.com", "www.googleapis.com"},
                       .served_at = "10.128.0.1",
                       .host = "10.128.255.254"});
  EXPECT_TRUE(
      text.ends_with("169.254.169.254 metadata.google.internal metadata\n"
                     "10.128.255.254 host.caip.internal\n"
                     "10.128.0.1 storage.googleapis.com\n"
                     "10.128.0.1 www.googleapis.com\n"
                     "10.128.0.2 cmle-training-master-e1-0\n"
                     "10.128.0.3 cmle-training-worker-e1-0\n"))
      << text;
}

}  // namespace
}  // namespace caip::front
