#include "ml/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::ml {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TrainingInput InputWith(std::vector<std::string> args, std::string job_dir) {
  TrainingInput input;
  input.args = std::move(args);
  input.job_dir = std::move(job_dir);
  return input;
}

TEST(FinalArguments, KeepTheArgsAndPutTheJobDirLast) {
  EXPECT_THAT(FinalArguments(InputWith({"--epochs=2", "a b"}, "gs://bkt/out")),
              ElementsAre("--epochs=2", "a b", "--job-dir", "gs://bkt/out"));
}

TEST(FinalArguments, AddNothingWithoutAJobDir) {
  EXPECT_THAT(FinalArguments(InputWith({"--epochs", "2"}, "")), ElementsAre("--epochs", "2"));
  EXPECT_THAT(FinalArguments(InputWith({}, "")), IsEmpty());
}

TEST(FinalArguments, KeepAJobDirOfTheUsersOwnBeforeTheServices) {
  EXPECT_THAT(FinalArguments(InputWith({"--job-dir", "gs://mine"}, "gs://bkt/out")),
              ElementsAre("--job-dir", "gs://mine", "--job-dir", "gs://bkt/out"));
}

TEST(FinalArguments, GiveATrialItsValuesAndItsDirectory) {
  TrainingInput input = InputWith({"--epochs", "2"}, "gs://bkt/out");
  input.hyperparameters = HyperparameterSpec{};
  input.hyperparameters->params.resize(2);
  input.hyperparameters->params[0].parameter_name = "units";
  input.hyperparameters->params[1].parameter_name = "rate";
  const tuning::ValueTexts values = {{"rate", "0.072136064767837529"}, {"units", "256 128 64"}};
  EXPECT_THAT(FinalArguments(input, "3", values),
              ElementsAre("--epochs", "2", "--units", "256 128 64", "--rate",
                          "0.072136064767837529", "--job-dir", "gs://bkt/out/3"));
}

TEST(FinalArguments, GiveATrialNoDirectoryWhereTheJobHasNone) {
  EXPECT_THAT(FinalArguments(InputWith({}, ""), "3", {{"rate", "1"}}), ElementsAre("--rate", "1"));
}

TEST(FinalArguments, TakeAnotherJobDirWhenTold) {
  EXPECT_THAT(FinalArguments(InputWith({}, "gs://bkt/out"), "2", {}, "/state/buckets/bkt/out"),
              ElementsAre("--job-dir", "/state/buckets/bkt/out/2"));
}

TEST(JobDirOf, PutsOneSlashBeforeTheTrial) {
  EXPECT_EQ(JobDirOf("gs://bkt/out", "1"), "gs://bkt/out/1");
  EXPECT_EQ(JobDirOf("gs://bkt/out/", "1"), "gs://bkt/out/1");
  EXPECT_EQ(JobDirOf("gs://bkt/out/", ""), "gs://bkt/out/");
  EXPECT_EQ(JobDirOf("", "1"), "");
}

TEST(PythonCommand, RunsTheModule) {
  EXPECT_THAT(PythonCommand("/venv/bin/python", "trainer.task", {"--epochs", "2"}),
              ElementsAre("/venv/bin/python", "-m", "trainer.task", "--epochs", "2"));
}

TEST(PythonCommandText, NamesTheInterpreterOfTheService) {
  EXPECT_EQ(PythonCommandText("3.7", "trainer.task", {"--job-dir", "gs://b/dir"}),
            "python3 -m trainer.task --job-dir gs://b/dir");
  EXPECT_EQ(PythonCommandText("", "trainer.task", {}), "python3 -m trainer.task");
  EXPECT_EQ(PythonCommandText("2.7", "trainer.task", {"a b"}), "python -m trainer.task a b");
}

}  // namespace
}  // namespace caip::ml
