// The wildcards of `caip ls`, `cp`, `cat` and `rm`.

#include <gtest/gtest.h>

#include <string>

#include "emulator/cli/storage/bucket_files.h"

namespace caip::cli {
namespace {

TEST(StoragePatterns, StayInAFolderUnlessTheyHaveTwoStars) {
  EXPECT_TRUE(MatchesPattern("a/b.txt", "a/*.txt"));
  EXPECT_FALSE(MatchesPattern("a/b/c.txt", "a/*.txt"));
  EXPECT_TRUE(MatchesPattern("a/b/c.txt", "a/**.txt"));
  EXPECT_TRUE(MatchesPattern("a/b/c.txt", "**"));
  EXPECT_TRUE(MatchesPattern("ab", "a?"));
  EXPECT_FALSE(MatchesPattern("a/", "a?"));
  EXPECT_FALSE(MatchesPattern("", "?"));
  EXPECT_TRUE(MatchesPattern("", "*"));
  EXPECT_FALSE(MatchesPattern(std::string(1000, 'a'), "a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"));
}

}  // namespace
}  // namespace caip::cli
