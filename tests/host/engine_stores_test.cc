// podman and docker as scripts that answer as the real ones do.

#include "host/images/engine_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace caip::host {
namespace {

using ::testing::HasSubstr;

struct Engines : ::testing::Test {
  void Install(const std::string& engine, const std::string& script) {
    ASSERT_TRUE(WriteFile(bin.path() / engine, "#!/bin/sh\n" + script).ok());
    std::filesystem::permissions(bin.path() / engine, std::filesystem::perms(0755));
  }
  EngineStores Stores() const {
    return EngineStores({{"PATH", bin.path().string() + ":/usr/bin:/bin"}});
  }

  TemporaryDirectory bin{"caip-engines-"};
  const std::string id = std::string(64, 'a');
};

// With an own PATH only, because this host may have a real engine.
TEST_F(Engines, WithoutAProgramHaveNoImage) {
  const EngineStores stores({{"PATH", bin.path().string()}});
  EXPECT_FALSE(stores.Find("gcr.io/p/i:1", {}));
}

TEST_F(Engines, NameAnImageByItsId) {
  Install("podman", "[ \"$1 $2\" = 'image inspect' ] && [ \"$6\" = gcr.io/p/i:1 ] && echo " + id);
  const auto found = Stores().Find("gcr.io/p/i:1", {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "podman");
  EXPECT_EQ(found->id, id);
  Install("docker", "exit 1");
  EXPECT_FALSE(Stores().Find("gcr.io/p/other:1", {}));
}

TEST_F(Engines, AreAskedInTurn) {
  Install("podman", "echo 'no such image' >&2; exit 125");
  Install("docker", "echo sha256:" + id);
  const auto found = Stores().Find("gcr.io/p/i:1", {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "docker");
  EXPECT_EQ(found->id, id);
}

TEST_F(Engines, AreNotBelievedWhenTheyAnswerSomethingElse) {
  Install("podman", "echo hello");
  Install("docker", "echo 'sha256:../../etc/passwd'");
  EXPECT_FALSE(Stores().Find("gcr.io/p/i:1", {}));
}

TEST_F(Engines, SaveAnImageToAFile) {
  Install("podman", "[ \"$1 $2 $4\" = 'save --output " + id + "' ] && echo archive > \"$3\"");
  const Path file = bin.path() / "image.tar";
  ASSERT_TRUE(Stores().Save({"podman", id}, file, {}).ok());
  EXPECT_EQ(*ReadFile(file), "archive\n");
}

TEST_F(Engines, ReportWhyTheyCannotSave) {
  Install("docker", "echo 'the daemon is gone' >&2; exit 1");
  const Status saved = Stores().Save({"docker", id}, bin.path() / "image.tar", {});
  EXPECT_THAT(saved.error().message, HasSubstr("docker cannot save it: the daemon is gone"));
}

}  // namespace
}  // namespace caip::host
