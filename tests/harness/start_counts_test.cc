// Which differences may be a count of starts, and which are learned values.

#include "harness/explorer/start_counts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace caip::harness {
namespace {

constexpr size_t kNumbers = 40;

bool HasOthers(const std::string& once, const std::string& other) {
  return FindValueDifference(once, other).has_others;
}

bool MayCount(const std::string& once, const std::string& other) {
  return FindValueDifference(once, other).may_count;
}

template <typename Number>
std::string BytesOf(const Number& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// As a pickle has them: a letter before each number.
std::string Pickle(double first, unsigned char starts) {
  std::string bytes = "\x80\x04K";
  bytes += static_cast<char>(starts);
  for (size_t i = 0; i < kNumbers; ++i) {
    bytes += "G" + BytesOf(first + 0.37 * static_cast<double>(i));
  }
  return bytes;
}

/// As torch.save writes it: entries with their checksums.
std::string Archive(const std::vector<std::string>& entries, uint32_t checksum, char method = 0) {
  std::string bytes;
  for (const std::string& entry : entries) {
    std::string header(30, '\0');
    header.replace(0, 4, "PK\x03\x04");
    header[8] = method;
    header.replace(14, 4, BytesOf(checksum));
    bytes += header + entry;
  }
  return bytes;
}

TEST(StartCounts, AreWholeNumbersThatGrowFromZeroOrOne) {
  EXPECT_TRUE(MayCountStarts(0, 1));
  EXPECT_TRUE(MayCountStarts(1, 3));
  EXPECT_FALSE(MayCountStarts(1, 0));
  EXPECT_FALSE(MayCountStarts(160, 161));
  EXPECT_TRUE(MayCountStarts(1764424800, 1764424923)) << "a time in seconds";
  EXPECT_TRUE(MayCountStarts(20260102083012, 20260102083113)) << "a date and a time";
  EXPECT_FALSE(MayCountStarts(1764424800, 1864424800));
}

TEST(StartCounts, InJsonAreNeitherFractionsNorOtherWholeNumbers) {
  EXPECT_FALSE(HasOthers(R"({"starts": 1})", R"({"starts": 2})"));
  EXPECT_TRUE(HasOthers(R"({"examples": 160})", R"({"examples": 161})"));
  EXPECT_TRUE(HasOthers(R"({"w": [0.5], "starts": 1})", R"({"w": [0.25], "starts": 2})"));
  EXPECT_TRUE(MayCount(R"({"w": [0.5], "starts": 1})", R"({"w": [0.25], "starts": 2})"));
  EXPECT_FALSE(MayCount(R"({"w": [0.5], "n": 3})", R"({"w": [0.25], "n": 3})"));
  EXPECT_FALSE(HasOthers("[0.5, 0.25]", "[0.5, 0.5, 0.25]")) << "an element for each start";
  EXPECT_FALSE(HasOthers(R"({"n": 6})", R"({"n": 2, "more": 4})"));
  EXPECT_TRUE(HasOthers(R"({"w": 0.5})", R"({"w": 0.25, "resumed": true})"));
}

TEST(StartCounts, InBytesAreNotInManyPlaces) {
  EXPECT_TRUE(HasOthers(Pickle(0.1, 1), Pickle(0.2, 1)));
  EXPECT_FALSE(HasOthers(Pickle(0.1, 1), Pickle(0.1, 2)));
  EXPECT_TRUE(MayCount(Pickle(0.1, 1), Pickle(0.1, 2)));
  EXPECT_TRUE(HasOthers(Pickle(0.1, 1), Pickle(0.2, 2)));
  EXPECT_TRUE(MayCount(Pickle(0.1, 1), Pickle(0.2, 2)));
  EXPECT_FALSE(HasOthers("\xff" + BytesOf(1.764e9 + 0.25), "\xff" + BytesOf(1.764e9 + 12.5)));
  const std::string flags = "\xff" + std::string(100, '\0');
  std::string counts = "\xff";
  for (size_t i = 0; i < 50; ++i) counts += std::string("\0\x01", 2);
  EXPECT_FALSE(HasOthers(flags, counts)) << "a count for each element";
  const std::string digest = "\xff" + std::string(64, '5');
  EXPECT_FALSE(HasOthers(digest, "\xff" + std::string(64, '7')));
}

TEST(StartCounts, InArchivesAreNotTheirChecksums) {
  const std::vector<std::string> once(40, Pickle(0.1, 1));
  std::vector<std::string> counted = once;
  counted.front() = Pickle(0.1, 2);
  EXPECT_FALSE(HasOthers(Archive(once, 0x51a2b3c4), Archive(counted, 0x62d3e4f5)));
  counted.front() = Pickle(0.3, 1);
  EXPECT_TRUE(HasOthers(Archive(once, 0x51a2b3c4), Archive(counted, 0x62d3e4f5)));
}

TEST(StartCounts, MayBeInCompressedBytes) {
  const std::string packed = "\x1f\x8b";
  EXPECT_FALSE(HasOthers(packed + Pickle(0.1, 1), packed + Pickle(0.2, 1)));
  EXPECT_FALSE(HasOthers(Archive({Pickle(0.1, 1)}, 1, 8), Archive({Pickle(0.2, 1)}, 1, 8)));
}

}  // namespace
}  // namespace caip::harness
