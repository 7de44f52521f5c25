#include "client/packaging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/text.h"
#include "client/staging.h"
#include "host/process/child_process.h"
#include "tests/client/packaging_case.h"

namespace caip::client {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST_F(Packaging, BuildsAPackageWithoutASetupOfItsOwn) {
  Write("trainer/__init__.py", "");
  Write("trainer/task.py", "print(1)\n");
  const Result<PackageFiles> files = Collect("trainer");
  ASSERT_TRUE(files.ok()) << files.error().message;
  ASSERT_EQ(files->local.size(), 1u);
  EXPECT_EQ(files->local[0].filename(), "trainer-0.0.0.tar.gz");
  const auto names = Listing(files->local[0]);
  EXPECT_THAT(names, Contains("trainer-0.0.0/trainer/task.py"));
  EXPECT_THAT(names, Contains("trainer-0.0.0/setup.py"));
  EXPECT_THAT(RootEntries(), ElementsAre("trainer"));  // nothing is left behind
}

TEST_F(Packaging, SubPackagesAreNotShipped) {
  Write("trainer/__init__.py", "");
  Write("trainer/sub/__init__.py", "");
  Write("trainer/sub/deep.py", "");
  Write("other/__init__.py", "");
  const Result<PackageFiles> files = Collect("trainer/");
  ASSERT_TRUE(files.ok()) << files.error().message;
  const auto names = Listing(files->local[0]);
  EXPECT_THAT(names, Contains("trainer-0.0.0/trainer/__init__.py"));
  for (const std::string& name : names) {
    EXPECT_THAT(name, Not(HasSubstr("sub"))) << name;
    EXPECT_THAT(name, Not(HasSubstr("other"))) << name;
  }
}

TEST_F(Packaging, UsesTheSetupOfTheRoot) {
  Write("setup.py",
        "from setuptools import setup\n"
        "setup(name='mine', version='1.2', packages=['trainer', 'trainer.sub'])\n");
  Write("trainer/__init__.py", "");
  Write("trainer/sub/__init__.py", "");
  const Result<PackageFiles> files = Collect("trainer");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->local[0].filename(), "mine-1.2.tar.gz");
  EXPECT_THAT(Listing(files->local[0]), Contains("mine-1.2/trainer/sub/__init__.py"));
  EXPECT_THAT(RootEntries(), UnorderedElementsAre("trainer", "setup.py"));
}

TEST_F(Packaging, RefusesADirectoryThatIsNoPackage) {
  Write("trainer/task.py", "");
  EXPECT_THAT(Collect("trainer").error().message,
              HasSubstr("] is not a valid Python package because it does not contain an "
                        "`__init__.py` file."));
  EXPECT_THAT(Collect("trianer").error().message,
              HasSubstr("trianer] is not a valid directory.\nIt does not exist. Give"))
      << "no package";
  EXPECT_THAT(Collect("trainer/task.py").error().message, HasSubstr("It is a file. Give"));
  Write("trainer/__init__.py", "");
  EXPECT_THAT(Collect("trianer").error().message, HasSubstr("Did you mean --package-path /"));
  EXPECT_THAT(Collect("no/where").error().message, HasSubstr("is not a valid directory"));
  EXPECT_THAT(RootEntries(), ElementsAre("trainer"));
}

TEST_F(Packaging, LinksThatLeadNowhereAreNoObstacle) {
  Write("trainer/__init__.py", "");
  fs::create_symlink("loop", root_ / "loop");
  fs::create_symlink("nowhere", root_ / "dangling");
  EXPECT_TRUE(Collect("trainer").ok());
  fs::create_directory(root_ / "looping");
  fs::create_symlink("__init__.py", root_ / "looping/__init__.py");
  const auto looping = Collect("looping");
  ASSERT_FALSE(looping.ok());
  EXPECT_THAT(looping.error().message, HasSubstr("__init__.py"));
  fs::create_symlink("setup.py", root_ / "setup.py");
  EXPECT_TRUE(Collect("trainer").ok());
}

TEST_F(Packaging, TellsWhatAFailingSetupSaid) {
  Write("setup.py", "raise SystemExit('no luck today')\n");
  Write("trainer/__init__.py", "");
  const Result<PackageFiles> files = Collect("trainer");
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.error().message,
              HasSubstr("Packaging of user Python code failed with message:\n\nno luck today"));
  EXPECT_THAT(files.error().message, HasSubstr("python setup.py sdist"));
}

TEST_F(Packaging, TriesSimplerCommandsWhereTheFullOneFails) {
  Write("setup.py",
        "import sys\n"
        "if 'egg_info' in sys.argv or 'build' in sys.argv: raise SystemExit('too modern')\n"
        "from setuptools import setup\n"
        "setup(name='old', version='1', packages=['trainer'])\n");
  Write("trainer/__init__.py", "");
  const Result<PackageFiles> files = Collect("trainer");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->local[0].filename(), "old-1.tar.gz");
}

TEST_F(Packaging, BuildsFromACopyWhereTheRootCannotBeWritten) {
  Write("trainer/__init__.py", "");
  ::chmod(root_.c_str(), 0555);
  const Result<PackageFiles> files = Collect("trainer");
  ::chmod(root_.c_str(), 0755);
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->local[0].filename(), "trainer-0.0.0.tar.gz");
}

TEST_F(Packaging, WhatIsGeneratedIsPackedAsIfItStoodInTheTree) {
  Write("trainer/__init__.py", "");
  Write("trainer/task.py", "print(1)\n");
  Write("README.md", "read me\n");
  Write("setup.cfg", "[metadata]\ndescription = short\n");
  fs::create_symlink("task.py", root_ / "trainer/other.py");
  ::chmod((root_ / "trainer/task.py").c_str(), 0754);
  const auto of_links = Collect("trainer");
  ASSERT_TRUE(of_links.ok()) << of_links.error().message;
  const auto lines = [&](const Path& archive) {
    const auto said = host::CaptureTool(
        {.argv = {"tar", "-xOzf", archive.string()}, .environment = host::OwnEnvironment()});
    const auto modes = host::CaptureTool(
        {.argv = {"sh", "-c", "tar -tvzf " + archive.string() + " | awk '{print $1, $3, $6}'"},
         .environment = host::OwnEnvironment()});
    return said->out + modes->out;
  };
  const std::string first = lines(of_links->local[0]);
  // The same file in the tree itself.
  const auto setup = host::CaptureTool(
      {.argv = {"tar", "-xOzf", of_links->local[0].string(), "trainer-0.0.0/setup.py"},
       .environment = host::OwnEnvironment()});
  Write("setup.py", setup->out);
  const auto in_tree = Collect("trainer");
  ASSERT_TRUE(in_tree.ok()) << in_tree.error().message;
  EXPECT_NE(in_tree->local[0], of_links->local[0]) << "it was built again";
  EXPECT_EQ(lines(in_tree->local[0]), first);
  EXPECT_THAT(first, HasSubstr("trainer-0.0.0/README.md"));
}

TEST_F(Packaging, NothingStandsInTheTreeWhileItIsBuiltNorAfterAnInterrupt) {
  Write("trainer/__init__.py", "");
  const Path seen = directory_.path() / "seen";
  Write("../python", "#!/bin/sh\nls '" + root_.string() + "' > '" + seen.string() + ".tmp'\nmv '" +
                         seen.string() + ".tmp' '" + seen.string() + "'\nexec sleep 1000\n");
  const Path python = directory_.path() / "python";
  ::chmod(python.c_str(), 0755);
  ::setenv("CLOUDSDK_PYTHON", python.c_str(), 1);
  std::stop_source interrupt;
  std::thread interrupter([&] {
    for (int i = 0; i < 3000 && !fs::exists(seen); ++i) ::poll(nullptr, 0, 10);
    interrupt.request_stop();
  });
  PackageRequest request{{}, (root_ / "trainer").string(), cache_, false, {}};
  request.stop = interrupt.get_token();
  const Result<PackageFiles> files = CollectPackages(request);
  interrupter.join();
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, Code::kCancelled);
  ::unsetenv("CLOUDSDK_PYTHON");
  EXPECT_EQ(*ReadFile(seen), "trainer\n");
  EXPECT_THAT(RootEntries(), ElementsAre("trainer"));
}

TEST_F(Packaging, AnUnchangedTreeIsNotBuiltAgain) {
  // Counts its own runs in a file outside the tree.
  const std::string log = (directory_.path() / "runs").string();
  Write("setup.py", "open('" + log +
                        "', 'a').write('x')\nfrom setuptools import setup\n"
                        "setup(name='counted', version='1', packages=['trainer'])\n");
  Write("trainer/__init__.py", "a = 1\n");
  const auto runs = [&] { return ReadFile(log)->size(); };
  const auto digest = [&] { return *DigestOf(Collect("trainer")->local); };
  const std::string first = digest();
  const size_t once = runs();
  EXPECT_EQ(digest(), first);
  EXPECT_EQ(runs(), once);

  Write("trainer/__init__.py", "a = 1\n");  // new times, same bytes
  EXPECT_EQ(digest(), first);
  EXPECT_EQ(runs(), once);

  Write("trainer/__init__.py", "a = 2\n");
  EXPECT_NE(digest(), first);
  EXPECT_GT(runs(), once);
}

TEST_F(Packaging, ALookOnlyWritesNothingIntoTheCache) {
  Write("trainer/__init__.py", "");
  const auto files = CollectPackages({{}, (root_ / "trainer").string(), cache_, true});
  ASSERT_TRUE(files.ok());
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(Packaging, TheCacheCanBeTurnedOff) {
  ::setenv("CAIP_SDIST_CACHE", "0", 1);
  Write("trainer/__init__.py", "");
  EXPECT_TRUE(Collect("trainer").ok());
  EXPECT_FALSE(fs::exists(cache_));
  ::unsetenv("CAIP_SDIST_CACHE");
}

TEST_F(Packaging, RemoteItemsComeFirstThenLocalOnesThenWhatWasBuilt) {
  Write("trainer/__init__.py", "");
  const Result<PackageFiles> files = Collect(
      "trainer",
      {"b.whl", "gs://bkt/x.tar.gz", "a.whl", "gs://b/too-short-bucket", "gs://bkt/y", "gs://bkt"});
  ASSERT_TRUE(files.ok());
  EXPECT_THAT(files->remote, ElementsAre("gs://bkt/x.tar.gz", "gs://bkt/y"));
  ASSERT_EQ(files->local.size(), 5u);
  EXPECT_EQ(files->local[0], "b.whl");
  EXPECT_EQ(files->local[1], "a.whl");
  EXPECT_EQ(files->local[2], "gs://b/too-short-bucket");
  EXPECT_EQ(files->local[3], "gs://bkt");
  EXPECT_EQ(files->local[4].filename(), "trainer-0.0.0.tar.gz");
}

TEST_F(Packaging, TheDigestIsThatOfAllContentsInOrder) {
  Write("a.whl", "ab");
  Write("b.whl", "c");
  // sha256("abc")
  EXPECT_EQ(*DigestOf({root_ / "a.whl", root_ / "b.whl"}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(Packaging, RefusesTwoOfOneNameAndFilesThatCannotBeRead) {
  Write("a.whl", "");
  Write("sub/a.whl", "");
  EXPECT_EQ(DigestOf({root_ / "a.whl", root_ / "sub/a.whl"}).error().message,
            "Cannot upload multiple packages with the same filename: [a.whl]");
  EXPECT_THAT(DigestOf({root_ / "none.whl"}).error().message,
              HasSubstr("Unable to read file [" + (root_ / "none.whl").string() + "]: "));
  EXPECT_THAT(DigestOf({root_ / "sub"}).error().message, HasSubstr("Is a directory"));
}

TEST(Staging, ChoosesTheLocationAsGcloudDoes) {
  const auto location = [](std::optional<std::string> bucket, std::optional<std::string> job_dir) {
    const auto found = StagingLocationOf("job", bucket, job_dir);
    if (!found.ok()) return "ERROR " + found.error().message.substr(0, 19);
    return *found ? (*found)->bucket + " " + (*found)->prefix : std::string("none");
  };
  EXPECT_EQ(location({}, {}), "none");
  EXPECT_EQ(location("stage", {}), "stage job");
  EXPECT_EQ(location("stage", "gs://bkt/out"), "stage job");  // the staging bucket wins
  EXPECT_EQ(location({}, "gs://bkt/out"), "bkt out/packages");
  EXPECT_EQ(location({}, "gs://bkt/a/b//"), "bkt a/b/packages");
  EXPECT_EQ(location({}, "gs://bkt/"), "bkt packages");
  EXPECT_EQ(location({}, "gs://b/"), "ERROR Invalid bucket name");
  EXPECT_EQ(location({}, "gs://bkt/" + std::string(1020, 'a')), "ERROR Invalid object name");
}

TEST(Staging, PutsAllFilesOfASubmitIntoOneDirectory) {
  const auto staged = StagedFiles({"bkt", "job"}, "abc", {"x/one.whl", "two.whl"});
  ASSERT_TRUE(staged.ok());
  EXPECT_EQ((*staged)[0].Uri(), "gs://bkt/job/abc/one.whl");
  EXPECT_EQ((*staged)[1].Uri(), "gs://bkt/job/abc/two.whl");
}

}  // namespace
}  // namespace caip::client
