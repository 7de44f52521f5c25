// The plots of `caip jobs trials --plot`.

#include "report/study_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>

#include "tests/cli/study_view.h"

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// All matches of the pattern's only group in the picture.
std::vector<std::string> All(const std::string& picture, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(picture.begin(), picture.end(), expression), end; at != end; ++at) {
    found.push_back((*at)[1]);
  }
  return found;
}

// The positions on the first axis of the lines through the axes, in pixels from the top.
std::vector<double> HeightsOnTheFirstAxis(const std::string& picture) {
  std::vector<double> heights;
  for (const std::string& y :
       All(picture,
           R"re(<g class="trial[^>]*><title>[^<]*</title>\n<line x1="0.000%" y1="([0-9.]+)")re")) {
    heights.push_back(std::stod(y));
  }
  return heights;
}

TEST(StudyPlot, IsOnePictureWithAllTrials) {
  report::StudyView study = AStudy();
  study.trials[3].final_metric.reset();  // a trial without a metric is a cross
  study.metric = "<accuracy & co>";
  const std::string picture = report::StudyPicture(study);
  EXPECT_THAT(picture, ::testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(All(picture, "(<circle[^>]*dot)"), SizeIs(7));
  EXPECT_THAT(picture, HasSubstr("×"));
  EXPECT_THAT(picture, HasSubstr("&lt;accuracy &amp; co&gt;"));
  EXPECT_THAT(picture, Not(HasSubstr("<accuracy")));
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
}

TEST(StudyPlot, OfAnEmptyStudyIsAPicture) {
  report::StudyView study = AStudy();
  study.trials.clear();
  EXPECT_THAT(report::StudyPicture(study), HasSubstr("Too few trials have succeeded."));
  EXPECT_THAT(report::StudyPage(study), HasSubstr("<!doctype html>"));
}

TEST(StudyPlot, HasTheNumbersOfItsTrialsBelow) {
  report::StudyView study = AStudy();
  study.trials.resize(2);
  study.trials[0].id = "9";
  study.trials[1].id = "10";
  EXPECT_THAT(All(report::StudyPicture(study), ">(trial [0-9]+)</text>"),
              ElementsAre("trial 9", "trial 10"));
  study.trials.resize(1);
  EXPECT_THAT(All(report::StudyPicture(study), ">(trial [0-9]+)</text>"), ElementsAre("trial 9"));
  study.trials.clear();
  EXPECT_THAT(All(report::StudyPicture(study), ">(trial [0-9]+)</text>"), SizeIs(0));
}

TEST(StudyPlot, HasOneLineWhereAllValuesAreEqual) {
  report::StudyView study = AStudy();
  EXPECT_THAT(All(report::StudyPicture(study), R"((class="grid"))"), SizeIs(5));
  for (report::TrialView& trial : study.trials) trial.final_metric->second = 0.125;
  const std::string picture = report::StudyPicture(study);
  EXPECT_THAT(All(picture, R"((class="grid"))"), SizeIs(1));
  EXPECT_THAT(All(picture, ">(0.125)</text>"), SizeIs(2));  // of the grid, and of the last axis
}

TEST(StudyPlot, TellsCloseValuesApart) {
  report::StudyView study = AStudy();
  for (size_t i = 0; i < 8; ++i) study.trials[i].final_metric->second = 0.9 + 1e-9 * i;
  const auto marks =
      All(report::StudyPicture(study), R"(dx="-8.0" class="end">([0-9.e-]+)</text>)");
  EXPECT_EQ(std::set<std::string>(marks.begin(), marks.end()).size(), 5u);
}

TEST(StudyPlot, SaysWhyATrialIsACross) {
  report::StudyView study = AStudy();
  study.trials[3].final_metric.reset();
  study.trials[3].state = "FAILED";
  study.trials[4].final_metric->second = INFINITY;
  const auto crosses = All(report::StudyPicture(study), "<title>([^<]*)</title>×</text>");
  EXPECT_THAT(crosses, ElementsAre("trial 4: FAILED, kind=b, rate=0.400000",
                                   "trial 5: SUCCEEDED, accuracy inf, kind=a, rate=0.500000"));
}

TEST(StudyPlot, HasNumbersOfASetAtTheirPlaces) {
  report::StudyView study = AStudy();
  study.parameters[0] = {"rate",
                         report::ParameterKind::kNumbers,
                         tuning::Scale::kLinear,
                         {"0.10000000000000001", "0.30000000000000004", "0.5"}};
  study.trials.resize(2);
  study.trials[0].values["rate"] = "0.30000000000000004";
  study.trials[1].values["rate"] = "0.1";
  EXPECT_THAT(HeightsOnTheFirstAxis(report::StudyPicture(study)), ElementsAre(276, 151));
}

TEST(StudyPlot, HasTheScaleOfEachParameter) {
  report::StudyView study = AStudy();
  study.trials.resize(1);
  study.trials[0].values["rate"] = "0.1";
  report::ParameterView& rate = study.parameters[0];
  EXPECT_THAT(HeightsOnTheFirstAxis(report::StudyPicture(study)),
              ElementsAre(151));  // half of 0.01 to 1
  rate.scale = tuning::Scale::kReverseLog;
  study.trials[0].values["rate"] = "0.91";  // as far from 1 as 0.1 is from 0.01
  EXPECT_THAT(HeightsOnTheFirstAxis(report::StudyPicture(study)), ElementsAre(151));
}

TEST(StudyPlot, TurnsLongNamesAndLeavesOutLabelsWithoutRoom) {
  report::StudyView study = AStudy();
  EXPECT_THAT(report::StudyPicture(study), Not(HasSubstr("rotate(")));
  report::ParameterView many{"kind", report::ParameterKind::kNumbers, tuning::Scale::kLinear, {}};
  for (int i = 0; i < 100; ++i) many.choices.push_back("70" + std::to_string(i));
  study.parameters[1] = many;
  for (int i = 0; i < 6; ++i) {
    study.parameters.push_back(study.parameters[0]);
    study.parameters.back().name = "a_parameter_of_a_long_name_" + std::to_string(i);
  }
  const std::string picture = report::StudyPicture(study);
  EXPECT_THAT(All(picture, "(rotate\\()"), SizeIs(9));  // of each axis
  EXPECT_THAT(picture,
              HasSubstr("<title>a_parameter_of_a_long_name_0</title>a_parameter_of_a_long…"));
  std::vector<double> heights;
  for (const std::string& y :
       All(picture, R"re(y="([0-9.]+)" dx="5.0" class="start"><title>70)re")) {
    heights.push_back(std::stod(y));
  }
  ASSERT_GT(heights.size(), 10u);
  for (size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i - 1] - heights[i], 12.9) << i;
  EXPECT_THAT(picture, HasSubstr(">700</text>"));
  EXPECT_THAT(picture, HasSubstr(">7099</text>"));
}

TEST(StudyPlot, NamesTheBestTrial) {
  report::StudyView study = AStudy();
  study.trials[4].final_metric->second = 0.95;
  EXPECT_THAT(All(report::StudyPicture(study), ">(best: [^<]*)</text>"),
              ElementsAre("best: trial 5"));
  EXPECT_THAT(
      All(report::StudyPicture(study), "<g class=\"trial best\"[^>]*><title>(best, trial 5)"),
      SizeIs(1));
  study.maximize = false;
  study.trials[1].final_metric->second = -1;
  EXPECT_THAT(All(report::StudyPicture(study), ">(best: [^<]*)</text>"),
              ElementsAre("best: trial 2"));
}

TEST(StudyPlot, IsWiderWithManyParameters) {
  report::StudyView study = AStudy();
  EXPECT_THAT(report::StudyPicture(study), HasSubstr(" width=\"960.0\""));
  for (int i = 0; i < 20; ++i) {
    study.parameters.push_back(study.parameters[0]);
    study.parameters.back().name = "p" + std::to_string(i);
  }
  EXPECT_THAT(report::StudyPicture(study), Not(HasSubstr(" width=\"960.0\"")));
}

TEST(StudyPlot, SaysWhereThereIsNoImportance) {
  report::StudyView study = AStudy();
  for (report::TrialView& trial : study.trials) trial.values["kind"] = "of " + trial.id;
  EXPECT_THAT(All(report::StudyPicture(study), "(too few trials for each value)"), SizeIs(1));
}

}  // namespace
}  // namespace caip::cli
