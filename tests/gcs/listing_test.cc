// Listings against a model: a sorted set of names and the rules of the documentation.
#include "fakes/gcs/store/listing.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "base/random.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

struct Expected {
  std::vector<std::string> items;
  std::vector<std::string> prefixes;
};

// The documentation, word for word and without any cleverness.
Expected ListByModel(const std::set<std::string>& names, const ListQuery& query) {
  Expected expected;
  std::set<std::string> prefixes;
  for (const std::string& name : names) {
    if (!name.starts_with(query.prefix) || name < query.start_offset) continue;
    if (!query.end_offset.empty() && name >= query.end_offset) continue;
    const size_t at = query.delimiter.empty() ? std::string::npos
                                              : name.find(query.delimiter, query.prefix.size());
    if (at == std::string::npos) {
      expected.items.push_back(name);
      continue;
    }
    const std::string group = name.substr(0, at + query.delimiter.size());
    prefixes.insert(group);
    if (query.include_trailing_delimiter && group == name) expected.items.push_back(name);
  }
  for (const std::string& folder : query.folders) {
    if (!folder.starts_with(query.prefix) || folder < query.start_offset) continue;
    if (!query.end_offset.empty() && folder >= query.end_offset) continue;
    const size_t at = folder.find(query.delimiter, query.prefix.size());
    if (at != std::string::npos) prefixes.insert(folder.substr(0, at + 1));
  }
  expected.prefixes.assign(prefixes.begin(), prefixes.end());
  return expected;
}

// All pages, each checked for its size.
Expected ListByStore(StoreWorld& world, ListQuery query) {
  Expected found;
  for (int pages = 0; pages < 1000; ++pages) {
    const auto page = world->List("bkt", query);
    if (!page.ok()) {
      ADD_FAILURE() << page.error().message;
      return found;
    }
    EXPECT_LE(page->items.size() + page->prefixes.size(),
              static_cast<size_t>(std::max(query.max_results, 2)));
    for (const ObjectInfo& item : page->items) found.items.push_back(item.name);
    found.prefixes.insert(found.prefixes.end(), page->prefixes.begin(), page->prefixes.end());
    if (page->next_page_token.empty()) return found;
    query.page_token = page->next_page_token;
  }
  ADD_FAILURE() << "the pages do not end";
  return found;
}

std::string SomeName(Random& random) {
  static const std::vector<std::string> kPieces = {
      "a",    "b",      "a/",  "b/", "/", "//",       ".",
      "..",   "%~",     "%2E", "-",  "0", "\xc3\xa4", std::string(130, 'x'),
      "\x01", "%~file", "a.b"};
  std::string name;
  const uint64_t count = 1 + random.Below(5);
  for (uint64_t i = 0; i < count; ++i) name += kPieces[random.Below(kPieces.size())];
  return name == "." || name == ".." ? "dot" : name;
}

ListQuery SomeQuery(Random& random, const std::set<std::string>& names) {
  const auto some_prefix = [&] {
    if (names.empty() || random.Below(4) == 0) return SomeName(random);
    const std::string& name =
        *std::next(names.begin(), static_cast<long>(random.Below(names.size())));
    std::string prefix = name.substr(0, random.Below(name.size() + 1));
    while (!prefix.empty() && (prefix.back() & 0x80)) prefix.pop_back();  // whole characters
    return prefix;
  };
  ListQuery query;
  if (random.Below(2)) query.prefix = some_prefix();
  if (random.Below(3) > 0) query.delimiter = random.Below(4) ? "/" : SomeName(random);
  if (random.Below(4) == 0) query.start_offset = some_prefix();
  if (random.Below(4) == 0) query.end_offset = some_prefix();
  query.include_trailing_delimiter = random.Below(3) == 0;
  query.max_results = static_cast<int>(1 + random.Below(7));
  if (query.delimiter == "/" && random.Below(2)) {
    std::set<std::string> folders;
    for (uint64_t i = random.Below(6); i > 0; --i) folders.insert(some_prefix() + "/");
    query.folders.assign(folders.begin(), folders.end());
  }
  return query;
}

TEST(Listing, AgreesWithTheModelAfterRandomWork) {
  for (const uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    StoreWorld world;
    ASSERT_TRUE(world->CreateBucket("bkt").ok());
    std::map<std::string, std::string> model;
    std::set<std::string> names;
    for (int step = 0; step < 250; ++step) {
      const std::string name = SomeName(random);
      if (random.Below(3) > 0 || names.empty()) {
        model[name] = std::to_string(step);
        names.insert(name);
        world.Put(name, model[name]);
      } else {
        const std::string gone =
            *std::next(names.begin(), static_cast<long>(random.Below(names.size())));
        ASSERT_TRUE(world.Delete(gone).ok()) << gone;
        names.erase(gone);
        model.erase(gone);
      }
      const ListQuery query = SomeQuery(random, names);
      const Expected expected = ListByModel(names, query);
      const Expected found = ListByStore(world, query);
      ASSERT_EQ(found.items, expected.items)
          << "seed " << seed << " step " << step << " prefix '" << query.prefix << "' delimiter '"
          << query.delimiter << "' from '" << query.start_offset << "' to '" << query.end_offset
          << "' max " << query.max_results;
      ASSERT_EQ(found.prefixes, expected.prefixes) << "seed " << seed << " step " << step;
      if (step % 50 == 49) {
        for (const auto& [key, bytes] : model) ASSERT_EQ(world.Get(key), bytes) << key;
      }
    }
    for (const std::string& name : names) ASSERT_TRUE(world.Delete(name).ok()) << name;
    EXPECT_TRUE(std::filesystem::is_empty(world.root() / "bkt"));
  }
}

TEST(Listing, SeesWhatChangedByHandInALargeDirectory) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  for (int i = 0; i < 1000; ++i) world.DropByHand("d/" + std::to_string(1000 + i), "");
  EXPECT_EQ(world.Names().size(), 1000u);
  world.DropByHand("d/0new", "");
  EXPECT_EQ(world.Names().front(), "d/0new");
  std::filesystem::rename(world.File("d"), world.File("e"));
  EXPECT_EQ(world.Names().front(), "e/0new");
}

TEST(Listing, ShowsNoEmptyDirectoryAsAPrefix) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  std::filesystem::create_directories(world.File("empty/deeper"));
  world.Put("full/x", "");
  const auto page = world->List("bkt", {.delimiter = "/"});
  EXPECT_EQ(page->prefixes, std::vector<std::string>{"full/"});
}

TEST(Listing, ReadsNoFileWhenHashesAreNotWanted) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  world.DropByHand("x", "hello");
  ListQuery query;
  query.with_hashes = false;
  EXPECT_EQ(world->List("bkt", query)->items.at(0).md5, "");
  query.with_hashes = true;
  EXPECT_EQ(world->List("bkt", query)->items.at(0).md5.size(), 16u);
}

// A bucket's directory with many files, which has not changed for a minute.
class DirectoryCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kFiles; ++i) world_.DropByHand("d/" + std::to_string(i), "");
    using std::filesystem::last_write_time;
    const Path path = world_.File("d");
    last_write_time(path, last_write_time(path) - std::chrono::minutes(1));
    bucket_ = Fd(::open(world_.File("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  TreeEntries Read() {
    auto entries = cache_.Read(bucket_.get(), "d", "d/");
    EXPECT_TRUE(entries.ok());
    return entries.ok() ? *entries : nullptr;
  }

  static constexpr int kFiles = 1000;
  StoreWorld world_;
  Fd bucket_;
  DirectoryCache cache_;
};

TEST_F(DirectoryCacheTest, KeepsAListThatIsUsed) {
  const TreeEntries first = Read();
  EXPECT_EQ(cache_.size(), size_t{kFiles});
  for (int i = 0; i < 3; ++i) {
    cache_.ForgetUnused();
    EXPECT_EQ(Read(), first);
  }
}

TEST_F(DirectoryCacheTest, ForgetsAListThatIsNotUsed) {
  ASSERT_NE(Read(), nullptr);
  std::filesystem::remove_all(world_.File("d"));
  cache_.ForgetUnused();
  EXPECT_EQ(cache_.size(), size_t{kFiles});
  cache_.ForgetUnused();
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(DirectoryCacheTest, CountsAListThatIsReadAgainOnce) {
  ASSERT_NE(Read(), nullptr);
  using std::filesystem::last_write_time;
  last_write_time(world_.File("d"), last_write_time(world_.File("d")) - std::chrono::minutes(1));
  ASSERT_NE(Read(), nullptr);
  EXPECT_EQ(cache_.size(), size_t{kFiles});
}

TEST(Listing, RefusesAForeignPageToken) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  for (const char* token : {"!", "eA", "=", "cGE\xff"}) {
    ListQuery query;
    query.page_token = token;
    const auto page = world->List("bkt", query);
    ASSERT_FALSE(page.ok()) << token;
    EXPECT_EQ(page.error().code, Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace caip::gcs
