#include "host/watch/other_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/host/launch_world.h"

namespace caip::host {
namespace {

/// Both ways of telling a program the name of its host.
class OtherHost : public ::testing::TestWithParam<const char*> {
 protected:
  OtherHost() { ::setenv("CAIP_INTERPOSITION", GetParam(), 1); }
  ~OtherHost() override { ::unsetenv("CAIP_INTERPOSITION"); }

  engine::ReplicaExit Run(std::vector<std::string> command) {
    engine::ReplicaLaunch launch = AShell("");
    launch.program = run::LocalCommand{OnHost("elsewhere", std::move(command))};
    return world_.Run(std::move(launch));
  }

  LaunchWorld world_;
};

TEST_P(OtherHost, IsTheNameThatProgramsAndTheirChildrenAreTold) {
  const auto exit = Run({"python3", "-c",
                         "import os, socket, subprocess\n"
                         "print(socket.gethostname(), os.uname().nodename, flush=True)\n"
                         "subprocess.run(['uname', '-n'])\n"});
  EXPECT_EQ(exit.exit_code, 0);
  EXPECT_EQ(world_.sink.Messages(), (std::vector<std::string>{"elsewhere elsewhere", "elsewhere"}));
}

TEST_P(OtherHost, LeavesTheRestAsItIs) {
  char before[256] = {};
  ASSERT_EQ(::gethostname(before, sizeof before - 1), 0);
  const auto exit = Run({"/bin/sh", "-c", "id -u; id -g; pwd; exit 7"});
  EXPECT_EQ(exit.exit_code, 7);
  const std::vector<std::string> lines = world_.sink.Messages();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], std::to_string(::geteuid()));
  EXPECT_EQ(lines[1], std::to_string(::getegid()));
  EXPECT_TRUE(lines[2].ends_with("/user_dir")) << lines[2];
  char after[256] = {};
  ASSERT_EQ(::gethostname(after, sizeof after - 1), 0);
  EXPECT_STREQ(after, before) << "this host keeps its name";
}

TEST_P(OtherHost, SaysWhichCommandThereIsNot) {
  EXPECT_EQ(Run({"no-such-program"}).exit_code, 127);
  ASSERT_FALSE(world_.sink.Messages().empty());
  EXPECT_NE(world_.sink.Messages().front().find("cannot run 'no-such-program'"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Ways, OtherHost, ::testing::Values("", "preload"));

}  // namespace
}  // namespace caip::host
