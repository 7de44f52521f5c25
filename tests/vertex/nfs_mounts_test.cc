#include "vertex/nfs_mounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::vertex {
namespace {

using ::testing::Eq;
using ::testing::Optional;

TEST(NfsExports, AreServersWithPaths) {
  const std::pair<const char*, const char*> rows[] = {
      {"10.0.0.2:/data", "10.0.0.2:/data"}, {"10.0.0.2:/", "10.0.0.2:/"},
      {"host://a//./b/", "host:/a/b"},      {"fe80::1:/a", "fe80::1:/a"},
      {"[fe80::1]:/a", "[fe80::1]:/a"},     {"host:/a b", "host:/a b"},
  };
  for (const auto& [text, wanted] : rows) {
    EXPECT_THAT(NormalExport(text), Optional(Eq(wanted))) << text;
  }
  for (const char* text : {"", "10.0.0.2", "/data", ":/data", "host:data", "host:/a/../b"}) {
    EXPECT_EQ(NormalExport(text), std::nullopt) << text;
  }
  EXPECT_EQ(NormalExport(std::string("h:/a\0b", 6)), std::nullopt);
}

TEST(NfsExports, StandForWhatIsBelowThem) {
  const NfsExports exports = {
      {"s:/data", "/srv/data"}, {"s:/data/in/new", "/srv/new"}, {"t:/", "/srv/t"}, {"r:/", "/"}};
  struct Row {
    const char* server;
    const char* path;
    std::optional<std::string> directory;
  };
  const Row rows[] = {
      {"s", "/data", "/srv/data"},
      {"s", "//data/./", "/srv/data"},
      {"s", "/data/in", "/srv/data/in"},
      {"s", "/data/in/new", "/srv/new"},
      {"s", "/data/in/new/x", "/srv/new/x"},
      {"s", "/data2", std::nullopt},
      {"s", "/", std::nullopt},
      {"s", "data", std::nullopt},
      {"s", "/data/../etc", std::nullopt},
      {"t", "/", "/srv/t"},
      {"t", "/any/thing", "/srv/t/any/thing"},
      {"r", "/any/thing", "/any/thing"},
      {"r", "/", "/"},
      {"u", "/data", std::nullopt},
      {"", "/data", std::nullopt},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(DirectoryOf({row.server, row.path, "m"}, exports), row.directory)
        << row.server << ":" << row.path;
  }
}

TEST(NfsMounts, AreSeenBelowOneDirectory) {
  const std::pair<const char*, const char*> rows[] = {
      {"data", "/mnt/nfs/data"},
      {"a/b", "/mnt/nfs/a/b"},
      {"./a//b/", "/mnt/nfs/a/b"},
      {"/mnt/nfs/data", "/mnt/nfs/data"},
      {"mnt/nfs/data", "/mnt/nfs/mnt/nfs/data"},
  };
  for (const auto& [point, place] : rows) {
    EXPECT_THAT(PlaceOf({"s", "/", point}), Optional(Eq(place))) << point;
  }
  for (const char* point : {"", "/", ".", "..", "/data", "/mnt/nfs", "/mnt/nfs/", "a/../b",
                            "/mnt/nfs/../x", "/mnt/nfs//.", "/mnt/nfs2/a"}) {
    EXPECT_EQ(PlaceOf({"s", "/", point}), std::nullopt) << point;
  }
}

TEST(NfsMounts, OverlapIfOneIsInTheOther) {
  const auto overlap = [](const char* one, const char* other) {
    MountPlaces places;
    EXPECT_EQ(places.Add(one), std::nullopt);
    const auto found = places.Add(other);
    EXPECT_TRUE(!found || *found == one) << *found;
    return found.has_value();
  };
  EXPECT_TRUE(overlap("/mnt/nfs/a", "/mnt/nfs/a"));
  EXPECT_TRUE(overlap("/mnt/nfs/a", "/mnt/nfs/a/b/c"));
  EXPECT_TRUE(overlap("/mnt/nfs/a/b/c", "/mnt/nfs/a"));
  EXPECT_FALSE(overlap("/mnt/nfs/a", "/mnt/nfs/ab"));
  EXPECT_FALSE(overlap("/mnt/nfs/a/b", "/mnt/nfs/a-b"));
  EXPECT_FALSE(overlap("/mnt/nfs/a", "/mnt/nfs/b"));
}

// Each against each would take minutes.
TEST(NfsMounts, AreComparedWithOneAnotherHoweverManyThereAre) {
  MountPlaces places;
  for (int i = 0; i < 300'000; ++i) {
    ASSERT_EQ(places.Add("/mnt/nfs/a/" + std::to_string(i) + "/b"), std::nullopt);
  }
  EXPECT_EQ(places.Add("/mnt/nfs/a/77/b/c"), "/mnt/nfs/a/77/b");
}

TEST(NfsMounts, HaveNoPathsThatAreTooLongForTheKernel) {
  const std::string longest(4095, 'a');
  EXPECT_TRUE(PlaceOf({"s", "/", longest}));
  EXPECT_FALSE(PlaceOf({"s", "/", longest + "a"}));
}

}  // namespace
}  // namespace caip::vertex
