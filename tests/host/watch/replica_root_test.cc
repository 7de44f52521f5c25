// The paths of files that other processes replace at the same time.

#include "host/watch/replica_root.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/host/file_replacer.h"

namespace caip::host {
namespace {

TEST(ReplicaRoot, ResolvesAFileThatIsReplacedAgainAndAgain) {
  const TemporaryDirectory directory;
  const Path file = directory.path() / "latest";
  const FileReplacer replacer(file, "text");
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(ReplicaRoot().Resolve(file.string()), file.string()) << "attempt " << i;
  }
}

TEST(ReplicaRoot, ResolvesAFileWhoseNameLooksLikeADeletedOne) {
  const TemporaryDirectory directory;
  const Path file = directory.path() / "notes (deleted)";
  ASSERT_TRUE(WriteFile(file, "kept").ok());
  EXPECT_EQ(ReplicaRoot().Resolve(file.string()), file.string());
  ASSERT_TRUE(WriteFile(directory.path() / "notes", "another").ok());
  EXPECT_EQ(ReplicaRoot().Resolve(file.string()), file.string());
}

TEST(ReplicaRoot, ResolvesLinksAndNothingThatDoesNotExist) {
  const TemporaryDirectory directory;
  const Path file = directory.path() / "file";
  ASSERT_TRUE(WriteFile(file, "text").ok());
  ASSERT_EQ(::symlink("file", (directory.path() / "link").c_str()), 0);
  EXPECT_EQ(ReplicaRoot().Resolve((directory.path() / "link").string()), file.string());
  EXPECT_EQ(ReplicaRoot().Resolve((directory.path() / "absent").string()), std::nullopt);
}

}  // namespace
}  // namespace caip::host
