// `ai custom-jobs create` and `ai hp-tuning-jobs create`: words and file, and what gcloud 528 sent
// or said for them when it ran against a recording server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/ai_service.h"

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kPool[] = "--worker-pool-spec=machine-type=n1,container-image-uri=i";

class AiCreate : public AiTest {
 protected:
  // The job of `custom-jobs create --dry-run` as one line with sorted keys, without the display
  // name "x"; else the first line of the error.
  std::string Custom(Words more, const std::string& file = "") {
    return Sent("custom-jobs", std::move(more), file);
  }
  std::string Tuning(Words more, const std::string& file) {
    return Sent("hp-tuning-jobs", std::move(more), file);
  }

 private:
  std::string Sent(const std::string& group, Words more, const std::string& file) {
    Words words = {"ai", group, "create", "--region=us-central1", "--display-name=x", "--dry-run"};
    words.insert(words.end(), more.begin(), more.end());
    if (!file.empty()) words.push_back("--config=" + Write("job.yaml", file).string());
    const int code = Run(words);
    EXPECT_THAT(service_.requests, IsEmpty());
    if (code == 0) {
      nlohmann::json job = nlohmann::json::parse(out_);
      EXPECT_EQ(job["displayName"], "x");
      job.erase("displayName");
      return job.dump();
    }
    const std::string line = err_.substr(0, err_.find('\n'));
    return std::to_string(code) + line.substr(line.find(')') + 1);
  }
};

TEST_F(AiCreate, APoolIsAContainerOrAPackage) {
  EXPECT_EQ(Custom({kPool}), R"({"jobSpec":{"workerPoolSpecs":[{"containerSpec":{"imageUri":"i"},)"
                             R"("machineSpec":{"machineType":"n1"},"replicaCount":"1"}]}})");
  EXPECT_EQ(Custom({"--worker-pool-spec=machine-type=n1,executor-image-uri=e,python-module=m",
                    "--python-package-uris=gs://a/b,gs://a/b", "--args=q", "--command=w"}),
            R"({"jobSpec":{"workerPoolSpecs":[{"machineSpec":{"machineType":"n1"},)"
            R"("pythonPackageSpec":{"args":["q"],"executorImageUri":"e",)"
            R"("packageUris":["gs://a/b","gs://a/b"],"pythonModule":"m"},"replicaCount":"1"}]}})");
}

TEST_F(AiCreate, ALaterPoolMayBeEmptyAndCountsHaveDefaults) {
  EXPECT_EQ(Custom({std::string(kPool) + ",accelerator-type=NVIDIA_L4,replica-count=0",
                    "--worker-pool-spec="}),
            R"({"jobSpec":{"workerPoolSpecs":[{"containerSpec":{"imageUri":"i"},"machineSpec":)"
            R"({"acceleratorCount":1,"acceleratorType":"NVIDIA_L4","machineType":"n1"},)"
            R"("replicaCount":"0"},{}]}})");
}

TEST_F(AiCreate, ArgsAndCommandGoToEveryPoolAlsoOfTheFile) {
  const std::string file =
      "workerPoolSpecs: [{containerSpec: {imageUri: a, args: [z], command: [q]}},"
      "{pythonPackageSpec: {pythonModule: m, args: [t]}}]";
  EXPECT_EQ(Custom({"--args=a", "--args=b", "--command=c"}, file),
            R"({"jobSpec":{"workerPoolSpecs":[{"containerSpec":{"args":["a","b"],)"
            R"("command":["c"],"imageUri":"a"}},{"pythonPackageSpec":{"args":["a","b"],)"
            R"("pythonModule":"m"}}]}})");
  EXPECT_EQ(Custom({"--args=", "--command="}, file),
            R"({"jobSpec":{"workerPoolSpecs":[{"containerSpec":{"args":["z"],"command":["q"],)"
            R"("imageUri":"a"}},{"pythonPackageSpec":{"args":["t"],"pythonModule":"m"}}]}})");
}

TEST_F(AiCreate, FlagsOverrideTheFileAndSwitchesOnlySet) {
  EXPECT_EQ(Custom({"--network=a", "--persistent-resource-id=r", "--service-account=a@b.c",
                    "--no-enable-web-access", "--enable-dashboard-access"},
                   "{network: z, persistentResourceId: q, serviceAccount: x, enableWebAccess: "
                   "true}"),
            R"({"jobSpec":{"enableDashboardAccess":true,"enableWebAccess":true,"network":"a",)"
            R"("persistentResourceId":"r","serviceAccount":"a@b.c"}})");
  EXPECT_EQ(Custom({"--network=", "--persistent-resource-id="}, "persistentResourceId: q"),
            R"({"jobSpec":{"network":"","persistentResourceId":"q"}})");
}

TEST_F(AiCreate, PoolsOfFlagsReplaceThoseOfTheFileWhole) {
  EXPECT_EQ(Custom({"--worker-pool-spec=machine-type=n,container-image-uri=i"},
                   "{network: z, workerPoolSpecs: [{}, {}]}"),
            R"({"jobSpec":{"network":"z","workerPoolSpecs":[{"containerSpec":{"imageUri":"i"},)"
            R"("machineSpec":{"machineType":"n"},"replicaCount":"1"}]}})");
}

TEST_F(AiCreate, PoolsThatAreReplacedMayHoldWhatJsonCannotExpress) {
  const std::string file = "workerPoolSpecs: [{containerSpec: {imageUri: a}, bogus: [.inf]}]";
  EXPECT_EQ(Custom({kPool}, file), Custom({kPool}));
  EXPECT_THAT(Custom({}, file), HasSubstr("Out of range float values are not JSON compliant"));
  EXPECT_THAT(Custom({kPool}, file + "\nworkerPoolSpecs2: .nan"), HasSubstr("Out of range float"));
}

TEST_F(AiCreate, AFilePassesUnknownNamesOnAndReadsAMapAsOnePool) {
  EXPECT_EQ(Custom({},
                   "workerPoolSpecs: {containerSpec: {imageUri: a}, replicaCount: 2}\n"
                   "bogus: [1]\nscheduling: {strategy: FOO, time_out: 1}"),
            R"({"jobSpec":{"bogus":[1],"scheduling":{"strategy":"FOO","time_out":1},)"
            R"("workerPoolSpecs":[{"containerSpec":{"imageUri":"a"},"replicaCount":"2"}]}})");
  EXPECT_EQ(Custom({}, "{displayName: z, jobSpec: {workerPoolSpecs: [{}]}}"),
            R"({"jobSpec":{"displayName":"z","jobSpec":{"workerPoolSpecs":[{}]}}})");
}

TEST_F(AiCreate, NumbersOfStrategiesAreThoseOfGcloud) {
  EXPECT_EQ(Custom({}, "scheduling: {strategy: 5}"),
            R"({"jobSpec":{"scheduling":{"strategy":"FLEX_START"}}})");
}

TEST_F(AiCreate, AFileWithWrongTypesIsRefusedInGcloudsWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"scheduling: {timeout: 7200}",
       "Expected type <class 'str'> for field timeout, found 7200 (type <class 'int'>)"},
      {"enableWebAccess: 1",
       "Expected type <class 'bool'> for field enableWebAccess, found 1 (type <class 'int'>)"},
      {"workerPoolSpecs: {replicaCount: 2.0}",
       "Expected type (<class 'int'>,) for field replicaCount, found 2.0 (type <class 'float'>)"},
      {"models: [{a: [1, x, true, ~, 1.5]}]",
       "Expected type <class 'str'> for field models, found {'a': [1, 'x', True, None, 1.5]} "
       "(type <class 'dict'>)"},
      {"models: [~]", "Repeated values for field models may not be None"},
      {"baseOutputDirectory: gs://a", "'str' object has no attribute 'items'"},
      {"[1]", "'list' object has no attribute 'items'"},
      {"# nothing", "'NoneType' object has no attribute 'items'"},
      {"scheduling: {strategy: ''}",
       "Must specify either python_name or json_name for enum remapping"},
      {"a: 2001-01-01", "Object of type date is not JSON serializable"},
      {"a: 2001-01-01T00:00:00Z", "Object of type datetime is not JSON serializable"},
  };
  for (const auto& [file, text] : cases) {
    EXPECT_EQ(Custom({}, file), "1 Cannot parse YAML: [" + std::string(text) + "]") << file;
  }
}

TEST_F(AiCreate, AFileWithWrongTypesIsReportedWithItsPlaces) {
  EXPECT_THAT(Custom({}, "scheduling:\n  timeout: 7200\nmodels: [1]"), StartsWith("1 "));
  EXPECT_THAT(err_, HasSubstr("job.yaml:2:12: scheduling.timeout: expected text, found the number "
                              "7200; put it in quotes\n    timeout: 7200\n             ^"));
  EXPECT_THAT(err_, HasSubstr("job.yaml:3:10: models[0]: expected text"));
}

TEST_F(AiCreate, EachPoolOfAFileHasOneTask) {
  const std::string text =
      "1 Invalid value for [--config]: Exactly one of fields [pythonPackageSpec, containerSpec] is "
      "required for a [workerPoolSpecs] in the YAML config file.";
  for (const char* pool :
       {"{}", "{containerSpec: {imageUri: ''}}", "{pythonPackageSpec: {packageUris: [m]}}",
        "{containerSpec: {imageUri: a}, pythonPackageSpec: {pythonModule: m}}"}) {
    EXPECT_EQ(Custom({}, "workerPoolSpecs: [" + std::string(pool) + "]"), text) << pool;
  }
  EXPECT_THAT(err_, HasSubstr("workerPoolSpecs[0]: give this pool a containerSpec"));
}

TEST_F(AiCreate, PoolsAreCheckedInGcloudsOrder) {
  const std::pair<Words, const char*> cases[] = {
      {{"--worker-pool-spec="},
       "Empty value is not allowed for the first `--worker-pool-spec` flag."},
      {{"--worker-pool-spec=container-image-uri=i", "--worker-pool-spec=accelerator-count=2"},
       "Key [machine-type] required in dict arg but not provided."},
      {{"--worker-pool-spec=machine-type=n,accelerator-count=2"},
       "Key [accelerator-type] required as [accelerator-count] is specified."},
      {{"--worker-pool-spec=machine-type=n,accelerator-type=nvidia-l4"},
       "Found invalid value of [accelerator-type]: nvidia-l4. Available values are "
       "[NVIDIA_A100_80GB, NVIDIA_B200, NVIDIA_H100_80GB, NVIDIA_H100_MEGA_80GB, "
       "NVIDIA_H200_141GB, NVIDIA_L4, NVIDIA_TESLA_A100, NVIDIA_TESLA_K80, NVIDIA_TESLA_P100, "
       "NVIDIA_TESLA_P4, NVIDIA_TESLA_T4, NVIDIA_TESLA_V100, TPU_V2, TPU_V3, TPU_V4_POD, "
       "TPU_V5_LITEPOD]."},
      {{"--worker-pool-spec=machine-type=n"},
       "Exactly one of keys [executor-image-uri, container-image-uri] is required."},
      {{"--worker-pool-spec=machine-type=n,container-image-uri=i,python-module=m"},
       "Key [python-module] is not allowed together with key [container-image-uri]."},
      {{"--worker-pool-spec=machine-type=n,executor-image-uri=i"},
       "Key [python-module] is required."},
      {{"--worker-pool-spec=machine-type=n,container-image-uri=i,script=x,requirements=a"},
       "Keys [requirements, script] are not allowed: Only allow to specify together with "
       "`local-package-path` in the first `--worker-pool-spec` flag."},
      {{kPool, "--worker-pool-spec=machine-type=n,local-package-path=."},
       "Key [local-package-path] is only allowed in the first `--worker-pool-spec` flag."},
      {{"--worker-pool-spec=machine-type=n,local-package-path=/no/where"},
       "Directory '/no/where' is not found."},
      {{"--worker-pool-spec=machine-type=n,local-package-path=."},
       "Key [executor-image-uri] is required when `local-package-path` is specified."},
      {{"--worker-pool-spec=machine-type=n,local-package-path=.,executor-image-uri=e"},
       "Exactly one of keys [python-module, script] is required when `local-package-path` is "
       "specified."},
      {{"--worker-pool-spec=machine-type=n,local-package-path=.,executor-image-uri=e,script=s",
        "--worker-pool-spec=machine-type=n,container-image-uri=e,script=x"},
       "Keys [container-image-uri, script] are not allowed: A local package has been specified in "
       "the first `--worker-pool-spec` flag and to be used for all workers, do not specify these "
       "keys elsewhere.."},
  };
  for (const auto& [words, text] : cases) {
    EXPECT_EQ(Custom(words), "1 Invalid value for [--worker-pool-spec]: " + std::string(text));
  }
}

TEST_F(AiCreate, WrongFlagsAreUsageErrors) {
  for (const Words& words : std::vector<Words>{{},
                                               {kPool, "--args=a,a"},
                                               {kPool, "--args=a", "--args=a"},
                                               {kPool, "--command=x,x"},
                                               {kPool, "--labels=A=b"},
                                               {kPool, "--labels=a=b", "--labels=a=c"},
                                               {kPool, "--service-account=x"},
                                               {kPool, "--kms-keyring=r"},
                                               {kPool, "extra"},
                                               {kPool, "--", "x"},
                                               {"--worker-pool-spec=bogus=1"},
                                               {"--worker-pool-spec=replica-count=x"}}) {
    EXPECT_EQ(Custom(words).substr(0, 2), "2 ") << ::testing::PrintToString(words);
  }
  EXPECT_EQ(Run({"ai", "custom-jobs", "create", kPool, "--region=us-central1"}), 2);
  EXPECT_THAT(err_, HasSubstr("argument --display-name: Must be specified."));
  EXPECT_EQ(Run({"ai", "custom-jobs", "create", "--display-name=x"}), 2);
  EXPECT_THAT(err_, HasSubstr("argument (--config --worker-pool-spec): Must be specified."));
}

TEST_F(AiCreate, LabelsAndKeyBelongToTheJob) {
  EXPECT_THAT(Custom({kPool, "--labels=a=b", "--labels=c=d", "--kms-key=k", "--kms-keyring=r",
                      "--kms-location=l"}),
              AllOf(StartsWith(R"({"encryptionSpec":{"kmsKeyName":)"
                               R"("projects/demo/locations/l/keyRings/r/cryptoKeys/k"},)"),
                    HasSubstr(R"("labels":{"a":"b","c":"d"}})")));
  EXPECT_EQ(Custom({kPool, "--kms-key=k"}),
            "1 Invalid value for [--kms-key]: Encryption key not fully specified.");
}

TEST_F(AiCreate, FilesThatCannotBeReadAreRefused) {
  EXPECT_THAT(Custom({"--config=/no/file"}), StartsWith("1 Unable to read file [/no/file]: "));
  EXPECT_THAT(Custom({}, "a: ["), StartsWith("1 Failed to parse YAML: "));
  EXPECT_THAT(Tuning({"--config=/no/file"}, ""), StartsWith("1 Failed to load YAML from ["));
}

TEST_F(AiCreate, StrictRejectsWhatGcloudIgnores) {
  const std::string file =
      "workerPoolSpecs: [{containerSpec: {imageUri: a, args: [z]}}]\nenableWebAccess: true\n"
      "jobSpec: {}\n";
  EXPECT_EQ(Custom({"--strict", "--args=b", "--no-enable-web-access"}, file),
            "1 --strict: gcloud would do this silently.");
  EXPECT_THAT(err_, HasSubstr("workerPoolSpecs[0].containerSpec.args: --args replaces this list"));
  EXPECT_THAT(err_, HasSubstr("enableWebAccess: --no-enable-web-access does not change"));
  EXPECT_THAT(err_, HasSubstr("jobSpec: the file is a CustomJobSpec, not a CustomJob"));
  Custom({"--strict", kPool, "--python-package-uris=gs://a/b"}, file);
  EXPECT_THAT(err_, HasSubstr("--worker-pool-spec replaces all pools of the file"));
  EXPECT_THAT(err_, HasSubstr("--python-package-uris: no pool of --worker-pool-spec has"));
  EXPECT_THAT(Custom({"--strict", kPool}), StartsWith("{"));
}

TEST_F(AiCreate, ATuningJobHasCountsOfFlagsElseOfTheFileElseOne) {
  const std::string study = R"("studySpec":{"algorithm":"GRID_SEARCH"})";
  EXPECT_EQ(Tuning({"--algorithm=grid-search"}, "studySpec: {algorithm: RANDOM_SEARCH}"),
            R"({"maxTrialCount":1,"parallelTrialCount":1,)" + study + "}");
  EXPECT_EQ(Tuning({"--max-trial-count=0", "--parallel-trial-count=3"},
                   "maxTrialCount: '5'\nparallelTrialCount: 2\ndisplayName: other"),
            R"({"maxTrialCount":5,"parallelTrialCount":3})");
  EXPECT_EQ(Tuning({"--max-trial-count=-2", "--algorithm=RANDOM_SEARCH"}, "parallelTrialCount: 0"),
            R"({"maxTrialCount":-2,"parallelTrialCount":1})");
}

TEST_F(AiCreate, FlagsOfATuningJobChangeItsTrials) {
  const Words words = {"--network=n", "--service-account=a@b.c", "--enable-web-access",
                       "--labels=a=b"};
  EXPECT_EQ(Tuning(words, "trialJobSpec: {network: z}\nlabels: {q: r}"),
            R"({"labels":{"a":"b"},"maxTrialCount":1,"parallelTrialCount":1,"trialJobSpec":)"
            R"({"enableWebAccess":true,"network":"n","serviceAccount":"a@b.c"}})");
  EXPECT_EQ(Tuning(words, "maxTrialCount: 1"),
            "1 The file of --config has no trialJobSpec, which --network, --service-account, "
            "--enable-web-access would change. Add a trialJobSpec with workerPoolSpecs.");
}

TEST_F(AiCreate, UnknownNamesOfATuningJobAreRefusedInGcloudsWords) {
  const std::string type = "GoogleCloudAiplatformV1HyperparameterTuningJob";
  const std::string head = "Failed to parse value(s) in protobuf [" + type + "]:\n  " + type + ".";
  Tuning({}, "bogus: 1\nmaxTrialCont: 2\nencryptionSpec: {x: 1}");
  EXPECT_THAT(err_, HasSubstr(head + "{bogus,maxTrialCont}\n  "));
  EXPECT_THAT(err_, HasSubstr("maxTrialCont: no field is called 'maxTrialCont'. Did you mean "
                              "'maxTrialCount'?"));
  Tuning({},
         "trialJobSpec: {workerPoolSpecs: {x: 1}}\n"
         "studySpec: {metrics: [{goal: UP}, {a: 1, b: 2}]}");
  EXPECT_THAT(err_, HasSubstr(head + "studySpec.metrics[0].goal\n  " + type +
                              ".studySpec.metrics[1].{a,b}\n  " + type +
                              ".trialJobSpec.workerPoolSpecs[0].x\n"));
}

TEST_F(AiCreate, WrongTypesInATuningJobAreRefused) {
  Tuning({}, "maxTrialCount: x");
  EXPECT_THAT(err_, HasSubstr("Failed to parse value in protobuf "
                              "[GoogleCloudAiplatformV1HyperparameterTuningJob]:\n  "
                              "GoogleCloudAiplatformV1HyperparameterTuningJob.??: \"Expected type "
                              "(<class 'int'>,) for field maxTrialCount, found x (type <class "
                              "'str'>)\""));
  EXPECT_EQ(Tuning({}, "studySpec: x"), "1 The file does not fit a HyperparameterTuningJob.");
  EXPECT_THAT(Tuning({}, "{}"), StartsWith("1 The file of --config is empty."));
  EXPECT_EQ(Tuning({"--algorithm=foo"}, "maxTrialCount: 1").substr(0, 2), "2 ");
}

TEST_F(AiCreate, TheJobIsPostedAndTheOutcomeToldAsByGcloud) {
  service_.answers["POST /v1/projects/demo/locations/us-central1/customJobs"] = {
      200, {}, R"({"name": "projects/1/locations/us-central1/customJobs/9", "state": "S"})"};
  EXPECT_EQ(Run({"ai", "custom-jobs", "create", "--region=us-central1", "--display-name=x", kPool}),
            0);
  EXPECT_THAT(service_.requests,
              ElementsAre("POST /v1/projects/demo/locations/us-central1/customJobs"));
  EXPECT_EQ(StringOr(*ParseJson(service_.bodies.back()), "displayName"), "x");
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_,
            "Using endpoint [http://127.0.0.1:1/]\n"
            "CustomJob [projects/1/locations/us-central1/customJobs/9] is submitted "
            "successfully.\n\nYour job is still active. You may view the status of your job with "
            "the command\n\n  $ caip ai custom-jobs describe "
            "projects/1/locations/us-central1/customJobs/9\n\nor continue streaming the logs with "
            "the command\n\n  $ caip ai custom-jobs stream-logs "
            "projects/1/locations/us-central1/customJobs/9\n");
}

TEST_F(AiCreate, WithAFormatTheResponseIsPrinted) {
  service_.answers["POST /v1/projects/p/locations/us-east1/hyperparameterTuningJobs"] = {
      200,
      {},
      R"({"name": "projects/1/locations/us-east1/hyperparameterTuningJobs/9", "state": "S"})"};
  EXPECT_EQ(Run({"ai", "hp-tuning-jobs", "create", "--region=projects/p/locations/us-east1",
                 "--display-name=x", "--config=" + Write("j.yaml", "maxTrialCount: 2").string(),
                 "--format=value(state)"}),
            0);
  EXPECT_EQ(out_, "S\n");
  EXPECT_THAT(err_, HasSubstr("Hyperparameter tuning job [9] submitted successfully.\n"));
  EXPECT_THAT(err_, HasSubstr("  $ caip ai hp-tuning-jobs describe 9 --region=us-east1\n\n"
                              "Job State: S\n"));
}

TEST_F(AiCreate, ARefusalShowsTheServicesWordsAndThePlacesInTheFile) {
  service_.answers["POST /v1/projects/demo/locations/us-central1/customJobs"] = {
      400, {}, R"({"error": {"status": "INVALID_ARGUMENT", "message": "No field bogus"}})"};
  const Path file = Write("job.yaml", "bogus: 1");
  EXPECT_EQ(Run({"ai", "custom-jobs", "create", "--region=us-central1", "--display-name=x",
                 "--config=" + file.string()}),
            1);
  EXPECT_THAT(err_, HasSubstr("ERROR: (caip.ai.custom-jobs.create) INVALID_ARGUMENT: No field "
                              "bogus\n"));
  EXPECT_THAT(err_, HasSubstr("job.yaml:1:1: bogus: no field is called 'bogus'"));
}

TEST_F(AiCreate, ValidateOnlyAsksTheEmulatorAndCreatesNothing) {
  service_.answers["POST /emulator/v1/projects/demo/locations/us-central1/customJobs:check"] = {
      200, {}, "{}"};
  EXPECT_EQ(Run({"ai", "custom-jobs", "create", "--region=us-central1", "--display-name=x", kPool,
                 "--validate-only"}),
            0);
  EXPECT_EQ(service_.requests.size(), 1u);
  EXPECT_EQ(err_, "Job [x] is valid; nothing was submitted.\n");
}

TEST_F(AiCreate, TheImageOfALocalPackageIsMappedBeforeTheJobIsSent) {
  const std::string folder = Write("src/task.py", "print(1)").parent_path();
  const Words words = {"ai",
                       "custom-jobs",
                       "create",
                       "--region=us-central1",
                       "--display-name=x",
                       "--worker-pool-spec=machine-type=n,executor-image-uri=e,script=task.py,"
                       "output-image-uri=gcr.io/p/i,local-package-path=" +
                           folder,
                       "--worker-pool-spec=machine-type=n"};
  service_.answers["POST /v1/projects/demo/locations/us-central1/customJobs"] = {200, {}, "{}"};
  EXPECT_EQ(Run(words), 0);
  const Json job = *ParseJson(service_.bodies.back());
  for (const Json& pool : job["jobSpec"]["workerPoolSpecs"]) {
    EXPECT_EQ(StringOr(pool["containerSpec"], "imageUri"), "gcr.io/p/i");
  }
  const Json map = *ParseJson(*ReadFile(root_ / "state/images/map.json"));
  EXPECT_EQ(map["gcr.io/p/i"].back(), "task.py");
  EXPECT_EQ(map["gcr.io/p/i"][3], folder);
}

}  // namespace
}  // namespace caip::cli
