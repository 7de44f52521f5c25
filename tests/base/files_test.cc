#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/errors.h"

namespace caip {
namespace {

namespace fs = std::filesystem;

TEST(Files, AreWrittenWholeOrNotAtAll) {
  TemporaryDirectory directory;
  const Path path = directory.path() / "file";
  ASSERT_TRUE(WriteFileDurably(path, "one").ok());
  ASSERT_TRUE(WriteFileDurably(path, "two").ok());
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1) << "no temporary file";
}

TEST(Files, AFailedWriteLeavesNothingBehind) {
  TemporaryDirectory directory;
  fs::create_directory(directory.path() / "taken");
  ASSERT_FALSE(WriteFileDurably(directory.path() / "taken", "x").ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(SystemErrors, TellWhatPassesFromWhatStays) {
  EXPECT_EQ(SystemError("x", ENOSPC).code, Code::kResourceExhausted);
  EXPECT_EQ(SystemError("x", EMFILE).code, Code::kUnavailable);
  EXPECT_EQ(SystemError("x", ENFILE).code, Code::kUnavailable);
}

TEST(Files, SayWhatIsMissing) {
  const auto missing = ReadFile("/nowhere/at/all");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message, "cannot open '/nowhere/at/all': No such file or directory");
}

TEST(Files, AreReadUpToALimit) {
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFile(directory.path() / "f", "12345").ok());
  EXPECT_TRUE(ReadFileUpTo(directory.path() / "f", 5).ok());
  EXPECT_EQ(ReadFileUpTo(directory.path() / "f", 4).error().code, Code::kOutOfRange);
}

TEST(TemporaryDirectory, ThatCannotBeMadeIsAnError) {
  const char* set = std::getenv("TMPDIR");
  const std::string before = set ? set : "/tmp";
  ::setenv("TMPDIR", "/missing", 1);
  const auto made = TemporaryDirectory::Make("caip-test-");
  ::setenv("TMPDIR", before.c_str(), 1);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("/missing/caip-test-"), std::string::npos);
}

TEST(TemporaryDirectory, IsGoneWithItsOwner) {
  Path path;
  {
    TemporaryDirectory directory;
    path = directory.path();
    ASSERT_TRUE(WriteFile(path / "x", "y").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace caip
