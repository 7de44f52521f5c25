// docs/service/vertex.md, sections 1 and 3: what a create body may look like.

#include "tests/support/large_bodies.h"
#include "tests/vertex/a_custom_job.h"
#include "vertex/document.h"
#include "vertex/schema/custom_job_schema.h"

namespace caip::vertex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(CustomJobJson, ReadsBothSpellingsInOneObject) {
  const CustomJob job = Parsed(FromText(R"({
    "display_name": "census",
    "jobSpec": {"worker_pool_specs": [{
      "machineSpec": {"machine_type": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4",
                      "accelerator_count": 2},
      "replica_count": 1.0,
      "container_spec": {"imageUri": "gcr.io/p/i", "env": [{"name": "A", "value": "b"}]}}],
      "base_output_directory": {"outputUriPrefix": "gs://bkt/out"}}})"));
  EXPECT_EQ(job.display_name, "census");
  const WorkerPoolSpec& pool = job.spec->pools.at(0);
  EXPECT_EQ(pool.machine->accelerator_type, "NVIDIA_TESLA_T4");
  EXPECT_EQ(pool.machine->accelerator_count, 2);
  EXPECT_EQ(pool.replica_count, 1);
  EXPECT_EQ(pool.container->env.at(0).value, "b");
  EXPECT_EQ(job.spec->BaseOutputDirectory(), "gs://bkt/out/");
}

TEST(CustomJobJson, ReadsEnumsByNameAndByNumber) {
  struct Row {
    const char* value;
    const char* name;
  };
  const Row kStrategies[] = {{"4", "SPOT"},
                             {"6", "FLEX_START"},
                             {"\"LOW_COST\"", "LOW_COST"},
                             {"3", "STANDARD"},
                             {"1", "ON_DEMAND"}};
  for (const Row& row : kStrategies) {
    Json job = AContainerJob();
    job["jobSpec"]["scheduling"]["strategy"] = FromText(row.value);
    EXPECT_EQ(Parsed(job).spec->scheduling.strategy, row.name);
  }
  const Row kAccelerators[] = {{"8", "NVIDIA_TESLA_A100"},
                               {"6", "TPU_V2"},
                               {"11", "NVIDIA_L4"},
                               {"18", "NVIDIA_RTX_PRO_6000"}};
  for (const Row& row : kAccelerators) {
    Json job = AContainerJob();
    job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["acceleratorType"] = FromText(row.value);
    EXPECT_EQ(Parsed(job).spec->pools[0].machine->accelerator_type, row.name);
  }
}

TEST(CustomJobJson, RefusesANumberThatNoValueHas) {
  for (const char* value : {"5", "7", "-1", "\"\"", "\"FASTEST\""}) {
    Json job = AContainerJob();
    job["jobSpec"]["scheduling"]["strategy"] = FromText(value);
    const auto parsed = ParseCustomJob(job);
    ASSERT_FALSE(parsed.ok()) << value;
    EXPECT_THAT(parsed.error().message, HasSubstr("'custom_job.job_spec.scheduling.strategy'"));
  }
}

TEST(CustomJobJson, TakesNullForAnAbsentField) {
  Json job = AContainerJob();
  job["labels"] = nullptr;
  job["jobSpec"]["scheduling"] = nullptr;
  job["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"] = nullptr;
  const CustomJob parsed = Parsed(job);
  EXPECT_FALSE(parsed.spec->pools[0].python_package);
  EXPECT_FALSE(parsed.plain.contains("labels"));
}

TEST(CustomJobJson, IgnoresFieldsThatOnlyTheServiceSets) {
  Json job = AContainerJob();
  job["webAccessUris"] = Json::object();
  job["name"] = 7;
  job["state"] = "NONSENSE";
  job["create_time"] = "yesterday";
  job["error"] = {{"code", "x"}};
  EXPECT_EQ(Parsed(job).plain, Parsed(AContainerJob()).plain);
}

TEST(CustomJobJson, RefusesUnknownNamesAtTheirParent) {
  struct Row {
    const char* pointer;
    const char* parent;
  };
  const Row rows[] = {
      {"/speed", "custom_job"},
      {"/jobSpec/jobDir", "custom_job.job_spec"},
      {"/jobSpec/workerPoolSpecs/0/machineSpec/gpu",
       "custom_job.job_spec.worker_pool_specs[0].machine_spec"},
      {"/jobSpec/workerPoolSpecs/0/containerSpec/image",
       "custom_job.job_spec.worker_pool_specs[0].container_spec"},
  };
  for (const Row& row : rows) {
    Json job = AContainerJob();
    const Json::json_pointer pointer{std::string(row.pointer)};
    job[pointer] = 1;
    const auto parsed = ParseCustomJob(job);
    ASSERT_FALSE(parsed.ok()) << row.pointer;
    EXPECT_EQ(parsed.error().message, "Invalid JSON payload received. Unknown name \"" +
                                          pointer.back() + "\" at '" + row.parent +
                                          "': Cannot find field.");
    EXPECT_THAT(parsed.error().violations, SizeIs(1));
  }
}

TEST(CustomJobJson, NamesAllWrongTypesAtOnce) {
  Json job = AContainerJob();
  job["displayName"] = 1;
  job["jobSpec"]["workerPoolSpecs"][0]["replicaCount"] = "two";
  job["jobSpec"]["scheduling"]["timeout"] = 3600;
  EXPECT_THAT(ParseCustomJob(job).error().violations, SizeIs(3));
  EXPECT_FALSE(ParseCustomJob(Json::array()).ok());
}

TEST(CustomJobJson, ListsTheFirstHundredOfHalfAMillionWrongValues) {
  const auto parsed =
      ParseCustomJob(FromText(R"({"jobSpec":{"workerPoolSpecs":[{"containerSpec":{"args":)" +
                              ListText(500'000, "5") + "}}]}}"));
  ASSERT_FALSE(parsed.ok());
  const Error& error = parsed.error();
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  ASSERT_EQ(error.violations.size(), 101u);
  EXPECT_THAT(error.violations[99].field, HasSubstr("container_spec.args[99]"));
  EXPECT_EQ(error.violations.back().description, "And 499900 more.");
  EXPECT_LT(error.message.size(), 30'000u);
}

// Validation counts the labels after the whole body is read.
TEST(CustomJobJson, ReadsManyKeysInLinearTime) {
  const std::string rest = "," + CompactJson(AContainerJob()).substr(1);
  const auto body = [&](int keys) { return "{\"labels\":" + ObjectText(keys) + rest; };
  ExpectLinearTime(25'000, body, [](const std::string& text) {
    EXPECT_THAT(Told(Validate(Parsed(FromText(text)), "us-central1")),
                ElementsAre(HasSubstr("000 labels.")));
  });
}

TEST(CustomJobJson, RefusesManyUnknownKeysInLinearTime) {
  const auto body = [](int keys) { return ObjectText(keys); };
  ExpectLinearTime(25'000, body, [](const std::string& text) {
    const auto parsed = ParseCustomJob(FromText(text));
    ASSERT_FALSE(parsed.ok());
    EXPECT_THAT(parsed.error().violations, SizeIs(101));
  });
}

TEST(CustomJobJson, KeepsEveryFieldThatAClientSent) {
  const Json sent = FromText(R"({"displayName": "x", "jobSpec": {
    "persistentResourceId": "pool-1",
    "workerPoolSpecs": [{
      "machineSpec": {"machineType": "m", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1,
        "gpuPartitionSize": "1g.10gb", "tpuTopology": "2x2", "reservationAffinity": {
          "reservationAffinityType": "SPECIFIC_RESERVATION", "key": "k", "values": ["v"]}},
      "replicaCount": "1",
      "nfsMounts": [{"server": "s", "path": "/p", "mountPoint": "/mnt/nfs/p"}],
      "lustreMounts": [{"instanceIp": "i", "volumeHandle": "v", "filesystem": "f",
                        "mountPoint": "/mnt/lustre"}],
      "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 200},
      "containerSpec": {"imageUri": "i", "command": ["c"], "args": ["a"],
                        "env": [{"name": "N", "value": "V"}]}},
      {},
      {"pythonPackageSpec": {"executorImageUri": "e", "packageUris": ["u"], "pythonModule": "m",
                             "args": ["a"], "env": [{"name": "N"}]}}],
    "scheduling": {"timeout": "3600s", "restartJobOnWorkerRestart": true, "strategy": "SPOT",
                   "disableRetries": true, "maxWaitDuration": "0s"},
    "serviceAccount": "a@b.c", "network": "n", "reservedIpRanges": ["r"],
    "pscInterfaceConfig": {"networkAttachment": "n", "dnsPeeringConfigs": [
      {"domain": "d", "targetProject": "p", "targetNetwork": "n"}]},
    "baseOutputDirectory": {"outputUriPrefix": "gs://b/o"},
    "protectedArtifactLocationId": "l", "tensorboard": "t", "enableWebAccess": true,
    "enableDashboardAccess": true, "experiment": "e", "experimentRun": "r", "models": ["m"]},
    "labels": {"a": "b"}, "encryptionSpec": {"kmsKeyName": "k"}})");
  EXPECT_EQ(ToStoredJson(Parsed(sent)), sent);
}

TEST(CustomJobJson, LeavesOutDefaultValues) {
  Json job = AContainerJob();
  Json& pool = job["jobSpec"]["workerPoolSpecs"][0];
  pool["containerSpec"]["command"] = Json::array();
  pool["machineSpec"]["acceleratorType"] = "ACCELERATOR_TYPE_UNSPECIFIED";
  pool["machineSpec"]["acceleratorCount"] = 0;
  job["labels"] = Json::object();
  job["jobSpec"]["network"] = "";
  job["jobSpec"]["enableWebAccess"] = false;
  job["jobSpec"]["workerPoolSpecs"].push_back({{"replicaCount", "0"}});
  Json shown = AContainerJob();
  shown["jobSpec"]["workerPoolSpecs"].push_back(Json::object());
  EXPECT_EQ(ToStoredJson(Parsed(job)), shown);
}

TEST(Document, IsReadAsItWasWritten) {
  const CustomJob job = Parsed(WithPools(APackageJob(), {0, 2}));
  const auto read = ReadDocument(ToDocument(job, "us-east1"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->region, "us-east1");
  EXPECT_EQ(read->job.plain, job.plain);
}

TEST(Document, OfAnotherApiIsRefused) {
  for (const char* text :
       {"{}", R"({"jobId": "x", "trainingInput": {}})", R"({"region": "r", "customJob": {}})",
        R"({"region": "r", "customJob": {"jobSpec": 1}})"}) {
    const auto read = ReadDocument(std::make_shared<const Json>(FromText(text)));
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Code::kDataLoss);
  }
}

}  // namespace
}  // namespace caip::vertex
