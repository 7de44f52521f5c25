#include "harness/events/event_list.h"

#include <gtest/gtest.h>

#include "harness/scenario/report.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

const std::string kEventHead =
    R"({"kind":"scenario","version":1,"file":"a.yaml","description":"d","seed":7})"
    "\n";

std::string WhatIsWrong(const std::string& text) {
  const auto list = ReadEventList(text, "run.jsonl");
  return list.ok() ? "nothing" : list.error().message;
}

TEST(EventList, IsReadAsItWasWritten) {
  ScenarioResult result;
  result.file = "a.yaml";
  result.description = "d";
  result.run.state = "SUCCEEDED";
  result.run.events = LostOnce(11);
  result.verdict.assertions = {{"state", "SUCCEEDED", "SUCCEEDED", true},
                               {"first_step master-0 boot 2", "11", "21", false}};
  result.verdict.why_not = "failed: first_step master-0 boot 2";
  result.replay = "caip scenario run a.yaml --seed 7";
  std::string text = CompactJson(EventListHead("a.yaml", "d", 7, "object")) + "\n";
  for (const Event& h : result.run.events) text += CompactJson(ToJson(h)) + "\n";
  text += CompactJson(EventListEnd(result)) + "\n";

  const auto list = ReadEventList(text, "run.jsonl");
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ(list->file, "a.yaml");
  EXPECT_EQ(list->seed, 7u);
  EXPECT_EQ(list->semantics, "object");
  EXPECT_TRUE(list->judged);
  EXPECT_FALSE(list->passed);
  EXPECT_EQ(list->state, "SUCCEEDED");
  EXPECT_EQ(list->replay, result.replay);
  ASSERT_EQ(list->assertions.size(), 2u);
  EXPECT_EQ(list->assertions[1].found, "21");
  EXPECT_FALSE(list->assertions[1].passed);
  ASSERT_EQ(list->events.size(), result.run.events.size());
  for (size_t i = 0; i < list->events.size(); ++i) {
    EXPECT_EQ(ToJson(list->events[i]), ToJson(result.run.events[i]));
  }
}

TEST(EventList, OfAnInterruptedRunHasNoVerdict) {
  const auto list = ReadEventList(kEventHead + R"({"n":1,"kind":"state","state":"QUEUED"})", "x");
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_FALSE(list->judged);
  EXPECT_EQ(list->events.size(), 1u);
}

TEST(EventList, NamesTheBrokenLine) {
  EXPECT_EQ(WhatIsWrong(""),
            "run.jsonl:1: the file is empty; an event list has at least two lines");
  EXPECT_TRUE(WhatIsWrong("\n").starts_with("run.jsonl:1: the line is not a valid JSON object"));
  EXPECT_TRUE(
      WhatIsWrong("hello\n").starts_with("run.jsonl:1: the line is not a valid JSON object"));
  EXPECT_TRUE(
      WhatIsWrong("{\"scenarios\":[]}")
          .starts_with("run.jsonl:1: an event list must begin with a line of kind \"scenario\""));
  EXPECT_TRUE(WhatIsWrong(kEventHead + "{\"n\":1,")
                  .starts_with("run.jsonl:2: the line is not a valid JSON object"));
  EXPECT_EQ(WhatIsWrong(kEventHead + "\n{\"n\":1,\"kind\":\"tea\"}\n"),
            "run.jsonl:3: 'tea' is not a valid kind of event");
  EXPECT_EQ(WhatIsWrong(kEventHead + kEventHead),
            "run.jsonl:2: the file contains a second event list from here on");
  EXPECT_EQ(WhatIsWrong("{\"kind\":\"scenario\",\"version\":2}"), "run.jsonl:1: version must be 1");
  EXPECT_EQ(WhatIsWrong(kEventHead + "{\"kind\":\"verdict\"}\n{\"n\":1,\"kind\":\"state\"}\n"),
            "run.jsonl:3: nothing may follow the line of kind \"verdict\"");
}

}  // namespace
}  // namespace caip::harness
