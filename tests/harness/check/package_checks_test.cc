// Modules that a job does not find, and the checks that explain it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "harness/check/check.h"
#include "harness/check/missing_module.h"
#include "harness/check/run_evidence.h"
#include "tests/harness/check/check_sessions.h"

namespace caip::harness {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PackageChecks, AMissingModuleThatTheSourceLacksIsAnUndeclaredDependency) {
  const TemporaryDirectory directory("caip-check-");
  ASSERT_TRUE(MakeDirectories(directory.path() / "trainer").ok());
  for (const auto& [module, id, other] :
       {std::tuple{"yaml", "package/dependencies", "package/installed"},
        std::tuple{"trainer.model", "package/installed", "package/dependencies"}}) {
    ASession session;
    session->trainer.source = directory.path() / "trainer";
    session->runs["packages"].look = {{"undeclared", Json::array()}, {"missing", Json::array()}};
    session.With(1, Line("master-0", 1,
                         "ModuleNotFoundError: No module named '" + std::string(module) + "'"));
    session.Ends("FAILED");
    EXPECT_EQ(EvaluateCheck(*FindCheck(id), *session).verdict, CheckVerdict::kFail) << module;
    EXPECT_NE(EvaluateCheck(*FindCheck(other), *session).verdict, CheckVerdict::kFail) << module;
  }
}

TEST(PackageChecks, AModuleThatNoFileOfTheSourceHasIsNoMistakeOfPacking) {
  const std::pair<const char*, const char*> rows[] = {
      {"/usr/bin/python3: No module named trainer.taks", "trainer.taks"},
      {"/usr/bin/python3: No module named trainer.__main__; 'trainer' is a package and cannot be "
       "directly executed",
       "trainer.__main__"},
      {"/usr/bin/python3: Error while finding module specification for 'trainr.task' "
       "(ModuleNotFoundError: No module named 'trainr')",
       "trainr"},
      {"ModuleNotFoundError: No module named 'trainer.subdir'", "trainer.subdir"},
      {"ModuleNotFoundError: No module named 'trainer.models.wide'", "trainer.models.wide"},
      {"ImportError: cannot import name 'model' from 'trainer' (/x/trainer/__init__.py)",
       "trainer.model"},
  };
  for (const auto& [line, module] : rows) {
    AJobWithoutAModule job(line);
    const bool is_other = std::string(module) == "trainr";
    if (is_other) job.session()->trainer.job.document["pythonModule"] = "trainr.task";
    const CheckResult result = job.Of("package/installed");
    EXPECT_EQ(result.verdict, CheckVerdict::kFail) << line;
    EXPECT_EQ(result.found, "no file of the source has the module '" + std::string(module) + "'");
    EXPECT_THAT(result.evidence, Contains(HasSubstr(line)));
    EXPECT_THAT(result.advice, Not(HasSubstr("find_packages"))) << line;
    EXPECT_NE(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << line;
    EXPECT_THAT(job.Of("start/succeeds").found, HasSubstr("see package/installed")) << line;
  }
}

TEST(PackageChecks, AModuleOfTheSourceThatThePackageLacksIsAMistakeOfPacking) {
  for (const char* line :
       {"/usr/bin/python3: No module named trainer.task",
        "ModuleNotFoundError: No module named 'trainer.models'",
        "ModuleNotFoundError: No module named 'trainer.models.deep'",
        "ModuleNotFoundError: No module named 'trainer.fast'",
        "ImportError: cannot import name 'deep' from 'trainer.models' (unknown location)"}) {
    const CheckResult result = AJobWithoutAModule(line).Of("package/installed");
    EXPECT_EQ(result.verdict, CheckVerdict::kFail) << line;
    EXPECT_THAT(result.advice, HasSubstr("find_packages")) << line;
  }
}

TEST(PackageChecks, DataBesideThePackageIsNoModule) {
  const std::string line = "ModuleNotFoundError: No module named 'mlflow'";
  for (const char* file :
       {"mlflow.db", "mlflow.yaml", "mlflow/0/meta.yaml", "mlflow/0/code/task.py"}) {
    AJobWithoutAModule job(line);
    job.AddBesidePackage(file);
    EXPECT_EQ(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << file;
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped) << file;
  }
  for (const char* file : {"mlflow.py", "mlflow.cpython-312-x86_64-linux-gnu.so", "mlflow.pyx",
                           "mlflow/__init__.py", "mlflow/models/deep.py"}) {
    AJobWithoutAModule job(line);
    job.AddBesidePackage(file);
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kFail) << file;
    EXPECT_NE(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << file;
  }
}

TEST(PackageChecks, ANameThatAModuleLacksIsNoMistakeOfPacking) {
  for (const char* line :
       {"ImportError: cannot import name 'helper' from 'trainer.task' (/x/trainer/task.py)",
        "ImportError: cannot import name 'deep' from partially initialized module 'trainer.models' "
        "(most likely due to a circular import) (/x/trainer/models/__init__.py)",
        "ImportError: cannot import name 'load' from 'yaml' (/x/yaml/__init__.py)"}) {
    AJobWithoutAModule job(line);
    EXPECT_EQ(job.Of("start/succeeds").verdict, CheckVerdict::kFail) << line;
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped) << line;
    EXPECT_NE(job.Of("package/dependencies").verdict, CheckVerdict::kFail) << line;
  }
}

TEST(PackageChecks, AMissingModuleOfTheRuntimeVersionIsNoMistakeOfTheTrainer) {
  using Origin = MissingModule::Origin;
  for (const auto& [module, origin] :
       {std::pair{"tensorflow", Origin::kRuntime}, std::pair{"google.cloud", Origin::kRuntime},
        std::pair{"xgboost", Origin::kRuntime}, std::pair{"yaml", Origin::kOtherPackage},
        std::pair{"tensorflow_io", Origin::kOtherPackage}}) {
    AJobWithoutAModule job("ModuleNotFoundError: No module named '" + std::string(module) + "'");
    EXPECT_EQ(MissingModuleOf(*job.session()).origin, origin) << module;
  }
}

TEST(PackageChecks, APartThatAPackageOfTheRuntimeVersionLacksIsAMistakeOfTheTrainer) {
  for (const char* module : {"tensorflow.contrib", "numpy.linalgg", "google.cloud.storag"}) {
    AJobWithoutAModule job("ModuleNotFoundError: No module named '" + std::string(module) + "'");
    EXPECT_EQ(MissingModuleOf(*job.session()).origin, MissingModule::Origin::kUnknown) << module;
    EXPECT_EQ(job.Of("start/succeeds").verdict, CheckVerdict::kFail) << module;
    EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kSkipped) << module;
  }
}

TEST(PackageChecks, AModuleThatThePythonOfTheJobHasIsNotMissing) {
  AJobWithoutAModule job("ModuleNotFoundError: No module named 'xgboost'");
  job.session()->runs["plain"].has_module = true;
  EXPECT_EQ(MissingModuleOf(*job.session()).origin, MissingModule::Origin::kUnknown);
  EXPECT_EQ(job.Of("start/succeeds").verdict, CheckVerdict::kFail);
}

constexpr char kMissesXgboost[] =
    "Traceback (most recent call last):\n  File \"/x/trainer/task.py\", line 8, in <module>\n"
    "    import xgboost\nModuleNotFoundError: No module named 'xgboost'";

TEST(PackageChecks, AModuleIsMissingOnlyIfTheLastExceptionSaysSo) {
  const std::string bad_label =
      "Traceback (most recent call last):\n  File \"/x/trainer/task.py\", line 12, in pre\n"
      "    raise ValueError(\"bad label\")\nValueError: bad label";
  const std::string command = "Command '['python3', '-m', 'trainer.task']' returned 1";
  const std::vector<std::vector<std::pair<std::string, std::string>>> others = {
      {{kMissesXgboost, "ERROR"}, {"no data given", "ERROR"}},
      {{std::string(kMissesXgboost) + "\nno data given", "ERROR"}},
      {{"ModuleNotFoundError: No module named 'xgboost'", "ERROR"}, {bad_label, "ERROR"}},
      {{"xgboost is not used: ImportError: No module named 'xgboost'", "WARNING"},
       {bad_label, "ERROR"},
       {command, "ERROR"}}};
  for (const auto& entries : others) {
    ASession session = Printed(entries);
    EXPECT_EQ(MissingModuleOf(*session).origin, MissingModule::Origin::kUnknown);
    EXPECT_EQ(EvaluateCheck(*FindCheck("start/succeeds"), *session).verdict, CheckVerdict::kFail);
  }
  const std::vector<std::vector<std::pair<std::string, std::string>>> same = {
      {{bad_label, "ERROR"}, {kMissesXgboost, "ERROR"}, {command, "ERROR"}},
      {{kMissesXgboost, "ERROR"}, {"stdout, which was flushed at the end", "INFO"}},
      {{kMissesXgboost, "INFO"}}};
  for (const auto& entries : same) {
    EXPECT_EQ(MissingModuleOf(*Printed(entries)).origin, MissingModule::Origin::kRuntime);
  }
}

TEST(PackageChecks, TheLinesOfOtherReplicasDoNotExplainTheFailure) {
  ASession session = Printed({{"ValueError: bad label", "ERROR"}});
  session.With(3, Line("worker-0", 1, kMissesXgboost, "ERROR"));
  EXPECT_EQ(MissingModuleOf(*session).origin, MissingModule::Origin::kUnknown);
}

TEST(PackageChecks, AModuleOfTheJobIsNoDependencyWithoutASourceTreeEither) {
  AJobWithoutAModule job("ModuleNotFoundError: No module named 'trainer.extra'");
  job.session()->trainer.source.reset();
  EXPECT_EQ(job.Of("package/installed").verdict, CheckVerdict::kFail);
  EXPECT_EQ(job.Of("package/dependencies").verdict, CheckVerdict::kPass);
}

}  // namespace
}  // namespace caip::harness
