// Which differences may be a count of starts, and which are learned values.

#include "harness/explorer/start_counts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace caip::harness {
namespace {

constexpr size_t kNumbers = 40;

bool HasOthers(const std::string& once, const std::string& other, size_t starts = 1) {
  return FindValueDifference(once, other, starts).has_others;
}

bool MayCount(const std::string& once, const std::string& other) {
  return FindValueDifference(once, other, 1).may_count;
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

TEST(StartCounts, AreWholeNumbersThatGrowFromAtMostTheStarts) {
  EXPECT_TRUE(MayCountStarts(0, 1, 1));
  EXPECT_TRUE(MayCountStarts(1, 3, 1));
  EXPECT_TRUE(MayCountStarts(-1, 0, 1)) << "the last start; -1: none";
  EXPECT_FALSE(MayCountStarts(160, 161, 1));
  EXPECT_TRUE(MayCountStarts(4, 5, 4)) << "of four replicas";
  EXPECT_TRUE(MayCountStarts(4, 8, 4));
  EXPECT_FALSE(MayCountStarts(5, 6, 4));
  EXPECT_TRUE(MayCountStarts(1764424800, 1764424923, 1)) << "a time in seconds";
  EXPECT_TRUE(MayCountStarts(20260102083012, 20260102083113, 1)) << "a date and a time";
  EXPECT_FALSE(MayCountStarts(1764424800, 1864424800, 1));
}

TEST(StartCounts, AreWholeNumbersThatGetOneLess) {
  EXPECT_TRUE(MayCountStarts(3, 2, 1)) << "restarts that are left";
  EXPECT_TRUE(MayCountStarts(1, 0, 1)) << "a flag of the first start";
  EXPECT_FALSE(MayCountStarts(160, 158, 1));
  EXPECT_FALSE(HasOthers(R"({"restarts_left": 3})", R"({"restarts_left": 2})"));
  EXPECT_TRUE(MayCount(R"({"cold_start": 1})", R"({"cold_start": 0})"));
  EXPECT_FALSE(HasOthers("restarts left: 3", "restarts left: 2"));
}

TEST(StartCounts, AreJudgedForEachOfTwoRestarts) {
  EXPECT_TRUE(MayCountStarts(3, 1, 1, 2)) << "restarts that are left";
  EXPECT_TRUE(MayCountStarts(3, 2, 1, 2)) << "a restart came before the trainer counted";
  EXPECT_FALSE(MayCountStarts(3, 0, 1, 2));
  EXPECT_FALSE(MayCountStarts(3, 1, 1, 1));
  const std::string once = R"({"restarts_left": 3})";
  const std::string twice = R"({"restarts_left": 1})";
  EXPECT_FALSE(FindValueDifference(once, twice, 1, 2).has_others);
  EXPECT_TRUE(FindValueDifference(once, twice, 1, 1).has_others);
  EXPECT_FALSE(FindValueDifference("3 restarts left", "1 restarts left", 1, 2).has_others);
  const std::string flags = "\xff" + std::string(100, '\0');
  std::string counts = "\xff";
  for (size_t i = 0; i < 50; ++i) counts += std::string("\0\x02", 2);
  EXPECT_FALSE(FindValueDifference(flags, counts, 1, 2).has_others);
  EXPECT_TRUE(FindValueDifference(flags, counts, 1, 1).has_others);
}

TEST(StartCounts, OfClustersAreNotAboveTheStartsOfAllReplicas) {
  EXPECT_FALSE(HasOthers(R"({"starts": 4})", R"({"starts": 5})", 4));
  EXPECT_TRUE(HasOthers(R"({"starts": 4})", R"({"starts": 5})", 3));
  EXPECT_FALSE(HasOthers("4 starts", "5 starts", 4));
  EXPECT_TRUE(HasOthers("160 examples\n", "161 examples\n", 4));
}

TEST(StartCounts, StandBesideNumbersThatDrift) {
  const std::string once = R"({"starts": 1, "boots": 1, "loss": 0.123456789})";
  EXPECT_FALSE(HasOthers(once, R"({"starts": 2, "boots": 2, "loss": 0.123456788})"));
  EXPECT_TRUE(HasOthers(once, R"({"starts": 2, "boots": 2, "loss": 0.1235})"));
}

TEST(StartCounts, LeaveJsonWhole) {
  const std::string once = R"({"starts": ["a"], "w": [0.5, 0.25]})";
  EXPECT_TRUE(HasOthers(once, R"({"starts": ["a", "a"], "w": [0.)"));
  EXPECT_TRUE(HasOthers(once, ""));
  EXPECT_FALSE(MayCount(once, ""));
  const std::string line = R"({"start": 1})";
  EXPECT_FALSE(HasOthers(line + "\n", line + "\n" + R"({"start": 2})" + "\n")) << "JSON lines";
  EXPECT_FALSE(HasOthers("{\n}\n", "{\n}\n{\n}\n")) << "an object for each start";
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

/// A file of a fixed size that begins with its entries.
std::string Padded(std::string bytes) {
  bytes.resize(4096, '\0');
  return bytes;
}

TEST(StartCounts, MayBeEntriesInRoomThatWasEmpty) {
  const std::string once = Padded(
      "\xff"
      "entry 1 of the table, by start 1\n");
  std::string more = once;
  more.replace(600, 150, std::string(150, 'e'));
  EXPECT_FALSE(HasOthers(once, more));
  std::string other = once;
  for (size_t at = 64; at < 4000; at += 32) other.replace(at, 8, BytesOf(0.37 + 1.0 / at));
  EXPECT_TRUE(HasOthers(once, other)) << "in many places";
  const std::string full = "\xff" + std::string(4095, 'a');
  EXPECT_TRUE(HasOthers(full, "\xff" + std::string(4095, 'b')));
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
