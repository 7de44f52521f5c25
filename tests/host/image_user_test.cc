#include "host/images/image_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

namespace caip::host {
namespace {

using ::testing::HasSubstr;

struct UserOfAnImage : ::testing::Test {
  UserOfAnImage() {
    EXPECT_TRUE(MakeDirectories(base.path() / "etc").ok());
    EXPECT_TRUE(MakeDirectories(top.path() / "etc").ok());
    Write(base, "etc/passwd",
          "root:x:0:0:root:/root:/bin/sh\ntrainer:x:1000:100:Trainer:/home/trainer:/bin/sh\n");
    Write(base, "etc/group", "root:x:0:\nusers:x:100:trainer\nmodels:x:200:trainer\n");
  }
  static void Write(const TemporaryDirectory& layer, const char* path, const std::string& text) {
    EXPECT_TRUE(WriteFile(layer.path() / path, text).ok());
  }
  Result<ImageUser> Find(const std::string& user) const {
    return FindImageUser(user, {base.path(), top.path()});
  }

  TemporaryDirectory base{"caip-layer-"};
  TemporaryDirectory top{"caip-layer-"};
};

struct UserCase {
  const char* user;
  uint32_t number;
  uint32_t group;
  const char* home;
};

TEST_F(UserOfAnImage, IsANameOrANumberWithOrWithoutAGroup) {
  constexpr UserCase kCases[] = {
      {"", 0, 0, "/root"},
      {"root", 0, 0, "/root"},
      {"trainer", 1000, 100, "/home/trainer"},
      {"1000", 1000, 100, "/home/trainer"},
      {"trainer:models", 1000, 200, "/home/trainer"},
      {"trainer:7", 1000, 7, "/home/trainer"},
      {"4711", 4711, 0, "/"},
      {"4711:4712", 4711, 4712, "/"},
      {":users", 0, 100, "/root"},
  };
  for (const UserCase& known : kCases) {
    const auto found = Find(known.user);
    ASSERT_TRUE(found.ok()) << known.user << ": " << found.error().message;
    EXPECT_EQ(found->user, known.number) << known.user;
    EXPECT_EQ(found->group, known.group) << known.user;
    EXPECT_EQ(found->home, known.home) << known.user;
  }
}

TEST_F(UserOfAnImage, IsRefusedIfTheImageHasNoSuchName) {
  EXPECT_THAT(Find("nobody").error().message, HasSubstr("'nobody' is not in /etc/passwd"));
  EXPECT_THAT(Find("trainer:staff").error().message, HasSubstr("'staff' is not in /etc/group"));
  EXPECT_EQ(Find("-1").error().code, Code::kNotFound);
  EXPECT_EQ(Find("99999999999").error().code, Code::kNotFound);
}

TEST_F(UserOfAnImage, IsLookedUpInTheHighestLayerThatHasTheTable) {
  Write(top, "etc/passwd", "trainer:x:2000:2000::/srv:/bin/sh\n");
  EXPECT_EQ(Find("trainer")->user, 2000u);
}

TEST_F(UserOfAnImage, IsNotLookedUpInADeletedTable) {
  ASSERT_EQ(::mknod((top.path() / "etc/passwd").c_str(), S_IFCHR, makedev(0, 0)), 0);
  EXPECT_EQ(Find("trainer").error().code, Code::kNotFound);
}

TEST_F(UserOfAnImage, IsNotLookedUpInFilesOfTheHost) {
  std::filesystem::remove(base.path() / "etc/passwd");
  std::filesystem::create_symlink("/etc/passwd", base.path() / "etc/passwd");
  EXPECT_EQ(Find("daemon").error().code, Code::kNotFound);
  std::filesystem::remove(base.path() / "etc/passwd");
  std::filesystem::create_symlink("../../../../../etc/passwd", base.path() / "etc/passwd");
  EXPECT_EQ(Find("daemon").error().code, Code::kNotFound);
}

TEST_F(UserOfAnImage, SurvivesTablesThatAreNone) {
  Write(top, "etc/passwd", std::string("trainer\n:::::::\ntrainer:x\n\0\xff", 30));
  EXPECT_EQ(Find("trainer").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace caip::host
