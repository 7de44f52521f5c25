// The page of `caip jobs trials --plot FILE.html`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "page/page.h"
#include "report/study_plot.h"
#include "tests/cli/study_view.h"

namespace caip::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

report::StudyView AStudyWithBest() {
  report::StudyView study = AStudy();
  study.trials[4].final_metric->second = 0.95;
  study.trials[4].values["rate"] = "0.072136064767837529";
  return study;
}

TEST(StudyPage, HasTheStyleSheetOfAllPages) {
  const std::string page = report::StudyPage(AStudy());
  EXPECT_THAT(page, HasSubstr("<style>\n" + std::string(page::StyleText()) + "</style>"));
  EXPECT_EQ(CountOf(page, "<style"), 1u);
  for (const char* word : {"src=", "href=", "http:", "https:", "url(", "@import", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(word)));
  }
}

TEST(StudyPage, NamesTheBestTrialInWords) {
  const std::string page = report::StudyPage(AStudyWithBest());
  EXPECT_THAT(page, HasSubstr("<h2>Best trial: 5</h2>"));
  EXPECT_THAT(page, HasSubstr("<tr class=\"best\"><th scope=\"row\">5 "
                              "<strong class=\"badge good\">best</strong></th>"));
  EXPECT_EQ(CountOf(page, ">best</strong>"), 1u);
  EXPECT_THAT(page, HasSubstr(">best: trial 5</text>"));
}

TEST(StudyPage, WithoutAValueSaysSo) {
  report::StudyView study = AStudy();
  for (report::TrialView& trial : study.trials) trial.final_metric.reset();
  const std::string page = report::StudyPage(study);
  EXPECT_THAT(page, HasSubstr("No trial has a value of accuracy yet."));
  EXPECT_THAT(page, Not(HasSubstr(">best</strong>")));
}

TEST(StudyPage, RoundsNumbersAndKeepsAllDigitsInTitles) {
  const std::string page = report::StudyPage(AStudyWithBest());
  EXPECT_THAT(page, HasSubstr("<td class=\"number\"><span title=\"0.072136064767837529\">0.0721361"
                              "</span></td>"));
}

TEST(StudyPage, HasAHeadingWithScopeForEachColumnAndRow) {
  const report::StudyView study = AStudy();
  const std::string page = report::StudyPage(study);
  EXPECT_EQ(CountOf(page, "<th scope=\"col\""), 4 + study.parameters.size());
  EXPECT_EQ(CountOf(page, "<th scope=\"row\""), study.trials.size());
  EXPECT_EQ(CountOf(page, "<th"), CountOf(page, "<th scope=") + CountOf(page, "<thead"));
}

TEST(StudyPage, EscapesWhatComesFromUsers) {
  const std::string evil = "\"><script>alert(1)</script>&";
  report::StudyView study = AStudy();
  study.job_id = study.metric = study.state = evil;
  study.parameters[1].name = evil;
  study.parameters[1].choices = {evil, "b"};
  for (report::TrialView& trial : study.trials) {
    trial.state = evil;
    trial.id += evil;
    trial.values[evil] = evil;
    trial.values["rate"] = evil;
  }
  for (const std::string& text : {report::StudyPage(study), report::StudyPicture(study)}) {
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(text, Not(HasSubstr("\"><script")));
    EXPECT_THAT(text, HasSubstr("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  }
}

TEST(StudyPage, CountsTheTrialsOfEachState) {
  report::StudyView study = AStudy();
  study.trials[0].state = "FAILED";
  EXPECT_THAT(report::StudyPage(study),
              HasSubstr("<dt>trials</dt><dd>8 of 20: 1 failed, 7 succeeded</dd>"));
}

}  // namespace
}  // namespace caip::cli
