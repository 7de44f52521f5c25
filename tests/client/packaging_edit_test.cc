// Packages of which only files were edited. A build by setup.py is the reference.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>

#include "tests/client/packaging_case.h"

namespace caip::client {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Counts the runs of Python in a file, and lets it build.
class EditedPackaging : public Packaging {
 protected:
  void SetUp() override {
    const Path python = directory_.path() / "python";
    Write("../python", "#!/bin/sh\necho x >> '" + log_.string() + "'\nexec python3 \"$@\"\n");
    ::chmod(python.c_str(), 0755);
    ::setenv("CLOUDSDK_PYTHON", python.c_str(), 1);
    Write("trainer/__init__.py", "");
    Write("trainer/task.py", "print(1)\n");
    Write("trainer/data.txt", "not packed\n");
    Write("README.md", "read me\n");
  }
  void TearDown() override { ::unsetenv("CLOUDSDK_PYTHON"); }

  size_t Runs() {
    const Result<std::string> said = ReadFile(log_);
    return said.ok() ? said->size() / std::string_view("x\n").size() : 0;
  }

  std::string Built() {
    const Result<PackageFiles> files = Collect("trainer");
    EXPECT_TRUE(files.ok()) << files.error().message;
    EXPECT_EQ(files->local.size(), 1u);
    EXPECT_EQ(files->local[0].filename(), "trainer-0.0.0.tar.gz");
    return files->local[0];
  }

  // Names, modes, sizes, times, and the contents of all members, in their order.
  std::string Members(const std::string& archive) {
    const auto said =
        host::CaptureTool({.argv = {"sh", "-c", "tar -tvzf \"$0\" && tar -xOzf \"$0\"", archive},
                           .environment = host::OwnEnvironment()});
    EXPECT_TRUE(said.ok() && said->result.ok());
    return said->out;
  }

  // The same tree, built by a setup.py.
  std::string BuiltAnew() {
    cache_ = directory_.path() / ("cache" + std::to_string(++caches_));
    return Members(Built());
  }

  Path log_ = directory_.path() / "runs";
  int caches_ = 0;
};

// The lines of members that a setup.py makes have the time of the build.
std::string WithoutGenerated(const std::string& members) {
  std::string kept;
  for (const std::string& line : Split(members, '\n')) {
    const bool generated = line.ends_with("/") || line.find(".egg-info") != std::string::npos ||
                           line.ends_with("PKG-INFO") || line.ends_with("setup.py") ||
                           line.ends_with("setup.cfg");
    if (!generated) kept += line + "\n";
  }
  return kept;
}

TEST_F(EditedPackaging, AnEditedFileReplacesItsEarlierContentsWithoutPython) {
  Built();
  ASSERT_EQ(Runs(), 1u);
  Write("trainer/task.py", "print(2)  # longer than before\n");
  const std::string edited = Members(Built());
  EXPECT_EQ(Runs(), 1u);
  EXPECT_THAT(edited, HasSubstr("print(2)  # longer than before\n"));
  EXPECT_THAT(edited, Not(HasSubstr("print(1)")));
  EXPECT_EQ(WithoutGenerated(edited), WithoutGenerated(BuiltAnew()));
}

TEST_F(EditedPackaging, TheSecondEditNeedsNoPythonEither) {
  Built();
  Write("trainer/task.py", "print(2)\n");
  const std::string second = Built();
  Write("trainer/task.py", "");
  const std::string third = Built();
  EXPECT_NE(second, third);
  EXPECT_THAT(Members(second), HasSubstr("print(2)"));
  EXPECT_THAT(Members(third), Not(HasSubstr("print(")));
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(EditedPackaging, PythonBuildsAgainAfterAnyOtherChange) {
  const std::vector<std::function<void()>> changes = {
      [&] { Write("trainer/added.py", ""); },
      [&] { fs::rename(root_ / "trainer/added.py", root_ / "trainer/renamed.py"); },
      [&] { ::chmod((root_ / "trainer/task.py").c_str(), 0755); },
      [&] { Write("README.md", "another text\n"); },
      [&] { fs::create_symlink("nowhere", root_ / "trainer/dangling.py"); },
      [&] { Write("trainer/task.py", "print('beside a dangling link')\n"); },
      [&] { fs::remove(root_ / "trainer/dangling.py"); },
      [&] { Write("MANIFEST.in", "graft trainer\n"); },
      [&] { Write("trainer/task.py", "print('with a manifest')\n"); },
      [&] { Write("trainer/data.txt", "packed\n"); },
      [&] {
        fs::remove(root_ / "MANIFEST.in");
        Write("test/test_task.py", "");
        Write("trainer/task.py", "print('tested')\n");
      },
      [&] { Write("trainer/task.py", "print('tested again')\n"); },
  };
  size_t runs = 0;
  Built();
  for (size_t i = 0; i < changes.size(); ++i) {
    runs = Runs();
    changes[i]();
    const std::string members = Members(Built());
    EXPECT_GT(Runs(), runs) << "change " << i;
    EXPECT_EQ(WithoutGenerated(members), WithoutGenerated(BuiltAnew())) << "change " << i;
    cache_ = directory_.path() / "cache";
  }
}

// The setup.py of the documentation of AI Platform Training, with a second package.
TEST_F(EditedPackaging, APlainSetupDoesNotRunAgain) {
  Write("setup.py",
        "from setuptools import find_packages\nfrom setuptools import setup\n\n"
        "REQUIRED_PACKAGES = ['some_package>=1.0']\n\n"
        "setup(\n    name='trainer',\n    version='0.0.0',\n"
        "    install_requires=REQUIRED_PACKAGES,\n    packages=find_packages(),\n"
        "    include_package_data=True,\n    description='My training application.'\n)\n");
  Write("common/__init__.py", "");
  Write("common/shared.py", "print('common 1')\n");
  Write("test/test_task.py", "print('test 1')\n");
  Built();
  const size_t runs = Runs();
  const auto edit = [&](const std::string& file, const std::string& text) {
    Write(file, text);
    const std::string edited = Members(Built());
    EXPECT_EQ(Runs(), runs) << file;
    EXPECT_THAT(edited, HasSubstr(text));
    return edited;
  };
  edit("trainer/task.py", "print(2)  # longer than before\n");
  edit("test/test_task.py", "print('test 2')\n");
  const std::string edited = edit("common/shared.py", "print('common 2')\n");
  EXPECT_EQ(WithoutGenerated(edited), WithoutGenerated(BuiltAnew()));
}

TEST_F(EditedPackaging, ASetupThatReadsFilesBesideItRunsAgainOnlyIfTheyChange) {
  Write("setup.py",
        "from __future__ import print_function\nimport os\n"
        "from setuptools import find_packages, setup\n\n"
        "here = os.path.abspath(os.path.dirname(__file__))\n"
        "with open(os.path.join(here, 'README.md')) as f:\n    text = f.read()\n\n"
        "if __name__ == '__main__':\n"
        "    setup(name='trainer', version='0.0.0', packages=find_packages(),\n"
        "          long_description=text)\n");
  Built();
  const size_t runs = Runs();
  Write("trainer/task.py", "print(2)  # longer than before\n");
  const std::string edited = Members(Built());
  EXPECT_EQ(Runs(), runs);
  EXPECT_THAT(edited, AllOf(HasSubstr("print(2)"), HasSubstr("read me\n")));
  EXPECT_EQ(WithoutGenerated(edited), WithoutGenerated(BuiltAnew()));

  cache_ = directory_.path() / "cache";
  const size_t runs_before = Runs();
  Write("README.md", "another text\n");
  EXPECT_THAT(Members(Built()), AllOf(HasSubstr("another text\n"), Not(HasSubstr("read me"))));
  EXPECT_GT(Runs(), runs_before);
}

TEST_F(EditedPackaging, ASetupThatMayReadSourcesRunsAgain) {
  Write("trainer/__init__.py", "__version__ = '1.0'\n");
  Write("setup.py",
        "from setuptools import setup\nfrom trainer import __version__\n"
        "setup(name='trainer', version=__version__, packages=['trainer'])\n");
  const auto name_of = [&] { return Collect("trainer")->local.at(0).filename().string(); };
  EXPECT_EQ(name_of(), "trainer-1.0.tar.gz");
  Write("trainer/__init__.py", "__version__ = '2.0'\n");
  EXPECT_EQ(name_of(), "trainer-2.0.tar.gz");
}

TEST_F(EditedPackaging, TimesAreWholeSeconds) {
  const std::string deep = "trainer/" + std::string(120, 'm') + ".py";
  Write(deep, "");
  Built();
  Write("trainer/task.py", "print(2)\n");
  const struct timespec times[] = {{1'577'836'800, 750'000'000}, {1'577'836'800, 750'000'000}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (root_ / deep).c_str(), times, 0), 0);
  const auto fractions = [&](const std::string& archive) {
    const auto said = host::CaptureTool({.argv = {"tar", "--utc", "--full-time", "-tvzf", archive},
                                         .environment = host::OwnEnvironment()});
    return Split(said->out, '\n');
  };
  EXPECT_THAT(fractions(Built()),
              Contains(AllOf(HasSubstr("2020-01-01 00:00:00 "), HasSubstr(std::string(120, 'm')))));
  EXPECT_EQ(Runs(), 1u);
}

TEST_F(EditedPackaging, ASourceThatSetuptoolsReadsIsReadAgain) {
  Write("setup.cfg", "[metadata]\nversion = attr: trainer.__version__\n");
  Write("trainer/__init__.py", "__version__ = '1.0'\n");
  const auto name_of = [&] { return Collect("trainer")->local.at(0).filename().string(); };
  EXPECT_EQ(name_of(), "trainer-1.0.tar.gz");
  Write("trainer/__init__.py", "__version__ = '2.0'\n");
  EXPECT_EQ(name_of(), "trainer-2.0.tar.gz");
}

TEST_F(EditedPackaging, ADamagedEarlierResultIsBuiltAgain) {
  const std::string first = Built();
  ASSERT_TRUE(WriteFile(first, "no archive").ok());
  Write("trainer/task.py", "print(2)\n");
  EXPECT_THAT(Members(Built()), HasSubstr("print(2)"));
  EXPECT_EQ(Runs(), 2u);
}

}  // namespace
}  // namespace caip::client
