// The merge of flags and file, row by row. Every expected value was observed: gcloud 528 was run
// with the same words and file against a recording server.
#include "client/submit_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/json.h"
#include "base/yaml.h"

namespace caip::client {
namespace {

using ::testing::HasSubstr;

using Labels = std::map<std::string, std::string>;

const std::vector<std::string> kPackages = {"gs://bkt/a.tar.gz"};

SubmitFlags Plain() {
  SubmitFlags flags;
  flags.job = "j1";
  flags.region = "us-central1";
  return flags;
}

struct Case {
  YamlDocument file;
  SubmitFlags flags = Plain();
  std::vector<std::string> packages = kPackages;

  SubmitFile File() const { return {&file.value, file.dates, file.duplicates}; }
};

Case With(const char* yaml, const std::function<void(SubmitFlags&)>& set = {}) {
  Case made;
  Result<YamlDocument> document = ParseYaml(yaml, "c.yaml");
  EXPECT_TRUE(document.ok()) << yaml;
  made.file = std::move(*document);
  if (set) set(made.flags);
  return made;
}

// The Job that was sent, without the two constant members; or "ERROR" and the fields.
std::string Sent(const Case& c) {
  const Result<Json> job = MergeJob(c.flags, c.File(), c.packages);
  if (!job.ok()) {
    std::string text = "ERROR";
    for (const FieldViolation& fault : job.error().violations) text += " " + fault.field;
    return text;
  }
  Json shown = *job;
  shown.erase("jobId");
  Json& input = shown["trainingInput"];
  if (input["enableWebAccess"] == Json(false)) input.erase("enableWebAccess");
  if (input.value("packageUris", Json()) == Json(kPackages)) input.erase("packageUris");
  if (input["region"] == Json("us-central1")) input.erase("region");
  return nlohmann::json(shown).dump();  // sorted
}

std::string InputFile(const std::string& inside) { return R"({"trainingInput":{)" + inside + "}}"; }

TEST(SubmitFlags, WithoutAFileOnlyWhatWasSaidIsSent) {
  Case c;
  const Result<Json> job = MergeJob(c.flags, {}, kPackages);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(nlohmann::json(*job).dump(),
            R"({"jobId":"j1","trainingInput":{"enableWebAccess":false,)"
            R"("packageUris":["gs://bkt/a.tar.gz"],"region":"us-central1"}})");
}

TEST(SubmitFlags, TheJobIsAlwaysThePositionalOne) {
  const Case c = With("jobId: other");
  EXPECT_EQ(StringOr(*MergeJob(c.flags, c.File(), kPackages), "jobId"), "j1");
  const Case unnamed = With("jobId: other", [](SubmitFlags& flags) { flags.job = ""; });
  EXPECT_EQ(StringOr(*MergeJob(unnamed.flags, unnamed.File(), kPackages), "jobId"), "other");
}

TEST(SubmitFlags, LabelsOfTheFlagReplaceAllOfTheFile) {
  const auto labels = [](SubmitFlags& flags) { flags.labels = Labels{{"a", "b"}}; };
  EXPECT_EQ(Sent(With("labels: {x: z}")), R"({"labels":{"x":"z"},"trainingInput":{}})");
  EXPECT_EQ(Sent(With("labels: {x: z}", labels)), R"({"labels":{"a":"b"},"trainingInput":{}})");
  EXPECT_EQ(Sent(With("labels: {x: z}", [](SubmitFlags& flags) { flags.labels.emplace(); })),
            R"({"labels":{},"trainingInput":{}})");
}

TEST(SubmitFlags, TheRegionOfTheFileIsNeverUsed) {
  EXPECT_EQ(Sent(With("trainingInput: {region: europe-west1}")), InputFile(""));
}

TEST(SubmitFlags, PackageUrisOfTheFileAreAlwaysOverwritten) {
  Case c = With("trainingInput: {packageUris: [gs://bkt/file]}");
  EXPECT_EQ(Sent(c), InputFile(""));
  c.packages = {};
  EXPECT_EQ(Sent(c), "ERROR");
  EXPECT_THAT(MergeJob(c.flags, c.File(), {}).error().message,
              HasSubstr("Non-custom jobs must have packages."));
}

TEST(SubmitFlags, AContainerNeedsNoPackages) {
  Case c = With("trainingInput: {masterConfig: {imageUri: x}}");
  c.packages = {};
  EXPECT_EQ(Sent(c), InputFile(R"("masterConfig":{"imageUri":"x"})"));
  c = With("trainingInput: {masterConfig: {imageUri: ''}}");
  c.packages = {};
  EXPECT_EQ(Sent(c), "ERROR");
}

TEST(SubmitFlags, ArgsAreKeptErasedOrReplacedButNeverAppended) {
  const auto args = [](std::vector<std::string> words) {
    return [words](SubmitFlags& flags) { flags.user_args = words; };
  };
  EXPECT_EQ(Sent(With("trainingInput: {args: [a]}")), InputFile(R"("args":["a"])"));
  EXPECT_EQ(Sent(With("trainingInput: {args: [a]}", args({}))), InputFile(""));
  EXPECT_EQ(Sent(With("trainingInput: {args: [a]}", args({"b", "--", "c"}))),
            InputFile(R"("args":["b","--","c"])"));
}

TEST(SubmitFlags, WebAccessOfTheFileIsAlwaysOverwritten) {
  EXPECT_EQ(Sent(With("trainingInput: {enableWebAccess: true}")), InputFile(""));
  EXPECT_EQ(Sent(With("{}", [](SubmitFlags& flags) { flags.enable_web_access = true; })),
            InputFile(R"("enableWebAccess":true)"));
}

TEST(SubmitFlags, PlainFieldsComeFromTheFlagElseFromTheFile) {
  const char* file =
      "trainingInput: {pythonModule: f, jobDir: f, runtimeVersion: f, pythonVersion: f, "
      "network: f, serviceAccount: f, masterType: f, workerType: f, workerCount: 1, "
      "parameterServerType: f, parameterServerCount: 1, useChiefInTfConfig: true, "
      "scaleTier: BASIC}";
  EXPECT_EQ(Sent(With(file)),
            InputFile(R"("jobDir":"f","masterType":"f","network":"f","parameterServerCount":"1",)"
                      R"("parameterServerType":"f","pythonModule":"f","pythonVersion":"f",)"
                      R"("runtimeVersion":"f","scaleTier":"BASIC","serviceAccount":"f",)"
                      R"("useChiefInTfConfig":true,"workerCount":"1","workerType":"f")"));
  const auto all = [](SubmitFlags& flags) {
    flags.module_name = flags.job_dir = flags.runtime_version = flags.python_version = "g";
    flags.network = flags.service_account = "g";
    flags.master.machine_type = flags.worker.machine_type = "g";
    flags.parameter_server.machine_type = "g";
    flags.worker.count = flags.parameter_server.count = 2;
    flags.use_chief_in_tf_config = false;
    flags.scale_tier = "CUSTOM";
  };
  EXPECT_EQ(Sent(With(file, all)),
            InputFile(R"("jobDir":"g","masterType":"g","network":"g","parameterServerCount":"2",)"
                      R"("parameterServerType":"g","pythonModule":"g","pythonVersion":"g",)"
                      R"("runtimeVersion":"g","scaleTier":"CUSTOM","serviceAccount":"g",)"
                      R"("useChiefInTfConfig":false,"workerCount":"2","workerType":"g")"));
}

TEST(SubmitFlags, AnEmptyFlagIsGivenAllTheSame) {
  EXPECT_EQ(Sent(With("trainingInput: {masterType: a, pythonModule: b}",
                      [](SubmitFlags& flags) {
                        flags.master.machine_type = "";
                        flags.module_name = "";
                      })),
            InputFile(R"("masterType":"","pythonModule":"")"));
  EXPECT_EQ(Sent(With("{}", [](SubmitFlags& flags) { flags.worker.image_uri = ""; })),
            InputFile(""));
}

TEST(SubmitFlags, ReplicaConfigsAreMergedLeafByLeaf) {
  const char* file =
      "trainingInput: {workerConfig: {imageUri: f, tpuTfVersion: f, acceleratorConfig: "
      "{type: TPU_V2, count: 3}, diskConfig: {bootDiskSizeGb: 5}}}";
  EXPECT_EQ(
      Sent(With(file,
                [](SubmitFlags& flags) {
                  flags.worker.accelerator = {"NVIDIA_TESLA_T4", 1};
                  flags.tpu_tf_version = "g";
                })),
      InputFile(R"("workerConfig":{"acceleratorConfig":{"count":"1","type":"NVIDIA_TESLA_T4"},)"
                R"("diskConfig":{"bootDiskSizeGb":5},"imageUri":"f","tpuTfVersion":"g"})"));
  EXPECT_EQ(
      Sent(With("trainingInput: {masterConfig: null, parameterServerConfig: []}",
                [](SubmitFlags& flags) {
                  flags.master.image_uri = "m";
                  flags.parameter_server.image_uri = "p";
                })),
      InputFile(R"("masterConfig":{"imageUri":"m"},"parameterServerConfig":{"imageUri":"p"})"));
}

TEST(SubmitFlags, TheKeyOfTheFlagWins) {
  EXPECT_EQ(Sent(With("trainingInput: {encryptionConfig: {kmsKeyName: f, x: 1}}",
                      [](SubmitFlags& flags) { flags.kms_key = "g"; })),
            InputFile(R"("encryptionConfig":{"kmsKeyName":"g","x":1})"));
}

TEST(SubmitFlags, UnknownKeysAndEnumNamesArePassedOn) {
  EXPECT_EQ(Sent(With("bogus: {a: null, b: [1, {c: 2}]}\n"
                      "trainingInput: {scaleTeir: BASIC, scaleTier: FOO, python_module: x}")),
            R"({"bogus":{"a":null,"b":[1,{"c":2}]},"trainingInput":{"python_module":"x",)"
            R"("scaleTeir":"BASIC","scaleTier":"FOO"}})");
}

TEST(SubmitFlags, AnUnknownTierOfTheFileBeatsEvenTheFlag) {
  const auto basic = [](SubmitFlags& flags) { flags.scale_tier = "BASIC"; };
  EXPECT_EQ(Sent(With("trainingInput: {scaleTier: FOO}", basic)),
            InputFile(R"("scaleTier":"FOO")"));
  EXPECT_EQ(Sent(With("trainingInput: {scaleTier: }", basic)), InputFile(R"("scaleTier":null)"));
  EXPECT_EQ(Sent(With("trainingInput: {scaleTier: CUSTOM}", basic)),
            InputFile(R"("scaleTier":"BASIC")"));
}

TEST(SubmitFlags, ValuesAreTypedAsTheClientReadsAndWritesThem) {
  const std::pair<const char*, std::string> rows[] = {
      {"workerCount: 7", R"("workerCount":"7")"},
      {"workerCount: '7'", R"("workerCount":"7")"},
      {"workerCount: ' 1_0 '", R"("workerCount":"10")"},
      {"workerCount: 010", R"("workerCount":"8")"},
      {"workerCount: true", R"("workerCount":"True")"},
      {"workerCount: []", ""},
      {"workerCount: ", ""},
      {"scaleTier: 1", R"("scaleTier":"STANDARD_1")"},
      {"scaleTier: true", R"("scaleTier":"STANDARD_1")"},
      {"scaleTier: 99", R"("scaleTier":99)"},
      {"scaleTier: 1.0", R"("scaleTier":1.0)"},
      {"useChiefInTfConfig: yes", R"("useChiefInTfConfig":true)"},
      {"args: a", R"("args":["a"])"},
      {"args: []", ""},
      {"hyperparameters: {params: {minValue: '2.5', maxValue: 3, discreteValues: [1, true]}}",
       R"("hyperparameters":{"params":[{"discreteValues":[1.0,1.0],"maxValue":3.0,)"
       R"("minValue":2.5}]})"},
      {"hyperparameters: {maxTrials: '5', params: []}", R"("hyperparameters":{"maxTrials":5})"},
      {"scheduling: {maxRunningTime: 3600s, priority: 3}",
       R"("scheduling":{"maxRunningTime":"3600s","priority":3})"},
  };
  for (const auto& [yaml, sent] : rows) {
    EXPECT_EQ(Sent(With(("trainingInput: {" + std::string(yaml) + "}").c_str())), InputFile(sent))
        << yaml;
  }
  EXPECT_EQ(Sent(With("etag: a+/_")), R"({"etag":"a-__","trainingInput":{}})");
  EXPECT_EQ(Sent(With("labels: {a: null}")), R"({"labels":{"a":null},"trainingInput":{}})");
}

TEST(SubmitFlags, WhereTheClientCrashesTheFieldIsNamed) {
  const std::pair<const char*, const char*> rows[] = {
      {"trainingInput: {runtimeVersion: 2.4}", "/trainingInput/runtimeVersion"},
      {"trainingInput: {scheduling: {maxRunningTime: 7200}}",
       "/trainingInput/scheduling/maxRunningTime"},
      {"labels: {a: y}", "/labels/a"},
      {"labels: x", "/labels"},
      {"trainingInput: {workerCount: 1.0}", "/trainingInput/workerCount"},
      {"trainingInput: {workerCount: x}", "/trainingInput/workerCount"},
      {"trainingInput: {args: [a, 1]}", "/trainingInput/args/1"},
      {"trainingInput: {args: [null]}", "/trainingInput/args/0"},
      {"trainingInput: {useChiefInTfConfig: 'true'}", "/trainingInput/useChiefInTfConfig"},
      {"trainingInput: {scaleTier: 0}", "/trainingInput/scaleTier"},
      {"trainingInput: {scaleTier: ''}", "/trainingInput/scaleTier"},
      {"trainingInput: {jobDir: 2001-01-01}", "/trainingInput/jobDir"},
      {"trainingInput: {hyperparameters: {params: [1]}}",
       "/trainingInput/hyperparameters/params/0"},
      {"trainingInput: {hyperparameters: {params: {minValue: .inf}}}",
       "/trainingInput/hyperparameters/params/minValue"},
      {"trainingInput: [1]", "/trainingInput"},
      {"etag: abc", "/etag"},
      {"[1]", ""},
  };
  for (const auto& [yaml, field] : rows) {
    EXPECT_EQ(Sent(With(yaml)), "ERROR " + std::string(field)) << yaml;
  }
}

TEST(SubmitFlags, AllFaultsOfAFileAreNamedAtOnce) {
  EXPECT_EQ(Sent(With("jobId: 5\ntrainingInput: {runtimeVersion: 2.4, args: [1, a, y]}")),
            "ERROR /jobId /trainingInput/runtimeVersion /trainingInput/args/0 "
            "/trainingInput/args/2");
}

TEST(SubmitFlags, AFileOfNothingCountsOnlyWhenItIsReadForItsTier) {
  const Case empty = With("");
  EXPECT_FALSE(CheckServerFlags(empty.flags, empty.File()).ok());
  const Case tiered = With("", [](SubmitFlags& flags) { flags.scale_tier = "BASIC"; });
  EXPECT_TRUE(CheckServerFlags(tiered.flags, tiered.File()).ok());
  EXPECT_EQ(Sent(tiered), InputFile(R"("scaleTier":"BASIC")"));
  EXPECT_FALSE(CheckServerFlags(Plain(), With("trainingInput:").File()).ok());
  EXPECT_FALSE(CheckServerFlags(Plain(), With("trainingInput: [a]").File()).ok());
  EXPECT_TRUE(CheckServerFlags(Plain(), With("{}").File()).ok());
}

TEST(SubmitFlags, OnlyTheLowerCaseTierOfTheFileAsksForTheMachineTypeFlag) {
  const auto check = [](const char* yaml, const std::function<void(SubmitFlags&)>& set = {}) {
    const Case c = With(yaml, set);
    return CheckServerFlags(c.flags, c.File()).ok();
  };
  EXPECT_FALSE(check("trainingInput: {scaleTier: custom, masterType: x}"));
  EXPECT_TRUE(check("trainingInput: {scaleTier: CUSTOM, masterType: x}"));
  EXPECT_TRUE(check("trainingInput: {scaleTier: Custom}"));
  EXPECT_FALSE(check("trainingInput: {scaleTier: CUSTOM, masterType: x}",
                     [](SubmitFlags& flags) { flags.scale_tier = "CUSTOM"; }));
  EXPECT_TRUE(check("{}", [](SubmitFlags& flags) {
    flags.scale_tier = "CUSTOM";
    flags.master.machine_type = "x";
  }));
}

TEST(SubmitFlags, AnImageAndARuntimeVersionExcludeEachOther) {
  SubmitFlags flags = Plain();
  flags.master.image_uri = "x";
  flags.runtime_version = "2.4";
  EXPECT_THAT(CheckServerFlags(flags, {}).error().message,
              HasSubstr("Only one of --master-image-uri, --runtime-version can be set."));
  flags.master.image_uri = "";
  EXPECT_TRUE(CheckServerFlags(flags, {}).ok());
}

TEST(SubmitFlags, ChoicesOfTiersAndAcceleratorsAreReadInAnySpelling) {
  EXPECT_EQ(ScaleTierOfChoice("standard-1"), "STANDARD_1");
  EXPECT_EQ(ScaleTierOfChoice("STANDARD_1"), "STANDARD_1");
  EXPECT_EQ(ScaleTierOfChoice("Basic-gpu"), "BASIC_GPU");
  EXPECT_EQ(ScaleTierOfChoice("foo"), "");
  EXPECT_EQ(AcceleratorOfChoice("nvidia-tesla-t4"), "NVIDIA_TESLA_T4");
  EXPECT_EQ(AcceleratorOfChoice("tpu_v2"), "TPU_V2");
  EXPECT_EQ(AcceleratorOfChoice("t4"), "");
}

// --strict: one row for each pitfall, with the field at fault and a word of the remedy.
TEST(SubmitFlags, StrictExplainsEachTrap) {
  struct Row {
    const char* yaml;
    const char* field;
    const char* remedy;
    std::function<void(SubmitFlags&)> set = {};
  };
  const Row rows[] = {
      {"trainingInput: {packageUris: [gs://b/x]}", "/trainingInput/packageUris", "--packages"},
      {"trainingInput: {enableWebAccess: true}", "/trainingInput/enableWebAccess",
       "--enable-web-access"},
      {"trainingInput: {region: europe-west1}", "/trainingInput/region", "--region"},
      {"jobId: other", "/jobId", "remove it"},
      {"trainingInput: {args: [a]}", "/trainingInput/args", "remove the `--`",
       [](SubmitFlags& flags) { flags.user_args.emplace(); }},
      {"labels: {x: z}", "/labels", "repeat them",
       [](SubmitFlags& flags) {
         flags.labels = Labels{{"a", "b"}};
       }},
      {"trainingInput: {scaleTeir: BASIC}", "/trainingInput/scaleTeir", "'scaleTier'"},
      {"trainingInput: {scaleTier: basic}", "/trainingInput/scaleTier", "one of BASIC,"},
      {"trainingInput: {masterConfig: {acceleratorConfig: {type: t4}}}",
       "/trainingInput/masterConfig/acceleratorConfig/type", "NVIDIA_TESLA_T4"},
      {"trainingInput: {workerCount: true}", "/trainingInput/workerCount",
       "write the value that you mean"},
      {"trainingInput: {args: [a]}\ntrainingInput: {}", "/trainingInput", "Remove one"},
      {"{}", "USER_ARGS", "before the `--`",
       [](SubmitFlags& flags) { flags.user_args = {"--job-dir=gs://b/x"}; }},
  };
  for (const Row& row : rows) {
    const Case c = With(row.yaml, row.set);
    const Status status = CheckTraps(c.flags, c.File());
    ASSERT_FALSE(status.ok()) << row.yaml;
    ASSERT_EQ(status.error().violations.size(), 1u) << row.yaml;
    EXPECT_EQ(status.error().violations[0].field, row.field) << row.yaml;
    EXPECT_THAT(status.error().violations[0].description, HasSubstr(row.remedy)) << row.yaml;
  }
}

TEST(SubmitFlags, StrictNamesTheUnknownTierThatBeatsTheFlagToo) {
  const Case c = With("trainingInput: {scaleTier: foo}",
                      [](SubmitFlags& flags) { flags.scale_tier = "BASIC"; });
  const Status status = CheckTraps(c.flags, c.File());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().violations.size(), 2u);
}

TEST(SubmitFlags, StrictHasNothingAgainstAPlainFile) {
  const Case c = With(
      "labels: {a: b}\ntrainingInput: {scaleTier: CUSTOM, masterType: x, region: us-central1, "
      "args: [a], workerCount: '2', job_dir: snake, hyperparameters: {params: [{minValue: 1}]}}",
      [](SubmitFlags& flags) {
        flags.labels = Labels{{"a", "c"}};
      });
  EXPECT_TRUE(CheckTraps(c.flags, c.File()).ok());
  EXPECT_TRUE(CheckTraps(Plain(), {}).ok());
}

}  // namespace
}  // namespace caip::client
