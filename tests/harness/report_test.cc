#include "harness/scenario/report.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/text.h"
#include "harness/events/replica_name.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

ScenarioResult Of(const std::string& file, std::vector<Assertion> assertions, bool passed) {
  ScenarioResult result;
  result.file = file;
  result.description = "what happens";
  result.seed = 7;
  result.took = std::chrono::milliseconds(1234);
  result.run.state = "SUCCEEDED";
  result.run.events = LostOnce(11);
  result.run.faults = {{"kill 1", "kill before create x", 1, {30}, true}};
  result.verdict.assertions = std::move(assertions);
  result.verdict.passed = passed;
  if (!passed) result.verdict.why_not = "failed: first_step";
  result.replay = "caip scenario run " + file + " --seed 7";
  return result;
}

const Assertion kHeld{"state", "SUCCEEDED", "SUCCEEDED", true};
const Assertion kBroken{"first_step", "11", "21", false};

// Elements in their order, ends checked; attributes as they stand.
std::vector<std::string> ElementsOf(const std::string& xml) {
  std::vector<std::string> elements;
  std::vector<std::string> open;
  const std::regex token(R"re(<\?[^>]*\?>|<(/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(/?)>|([^<]+))re");
  std::string::const_iterator at = xml.begin();
  std::smatch match;
  while (at != xml.end()) {
    const bool found =
        std::regex_search(at, xml.end(), match, token, std::regex_constants::match_continuous);
    EXPECT_TRUE(found) << std::string(at, xml.end());
    if (!found) break;
    at = match[0].second;
    if (match[2].matched && match[1].length() > 0) {
      EXPECT_EQ(open.empty() ? "nothing" : open.back(), match[2].str());
      if (!open.empty()) open.pop_back();
    } else if (match[2].matched) {
      elements.push_back(match[2].str() + match[3].str());
      if (match[4].length() == 0) open.push_back(match[2].str());
    }
  }
  EXPECT_TRUE(open.empty());
  return elements;
}

TEST(TextReport, ShowsHowAJobEnded) {
  ScenarioResult failed = Of("a.yaml", {kBroken}, false);
  failed.run.state = "FAILED";
  failed.run.error_message = "no luck";
  EXPECT_NE(TextReport(failed, false).find("\n  the job ended FAILED: no luck\n"),
            std::string::npos);
  EXPECT_EQ(JsonReport({failed}).at("scenarios").at(0).at("error_message"), "no luck");
  failed.run.broke_off = "limits.wall";
  failed.run.state = "RUNNING";
  EXPECT_NE(TextReport(failed, false).find("the job was RUNNING"), std::string::npos);
}

TEST(TextReport, QuotesAFailureOnceAndWithoutTheLinkToALogThatIsNotHere) {
  ScenarioResult failed = Of("a.yaml", {kBroken}, false);
  failed.run.state = "FAILED";
  failed.run.events =
      Numbered({Start("master-0", 1), Line("master-0", 1, "reading"), Exit("master-0", 1, 3)});
  failed.run.error_message =
      "The replica master 0 exited with 3. To find out more about why: https://x";
  EXPECT_EQ(DescribeFailure(failed.run),
            "The replica master 0 exited with 3.\nthe last lines of master-0:\n  | reading");
  failed.run.error_message =
      "It exited with 1. \nTraceback (most recent call last):\nOops\n\nTo find out more";
  EXPECT_EQ(DescribeFailure(failed.run),
            "It exited with 1. \nTraceback (most recent call last):\nOops");
  EXPECT_EQ(TextReport(failed, false).find("https://"), std::string::npos);
}

TEST(Reports, MarkScenariosThatWereNotRun) {
  ScenarioResult left = Of("b.yaml", {kBroken}, false);
  left.not_run = "interrupted";
  EXPECT_EQ(TextReport(left, true), "NOT RUN b.yaml  (interrupted)\n");
  const std::vector<ScenarioResult> results = {Of("a.yaml", {kHeld}, true), left};
  EXPECT_EQ(Summary(results), "2 scenarios: 1 passed, 0 failed, 1 not run");
  const Json json = JsonReport(results);
  EXPECT_EQ(json.at("failed"), 0);
  EXPECT_EQ(json.at("not_run"), 1);
  EXPECT_EQ(json.at("scenarios").at(1).at("not_run"), "interrupted");
  EXPECT_FALSE(json.at("scenarios").at(1).contains("assertions"));
  const std::string junit = JunitReport(results);
  EXPECT_NE(junit.find("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""), std::string::npos)
      << junit;
  EXPECT_NE(junit.find("<skipped message=\"interrupted\"/>"), std::string::npos) << junit;
}

TEST(TextReport, OfAPassedScenarioIsOneLine) {
  EXPECT_EQ(TextReport(Of("a.yaml", {kHeld}, true), false), "PASSED a.yaml  (1.23s, seed 7)\n");
  EXPECT_NE(TextReport(Of("a.yaml", {kHeld}, true), true).find("ok      state"), std::string::npos);
}

TEST(TextReport, OfAFailureHasExpectedFoundAndTheCommandToRepeatIt) {
  EXPECT_EQ(TextReport(Of("a.yaml", {kHeld, kBroken}, false), false),
            "FAILED a.yaml  (1.23s, seed 7)\n"
            "  what happens\n"
            "    ok      state: expected SUCCEEDED, found SUCCEEDED\n"
            "    BROKEN  first_step: expected 11, found 21\n"
            "  failed: first_step\n"
            "  the job ended SUCCEEDED\n"
            "  again: caip scenario run a.yaml --seed 7\n");
}

TEST(Summary, CountsPassedScenarios) {
  EXPECT_EQ(Summary({Of("a", {kHeld}, true)}), "1 scenario: 1 passed, 0 failed");
  ScenarioResult broken;
  broken.error = "no such file";
  EXPECT_EQ(Summary({Of("a", {kHeld}, true), Of("b", {kBroken}, false), broken}),
            "3 scenarios: 1 passed, 2 failed");
}

TEST(JsonReport, HasAllFieldsForPrograms) {
  const Json json = JsonReport({Of("a.yaml", {kHeld, kBroken}, false)});
  EXPECT_EQ(json.at("passed"), 0);
  EXPECT_EQ(json.at("failed"), 1);
  const Json& one = json.at("scenarios").at(0);
  EXPECT_EQ(one.at("seed"), 7);
  EXPECT_EQ(one.at("seconds"), 1.234);
  EXPECT_EQ(one.at("restarts").at("master-0"), 1);
  EXPECT_EQ(one.at("assertions").at(1).at("found"), "21");
  EXPECT_EQ(one.at("faults").at(0).at("struck_at"), Json({30}));
  EXPECT_EQ(one.at("why_not"), "failed: first_step");
}

TEST(JsonReport, OfAScenarioThatCouldNotRunHasTheReason) {
  ScenarioResult result;
  result.file = "a.yaml";
  result.error = "no such file";
  const Json one = JsonReport({result}).at("scenarios").at(0);
  EXPECT_EQ(one.at("error"), "no such file");
  EXPECT_EQ(one.at("passed"), false);
  EXPECT_FALSE(one.contains("assertions"));
}

TEST(JunitReport, HasASuiteAScenarioAndACaseAnAssertion) {
  const auto elements =
      ElementsOf(JunitReport({Of("a.yaml", {kHeld}, true), Of("b.yaml", {kHeld, kBroken}, false)}));
  ASSERT_EQ(elements.size(), 7u);
  EXPECT_EQ(elements[1],
            "testsuite name=\"a.yaml\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\" "
            "time=\"1.234\"");
  EXPECT_EQ(elements[2], "testcase classname=\"a.yaml\" name=\"state\" time=\"0\"");
  EXPECT_EQ(elements[3],
            "testsuite name=\"b.yaml\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" "
            "time=\"1.234\"");
  EXPECT_EQ(elements[6], "failure message=\"expected 11, found 21\"");
}

TEST(JunitReport, OfAShownBugHasNoFailure) {
  ScenarioResult shown = Of("a.yaml", {kHeld, kBroken}, true);
  const std::string xml = JunitReport({shown});
  EXPECT_EQ(ElementsOf(xml).size(), 3u);
  EXPECT_EQ(xml.find("<failure"), std::string::npos);
}

TEST(JunitReport, OfABugThatDidNotAppearHasAFailure) {
  ScenarioResult hidden = Of("a.yaml", {kHeld}, false);
  hidden.verdict.why_not = "the bug did not appear: 'state' holds";
  const auto elements = ElementsOf(JunitReport({hidden}));
  ASSERT_EQ(elements.size(), 5u);
  EXPECT_EQ(elements[4], "failure message=\"the bug did not appear: 'state' holds\"");
}

TEST(JunitReport, OfAScenarioThatCouldNotRunHasAnError) {
  ScenarioResult result;
  result.file = "a.yaml";
  result.error = "a.yaml:1:1: is wrong\n  seed: x";
  const auto elements = ElementsOf(JunitReport({result}));
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_NE(elements[1].find("errors=\"1\""), std::string::npos);
  EXPECT_EQ(elements[3], "error message=\"a.yaml:1:1: is wrong&#10;  seed: x\"");
}

TEST(JunitReport, IsXmlForAnyOutputOfTheRun) {
  ScenarioResult result =
      Of("<&\">.yaml", {{"a<b>&\"'", "\x01\x1b[2J", "\xff\xfe bytes", false}}, false);
  const std::string xml = JunitReport({result});
  ElementsOf(xml);
  EXPECT_TRUE(IsUtf8(xml));
  for (const char c : xml) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_NE(xml.find("a&lt;b&gt;&amp;&quot;'"), std::string::npos);
}

// XML 1.0, section 2.2: a document has neither U+FFFE nor U+FFFF.
TEST(JunitReport, IsXmlForCharactersThatXmlCannotExpress) {
  const ScenarioResult result =
      Of("a.yaml", {{"\xef\xbf\xbe", "\xef\xbf\xbf", "one \xef\xbf\xbf two", false}}, false);
  const std::string xml = JunitReport({result});
  EXPECT_EQ(xml.find("\xef\xbf\xbe"), std::string::npos);
  EXPECT_EQ(xml.find("\xef\xbf\xbf"), std::string::npos);
  EXPECT_NE(xml.find("found one \xef\xbf\xbd two"), std::string::npos) << xml;
}

TEST(Event, IsTheSameAfterConversionToJsonAndBack) {
  std::vector<Event> all = LostOnce(11);
  all.push_back({.replica = "master-0", .boot = 1, .body = MetricEvent{"acc", 3, {{"acc", 0.5}}}});
  Event move = Storage("master-0", 1, "move", "job/b");
  BodyOf<StorageEvent>(move).from = "job/a";
  BodyOf<StorageEvent>(move).failed = true;
  all.push_back(move);
  for (const Event& h : all) {
    const auto again = EventFromJson(ToJson(h));
    ASSERT_TRUE(again.ok()) << Describe(h);
    EXPECT_EQ(ToJson(*again), ToJson(h));
    EXPECT_FALSE(ToJson(h, false).contains("time"));
  }
}

TEST(ReplicaNames, AreShortForPeople) {
  EXPECT_EQ(ReplicaName("master-replica-0"), "master-0");
  EXPECT_EQ(ReplicaName("service"), "service");
  EXPECT_EQ(ReplicaNameOf("worker-replica-1", "2"), "worker-1/2");
}

}  // namespace
}  // namespace caip::harness
