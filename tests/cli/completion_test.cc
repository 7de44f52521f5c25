// The words that completion offers, whatever the shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/completion/candidates.h"

namespace caip::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Kind = Values::Kind;
using Strings = std::vector<std::string>;

Strings NamesOfTest(Kind kind, const NamePlace& place, const std::string& begun) {
  switch (kind) {
    case Kind::kJobs:
      return {"new", "old", "at-" + place.state.value_or("") + "-" + place.project.value_or("")};
    case Kind::kUnendedJobs:
      return {"new"};
    case Kind::kEndedJobs:
      return {"old", "older"};
    case Kind::kBuckets:
      return {"my-bucket"};
    case Kind::kBucketUris:
      return {"gs://my-bucket"};
    case Kind::kObjects:
    case Kind::kFilesAndObjects:
      return {begun + "folder/", begun + "object"};
    case Kind::kImages:
      return {"gcr.io/p/t:v1"};
    default:
      return {};
  }
}

// What is offered for the last of the words, which begins after the last blank.
Candidates Offered(const std::string& line) {
  const Strings words = Split("__complete " + line, ' ');
  const Command command = ParseArguments(words);
  const auto& complete = std::get<CompleteCommand>(command);
  return Complete(*complete.root, complete.words, NamesOfTest);
}

Strings WordsFor(const std::string& line) {
  Strings words;
  for (const Candidate& candidate : Offered(line).words) words.push_back(candidate.word);
  return words;
}

TEST(Completion, OffersCommandsToTheLastLevel) {
  EXPECT_THAT(WordsFor(""), AllOf(Contains("jobs"), Contains("serve"), Not(Contains("list"))));
  EXPECT_THAT(WordsFor("jobs li"), ElementsAre("list"));
  EXPECT_THAT(WordsFor("jobs submit "), ElementsAre("training"));
  EXPECT_THAT(WordsFor("beta ai-platform jobs sub"), ElementsAre("submit"));
  EXPECT_THAT(WordsFor("--state /s --quiet jobs up"), ElementsAre("update"));
  EXPECT_THAT(WordsFor("help jobs submit tr"), ElementsAre("training"));
  EXPECT_THAT(WordsFor("help se"), ElementsAre("serve", "settings"));
  EXPECT_THAT(WordsFor("jbos "), IsEmpty());
  EXPECT_EQ(Offered("jobs li").words.front().help, "Lists the jobs of the project, newest first.");
}

TEST(Completion, OffersFlags) {
  EXPECT_THAT(WordsFor("images import x --na"), ElementsAre("--name"));
  EXPECT_THAT(WordsFor("jobs list "), AllOf(Contains("--limit"), Contains("--state"),
                                            Contains("--project"), Contains("--help")));
  EXPECT_THAT(WordsFor("rm --rec"), ElementsAre("--recursive"));
  EXPECT_THAT(WordsFor("serve --no-create"), ElementsAre("--no-create-buckets"));
  EXPECT_THAT(WordsFor("serve --create"), ElementsAre("--create-buckets"));
}

TEST(Completion, OffersTheValuesOfAFlag) {
  EXPECT_THAT(WordsFor("jobs submit training j --scale-tier b"),
              ElementsAre("basic", "basic-gpu", "basic-tpu"));
  EXPECT_THAT(WordsFor("jobs submit training j --scale-tier=basic-t"),
              ElementsAre("--scale-tier=basic-tpu"));
  EXPECT_THAT(WordsFor("jobs submit training j --region us-c"), Contains("us-central1"));
  EXPECT_THAT(WordsFor("jobs submit training j --runtime-version 2.1"), Contains("2.11"));
  EXPECT_THAT(WordsFor("jobs submit training j --python-version "), Contains("3.7"));
  EXPECT_THAT(WordsFor("jobs submit training j --worker-machine-type n1-standard-"),
              Contains("n1-standard-4"));
  EXPECT_THAT(WordsFor("jobs submit training j --master-accelerator "),
              Contains("type=nvidia-tesla-t4,count="));
  EXPECT_TRUE(Offered("jobs submit training j --master-accelerator ").is_open);
  EXPECT_THAT(WordsFor("jobs submit training j --isolation m"), ElementsAre("machine"));
  EXPECT_THAT(WordsFor("jobs submit training j --disk-limits "),
              ElementsAre("asked", "job", "off"));
  EXPECT_THAT(WordsFor("jobs list --verbosity w"), ElementsAre("warning"));
  EXPECT_THAT(WordsFor("jobs list --format js"), ElementsAre("json"));
  EXPECT_THAT(WordsFor("jobs logs j --severity E"), ElementsAre("ERROR", "EMERGENCY"));
  EXPECT_THAT(WordsFor("init "), ElementsAre("keras", "plain", "sklearn", "torch"));
  EXPECT_THAT(WordsFor("completion "), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(WordsFor("explore --signal "), ElementsAre("SIGKILL", "SIGTERM"));
  EXPECT_THAT(WordsFor("check --filter restart"), Not(IsEmpty()));
}

TEST(Completion, OffersTheFormatsOfTheCommand) {
  EXPECT_THAT(WordsFor("doctor --format "), ElementsAre("json", "text"));
  EXPECT_THAT(WordsFor("env --format d"), ElementsAre("dotenv"));
}

TEST(Completion, OffersTheNextValueOfAList) {
  EXPECT_THAT(WordsFor("explore --faults no"), ElementsAre("notice"));
  EXPECT_THAT(WordsFor("explore --faults notice,st"), ElementsAre("notice,storage-errors"));
  EXPECT_THAT(WordsFor("explore --points=storage,st"),
              ElementsAre("--points=storage,steps", "--points=storage,states"));
  EXPECT_TRUE(Offered("explore --faults no").is_open);
  EXPECT_FALSE(Offered("jobs list --format js").is_open);
}

TEST(Completion, OffersTheJobsThatACommandCanUse) {
  EXPECT_THAT(WordsFor("jobs describe n"), ElementsAre("new"));
  EXPECT_THAT(WordsFor("--state /s jobs describe --project p a"), ElementsAre("at-/s-p"));
  EXPECT_THAT(WordsFor("jobs describe --state=/s --project=p a"), ElementsAre("at-/s-p"));
  EXPECT_THAT(WordsFor("jobs cancel "), ElementsAre("new"));
  EXPECT_THAT(WordsFor("jobs delete "), ElementsAre("old", "older"));
  EXPECT_THAT(WordsFor("jobs delete old "), ElementsAre("older"));
  EXPECT_THAT(WordsFor("jobs submit training "), IsEmpty());
  EXPECT_THAT(WordsFor("jobs describe new "), Contains("--summarize"));
}

TEST(Completion, OffersBucketsObjectsAndFiles) {
  EXPECT_THAT(WordsFor("buckets rm m"), ElementsAre("my-bucket"));
  EXPECT_THAT(WordsFor("jobs submit training j --staging-bucket "), ElementsAre("gs://my-bucket"));
  EXPECT_THAT(WordsFor("cat gs://b/"), ElementsAre("gs://b/folder/", "gs://b/object"));
  EXPECT_THAT(WordsFor("jobs submit training j --job-dir gs://b/o"),
              ElementsAre("gs://b/ofolder/", "gs://b/oobject"));
  EXPECT_TRUE(Offered("cp data").files);
  EXPECT_FALSE(Offered("cp gs://b").files);
  EXPECT_TRUE(Offered("jobs submit training j --config ").files);
  EXPECT_TRUE(Offered("jobs submit training j --package-path=").directories);
  EXPECT_THAT(WordsFor("images remove g"), ElementsAre("gcr.io/p/t:v1"));
}

TEST(Completion, LeavesTheArgumentsOfAProgramToTheShell) {
  EXPECT_THAT(WordsFor("explore -- jo"), IsEmpty());
  EXPECT_TRUE(Offered("explore -- jo").files);
  EXPECT_FALSE(Offered("jobs list -- jo").files);
}

TEST(Completion, AnswersInLines) {
  EXPECT_EQ(AnswerOf({{{"a", "Help."}, {"b"}, {"bad\nname"}}, true, false, true}),
            "a\tHelp.\nb\n:files nospace \n");
  EXPECT_EQ(AnswerOf({}), ":\n");
}

}  // namespace
}  // namespace caip::cli
