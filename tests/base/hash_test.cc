#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/encoding.h"
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

// The cases of RFC 4231, and a key of exactly one block.
TEST(HmacSha256, IsThatOfTheStandard) {
  struct Case {
    std::string key;
    std::string bytes;
    const char* hmac;
  };
  const Case cases[] = {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(64, 'k'), "",
       "83026a325aaee70e36cfe607536aa1054104ad1077c36134810d4ccded1ccd3b"},
  };
  for (const Case& c : cases) EXPECT_EQ(Hex(HmacSha256(c.key, c.bytes)), c.hmac) << c.bytes;
}

TEST(Digests, AreThoseOfTheStandards) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Md5("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
  Md5Digest pieces;
  for (const char* piece : {"mess", "", "age digest"}) pieces.Add(piece);
  EXPECT_EQ(pieces.FinishHex(), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(Crc64, IsTheStandardsAndTakesPieces) {
  EXPECT_EQ(Crc64("123456789"), 0x995dc9bbdf1939fau);  // CRC-64/XZ
  EXPECT_EQ(Crc64("6789", Crc64("12345")), Crc64("123456789"));
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
