#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace caip {
namespace {

constexpr size_t kTableSlots = 1 << 16;

// Names that std::hash puts into the first thousandth of a table.
std::vector<std::string> NamesThatCrowd(size_t count) {
  std::vector<std::string> names;
  for (int i = 0; names.size() < count; ++i) {
    std::string name = std::to_string(i);
    if ((std::hash<std::string_view>()(name) & (kTableSlots - 1)) < kTableSlots / 1024) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

TEST(KeyedHash, IsTheSameForTheSameTextOnly) {
  std::set<uint64_t> hashes;
  std::vector<std::string> texts = {"", std::string(1, '\0'), std::string(2, '\0')};
  for (int i = 0; i < 1000; ++i) {
    texts.push_back("name-" + std::to_string(i));
    texts.push_back(std::string(static_cast<size_t>(i) + 1, 'a'));
  }
  for (const std::string& text : texts) {
    EXPECT_TRUE(hashes.insert(KeyedHash(text)).second) << text;
    EXPECT_EQ(KeyedHash(text), KeyedHash(std::string(text)));
  }
}

TEST(KeyedHash, SpreadsTextsThatStdHashCrowds) {
  constexpr size_t kRegions = 64;
  std::vector<int> regions(kRegions);
  for (const std::string& name : NamesThatCrowd(2000)) {
    ++regions[(KeyedHash(name) & (kTableSlots - 1)) * kRegions / kTableSlots];
  }
  // 31 on average. With a fair hash, 100 is out of reach: twelve standard deviations.
  EXPECT_LT(*std::max_element(regions.begin(), regions.end()), 100);
}

TEST(KeyedHash, FindsEveryMemberOfAnObjectOfSuchNames) {
  Json object = Json::object();
  const std::vector<std::string> names = NamesThatCrowd(2000);
  for (size_t i = 0; i < names.size(); ++i) object[names[i]] = i;
  for (size_t i = 0; i < names.size(); ++i) ASSERT_EQ(object.at(names[i]), i);
  EXPECT_FALSE(object.contains("no such name"));
}

}  // namespace
}  // namespace caip
