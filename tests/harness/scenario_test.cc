// What scenario files say, the files that they extend, and which files are scenarios.

#include "harness/scenario/scenario.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <utility>

#include "harness/scenario/job_kind.h"
#include "places.h"
#include "tests/harness/file_of.h"

namespace caip::harness {
namespace {

/// Of faults that only answer: nothing of it is asked for.
class EmptyContext final : public FaultContext {
 public:
  RunControl& run() override { std::abort(); }
  void WaitForEndOfBoot(const std::string&) override {}
  void WaitForUntil() override {}
  void WhenUntilComes(std::function<void()>) override {}
  void After(Duration, std::function<void()>) override {}
  void Pause(Duration) override {}
  uint64_t NextSeed() override { return 0; }
};

FaultResponse AnswerOf(const Fault& fault) {
  EmptyContext context;
  return fault.action->Inject(fault, context);
}

TEST(ScenarioReader, ReadsEveryKey) {
  const auto read = Read(R"(
description: All of it.
seed: 7
semantics: posix
addressing: ports
needs: [libfaketime]
job:
  config: {scaleTier: CUSTOM, masterType: n1-standard-4, workerCount: 2}
  args: ["--steps", 40]
trainer:
  command: [python3, t.py]
buckets:
  job: {}
  data: {from: ., objects: {init: text, a/b.json: {"w": 100}}}
mood: {queue_delay: "constant:20m", restart_delay: none, stock_out: 2, vm_lifetime: 2h}
limits: {wall: 30s, no_progress: 5s, log_lines: 10, grace: 1s}
steps: {regex: 'step (?P<step>\d+)'}
faults:
  - name: first
    kill: {replica: chief, down_until: {fault: second}}
    when: {before: {create: "gs://job/out/*"}, nth: 2..3}
  - name: second
    hang: {replica: worker-1, for: 2s}
    when: {mid: {write: "*", bytes: 10}, replica: any}
  - storage_error: {status: 429}
    when: {after: {list: "*"}, nth: every 3, probability: 0.5}
  - cancel: {}
    when: {at: 90s}
expect:
  state: SUCCEEDED
  same_steps_as_twin: {}
shows_bug: [state]
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->seed, 7u);
  EXPECT_EQ(read->semantics, Semantics::kPosix);
  EXPECT_TRUE(read->own_ports);
  EXPECT_EQ(read->arguments, (std::vector<std::string>{"--steps", "40"}));
  EXPECT_EQ(read->buckets.at("data").objects.at("a/b.json"), "{\"w\": 100}");
  EXPECT_EQ(read->buckets.at("data").from->filename(), ".");
  EXPECT_TRUE(std::holds_alternative<run::StockOut>(read->service_delays.provisioning_delay));
  EXPECT_EQ(read->limits.wall, std::chrono::seconds(30));
  EXPECT_EQ(read->limits.log_lines, 10);
  ASSERT_EQ(read->faults.size(), 4u);
  EXPECT_EQ(read->faults[0].replica, "master-0");
  EXPECT_EQ(read->faults[0].when.As<StorageTrigger>()->glob, "job/out/*");
  EXPECT_EQ(read->faults[0].when.nth, (Occurrence{2, 3, 0}));
  EXPECT_TRUE(read->faults[0].until->Is<FaultTrigger>());
  EXPECT_EQ(read->faults[1].when.replica, "any");
  EXPECT_EQ(read->faults[1].when.As<StorageTrigger>()->bytes, 10u);
  EXPECT_EQ(read->faults[2].name, "storage_error 1");
  EXPECT_EQ(AnswerOf(read->faults[2]).status, 429);
  EXPECT_EQ(read->faults[2].when.nth.every, 3);
  EXPECT_EQ(read->faults[3].when.As<TimeTrigger>()->at, std::chrono::seconds(90));
  EXPECT_TRUE(read->needs_twin());
  EXPECT_EQ(read->shows_bug, std::vector<std::string>{"state"});
}

TEST(ScenarioReader, TakesTheDirectoryOfACommandForADirectory) {
  const std::string head = "description: d\ntrainer: ";
  for (const char* trainer : {"{command: [python3, t.py, \"--out={job_dir}/a\"]}",
                              "{cluster: [{name: a, command: [x]}, {name: b, command: "
                              "[x, \"{job_dir}\"]}]}"}) {
    const auto read = Read(head + trainer + "\n");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->semantics, Semantics::kPosix) << trainer;
    EXPECT_TRUE(Says(head + trainer + "\nsemantics: object\n",
                     "s.yaml:3:12: semantics: `{job_dir}` in the command is a directory."));
  }
  const auto read = Read(head + "{command: [python3, t.py, \"{gs_job_dir}\"]}\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->semantics, Semantics::kObject);
}

TEST(ScenarioReader, HasDefaults) {
  const auto read = Read(kHead);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->seed, 1u);
  EXPECT_EQ(read->semantics, Semantics::kObject);
  EXPECT_FALSE(read->own_ports);
  EXPECT_TRUE(read->faults.empty());
  EXPECT_FALSE(read->needs_twin());
}

TEST(ScenarioReader, ReadsNeeds) {
  const auto gpus = Read(kHead + "needs: {gpus: 2}\n");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  EXPECT_EQ(gpus->gpus, 2);
  EXPECT_TRUE(gpus->modules.empty());
  const auto both = Read(kHead + "needs: {modules: [torch], gpus: 1}\n");
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(both->gpus, 1);
  EXPECT_EQ(both->modules, std::vector<std::string>{"torch"});
}

TEST(ScenarioReader, ExpectsSuccessByDefault) {
  const auto expected = [](const std::string& rest) {
    const auto read = Read(kHead + rest);
    return read.ok() ? read->expectations.size() : 99;
  };
  EXPECT_EQ(expected(""), 1u);
  EXPECT_EQ(expected("expect: {attempts: 1}\n"), 2u);
  EXPECT_EQ(expected("expect: {state: FAILED}\n"), 1u);
  EXPECT_EQ(expected("expect: {states: [QUEUED, FAILED]}\n"), 1u);
  EXPECT_EQ(expected("expect: {error_matches: x}\n"), 1u);
  EXPECT_EQ(expected("expect: {at: {CANCELLED: 1m..}}\n"), 1u);
  EXPECT_EQ(expected("expect: {attempts: 1}\nshows_bug: [attempts]\n"), 1u);
  Evidence run;
  run.state = "FAILED";
  run.error_message = "no luck";
  const auto assertions = Read(kHead)->expectations[0]->Evaluate({run});
  EXPECT_EQ(assertions[0].name, "state");
  EXPECT_EQ(assertions[0].expected, "SUCCEEDED");
  EXPECT_EQ(assertions[0].found, "FAILED: no luck");
}

TEST(ScenarioReader, MergesAFileIntoTheOneThatItExtends) {
  const ScenarioFolder folder;
  folder.Write("base.yaml", kHead + "seed: 3\nexpect: {state: SUCCEEDED}\n");
  const auto read = ReadScenario(folder.Write("over.yaml", "extends: base.yaml\nseed: 4\n"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->seed, 4u);
  EXPECT_EQ(read->description, "d");
  EXPECT_EQ(read->expectations.size(), 1u);
}

TEST(ScenarioReader, NamesTheFileOfAMistake) {
  const ScenarioFolder folder;
  folder.Write("base.yaml", kHead + "seed: x\n");
  const auto read = ReadScenario(folder.Write("over.yaml", "extends: base.yaml\nlimts: {}\n"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("base.yaml:3:7"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("over.yaml:2:"), std::string::npos) << read.error().message;
}

TEST(ScenarioReader, RejectsFilesThatExtendEachOther) {
  const ScenarioFolder folder;
  folder.Write("a.yaml", "extends: b.yaml\n");
  const auto read = ReadScenario(folder.Write("b.yaml", "extends: a.yaml\n"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("in a circle"), std::string::npos) << read.error().message;
}

TEST(ScenarioReader, ReportsAMissingFile) {
  const ScenarioFolder folder;
  const auto read = ReadScenario(folder.path() / "none.yaml");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kNotFound);
}

TEST(ScenarioReader, ReadsTheModulesThatAScenarioNeeds) {
  const auto read = Read(
      "description: d\ntrainer: {command: [python3, t.py]}\n"
      "needs: {modules: [sklearn, torch]}\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->modules, (std::vector<std::string>{"sklearn", "torch"}));
  EXPECT_TRUE(read->needs.empty());
}

TEST(ScenarioReader, AcceptsArgsInOnePlace) {
  const std::string job = "job: {config: {args: [--a]}, args: [--b]}\n";
  EXPECT_EQ(Mistakes("description: d\ntrainer: {command: [python3, t.py]}\n" + job), "");
  const std::string twice =
      Mistakes("description: d\ntrainer: {command: [python3, t.py], args: [--c]}\n" + job);
  EXPECT_NE(twice.find("trainer.args"), twice.npos) << twice;
  EXPECT_NE(twice.find("are the same arguments"), twice.npos) << twice;
}

TEST(TrainingJobKind, AddsArgumentsAfterThoseOfTheDocument) {
  const JobCompletion completion{.arguments = {"--bar", "2"}};
  EXPECT_EQ(TrainingJobs().Complete({{"args", {"--foo", "1"}}}, completion)["args"],
            Json({"--foo", "1", "--bar", "2"}));
  EXPECT_EQ(TrainingJobs().Complete(nullptr, completion)["args"], Json({"--bar", "2"}));
  EXPECT_EQ(TrainingJobs().Complete({{"args", "--foo"}}, completion)["args"], "--foo")
      << "the service rejects it";
}

TEST(ScenarioReader, TellsTheConfigOfAJobFromAScenario) {
  const Path folder = Path(CAIP_SOURCE_DIR) / "scenarios";
  EXPECT_TRUE(IsJobConfig(folder / "digits.yaml"));
  EXPECT_FALSE(IsJobConfig(folder / "frameworks/sklearn_partial_fit.yaml"));
  EXPECT_FALSE(IsJobConfig(folder / "missing.yaml"));
  TemporaryDirectory directory;
  const Path file = directory.path() / "config.yaml";
  for (const char* of_vertex : {"workerPoolSpecs: []\n", "studySpec: {}\ntrialJobSpec: {}\n",
                                "displayName: d\njobSpec: {workerPoolSpecs: []}\n",
                                "job_spec: {}\n", "labels: {team: a}\n"}) {
    ASSERT_TRUE(WriteFile(file, of_vertex).ok());
    EXPECT_TRUE(IsJobConfig(file)) << of_vertex;
    ASSERT_TRUE(WriteFile(file, of_vertex + std::string("job: {}\n")).ok());
    EXPECT_FALSE(IsJobConfig(file)) << of_vertex;
  }
  ASSERT_TRUE(WriteFile(file, "description: d\nlabels: {team: a}\n").ok());
  EXPECT_FALSE(IsJobConfig(file)) << "a scenario with a mistake";
}

TEST(ScenarioReader, FindsScenariosOfAFolderByNameAndContents) {
  TemporaryDirectory directory;
  const auto is_meant = [&](const std::string& name, const std::string& text) {
    const Path file = directory.path() / name;
    EXPECT_TRUE(WriteFile(file, text).ok());
    return IsMeantAsScenario(file);
  };
  EXPECT_TRUE(is_meant("a.yaml", "anything: 1\n"));
  for (const char* text : {"job: {}\n", "trainer: {}\n", "extends: a.yaml\n", "jobSpec: {}\n"}) {
    EXPECT_TRUE(is_meant("b.yml", text)) << text;
    EXPECT_FALSE(is_meant("b.txt", text)) << text;
  }
  EXPECT_FALSE(is_meant("docker-compose.yml", "services: {}\n"));
  EXPECT_FALSE(is_meant("list.yml", "[job]\n"));
  EXPECT_FALSE(is_meant("template.yml", "job: {{\n"));
}

}  // namespace
}  // namespace caip::harness
