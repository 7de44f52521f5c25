#include "host/python/packages_pip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "host/python/packages_build.h"

namespace caip::host {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;
using testing::Pair;

TEST(InstallCommands, AreTheTwoOfTheService) {
  const auto commands = InstallCommands("/env/bin/python3", "trainer-0.1.tar.gz", {}, false);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(Join(commands[0].argv, " "),
            "/env/bin/python3 -m pip install --upgrade --force-reinstall --no-deps "
            "./trainer-0.1.tar.gz");
  EXPECT_EQ(Join(commands[1].argv, " "), "/env/bin/python3 -m pip install ./trainer-0.1.tar.gz");
  EXPECT_EQ(commands[1].shown, "pip3 install trainer-0.1.tar.gz");
  EXPECT_EQ(commands[0].quoted,
            "pip3 install --user --upgrade --force-reinstall --no-deps trainer-0.1.tar.gz");
  EXPECT_EQ(commands[1].quoted, "pip3 install --user trainer-0.1.tar.gz");
}

// docs/service/vertex.md, section 6.
TEST(LauncherLines, QuoteTheCommandsForAPackage) {
  std::vector<std::string> texts;
  std::vector<bool> are_commands;
  for (const PackageLine& line : LauncherLines("gs://b/x/t-0.1.tar.gz")) {
    texts.push_back(line.text);
    are_commands.push_back(line.is_command);
  }
  EXPECT_THAT(texts, ElementsAre("Downloading the package: gs://b/x/t-0.1.tar.gz",
                                 "Running command: gsutil -q cp gs://b/x/t-0.1.tar.gz t-0.1.tar.gz",
                                 "Installing the package: gs://b/x/t-0.1.tar.gz",
                                 "Running command: pip3 install --user --upgrade --force-reinstall "
                                 "--no-deps t-0.1.tar.gz",
                                 "Running command: pip3 install --user t-0.1.tar.gz"));
  EXPECT_THAT(are_commands, ElementsAre(false, true, false, true, true));
}

TEST(InstallCommands, PassTheSettingsOnAndNeverTakeANameForAnOption) {
  const auto commands =
      InstallCommands("/p", "-r.tar.gz", {{"/wheels", "/more"}, "http://index", true}, true);
  EXPECT_THAT(commands[1].argv,
              ElementsAre("/p", "-m", "pip", "install", "--no-index", "--index-url", "http://index",
                          "--find-links", "/wheels", "--find-links", "/more",
                          "--no-build-isolation", "./-r.tar.gz"));
}

TEST(BuildIsolation, IsSparedWhereTheToolsAreThere) {
  const ArchiveFacts plain = {};
  const ArchiveFacts modern = {true, {"setuptools", "wheel"}};
  const ArchiveFacts other = {true, {"setuptools", "cython"}};
  EXPECT_TRUE(SparesBuildIsolation(modern, {"23.0.1", true, true}));
  EXPECT_FALSE(SparesBuildIsolation(modern, {"23.0.1", true, false}));
  EXPECT_FALSE(SparesBuildIsolation(modern, {"23.0.1", false, true}));
  EXPECT_FALSE(SparesBuildIsolation(other, {"23.0.1", true, true}));
  EXPECT_FALSE(SparesBuildIsolation(plain, {"23.0.1", true, true}));  // not isolated anyway
  EXPECT_TRUE(SparesBuildIsolation(plain, {"25.3", true, true}));
}

TEST(PipEnvironment, PassesSettingsAndProxiesButNothingThatLeadsElsewhere) {
  const Variables environment = PipEnvironment({{"PATH", "/usr/bin"},
                                                {"HOME", "/home/u"},
                                                {"https_proxy", "http://proxy"},
                                                {"NO_PROXY", "localhost"},
                                                {"PIP_INDEX_URL", "http://index"},
                                                {"PIP_TARGET", "/elsewhere"},
                                                {"PIP_USER", "1"},
                                                {"PYTHONPATH", "/mine"},
                                                {"VIRTUAL_ENV", "/mine"},
                                                {"TMPDIR", "/tmp"},
                                                {"SECRET", "x"}},
                                               "/env", "/scratch");
  EXPECT_THAT(environment, Contains(Pair("PATH", "/env/bin:/usr/bin")));
  EXPECT_THAT(environment, Contains(Pair("HOME", "/home/u")));
  EXPECT_THAT(environment, Contains(Pair("https_proxy", "http://proxy")));
  EXPECT_THAT(environment, Contains(Pair("NO_PROXY", "localhost")));
  EXPECT_THAT(environment, Contains(Pair("PIP_INDEX_URL", "http://index")));
  EXPECT_THAT(environment, Contains(Pair("PIP_USER", "0")));
  EXPECT_THAT(environment, Contains(Pair("VIRTUAL_ENV", "/env")));
  EXPECT_THAT(environment, Contains(Pair("TMPDIR", "/scratch")).Times(1));
  EXPECT_THAT(environment, Contains(Key("TMPDIR")).Times(1));
  for (const char* name : {"PIP_TARGET", "PYTHONPATH", "SECRET"}) {
    EXPECT_THAT(environment, Not(Contains(Key(name)))) << name;
  }
}

TEST(PipFacts, ChangeWithWhatMayChangeTheResultOnly) {
  TemporaryDirectory home;
  const Variables own = {{"HOME", home.path().string()}, {"PIP_INDEX_URL", "http://a"}};
  const auto facts = PipFacts(own, {});
  Variables other = own;
  other.emplace_back("PIP_CACHE_DIR", "/cache");
  other.emplace_back("PATH", "/bin");
  EXPECT_EQ(PipFacts(other, {}), facts);
  other[1].second = "http://b";
  EXPECT_NE(PipFacts(other, {}), facts);
  EXPECT_NE(PipFacts(own, {{"/wheels"}, "", false}), facts);
  ASSERT_TRUE(MakeDirectories(home.path() / ".config/pip").ok());
  ASSERT_TRUE(WriteFile(home.path() / ".config/pip/pip.conf", "[global]\npre = true\n").ok());
  EXPECT_NE(PipFacts(own, {}), facts);
}

}  // namespace
}  // namespace caip::host
