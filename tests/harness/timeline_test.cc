#include "harness/timeline/timeline.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/text.h"
#include "harness/timeline/glyph_grid.h"
#include "harness/timeline/timeline_layout.h"
#include "page/page.h"
#include "tests/harness/run_of.h"
#include "tests/support/golden.h"

namespace caip::harness {
namespace {

EventList ListOf(std::vector<Event> events) {
  EventList list;
  list.file = "scenarios/lost_once.yaml";
  list.description = "The master's machine goes away once.";
  list.semantics = "object";
  list.events = std::move(events);
  list.judged = true;
  list.state = "SUCCEEDED";
  list.replay = "caip scenario run scenarios/lost_once.yaml --seed 1";
  list.assertions = {{"state", "SUCCEEDED", "SUCCEEDED", true}};
  list.passed = true;
  return list;
}

EventList Broken() {
  EventList list = ListOf(LostOnce(21));
  list.passed = false;
  list.why_not = "failed: first_step master-0 boot 2";
  list.assertions.push_back({"first_step master-0 boot 2", "11", "21", false});
  return list;
}

// A cluster whose worker is lost, so that all begin again.
EventList Cluster() {
  std::vector<Event> run = {State("QUEUED"), State("PREPARING")};
  const std::vector<std::string> replicas = {"master-0", "worker-0", "ps-0"};
  for (int boot = 1; boot <= 2; ++boot) {
    for (const auto& replica : replicas) run.push_back(Start(replica, boot));
    for (const auto& replica : replicas) run.push_back(Live(replica, boot));
    run.push_back(State("RUNNING"));
    for (int64_t step = 1; step <= 200; ++step) {
      run.push_back(Step("master-0", boot, step));
      run.push_back(Step("worker-0", boot, step));
    }
    if (boot == 1) {
      run.push_back(Injected("worker-0", 1, "kill 1"));
      run.push_back(Exit("worker-0", 1, 0, 9));
      run.push_back(State("PREPARING"));
      run.push_back(Exit("master-0", 1, 0, 15));
      run.push_back(Exit("ps-0", 1, 0, 15));
    }
  }
  run.push_back(Injected("", 0, "cancel 1"));
  run.push_back(State("CANCELLED"));
  EventList list = ListOf(Numbered(std::move(run)));
  list.state = "CANCELLED";
  return list;
}

size_t LongestLine(const std::string& text) {
  size_t longest = 0;
  for (const std::string& line : Split(text, '\n')) longest = std::max(longest, Columns(line));
  return longest;
}

TEST(TimelineText, ShowsBootsFaultsWritesAndSteps) {
  testing::ExpectGolden("timeline/lost_once.txt", TimelineText(Broken(), {100, false}));
}

TEST(TimelineText, ShowsAClusterInANarrowTerminal) {
  testing::ExpectGolden("timeline/cluster.txt", TimelineText(Cluster(), {60, false}));
}

TEST(TimelineText, IsAtMostAsWideAsTheStyleSays) {
  for (const int width : {40, 60, 80, 200}) {
    const EventList list = Cluster();
    const std::string text = TimelineText(list, {width, false});
    const size_t begin = text.find("\n\n");
    const std::string drawing = text.substr(begin, text.find("  1 boot") - begin);
    EXPECT_LE(LongestLine(drawing), static_cast<size_t>(width)) << drawing;
  }
}

TEST(TimelineText, HasColoursOnlyIfTheStyleSays) {
  EXPECT_EQ(TimelineText(Broken(), {100, false}).find('\x1b'), std::string::npos);
  const std::string coloured = TimelineText(Broken(), {100, true});
  EXPECT_NE(coloured.find("\x1b[31mFAILED\x1b[0m"), std::string::npos);
  const std::regex colours("\x1b\\[[0-9]+m");
  EXPECT_EQ(std::regex_replace(coloured, colours, ""), TimelineText(Broken(), {100, false}));
}

TEST(TimelineText, RemovesControlCharacters) {
  EventList list = Broken();
  list.events.push_back(Line("service", 0, "a\x1b]0;title\x07\xc2\x9bz", "ERROR"));
  list.assertions.push_back({"log", "x", "\x1b[2J", false});
  const std::string text = TimelineText(list, {100, false});
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
}

TEST(TimelineText, ReportsAMissingVerdict) {
  EventList list = Broken();
  list.judged = false;
  EXPECT_NE(TimelineText(list, {}).find("No verdict: the list ends before the run did."),
            std::string::npos);
}

TEST(TimelineText, OfAnEmptyRunIsItsVerdict) {
  EventList list = ListOf({});
  list.error = "the job was not taken";
  const std::string text = TimelineText(list, {});
  EXPECT_NE(text.find("the job was not taken"), std::string::npos);
  EXPECT_EQ(text.find("boot"), std::string::npos);
}

TEST(TimelineText, NamesTheBugThatTheScenarioShows) {
  EventList list = Broken();
  list.passed = true;
  EXPECT_NE(TimelineText(list, {}).find("meant to show a bug, and shows it"), std::string::npos);
}

TEST(TimelineLayout, KeepsTheOrderOfTheList) {
  for (const double width : {20.0, 80.0, 2000.0}) {
    const EventList list = Cluster();
    const TimelineLayout layout = LayOut(list, width);
    ASSERT_EQ(layout.marks.size(), list.events.size());
    for (size_t i = 1; i < layout.marks.size(); ++i) {
      EXPECT_LE(layout.marks[i - 1].at, layout.marks[i].at);
    }
    EXPECT_LE(layout.width, width);
  }
}

TEST(TimelineLayout, MarksRepeatedSteps) {
  const TimelineLayout layout = LayOut(ListOf(LostOnce(11)), 100);
  ASSERT_EQ(layout.bars.size(), 2u);
  EXPECT_EQ(DescribeSteps(layout.bars[0]), "steps 1-20");
  EXPECT_EQ(DescribeSteps(layout.bars[1]), "steps 11-30, 10 again");
}

TEST(TimelineLayout, GroupsWritesBelowOneFolder) {
  const TimelineLayout layout = LayOut(ListOf(LostOnce(11)), 100);
  ASSERT_EQ(layout.groups.size(), 3u);
  EXPECT_EQ(layout.groups[0].folder, "ckpt-10");
  EXPECT_EQ(layout.groups[0].objects, 3);
  EXPECT_EQ(layout.groups[1].folder, "ckpt-20");
  EXPECT_EQ(layout.groups[1].objects, 1);
}

TEST(TimelineLayout, OfManyStepsKeepsImportantEvents) {
  std::vector<Event> run = {State("RUNNING"), Start("master-0", 1), Live("master-0", 1)};
  for (int64_t step = 0; step < 50'000; ++step) run.push_back(Step("master-0", 1, step));
  run.push_back(Injected("master-0", 1, "kill 1"));
  run.push_back(Exit("master-0", 1, 0, 9));
  const TimelineLayout layout = LayOut(ListOf(Numbered(std::move(run))), 80);
  EXPECT_LE(layout.width, 80);
  const Mark& exit = layout.marks.back();
  const Mark& fault = layout.marks[layout.marks.size() - 2];
  EXPECT_GE(exit.at - fault.at, 1);
  EXPECT_GE(layout.bars[0].to - layout.bars[0].up, 1);
}

// The tags of the page in their order, each opened one closed.
TEST(TimelineHtml, IsWellFormed) {
  const std::string html = TimelineHtml(Broken());
  const std::regex tag(R"(<(/?)([a-zA-Z0-9]+)((?:[^<>"]|"[^"]*")*?)(/?)>)");
  std::vector<std::string> open;
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if ((*it)[4] == "/" || name == "meta" || name == "wbr") continue;
    if ((*it)[1] != "/") {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << name;
    EXPECT_EQ(open.back(), name);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(TimelineHtml, NeedsNoOtherFile) {
  const std::string html = TimelineHtml(Broken());
  for (const char* word :
       {"src=", "href=\"h", "href=\"/", "http:", "https:", "url(", "@import", "fetch("}) {
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  }
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(TimelineHtml, HasAMarkForEachImportantEvent) {
  const std::string html = TimelineHtml(Broken());
  const auto count = [&html](const std::string& what) {
    size_t found = 0;
    for (size_t at = html.find(what); at != std::string::npos; at = html.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  const auto marks = [&](const std::string& name, const std::string& kind) {
    return count("href=\"#mark-" + name + "\" class=\"mark " + kind + "\" x=\"") -
           count("<li><svg aria-hidden=\"true\"><use href=\"#mark-" + name + "\" class=\"mark " +
                 kind + "\"");  // the legend
  };
  EXPECT_EQ(marks("fault", "fault"), 1u);
  EXPECT_EQ(marks("exit", "exit bad"), 1u);
  EXPECT_EQ(marks("exit", "exit"), 1u);
  EXPECT_EQ(marks("state", "state"), 4u);
  EXPECT_EQ(marks("step", "step"), 30u);
  EXPECT_EQ(marks("write", "write"), 7u);
  EXPECT_EQ(count("<rect class=\"up\" x=\"") - 1, 2u);
  EXPECT_NE(html.find("data-tip=\"#31  +0.03s\nmaster-0 boot 1 ends: signal 9 (SIGKILL)\""),
            std::string::npos);
  EXPECT_NE(html.find("<span class=\"badge bad\">BROKEN</span></th>"
                      "<td role=\"cell\" data-label=\"assertion\">first_step master-0 boot 2</td>"
                      "<td role=\"cell\" data-label=\"expected\">11</td>"
                      "<td role=\"cell\" data-label=\"found\">21</td></tr>"),
            std::string::npos);
}

TEST(TimelineHtml, EscapesTheOutputOfARun) {
  EventList list = Broken();
  const std::string evil = "\"><script>alert(1)</script>&";
  list.file = list.description = list.replay = evil;
  list.events.push_back(Line("master-0", 2, evil));
  list.events.push_back(Storage("master-0", 2, "create", "job/" + evil + "/x"));
  list.assertions.push_back({evil, evil, evil, false});
  const std::string html = TimelineHtml(list);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(html.find("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"), std::string::npos);
}

TEST(TimelineHtml, HasTheStyleSheetOfAllPages) {
  const std::string html = TimelineHtml(Broken());
  EXPECT_NE(html.find("<style>\n" + std::string(page::StyleText()) + "</style>"),
            std::string::npos);
  EXPECT_EQ(html.find("<style", html.find("<style") + 1), std::string::npos);
}

TEST(TimelineHtml, KeepsTheLinesOfTracebacks) {
  EventList list = Broken();
  const std::string traceback = "Traceback (most recent call last):\n    main()\nOSError";
  list.events.push_back(Line("master-0", 2, traceback, "ERROR"));
  list.error = traceback;
  list.assertions.push_back({"log", "nothing", traceback, false});
  const std::string html = TimelineHtml(list);
  EXPECT_NE(html.find("<td><pre>\nmaster-0 boot 2: " + traceback + "</pre></td>"),
            std::string::npos);
  EXPECT_NE(html.find("<pre>\n" + traceback + "</pre>\n"), std::string::npos);
  EXPECT_NE(html.find("data-label=\"found\"><pre>\n" + traceback + "</pre></td>"),
            std::string::npos);
}

TEST(TimelineHtml, OfALongTracebackKeepsBothEnds) {
  EventList list = Broken();
  std::string traceback = "Traceback (most recent call last):\n";
  for (int i = 0; i < 500; ++i) traceback += "  File \"é.py\", line " + std::to_string(i) + "\n";
  list.events.push_back(Line("master-0", 2, traceback + "ValueError: the last line", "ERROR"));
  const std::string html = TimelineHtml(list);
  const std::string table = html.substr(html.find("class=\"events\""));
  EXPECT_TRUE(IsUtf8(html));
  EXPECT_NE(table.find("Traceback (most recent"), std::string::npos);
  EXPECT_NE(table.find("bytes are in the event list only"), std::string::npos);
  EXPECT_NE(table.find("ValueError: the last line"), std::string::npos);
  EXPECT_EQ(table.find("line 250\n"), std::string::npos);
}

TEST(TimelineHtml, RoundsTheNumbersOfSteps) {
  EventList list = Broken();
  list.events.push_back(
      Step("master-0", 2, 31, {{"loss", 0.1234567890123456}, {"n", 1234567}, {"in", {0.5, 1e-9}}}));
  const std::string html = TimelineHtml(list);
  EXPECT_NE(html.find("title=\"master-0 boot 2 step 31 {&quot;loss&quot;:0.1234567890123456,"
                      "&quot;n&quot;:1234567,&quot;in&quot;:[0.5,1e-09]}\">"),
            std::string::npos);
  const std::string words = ReplaceAll(html, "<wbr>", "");
  EXPECT_NE(words.find("{&quot;loss&quot;:0.123457,&quot;n&quot;:1234567,&quot;in&quot;:["),
            std::string::npos);
}

TEST(TimelineHtml, RoundsNumbersButNotTextsOfRecords) {
  EventList list = Broken();
  list.events.push_back(Step(
      "master-0", 2, 31, {{"w", 4.39798}, {"a\"1.23456789", "1.23456789\\"}, {"b", -2.0000001}}));
  const std::string words = ReplaceAll(TimelineHtml(list), "<wbr>", "");
  EXPECT_NE(words.find(">master-0 boot 2 step 31 {&quot;w&quot;:4.39798,&quot;a\\&quot;1.23456789"
                       "&quot;:&quot;1.23456789\\\\&quot;,&quot;b&quot;:-2}</td>"),
            std::string::npos);
}

TEST(TimelineHtml, SaysTheKindOfEachEventInAWord) {
  const std::string html = TimelineHtml(Broken());
  EXPECT_NE(html.find("<td>fault</td><td>fault kill 1: "), std::string::npos);
  EXPECT_NE(html.find("<tr class=\"highlight\"><th scope=\"row\" class=\"number\">31</th>"),
            std::string::npos);
}

TEST(TimelineHtml, OfAHugeRunIsOnePage) {
  std::vector<Event> run = {State("RUNNING"), Start("master-0", 1), Live("master-0", 1)};
  for (int64_t step = 0; step < 30'000; ++step) run.push_back(Step("master-0", 1, step));
  const std::string html = TimelineHtml(ListOf(Numbered(std::move(run))));
  EXPECT_LT(html.size(), 4u << 20);
  EXPECT_NE(html.find("more in the event list"), std::string::npos);
}

}  // namespace
}  // namespace caip::harness
