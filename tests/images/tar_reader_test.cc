#include "images/tar_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/images/tar_maker.h"

namespace caip::images {
namespace {

using testing::HasSubstr;

// Hands out a text in pieces of one size.
class TextSource : public ByteSource {
 public:
  TextSource(std::string text, size_t piece) : text_(std::move(text)), piece_(piece) {}
  Result<std::string_view> Next() override {
    const std::string_view piece = std::string_view(text_).substr(at_, piece_);
    at_ += piece.size();
    return piece;
  }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
};

struct ReadEntry {
  TarEntry entry;
  std::string data;  // with zeros for holes before the last byte
};

// All entries, with their data; or the error's text.
Result<std::vector<ReadEntry>> ReadAll(const std::string& tar, size_t piece = 700) {
  TextSource source(tar, piece);
  TarReader reader(source);
  std::vector<ReadEntry> entries;
  while (true) {
    ASSIGN_OR_RETURN(const TarEntry* entry, reader.Next());
    if (entry == nullptr) return entries;
    ReadEntry& read = entries.emplace_back(ReadEntry{*entry, ""});
    RETURN_IF_ERROR(reader.ReadData([&read](std::string_view bytes, uint64_t offset) -> Status {
      read.data.resize(offset, '\0');
      read.data += bytes;
      return Ok{};
    }));
  }
}

TarEntry OnlyEntry(const std::vector<TarMember>& members) {
  const auto entries = ReadAll(MakeTar(members));
  EXPECT_TRUE(entries.ok()) << entries.error().message;
  return entries.ok() && !entries->empty() ? entries->front().entry : TarEntry{};
}

TarMember WithRecords(std::vector<std::pair<std::string, std::string>> records,
                      const std::string& bytes = "") {
  TarMember member{"name", bytes};
  member.records = std::move(records);
  return member;
}

TEST(TarReader, ReadsEntriesInPiecesOfAnySize) {
  const std::string tar = MakeTar(
      {{"a", std::string(1000, 'a')}, DirectoryMember("d/"), {"d/b", "b"}, LinkMember("l", "a")});
  for (const size_t piece : {size_t{1}, size_t{511}, size_t{512}, size_t{513}, tar.size()}) {
    const auto entries = ReadAll(tar, piece);
    ASSERT_TRUE(entries.ok()) << entries.error().message;
    ASSERT_EQ(entries->size(), 4u);
    EXPECT_EQ((*entries)[0].data, std::string(1000, 'a'));
    EXPECT_EQ((*entries)[1].entry.kind, EntryKind::kDirectory);
    EXPECT_EQ((*entries)[2].data, "b");
    EXPECT_EQ((*entries)[3].entry.target, "a");
  }
}

TEST(TarReader, SkipsDataThatNobodyReads) {
  TextSource source(MakeTar({{"a", std::string(5000, 'a')}, {"b", ""}}), 100);
  TarReader reader(source);
  ASSERT_TRUE(reader.Next().ok());
  EXPECT_EQ((*reader.Next())->path, "b");
  EXPECT_EQ(*reader.Next(), nullptr);
  EXPECT_EQ(*reader.Next(), nullptr) << "again";
}

TEST(TarReader, KnowsTheKindsOfEntries) {
  const struct {
    char type;
    const char* name;
    EntryKind kind;
  } cases[] = {
      {'0', "a", EntryKind::kFile},        {'\0', "a", EntryKind::kFile},
      {'\0', "a/", EntryKind::kDirectory}, {'7', "a", EntryKind::kFile},
      {'1', "a", EntryKind::kHardLink},    {'2', "a", EntryKind::kSymbolicLink},
      {'3', "a", EntryKind::kDevice},      {'4', "a", EntryKind::kDevice},
      {'5', "a", EntryKind::kDirectory},   {'6', "a", EntryKind::kPipe},
      {'V', "a", EntryKind::kOther},
  };
  for (const auto& [type, name, kind] : cases) {
    TarMember member{name};
    member.type = type;
    EXPECT_EQ(OnlyEntry({member}).kind, kind) << "type " << type;
  }
}

TEST(TarReader, ReadsLongNames) {
  const std::string path = std::string(150, 'p') + "/" + std::string(150, 'q');
  const std::string target(200, 't');
  const TarEntry gnu = OnlyEntry({LinkMember(path, target)});
  EXPECT_EQ(gnu.path, path);
  EXPECT_EQ(gnu.target, target);
  const TarEntry pax = OnlyEntry({WithRecords({{"path", path}, {"linkpath", target}})});
  EXPECT_EQ(pax.path, path);
  EXPECT_EQ(pax.target, target);
  std::string ustar;
  AppendTarHeader(ustar, {"name"}, 0);
  ustar.replace(345, 6, "prefix");
  unsigned sum = 0;
  ustar.replace(148, 8, 8, ' ');
  for (const char c : ustar) sum += static_cast<unsigned char>(c);
  std::snprintf(ustar.data() + 148, 8, "%06o", sum);
  EXPECT_EQ(ReadAll(ustar)->front().entry.path, "prefix/name");
}

TEST(TarReader, ReadsRecordsOfPaxHeaders) {
  const TarEntry entry = OnlyEntry({WithRecords({{"uid", "3000000000"},
                                                 {"gid", "7"},
                                                 {"mtime", "1600000000.25"},
                                                 {"atime", "anything"},
                                                 {"SCHILY.xattr.user.a", "1=2"},
                                                 {"comment", "x"}})});
  EXPECT_EQ(entry.uid, 3'000'000'000);
  EXPECT_EQ(entry.gid, 7);
  EXPECT_EQ(entry.mtime, 1'600'000'000);
  EXPECT_EQ(entry.mtime_nanoseconds, 250'000'000);
  ASSERT_EQ(entry.attributes.size(), 1u);
  EXPECT_EQ(entry.attributes[0].first, "user.a");
  EXPECT_EQ(entry.attributes[0].second, "1=2");
}

TEST(TarReader, RecordsAreForOneEntry) {
  TarMember global{"pax_global_header", "19 path=everywhere\n", 'g'};
  const auto entries = ReadAll(MakeTar({global, WithRecords({{"path", "one"}}), {"two"}}));
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].entry.path, "one");
  EXPECT_EQ((*entries)[1].entry.path, "two");
}

// As GNU tar and Go's archive/tar read them. If all were kept, an archive of a few megabytes would
// fill the memory.
TEST(TarReader, ALaterPaxHeaderReplacesAnEarlierOne) {
  const TarMember first{"x", "12 path=abc\n25 SCHILY.xattr.user.a=1\n", 'x'};
  const TarMember second{"x", "8 uid=7\n", 'x'};
  const TarEntry entry = OnlyEntry({first, first, second, {"name"}});
  EXPECT_EQ(entry.path, "name");
  EXPECT_EQ(entry.uid, 7);
  EXPECT_TRUE(entry.attributes.empty());
  EXPECT_EQ(OnlyEntry({second, first, {"name"}}).path, "abc");
  EXPECT_EQ(OnlyEntry({first, first, {"name"}}).attributes.size(), 1u);
}

TEST(TarReader, ReadsBinaryNumbers) {
  EXPECT_EQ(TarNumber("0000644"), 0644);
  EXPECT_EQ(TarNumber("   644 "), 0644);
  EXPECT_EQ(TarNumber(std::string_view("644\0xxx", 7)), 0644);
  EXPECT_EQ(TarNumber("       "), 0);
  EXPECT_EQ(TarNumber("9"), std::nullopt);
  EXPECT_EQ(TarNumber(std::string_view("\x80\0\0\0\x01\0\0\0", 8)), int64_t{1} << 24);
  EXPECT_EQ(TarNumber(std::string(12, '\xff')), -1);
  EXPECT_EQ(TarNumber(std::string_view("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)),
            std::nullopt);
}

TEST(TarReader, ReadsSparseFilesOfEveryForm) {
  const std::string holes = std::string(600, '\0') + "ab" + std::string(398, '\0') + "c";
  const auto expect = [&holes](const std::string& tar, const char* form) {
    const auto entries = ReadAll(tar);
    ASSERT_TRUE(entries.ok()) << form << ": " << entries.error().message;
    ASSERT_EQ(entries->size(), 2u) << form;
    EXPECT_EQ((*entries)[0].data, holes) << form;
    EXPECT_EQ((*entries)[0].entry.size, 2000u) << form;
    EXPECT_EQ((*entries)[0].entry.path, "sparse") << form;
    EXPECT_EQ((*entries)[1].entry.path, "next") << form;
  };
  expect(MakeTar({WithRecords({{"GNU.sparse.size", "2000"},
                               {"GNU.sparse.numblocks", "2"},
                               {"GNU.sparse.offset", "600"},
                               {"GNU.sparse.numbytes", "2"},
                               {"GNU.sparse.offset", "1000"},
                               {"GNU.sparse.numbytes", "1"},
                               {"path", "sparse"}},
                              "abc"),
                  {"next"}}),
         "0.0");
  expect(MakeTar({WithRecords({{"GNU.sparse.name", "sparse"},
                               {"GNU.sparse.size", "2000"},
                               {"GNU.sparse.numblocks", "2"},
                               {"GNU.sparse.map", "600,2,1000,1"},
                               {"path", "GNUSparseFile.1/sparse"}},
                              "abc"),
                  {"next"}}),
         "0.1");
  std::string map = "2\n600\n2\n1000\n1\n";
  map.resize(512, '\0');
  expect(MakeTar({WithRecords({{"GNU.sparse.major", "1"},
                               {"GNU.sparse.minor", "0"},
                               {"GNU.sparse.name", "sparse"},
                               {"GNU.sparse.realsize", "2000"}},
                              map + "abc"),
                  {"next"}}),
         "1.0");
  std::string old;
  AppendTarHeader(old, {"sparse", "", 'S'}, 3);
  const auto number = [&old](size_t at, unsigned value) {
    std::snprintf(old.data() + at, 12, "%011o", value);
  };
  number(386, 600);
  number(398, 2);
  old[482] = 1;
  number(483, 2000);
  old.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : old) sum += static_cast<unsigned char>(c);
  std::snprintf(old.data() + 148, 8, "%06o", sum);
  old.resize(1024, '\0');
  number(512, 1000);
  number(524, 1);
  AppendTarBlocks(old, "abc");
  expect(old + MakeTar({{"next"}}), "of the header");
}

// A million lines of zeros would fill the memory. GNU tar refuses such a line, too.
TEST(TarReader, RefusesAMapWithLongNumbers) {
  const auto read = [](size_t digits) {
    const auto number = [digits](const std::string& value) {
      return std::string(digits - value.size(), '0') + value + "\n";
    };
    std::string map = number("1") + number("600") + number("2");
    map.resize(1024, '\0');
    return ReadAll(MakeTar({WithRecords(
        {{"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"}, {"GNU.sparse.realsize", "2000"}},
        map.substr(0, digits > 100 ? 1024 : 512) + "ab")}));
  };
  const auto longest = read(20);
  ASSERT_TRUE(longest.ok()) << longest.error().message;
  EXPECT_EQ(longest->front().data, std::string(600, '\0') + "ab");
  for (const size_t digits : {21, 300}) {
    const auto refused = read(digits);
    ASSERT_FALSE(refused.ok()) << digits;
    EXPECT_THAT(refused.error().message, HasSubstr("the map of a sparse file is damaged"));
  }
}

TEST(TarReader, CountsTheSegmentsOfAllMapsOfAFile) {
  constexpr size_t kMost = 1 << 20;
  std::string map = std::to_string(kMost) + "\n";
  for (size_t i = 0; i < kMost; ++i) map += "0\n0\n";
  map.resize((map.size() + 511) / 512 * 512, '\0');
  std::vector<std::pair<std::string, std::string>> records = {
      {"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"}, {"GNU.sparse.realsize", "0"}};
  const auto most = ReadAll(MakeTar({WithRecords(records, map)}), 1 << 20);
  EXPECT_TRUE(most.ok()) << most.error().message;
  records.emplace_back("GNU.sparse.map", "0,0");
  const auto more = ReadAll(MakeTar({WithRecords(records, map)}), 1 << 20);
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(more.error().message, HasSubstr("the map of a sparse file is damaged"));
}

TEST(TarReader, RefusesDamagedArchives) {
  const std::string good = MakeTar({{"a", std::string(1000, 'a')}, {"b", "b"}});
  const struct {
    std::string tar;
    std::string why;
  } cases[] = {
      {"x", "it is not a tar archive"},
      {std::string(512, 'x'), "it is not a tar archive"},
      {good.substr(0, 512 + 1024) + std::string(512, 'x'), "the header of an entry is damaged"},
      {good.substr(0, 700), "its end is missing"},
      {good.substr(0, 512 + 1024 + 100), "its end is missing"},
      {MakeTar({WithRecords({{"size", "x"}})}), "the header of an entry is damaged"},
      {MakeTar({WithRecords({{"size", "99999999999999999999"}})}), "the header of an entry"},
      {MakeTar({WithRecords({{"size", "9223372036854775807"}})}), "the header of an entry"},
      {MakeTar({WithRecords({{"path", std::string("a\0b", 3)}})}), "the header of an entry"},
      {MakeTar({{"x", "7 a=b\n", 'x'}, {"a"}}), "the header of an entry is damaged"},
      {MakeTar({{"x", "0 a=b\n", 'x'}, {"a"}}), "the header of an entry is damaged"},
      {MakeTar({{"x", "abc", 'x'}, {"a"}}), "the header of an entry is damaged"},
      {MakeTar({{"x", std::string((1 << 20) + 1, 'a'), 'L'}}), "name of an entry is too long"},
      {MakeTar({WithRecords({{"GNU.sparse.map", "5,1,2,1"}, {"GNU.sparse.size", "9"}}, "ab")}),
       "the map of a sparse file is damaged"},
      {MakeTar({WithRecords({{"GNU.sparse.map", "0,5"}, {"GNU.sparse.size", "9"}}, "ab")}),
       "the map of a sparse file is damaged"},
      {MakeTar({WithRecords({{"GNU.sparse.map", "8,2"}, {"GNU.sparse.size", "9"}}, "ab")}),
       "the map of a sparse file is damaged"},
      {MakeTar({WithRecords({{"GNU.sparse.major", "1"}}, std::string(2048, '9'))}),
       "the map of a sparse file is damaged"},
  };
  for (const auto& [tar, why] : cases) {
    const auto entries = ReadAll(tar);
    ASSERT_FALSE(entries.ok()) << why;
    EXPECT_EQ(entries.error().reason, "archiveBroken");
    EXPECT_THAT(entries.error().message, HasSubstr(why));
  }
}

TEST(TarReader, AnArchiveMayEndWithoutZeros) {
  const std::string tar = MakeTar({{"a", "x"}});
  EXPECT_EQ(ReadAll(tar.substr(0, 1024))->size(), 1u);
  EXPECT_TRUE(ReadAll("")->empty());
}

}  // namespace
}  // namespace caip::images
