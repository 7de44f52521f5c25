// The sources of one trial's reports, read when the test says so.

#include "host/metrics/metric_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/host/launch_world.h"
#include "tests/host/metrics/event_maker.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct SourcesByHand : ::testing::Test {
  static void WriteTo(const Path& file, const std::string& text) {
    ASSERT_TRUE(MakeDirectories(file.parent_path()).ok());
    ASSERT_TRUE(WriteFile(file, text).ok());
  }
  /// The values of one call of Read.
  std::vector<double> ReadOnce() {
    std::vector<engine::Report> reports;
    is_all = sources.Read(reports);
    std::vector<double> values;
    for (const engine::Report& report : reports) values.push_back(report.value);
    return values;
  }

  TemporaryDirectory root;
  Path metric_file = root.path() / "disk" / "output.metric";
  Path events = root.path() / "events";
  MetricSources sources{{"accuracy", metric_file.string(), "gs://bkt/out"}, events};
  bool is_all = false;
};

constexpr const char* kHalf = "{\"accuracy\": \"0.5\"}\n";

TEST_F(SourcesByHand, OnlyWhatWasNotedIsRead) {
  WriteTo(metric_file, kHalf);
  WriteTo(events / "a.tfevents.1", Framed(AnEvent(1, 1, Simple("accuracy", 0.25f))));
  WriteTo(events / "b.tfevents.1", Framed(AnEvent(1, 2, Simple("accuracy", 0.125f))));
  WriteTo(events / "other", Framed(AnEvent(1, 3, Simple("accuracy", 0.1f))));
  EXPECT_THAT(ReadOnce(), IsEmpty());
  sources.NoteMetricFile();
  EXPECT_THAT(ReadOnce(), ElementsAre(0.5));
  sources.NoteEventFile(events / "other");
  sources.NoteEventFile(events / "b.tfevents.1");
  EXPECT_THAT(ReadOnce(), ElementsAre(0.125));
  sources.NoteAll();
  EXPECT_THAT(ReadOnce(), ElementsAre(0.25));
  EXPECT_TRUE(is_all);
}

// A trainer that writes without end leaves the thread time for other trials.
TEST_F(SourcesByHand, EventFilesAreReadInBoundedTurns) {
  WriteTo(events / "a.tfevents.1", TenLargeEvents());
  WriteTo(events / "b.tfevents.1", Framed(AnEvent(1, 11, Simple("accuracy", 11))));
  WriteTo(metric_file, "{\"accuracy\": \"0.5\", \"timestamp\": 1}\n");
  sources.NoteAll();
  std::vector<double> values = ReadOnce();
  EXPECT_FALSE(is_all);
  ASSERT_THAT(values, ElementsAre(0.5, 1, 2, 3)) << "the metric file does not wait";
  values.erase(values.begin());
  for (int turns = 1; !is_all; ++turns) {
    ASSERT_LT(turns, 5);
    for (const double value : ReadOnce()) values.push_back(value);
  }
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(SourcesByHand, NothingIsLostWhileNoDescriptorIsFree) {
  WriteTo(metric_file, kHalf);
  WriteTo(events / "a.tfevents.1", Framed(AnEvent(1, 1, Simple("accuracy", 0.25f))));
  sources.NoteAll();
  {
    const NoDescriptors none;
    EXPECT_THAT(ReadOnce(), IsEmpty());
    EXPECT_FALSE(is_all);
  }
  EXPECT_THAT(ReadOnce(), ElementsAre(0.5, 0.25));
  EXPECT_TRUE(is_all);
}

TEST_F(SourcesByHand, AMetricFileThatIsALinkIsReportedOnce) {
  WriteTo(root.path() / "secret", kHalf);
  WriteTo(metric_file.parent_path() / "other", kHalf);
  for (const Path& target : {root.path() / "secret", Path("other"), Path("missing")}) {
    std::filesystem::remove(metric_file);
    std::filesystem::create_symlink(target, metric_file);
    sources.NoteMetricFile();
    EXPECT_THAT(ReadOnce(), IsEmpty());
    EXPECT_TRUE(is_all);
  }
  EXPECT_THAT(sources.TakeWarnings(),
              ElementsAre(HasSubstr("where the trial's metric is to be written, is a symbolic "
                                    "link. Nothing is read from it.")));
  std::filesystem::remove(metric_file);
  WriteTo(metric_file, kHalf);
  sources.NoteMetricFile();
  EXPECT_THAT(ReadOnce(), ElementsAre(0.5));
}

}  // namespace
}  // namespace caip::host
