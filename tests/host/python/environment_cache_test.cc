#include "host/python/environment_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/json.h"
#include "host/process/child_process.h"

namespace caip::host {
namespace {

using engine::RunKey;
using testing::ElementsAre;
using testing::IsEmpty;

Interpreter APython() {
  Interpreter python;
  python.path = python.executable = "/usr/bin/python3.11";
  python.version = "3.11.2";
  python.minor = {3, 11};
  python.modified_ns = 5;
  python.size = 6;
  return python;
}

RunKey RunOf(const std::string& id) { return {"p", id, ""}; }

class EnvironmentCacheTest : public testing::Test {
 protected:
  // An environment that was used `age` seconds ago.
  void Add(const std::string& key, int age) {
    ASSERT_TRUE(cache_.Begin(key, APython()).ok());
    ASSERT_TRUE(cache_.Finish(key, {.package_uris = {"p.tar.gz"}}).ok());
    const timespec times[2] = {{1'000'000 - age, 0}, {1'000'000 - age, 0}};
    const Path ready = cache_.DirectoryOf(key) / ".ready";
    ASSERT_EQ(::utimensat(AT_FDCWD, ready.c_str(), times, 0), 0);
  }
  std::vector<std::string> Left() {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(root_.path())) {
      left.push_back(entry.path().filename());
    }
    std::sort(left.begin(), left.end());
    return left;
  }
  void Evict(const std::set<std::string>& building = {}) {
    for (const Path& path : cache_.TakeUnneeded(building)) RemoveTree(path);
  }
  TemporaryDirectory root_;
  EnvironmentCache cache_{root_.path(), 2};
};

TEST(EnvironmentKey, ChangesWithAllThatDecidesWhatIsInTheEnvironment) {
  const std::vector<PackageIdentity> packages = {{"a.tar.gz", "md5:1"}, {"b.tar.gz", "md5:2"}};
  const std::string key = EnvironmentKey(APython(), packages, {"PIP_PRE=1"});
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(EnvironmentKey(APython(), packages, {"PIP_PRE=1"}), key);
  EXPECT_NE(EnvironmentKey(APython(), packages, {}), key);
  EXPECT_NE(EnvironmentKey(APython(), {packages[1], packages[0]}, {"PIP_PRE=1"}), key);
  EXPECT_NE(EnvironmentKey(APython(), {packages[0]}, {"PIP_PRE=1"}), key);
  Interpreter upgraded = APython();
  upgraded.modified_ns = 6;
  EXPECT_NE(EnvironmentKey(upgraded, packages, {"PIP_PRE=1"}), key);
}

TEST_F(EnvironmentCacheTest, IsUsedOnlyWhenItIsFinished) {
  EXPECT_FALSE(cache_.Use("k", RunOf("a")));
  ASSERT_TRUE(cache_.Begin("k", APython()).ok());
  EXPECT_FALSE(cache_.Use("k", RunOf("a")));
  ASSERT_TRUE(cache_.Finish("k", {}).ok());
  EXPECT_TRUE(cache_.Use("k", RunOf("a")));
}

TEST_F(EnvironmentCacheTest, BeginsAnewWhereARuinStands) {
  ASSERT_TRUE(cache_.Begin("k", APython()).ok());
  const Path left_over = cache_.DirectoryOf("k") / "lib/half";
  ASSERT_TRUE(WriteFile(left_over, "x").ok());
  ASSERT_TRUE(cache_.Begin("k", APython()).ok());
  EXPECT_FALSE(std::filesystem::exists(left_over));
}

TEST_F(EnvironmentCacheTest, KeepsThoseUsedLast) {
  Add("old", 30);
  Add("older", 40);
  Add("new", 10);
  Add("oldest", 50);
  ASSERT_TRUE(cache_.Use("oldest", RunOf("a")));  // now it is the newest, and in use
  cache_.Unuse(RunOf("a"));
  Evict();
  EXPECT_THAT(Left(), ElementsAre("new", "oldest"));
}

TEST_F(EnvironmentCacheTest, KeepsWhatIsInUseOrBeingBuilt) {
  Add("used", 90);
  ASSERT_TRUE(cache_.Use("used", RunOf("a")));
  Add("one", 10);
  Add("two", 20);
  Add("three", 30);
  ASSERT_TRUE(cache_.Begin("building", APython()).ok());
  ASSERT_TRUE(cache_.Begin("ruin", APython()).ok());
  Evict({"building"});
  EXPECT_THAT(Left(), ElementsAre("building", "one", "two", "used"));
  cache_.Unuse(RunOf("a"));
  Evict();
  EXPECT_EQ(Left().size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(root_.path() / "building"));
}

TEST_F(EnvironmentCacheTest, ClearsWhatAnEarlierLifeDidNotGetToDelete) {
  ASSERT_TRUE(MakeDirectories(root_.path() / ".doomed-x/lib").ok());
  Evict();
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(EnvironmentCacheTest, APythonInItSeesItsOwnPackagesAndTheHosts) {
  InterpreterSearch search;
  search.path = "/usr/bin";
  Interpreters interpreters(search, {});
  const auto all = interpreters.All();
  if (all.empty()) GTEST_SKIP() << "this host has no Python on /usr/bin";
  const Interpreter& python = all.front();
  ASSERT_TRUE(cache_.Begin("k", python).ok());
  const Path root = cache_.DirectoryOf("k");
  const Path packages = root / "lib" / ("python" + Text(python.minor)) / "site-packages";
  ASSERT_TRUE(WriteFile(packages / "mine.py", "name = 'mine'\n").ok());
  const auto said = CaptureTool(
      {.argv = {(root / "bin/python").string(), "-c",
                "import sys, mine; print(mine.name, sys.prefix, sys.prefix != sys.base_prefix)"},
       .environment = {{"HOME", root_.path().string()}}});
  ASSERT_TRUE(said.ok());
  EXPECT_EQ(said->out, "mine " + root.string() + " True\n") << said->err;
}

}  // namespace
}  // namespace caip::host
