#include "host/metrics/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/host/metrics/event_maker.h"

namespace caip::host {
namespace {

using engine::Report;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<double> Values(const std::vector<Report>& reports) {
  std::vector<double> values;
  for (const Report& report : reports) values.push_back(report.value);
  return values;
}

std::vector<Report> Read(const std::string& bytes, EventReader reader = EventReader("loss")) {
  std::vector<Report> reports;
  reader.Feed(bytes, reports);
  return reports;
}

TEST(Crc32c, IsMaskedAsTensorFlowDoes) {
  // RFC 3720, B.4: the sum of 32 zero bytes is 0x8a9136aa.
  const uint32_t sum = 0x8a9136aa;
  EXPECT_EQ(MaskedCrc32c(std::string(32, '\0')), ((sum >> 15) | (sum << 17)) + 0xa282ead8u);
}

TEST(EventReader, ReadsTheScalarsOfItsTag) {
  const std::string file =
      Framed(AnEvent(1.5, 0, "")) + Framed(AnEvent(2.5, 10, Simple("loss", 0.5f))) +
      Framed(AnEvent(3.5, 10, Simple("accuracy", 0.9f))) +
      Framed(AnEvent(4.5, 20, Simple("accuracy", 0.9f) + Simple("loss", 0.25f)));
  const std::vector<Report> reports = Read(file);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].step, 10);
  EXPECT_EQ(reports[0].value, 0.5);
  EXPECT_EQ(reports[0].time, 2.5);
  EXPECT_TRUE(reports[0].summary);
  EXPECT_EQ(reports[1].step, 20);
  EXPECT_EQ(reports[1].value, 0.25);
}

TEST(EventReader, TakesATensorOfOneNumber) {
  const auto read = [](const std::string& tensor) {
    return Values(Read(Framed(AnEvent(1, 1, OfTensor("loss", tensor)))));
  };
  const std::string scalar;  // a shape without dimensions
  const std::string one_by_one = Bytes(2, Bytes(2, Number(1, 1)) + Bytes(2, Number(1, 1)));
  const std::string two = Bytes(2, Bytes(2, Number(1, 2)));
  EXPECT_THAT(read(Number(1, 1) + scalar + Bytes(4, Raw(0.5f))), ElementsAre(0.5));
  EXPECT_THAT(read(Number(1, 1) + one_by_one + Bytes(4, Raw(0.5f))), ElementsAre(0.5));
  EXPECT_THAT(read(Number(1, 1) + two + Bytes(4, Raw(0.5f) + Raw(1.5f))), IsEmpty());
  EXPECT_THAT(read(Number(1, 1) + two + Bytes(5, Raw(0.5f))), IsEmpty());   // one for both
  EXPECT_THAT(read(Number(1, 1) + Bytes(5, Raw(0.5f))), ElementsAre(0.5));  // packed
  EXPECT_THAT(read(Number(1, 1) + Fixed32(5, 0.5f)), ElementsAre(0.5));     // not packed
  EXPECT_THAT(read(Number(1, 2) + Bytes(4, Raw(0.125))), ElementsAre(0.125));
  EXPECT_THAT(read(Number(1, 3) + Bytes(7, "\x05")), ElementsAre(5));
  EXPECT_THAT(read(Number(1, 9) + Bytes(10, Varint(uint64_t(-7)))), ElementsAre(-7));
  EXPECT_THAT(read(Number(1, 19) + Bytes(13, Varint(0x3c00))), ElementsAre(1));  // half
  EXPECT_THAT(read(Number(1, 14) + Bytes(13, Varint(0x3f80))), ElementsAre(1));  // bfloat16
  EXPECT_THAT(read(Number(1, 1)), ElementsAre(0));                               // left out
  EXPECT_THAT(read(Number(1, 7) + Bytes(8, "text")), IsEmpty());                 // DT_STRING
  EXPECT_THAT(read(Number(1, 1) + Bytes(4, "abc")), IsEmpty());                  // too short
}

TEST(EventReader, ReadsNaNAndInfinity) {
  const auto reports = Read(Framed(AnEvent(1, 1, Simple("loss", NAN))) +
                            Framed(AnEvent(2, 2, Simple("loss", INFINITY))));
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_TRUE(std::isnan(reports[0].value));
  EXPECT_EQ(reports[1].value, INFINITY);
}

TEST(EventReader, GivesTheSameWhereverTheFileIsCut) {
  const std::string file =
      Framed(AnEvent(1, 1, Simple("loss", 0.5f))) + Framed(AnEvent(2, 2, Simple("loss", 0.25f)));
  for (size_t cut = 0; cut <= file.size(); ++cut) {
    EventReader reader("loss");
    std::vector<Report> reports;
    reader.Feed(file.substr(0, cut), reports);
    EXPECT_EQ(reports.size(), cut == file.size() ? 2 : cut >= file.size() / 2) << cut;
    EXPECT_FALSE(reader.broken());
    reader.Feed(file.substr(cut), reports);
    EXPECT_THAT(Values(reports), ElementsAre(0.5, 0.25)) << cut;
  }
}

TEST(EventReader, LeavesOutWhatItsSumDenies) {
  std::string first = Framed(AnEvent(1, 1, Simple("loss", 0.5f)));
  first[14] ^= 1;
  EventReader reader("loss");
  std::vector<Report> reports;
  reader.Feed(first + Framed(AnEvent(2, 2, Simple("loss", 0.25f))), reports);
  EXPECT_THAT(Values(reports), ElementsAre(0.25));
  EXPECT_EQ(reader.bad_records(), 1);
  EXPECT_FALSE(reader.broken());
}

TEST(EventReader, EndsWhereALengthIsBroken) {
  std::string second = Framed(AnEvent(2, 2, Simple("loss", 0.25f)));
  second[0] ^= 1;
  EventReader reader("loss");
  std::vector<Report> reports;
  reader.Feed(Framed(AnEvent(1, 1, Simple("loss", 0.5f))) + second, reports);
  reader.Feed(Framed(AnEvent(3, 3, Simple("loss", 0.125f))), reports);
  EXPECT_THAT(Values(reports), ElementsAre(0.5));
  EXPECT_TRUE(reader.broken());
}

TEST(EventReader, LeavesOutWhatIsNoEvent) {
  EventReader reader("loss");
  std::vector<Report> reports;
  reader.Feed(Framed("\xff\xff") + Framed(AnEvent(1, 1, Bytes(1, "\x0a\x7fx"))) +
                  Framed(AnEvent(2, 2, Simple("loss", 0.25f))),
              reports);
  EXPECT_THAT(Values(reports), ElementsAre(0.25));
  EXPECT_EQ(reader.bad_records(), 2);
}

TEST(EventReader, PassesOverRecordsOfTwoGibibytesWithoutTheirBytes) {
  const uint64_t length = uint64_t{2} << 30;
  EventReader reader("loss");
  std::vector<Report> reports;
  reader.Feed(FrameHead(length) + "first bytes", reports);
  const uint64_t rest = length + 4 - std::string("first bytes").size();
  EXPECT_EQ(reader.to_skip(), rest);
  reader.Skip(rest - 2);
  reader.Feed("zz" + Framed(AnEvent(2, 2, Simple("loss", 0.25f))), reports);
  EXPECT_THAT(Values(reports), ElementsAre(0.25));
}

TEST(EventReader, ALengthBeyondAllFilesIsBroken) {
  EventReader reader("loss");
  std::vector<Report> reports;
  reader.Feed(FrameHead(UINT64_MAX), reports);
  EXPECT_TRUE(reader.broken());
}

}  // namespace
}  // namespace caip::host
