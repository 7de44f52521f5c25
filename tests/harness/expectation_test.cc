#include "harness/expectations/expectation.h"

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "harness/expectations/verdict.h"
#include "tests/harness/run_of.h"

namespace caip::harness {
namespace {

/// What the expectation `kind: value` says of a run.
std::vector<Assertion> AssertionsOf(const std::string& kind, const std::string& value,
                                    const Evidence& run, const Evidence* twin = nullptr) {
  const std::string text = "v: " + value;
  auto document = ParseYaml(text, "e.yaml");
  EXPECT_TRUE(document.ok()) << text;
  const auto file = FileTextOf(*std::move(document), text, "e.yaml");
  const ExpectationPtr expectation = FindExpectationKind(kind)->read(Cursor(file).At("v"));
  for (const std::string& mistake : file->mistakes) ADD_FAILURE() << mistake;
  EXPECT_EQ(expectation->needs_twin(), twin != nullptr) << kind;
  return expectation->Evaluate({run, twin});
}

Evidence Lost(int64_t resumes = 11) {
  Evidence run;
  run.state = "SUCCEEDED";
  run.events = LostOnce(resumes);
  for (const Event& h : run.events) {
    if (const StorageEvent* write = FindWrite(h)) run.objects[write->object] = {R"({"w": 1})", 1};
  }
  return run;
}

Evidence Twin() {
  Evidence twin;
  twin.state = "SUCCEEDED";
  for (int64_t step = 1; step <= 30; ++step) {
    twin.events.push_back(Step("master-0", 1, step));
  }
  twin.objects = Lost().objects;
  return twin;
}

struct ExpectationRow {
  const char* kind;
  const char* value;
  bool passes;
  const char* found;  // of the first assertion
};

TEST(Expectations, HoldOrDoNot) {
  Evidence run = Lost();
  run.error_message = "The replica master 0 ran out-of-memory.";
  const ExpectationRow rows[] = {
      {"state", "SUCCEEDED", true, "SUCCEEDED"},
      {"state", "FAILED", false, "SUCCEEDED: The replica master 0 ran out-of-memory."},
      {"error_matches", "'out.of.memory'", true, "The replica master 0 ran out-of-memory."},
      {"error_matches", "disk", false, "The replica master 0 ran out-of-memory."},
      {"restarts", "{master-0: 1}", true, "1"},
      {"restarts", "{master: 1}", true, "1"},
      {"restarts", "{worker-0: 1..}", false, "0"},
      {"restarts", "{total: 0..1}", true, "1"},
      {"restarts", "{total: 2}", false, "1"},
      {"attempts", "1", true, "1"},
      {"attempts", "2", false, "1"},
      {"first_step", "{master-0: {2: 11}}", true, "11"},
      {"first_step", "{master-0: {2: 21}}", false, "11"},
      {"first_step", "{master-0: {3: 1}}", false, "no step"},
      {"no_steps", "{worker-0: [1]}", true, "none"},
      {"no_steps", "{master-0: [2]}", false, "11..30"},
      {"steps", "{master-0: 1..30}", true, "1..30"},
      {"steps", "{master-0: 1..31}", false, "1..30"},
      {"steps", "{master-0: 2..30}", false, "1..30"},
      {"steps_never_go_back", "[evaluator-0]", true, "so"},
      {"steps_never_go_back", "[master-0]", false, "step 11 after 20 (event 36)"},
      {"objects", "{present: ['*/ckpt-10/weights']}", true, "1: job/out/ckpt-10/weights"},
      {"objects", "{present: ['*/ckpt-40/*']}", false, "0: none"},
      {"objects", "{absent: ['*/ckpt-40/*']}", true, "0: none"},
      {"objects", "{absent: ['*/ckpt-20/*']}", false, "1: job/out/ckpt-20/weights"},
      {"objects", "{count: {'gs://job/*/weights': 3}}", true, nullptr},
      {"objects", "{count: {'*': 0..6}}", false, nullptr},
      {"object_fields", "{'*/ckpt-10/weights': {w: 1}}", true, nullptr},
      {"object_fields", "{'*/ckpt-10/weights': {w: 2}}", false, nullptr},
      {"object_fields", "{'*/ckpt-10/weights': {v: 1}}", false, nullptr},
      {"object_fields", "{'*/nothing': {w: 1}}", false, "no such object"},
      {"writes", "{'*/ckpt-10/*': 3}", true, "3"},
      {"writes", "{'*/ckpt-10/*': 1..2}", false, "3"},
      {"written_once", "['*/weights']", true, "3 once"},
      {"written_once", "['*/none']", false, "none was written"},
      {"reads", "{'*': {master-0: {2: 0}}}", true, "0"},
      {"reads", "{'*': {master-0: {2: 1}}}", false, "0"},
      {"log", "[{match: 'is lost', replica: service}]", true, "1"},
      {"log", "[{match: 'is lost', count: 0}]", false, "1"},
      {"log", "[{match: 'is lost', replica: master-0, boot: 1}]", false, "0"},
      {"always", "[{if_present: '*/ckpt-{s}/weights', then_count: {'*/ckpt-{s}/*': 1..3}}]", true,
       "held"},
      {"always", "[{if_present: '*/ckpt-{s}/weights', then_count: {'*/ckpt-{s}/*': 3}}]", false,
       nullptr},
  };
  for (const ExpectationRow& row : rows) {
    const auto assertions = AssertionsOf(row.kind, row.value, run);
    ASSERT_FALSE(assertions.empty()) << row.kind << ": " << row.value;
    EXPECT_EQ(assertions[0].passed, row.passes)
        << row.kind << ": " << row.value << " found " << assertions[0].found;
    if (row.found) {
      EXPECT_EQ(assertions[0].found, row.found) << row.kind << ": " << row.value;
    }
    EXPECT_EQ(assertions[0].name.substr(0, std::string(row.kind).size()), row.kind);
  }
}

TEST(Expectations, OfTheStateFailIfALimitEndedTheRun) {
  Evidence run = Lost();
  run.broke_off = "limits.wall: the job did not end within 60s";
  const auto assertions = AssertionsOf("state", "SUCCEEDED", run);
  EXPECT_FALSE(assertions.at(0).passed);
  EXPECT_NE(assertions.at(0).found.find("limits.wall"), std::string::npos);
}

TEST(Expectations, CountWhatWasWrittenTwice) {
  Evidence run = Lost();
  run.events.push_back(Storage("master-0", 2, "overwrite", "job/out/ckpt-10/weights"));
  EXPECT_FALSE(AssertionsOf("written_once", "['*/weights']", run).at(0).passed);
  BodyOf<StorageEvent>(run.events.back()).failed = true;
  EXPECT_TRUE(AssertionsOf("written_once", "['*/weights']", run).at(0).passed);
}

TEST(Expectations, CountRenamesAsWritesOfTheNewName) {
  Evidence run;
  const auto save = [&run](int boot, const std::string& written, const std::string& renamed,
                           const std::string& to) {
    run.events.push_back(Storage("master-0", boot, "create", written));
    run.events.push_back(Storage("master-0", boot, "rename", renamed));
    BodyOf<StorageEvent>(run.events.back()).from = to;
  };
  save(1, "/out/done.tmp", "/out/done.tmp", "/out/done");
  save(1, "/out/tmp/weights", "/out/tmp", "/out/ckpt");
  for (const char* file : {"['/out/done']", "['/out/ckpt/weights']"}) {
    EXPECT_TRUE(AssertionsOf("written_once", file, run).at(0).passed) << file;
  }
  save(2, "/out/done.tmp", "/out/done.tmp", "/out/done");
  save(2, "/out/tmp/weights", "/out/tmp", "/out/ckpt");
  for (const char* file : {"['/out/done']", "['/out/ckpt/weights']"}) {
    EXPECT_FALSE(AssertionsOf("written_once", file, run).at(0).passed) << file;
  }
  EXPECT_EQ(AssertionsOf("writes", "{'/out/done': 2}", run).at(0).found, "2");
  BodyOf<StorageEvent>(run.events[5]).failed = true;
  EXPECT_EQ(AssertionsOf("writes", "{'/out/done': 1}", run).at(0).found, "1");
}

TEST(SameStepsAsTwin, ComparesEffectiveRecords) {
  const Evidence twin = Twin();
  EXPECT_TRUE(AssertionsOf("same_steps_as_twin", "{}", Lost(), &twin).at(0).passed);
  Evidence other = Lost();
  for (Event& h : other.events) {
    auto* step = std::get_if<StepEvent>(&h.body);
    if (step && step->step == 15 && h.boot == 2) step->record["lr"] = 0.5;
  }
  const auto broken = AssertionsOf("same_steps_as_twin", "{}", other, &twin);
  EXPECT_FALSE(broken.at(0).passed);
  EXPECT_EQ(broken.at(0).found, "step 15 lr 0.5");
  EXPECT_EQ(broken.at(0).expected, "step 15 lr missing");
  EXPECT_TRUE(AssertionsOf("same_steps_as_twin", "{fields: [step]}", other, &twin).at(0).passed);
}

TEST(SameStepsAsTwin, NamesMissingSteps) {
  Evidence run = Lost();
  run.events = Numbered({Step("master-0", 1, 1), Step("master-0", 1, 3)});
  const Evidence twin = Twin();
  const auto broken = AssertionsOf("same_steps_as_twin", "{}", run, &twin);
  EXPECT_EQ(broken.at(0).expected, "steps 1..30");
  EXPECT_EQ(broken.at(0).found, "steps 1, 3");
}

TEST(SameStepsAsTwin, AllowsATolerance) {
  Evidence run = Lost();
  run.events = {Step("master-0", 1, 1, {{"step", 1}, {"w", 1.0}})};
  Evidence twin = run;
  BodyOf<StepEvent>(twin.events[0]).record["w"] = 1.0001;
  EXPECT_FALSE(AssertionsOf("same_steps_as_twin", "{}", run, &twin).at(0).passed);
  EXPECT_TRUE(AssertionsOf("same_steps_as_twin", "{tolerance: 0.001}", run, &twin).at(0).passed);
}

TEST(SameObjectsAsTwin, ComparesSetAndBytes) {
  const Evidence twin = Twin();
  EXPECT_TRUE(AssertionsOf("same_objects_as_twin", "{}", Lost(), &twin).at(0).passed);
  Evidence run = Lost();
  run.objects.erase("job/out/ckpt-10/optim");
  run.objects["job/out/tmp"] = {"", 1};
  run.objects["job/out/ckpt-10/weights"].bytes = R"({"w": 1.0000001})";
  const auto broken = AssertionsOf("same_objects_as_twin", "{}", run, &twin);
  EXPECT_FALSE(broken.at(0).passed);
  EXPECT_NE(broken.at(0).found.find("missing job/out/ckpt-10/optim"), std::string::npos);
  EXPECT_NE(broken.at(0).found.find("left over job/out/tmp"), std::string::npos);
  EXPECT_NE(broken.at(0).found.find("other bytes in job/out/ckpt-10/weights"), std::string::npos);
  const std::string lenient =
      "{except: ['*/optim', '*/tmp'], globs: ['job/*'], json_tolerance: 0.001}";
  EXPECT_TRUE(AssertionsOf("same_objects_as_twin", lenient, run, &twin).at(0).passed);
}

TEST(Always, FindsViolationsInTheMiddleOfARun) {
  Evidence run;
  run.events = Numbered({Storage("master-0", 1, "create", "job/ckpt-1/COMMIT"),
                         Storage("master-0", 1, "create", "job/ckpt-1/shard-0")});
  const std::string rule = "[{if_present: '*/ckpt-{s}/COMMIT', then_count: {'*/ckpt-{s}/s*': 1}}]";
  const auto broken = AssertionsOf("always", rule, run);
  EXPECT_FALSE(broken.at(0).passed);
  EXPECT_NE(broken.at(0).found.find("event 1"), std::string::npos) << broken.at(0).found;
  std::swap(run.events[0], run.events[1]);
  EXPECT_TRUE(AssertionsOf("always", rule, run).at(0).passed);
}

TEST(Always, ComparesAFieldOfRelatedObjects) {
  Evidence run;
  for (const char* name : {"job/ckpt-1/COMMIT", "job/ckpt-1/shard-0", "job/ckpt-1/shard-1"}) {
    run.events.push_back(Storage("master-0", 1, "create", name));
    run.objects[name] = {R"({"attempt": 1})", 1};
  }
  const std::string rule =
      "[{if_present: '*/ckpt-{s}/COMMIT', then_same_field: {objects: '*/ckpt-{s}/shard-*', "
      "field: attempt}}]";
  EXPECT_TRUE(AssertionsOf("always", rule, run).at(0).passed);
  run.objects["job/ckpt-1/shard-1"].bytes = R"({"attempt": 2})";
  const auto broken = AssertionsOf("always", rule, run);
  EXPECT_FALSE(broken.at(0).passed);
  EXPECT_NE(broken.at(0).found.find("attempt is 1 and 2"), std::string::npos);
}

ExpectationPtr Fixed(const std::string& name, bool passes) {
  return Expect([=](const ComparedRuns&) -> std::vector<Assertion> {
    return {{name, "a", "b", passes}};
  });
}

TEST(Verdict, PassesIfAllExpectationsHold) {
  Scenario scenario;
  scenario.expectations = {Fixed("state", true), Fixed("steps master-0", true)};
  const Verdict verdict = DecideVerdict(scenario, Lost(), nullptr);
  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.assertions.size(), 2u);
  EXPECT_EQ(verdict.why_not, "");
}

TEST(Verdict, NamesTheFailedAssertion) {
  Scenario scenario;
  scenario.expectations = {Fixed("state", false), Fixed("steps master-0", false)};
  const Verdict verdict = DecideVerdict(scenario, Lost(), nullptr);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.why_not, "failed: state, steps master-0");
}

TEST(Verdict, FailsAFaultThatWasNeverInjected) {
  Evidence run = Lost();
  run.faults = {{"kill 1", "kill before create x", 3, {}, true}};
  const Verdict verdict = DecideVerdict({}, run, nullptr);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.assertions.at(0).found, "never; its trigger counted 3 events");
}

TEST(Verdict, FailsAnUntilThatNeverCame) {
  Evidence run = Lost();
  run.faults = {{"hold 1", "hold before create x", 1, {12}, false}};
  const Verdict verdict = DecideVerdict({}, run, nullptr);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.assertions.at(0).found, "at event 12, but its `until` never came");
}

TEST(Verdict, NamesHoldsThatWaitForEachOther) {
  Evidence run = Lost();
  run.faults = {{"hold 1", "hold before create x", 1, {12}, false, false, {"hold 1", "hold 2"}}};
  EXPECT_EQ(DecideVerdict({}, run, nullptr).assertions.at(0).found,
            "at event 12, but its `until` never came: hold 1 and hold 2 wait for each other's "
            "replicas");
}

TEST(Verdict, FailsARunThatALimitEnded) {
  Evidence run = Lost();
  run.broke_off = "limits.no_progress: nothing for 10s";
  const Verdict verdict = DecideVerdict({}, run, nullptr);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.assertions.at(0).name, "limits");
}

TEST(Verdict, NeedsExactlyTheBugThatTheScenarioShows) {
  Scenario scenario;
  scenario.expectations = {Fixed("state", true), Fixed("first_step master-0 boot 2", false)};
  scenario.shows_bug = {"first_step"};
  EXPECT_TRUE(DecideVerdict(scenario, Lost(), nullptr).passed);
  scenario.shows_bug = {"first_step master-0 boot 2"};
  EXPECT_TRUE(DecideVerdict(scenario, Lost(), nullptr).passed);
  scenario.shows_bug = {"first"};
  EXPECT_FALSE(DecideVerdict(scenario, Lost(), nullptr).passed);
  scenario.shows_bug = {"first_step", "state"};
  EXPECT_EQ(DecideVerdict(scenario, Lost(), nullptr).why_not,
            "the bug did not appear: 'state' holds");
  scenario.shows_bug = {"state"};
  scenario.expectations = {Fixed("state", false), Fixed("log /x/", false)};
  EXPECT_EQ(DecideVerdict(scenario, Lost(), nullptr).why_not,
            "'log /x/' also failed, and shows_bug does not name it");
}

}  // namespace
}  // namespace caip::harness
