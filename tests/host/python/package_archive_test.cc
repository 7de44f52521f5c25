#include "host/python/package_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/host/python/archive_maker.h"

namespace caip::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class PackageArchive : public testing::Test {
 protected:
  Path Archive(const std::vector<ArchiveMember>& members, const std::string& name = "p.tar.gz") {
    MakeArchive(directory_.path() / name, members);
    return directory_.path() / name;
  }
  std::string WhyNot(const std::vector<ArchiveMember>& members, ArchiveLimits limits = {}) {
    const auto facts = CheckArchive(Archive(members), limits);
    EXPECT_FALSE(facts.ok());
    if (facts.ok()) return "";
    EXPECT_EQ(facts.error().code, Code::kInvalidArgument);
    return facts.error().message;
  }
  TemporaryDirectory directory_;
};

TEST_F(PackageArchive, OfGoodMembersIsGood) {
  const std::vector<ArchiveMember> members = {
      {"trainer-0.1/setup.py", "x"},
      {"trainer-0.1/trainer/task.py", "y"},
      {"trainer-0.1/a/../b", "inside"},
      {"trainer-0.1/..data", "a name with dots"},
      {"trainer-0.1/link", "", "trainer/../setup.py"},
      {"trainer-0.1/\xc3\xa4\xe6\xb8\xac.txt", "any Unicode"}};
  for (const char* name : {"a.tar.gz", "a.zip", "a-0.1-py3-none-any.whl"}) {
    const auto facts = CheckArchive(Archive(members, name));
    ASSERT_TRUE(facts.ok()) << name << ": " << facts.error().message;
    EXPECT_FALSE(facts->has_pyproject);
  }
}

TEST_F(PackageArchive, WithAMemberOutsideIsRefusedByName) {
  for (const char* name : {"../evil.py", "/etc/passwd", "a/../../evil.py", "a/b/../../../evil"}) {
    EXPECT_THAT(WhyNot({{"a/setup.py", "x"}, {name, "boo"}}),
                HasSubstr("member '" + std::string(name) + "'"));
  }
}

TEST_F(PackageArchive, WithALinkOutOfItIsRefusedByName) {
  for (const char* target : {"/etc/passwd", "../../x", "b/../../../x"}) {
    const std::string why = WhyNot({{"a/link", "", target}});
    EXPECT_THAT(why, HasSubstr("member 'a/link'"));
    EXPECT_THAT(why, HasSubstr("'" + std::string(target) + "'"));
  }
}

TEST_F(PackageArchive, ThatWouldExplodeIsRefused) {
  const std::string zeros(1 << 20, '\0');
  const std::string large =
      WhyNot({{"a/1", zeros}, {"a/2", zeros}, {"a/3", zeros}}, {.bytes = 2u << 20});
  EXPECT_THAT(large, HasSubstr("more than 2097152 bytes, at member 'a/3'"));
  EXPECT_THAT(WhyNot({{"1"}, {"2"}, {"3"}}, {.members = 2}), HasSubstr("more than 2 members"));
}

TEST_F(PackageArchive, ThatIsNoneIsRefused) {
  const Path path = directory_.path() / "p.tar.gz";
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(5000, '\0'),
                                   std::string("\x1f\x8b\x08\x00 broken", 11)}) {
    ASSERT_TRUE(WriteFile(path, bytes).ok());
    const auto facts = CheckArchive(path);
    ASSERT_FALSE(facts.ok()) << bytes.size();
    EXPECT_THAT(facts.error().message, HasSubstr("'p.tar.gz' is not a readable sdist or wheel"));
  }
  EXPECT_FALSE(CheckArchive(directory_.path() / "none.tar.gz").ok());
}

// Programs that libarchive would start from PATH, and the first bytes of their archives.
TEST_F(PackageArchive, OfAnotherCompressionIsRefusedAndStartsNoProgram) {
  const std::pair<const char*, std::string> rows[] = {
      {"lrzip", std::string("LRZI\x00\x06", 6)},
      {"lzop", std::string("\x89LZO\x00\x0d\x0a\x1a\x0a", 9)},
      {"grzip", std::string("GRZipII\x00\x02\x04:)", 12)},
  };
  const std::string path_before = std::getenv("PATH");
  const Path programs = directory_.path() / "bin";
  const Path started = directory_.path() / "started";
  ASSERT_TRUE(MakeDirectories(programs).ok());
  ::setenv("PATH", (programs.string() + ":" + path_before).c_str(), 1);
  for (const auto& [program, magic] : rows) {
    const Path fake = programs / program;
    ASSERT_TRUE(WriteFile(fake, "#!/bin/sh\necho x > '" + started.string() + "'\n").ok());
    std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
    const Path package = directory_.path() / (std::string("p.tar.") + program);
    ASSERT_TRUE(WriteFile(package, magic + std::string(2000, 'x')).ok());
    for (const Error& error : {CheckArchive(package).error(), ReadArchive(package, 1000).error()}) {
      EXPECT_THAT(error.message, HasSubstr("is not a readable sdist or wheel"));
    }
    EXPECT_FALSE(std::filesystem::exists(started)) << program;
  }
  ::setenv("PATH", path_before.c_str(), 1);
}

TEST_F(PackageArchive, MayHaveAnyCompressionOfPip) {
  for (const char* name : {"p.tar.gz", "p.tar.bz2", "p.tar.xz", "p.tar.lzma"}) {
    const auto facts = CheckArchive(Archive({{"p-1/setup.py", "x"}}, name));
    EXPECT_TRUE(facts.ok()) << name;
  }
}

TEST_F(PackageArchive, ThatIsCutOffIsRefused) {
  std::string noise;
  for (unsigned i = 0, x = 1; i < 200'000; ++i)
    noise += static_cast<char>(x = x * 1103515245 + 12345);
  const Path path = Archive({{"a/setup.py", noise}});
  const std::string whole = *ReadFile(path);
  ASSERT_TRUE(WriteFile(path, whole.substr(0, whole.size() / 2)).ok());
  EXPECT_FALSE(CheckArchive(path).ok());
}

// libarchive has no text for a gzip file without its last bytes.
TEST_F(PackageArchive, ThatLacksItsLastBytesIsRefusedOrWhole) {
  const std::vector<ArchiveMember> members = {{"p-1/pyproject.toml", "[build-system]\n"},
                                              {"p-1/setup.py", "x"}};
  for (const char* name : {"p.tar.gz", "p.tar.bz2", "p.tar.xz", "p.tar.lzma", "p.zip"}) {
    const Path path = Archive(members, name);
    const std::string whole = *ReadFile(path);
    ASSERT_GT(whole.size(), 32u);
    for (size_t missing = 1; missing <= 32; ++missing) {
      ASSERT_TRUE(WriteFile(path, whole.substr(0, whole.size() - missing)).ok());
      const auto facts = CheckArchive(path);
      const auto files = ReadArchive(path, 1000);
      if (!facts.ok()) {
        EXPECT_THAT(facts.error().message, HasSubstr("is not a readable sdist or wheel (")) << name;
        EXPECT_THAT(facts.error().message, Not(HasSubstr("()"))) << name << " -" << missing;
      } else {
        EXPECT_TRUE(facts->has_pyproject) << name << " -" << missing;
      }
      if (files.ok()) {
        EXPECT_EQ(files->at("p-1/setup.py").bytes, "x") << name << " -" << missing;
      }
    }
  }
}

TEST_F(PackageArchive, OfGzipWithoutItsLastByteIsRefusedInWords) {
  const Path path = Archive({{"p-1/setup.py", "x"}});
  const std::string whole = *ReadFile(path);
  ASSERT_TRUE(WriteFile(path, whole.substr(0, whole.size() - 1)).ok());
  const auto facts = CheckArchive(path);
  ASSERT_FALSE(facts.ok());
  EXPECT_THAT(facts.error().message,
              HasSubstr("'p.tar.gz' is not a readable sdist or wheel (its compressed data are "
                        "damaged or end too early)"));
}

// The file that is read for its text is the one whose data are damaged.
TEST_F(PackageArchive, WhosePyprojectIsCutOffIsRefused) {
  std::string noise;
  for (unsigned i = 0, x = 1; i < 200'000; ++i)
    noise += static_cast<char>(x = x * 1103515245 + 12345);
  const Path path = Archive({{"p-1/pyproject.toml", noise}});
  const std::string whole = *ReadFile(path);
  ASSERT_TRUE(WriteFile(path, whole.substr(0, whole.size() / 2)).ok());
  const auto facts = CheckArchive(path);
  ASSERT_FALSE(facts.ok());
  EXPECT_THAT(facts.error().message, Not(HasSubstr("INTERNAL ERROR")));
}

TEST_F(PackageArchive, TellsWhatItsBuildNeeds) {
  const auto facts = CheckArchive(
      Archive({{"p-1/pyproject.toml", "[build-system]\nrequires = [\"flit_core >=3\"]\n"},
               {"p-1/vendored/q/pyproject.toml", "[build-system]\nrequires = [\"other\"]\n"}}));
  ASSERT_TRUE(facts.ok());
  EXPECT_TRUE(facts->has_pyproject);
  EXPECT_THAT(facts->build_requires, ElementsAre("flit_core"));
}

TEST(BuildRequires, AreReadFromTheBuildSystemTable) {
  const std::pair<const char*, std::vector<std::string>> rows[] = {
      {"[build-system]\nrequires = [\"setuptools>=61\", 'Wheel']\n", {"setuptools", "wheel"}},
      {"[build-system]\nrequires = [\n  \"setuptools[core]>=1\",\n  \"cython~=3.0\",\n]\n",
       {"setuptools", "cython"}},
      {"[project]\nname = \"x\"\n", {"setuptools"}},
      {"[tool.x]\nrequires = [\"poetry\"]\n", {"setuptools"}},
      {"[build-system]\n# requires = [\"no\"]\nrequires=[\"hatchling; python_version>'3'\"]\n",
       {"hatchling"}},
      {"", {"setuptools"}},
  };
  for (const auto& [text, names] : rows) EXPECT_EQ(BuildRequires(text), names) << text;
}

TEST_F(PackageArchive, AWheelIsUnpackedAsItIs) {
  const Path wheel = Archive({{"wheel/__init__.py", "one"}, {"wheel-1.dist-info/METADATA", "two"}},
                             "wheel-1-py3-none-any.whl");
  const Path target = directory_.path() / "site-packages";
  ASSERT_TRUE(MakeDirectories(target).ok());
  ASSERT_TRUE(UnpackWheel(wheel, target).ok());
  EXPECT_EQ(*ReadFile(target / "wheel/__init__.py"), "one");
  EXPECT_EQ(*ReadFile(target / "wheel-1.dist-info/METADATA"), "two");
}

}  // namespace
}  // namespace caip::host
