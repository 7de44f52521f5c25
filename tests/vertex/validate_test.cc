// docs/service/vertex.md, section 3: each rule once, and all violations at once.

#include <span>

#include "tests/vertex/a_custom_job.h"

namespace caip::vertex {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kRegion[] = "us-central1";
constexpr char kPool0[] = "/jobSpec/workerPoolSpecs/0";

/// A value that breaks exactly one rule of the job.
struct BrokenRule {
  const char* at;     // JSON pointer; below the first pool if it does not begin with '/'
  const char* value;  // JSON; "" removes the member
  const char* field;  // below job_spec.worker_pool_specs[0] if it begins with '.'
  const char* told;
};

std::string PointerOf(const char* at) {
  const std::string text = at;
  return text.starts_with('/') ? text : std::string(kPool0) + "/" + text;
}

std::string FieldOf(const char* field) {
  const std::string text = field;
  return text.starts_with('.') ? "job_spec.worker_pool_specs[0]" + text : text;
}

Json Changed(Json job, const char* at, const char* value) {
  const std::string path = PointerOf(at);
  const Json::json_pointer pointer(path);
  if (*value != '\0') {
    job[pointer] = FromText(value);
  } else {
    job[pointer.parent_pointer()].erase(pointer.back());
  }
  return job;
}

void ExpectEachBroken(const Json& valid, std::span<const BrokenRule> rows,
                      const ValidationOptions& options = {}) {
  ASSERT_THAT(Told(Validate(Parsed(valid), kRegion, options)), IsEmpty());
  for (const BrokenRule& row : rows) {
    SCOPED_TRACE(std::string(row.at) + " = " + row.value);
    const CustomJob job = Parsed(Changed(valid, row.at, row.value));
    EXPECT_THAT(Told(Validate(job, kRegion, options)),
                ElementsAre(AllOf(StartsWith(FieldOf(row.field) + ": "), HasSubstr(row.told))));
  }
}

struct LegalUse {
  const char* at;
  const char* value;
};

void ExpectEachLegal(const Json& valid, std::span<const LegalUse> rows) {
  for (const LegalUse& row : rows) {
    SCOPED_TRACE(std::string(row.at) + " = " + row.value);
    const CustomJob job = Parsed(Changed(valid, row.at, row.value));
    EXPECT_THAT(Told(Validate(job, kRegion)), IsEmpty());
  }
}

Json WithMachine(const char* machine, const char* type = nullptr, int count = 0) {
  Json job = AContainerJob();
  Json& spec = job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"];
  spec["machineType"] = machine;
  if (type) spec["acceleratorType"] = type;
  if (type) spec["acceleratorCount"] = count;
  return job;
}

TEST(Validate, TheJobNeedsANameAndPools) {
  const std::string long_name = "\"" + std::string(129, 'x') + "\"";
  const BrokenRule rows[] = {
      {"/displayName", "", "display_name", "Required field is not set."},
      {"/displayName", "\"\"", "display_name", "Required field is not set."},
      {"/displayName", long_name.c_str(), "display_name", "has 129 characters. At most 128"},
      {"/jobSpec", "", "job_spec", "Required field is not set."},
      {"/jobSpec/workerPoolSpecs", "[]", "job_spec.worker_pool_specs",
       "Required field is not set."},
      {"/jobSpec/workerPoolSpecs/0", "{}", "job_spec.worker_pool_specs[0]",
       "The first worker pool is empty."},
  };
  ExpectEachBroken(AContainerJob(), rows);
}

TEST(Validate, ADisplayNameHas128CharactersOfAnyScript) {
  Json job = AContainerJob();
  std::string name;
  for (int i = 0; i < 128; ++i) name += "\xE5\x90\x8D";
  job["displayName"] = name;
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)), IsEmpty());
}

TEST(Validate, APoolRunsEitherAnImageOrAPackage) {
  const BrokenRule rows[] = {
      {"containerSpec", "", "job_spec.worker_pool_specs[0]", "but none is."},
      {"pythonPackageSpec", R"({"pythonModule": "m"})", "job_spec.worker_pool_specs[0]",
       "but both are."},
      {"containerSpec/imageUri", "\"\"", ".container_spec.image_uri", "Required field is not set."},
      {"containerSpec/imageUri", "\"A B\"", ".container_spec.image_uri",
       "'A B' is not a container image."},
      {"containerSpec/command", R"(["a", "b\u0000"])", ".container_spec.command[1]", "NUL"},
      {"containerSpec/args", R"(["\u0000"])", ".container_spec.args[0]", "NUL"},
  };
  ExpectEachBroken(AContainerJob(), rows);
}

TEST(Validate, APackageNeedsItsImageItsFilesAndItsModule) {
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push_back("gs://bkt/p" + std::to_string(i) + ".tar.gz");
  const std::string many_text = CompactJson(many);
  const BrokenRule rows[] = {
      {"pythonPackageSpec/executorImageUri", "", ".python_package_spec.executor_image_uri",
       "Required field is not set."},
      {"pythonPackageSpec/packageUris", "[]", ".python_package_spec.package_uris",
       "Required field is not set."},
      {"pythonPackageSpec/packageUris", many_text.c_str(), ".python_package_spec.package_uris",
       "has 101 package URIs. At most 100"},
      {"pythonPackageSpec/packageUris", R"(["/tmp/p.tar.gz"])",
       ".python_package_spec.package_uris[0]", "It must have the form gs://BUCKET/OBJECT."},
      {"pythonPackageSpec/packageUris", R"(["gs://bkt"])", ".python_package_spec.package_uris[0]",
       "Name the package's archive"},
      {"pythonPackageSpec/pythonModule", "", ".python_package_spec.python_module",
       "Required field is not set."},
      {"pythonPackageSpec/pythonModule", "\"trainer/task.py\"",
       ".python_package_spec.python_module", "'trainer/task.py' is not a Python module."},
  };
  ExpectEachBroken(APackageJob(), rows);
}

TEST(Validate, ArgumentsHaveALimitTogether) {
  Json job = AContainerJob();
  Json& args = job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"];
  args = {std::string(60'000, 'a'), std::string(40'000, 'b')};
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)), IsEmpty());
  args.push_back("c");
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)),
              ElementsAre("job_spec.worker_pool_specs[0].container_spec.args: The arguments have "
                          "100001 characters together. At most 100000 are allowed."));
}

TEST(Validate, VariablesHaveUniqueIdentifiersAsNames) {
  const BrokenRule rows[] = {
      {"containerSpec/env", R"([{"value": "1"}])", ".container_spec.env[0].name",
       "Required field is not set."},
      {"containerSpec/env", R"([{"name": "1A"}])", ".container_spec.env[0].name", "'1A'"},
      {"containerSpec/env", R"([{"name": "A"}, {"name": "B-C"}])", ".container_spec.env[1].name",
       "'B-C' is not a name of an environment variable"},
      {"containerSpec/env", R"([{"name": "A"}, {"name": "B"}, {"name": "A"}])",
       ".container_spec.env", "EnvVar names must be unique."},
      {"containerSpec/env", R"([{"name": "A", "value": "\u0000"}])", ".container_spec.env[0].value",
       "NUL"},
  };
  ExpectEachBroken(AContainerJob(), rows);
  Json job = AContainerJob();
  for (int i = 0; i < 101; ++i) {
    job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"].push_back(
        {{"name", "V" + std::to_string(i)}, {"value", ""}});
  }
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)),
              ElementsAre(HasSubstr("has 101 environment variables. At most 100")));
}

TEST(Validate, ReplicasAndDisksHaveLimits) {
  const BrokenRule rows[] = {
      {"replicaCount", "2", ".replica_count", "has 2 replicas. It must have exactly 1"},
      {"replicaCount", "0", ".replica_count", "has 0 replicas. It must have exactly 1"},
      {"diskSpec", R"({"bootDiskType": "floppy"})", ".disk_spec.boot_disk_type",
       "'floppy' is not a type of boot disks."},
      {"diskSpec", R"({"bootDiskSizeGb": 99})", ".disk_spec.boot_disk_size_gb",
       "99 GB is out of range. Use 100 to 64000 GB."},
      {"diskSpec", R"({"bootDiskSizeGb": 64001})", ".disk_spec.boot_disk_size_gb",
       "64001 GB is out of range."},
  };
  ExpectEachBroken(AContainerJob(), rows);
  const LegalUse legal[] = {
      {"replicaCount", ""},
      {"replicaCount", "1.0"},
      {"diskSpec", R"({"bootDiskType": "hyperdisk-balanced", "bootDiskSizeGb": 64000})"},
      {"diskSpec", "{}"},
  };
  ExpectEachLegal(AContainerJob(), legal);
}

TEST(Validate, LaterPoolsMayBeSkippedButNotTheirReplicas) {
  EXPECT_THAT(Told(Validate(Parsed(WithPools(AContainerJob(), {0, 3, 0})), kRegion)), IsEmpty());
  Json job = WithPools(AContainerJob(), {1});
  job["jobSpec"]["workerPoolSpecs"][1]["replicaCount"] = -1;
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)),
              ElementsAre(HasSubstr("The replica count -1 is not positive.")));
  EXPECT_THAT(Told(Validate(Parsed(WithPools(AContainerJob(), {1, 1, 1, 1})), kRegion)),
              ElementsAre(HasSubstr("The job has 5 worker pools. At most 4")));
  EXPECT_THAT(Told(Validate(Parsed(WithPools(AContainerJob(), {1'000})), kRegion)),
              ElementsAre(HasSubstr("more than 1000 replicas together")));
}

TEST(Validate, MachinesHaveKnownTypes) {
  const BrokenRule rows[] = {
      {"machineSpec", "", ".machine_spec.machine_type", "Required field is not set."},
      {"machineSpec/machineType", "\"n1-standard-5\"", ".machine_spec.machine_type",
       "'n1-standard-5' is not a machine type of custom training. The nearest one is "},
      {"machineSpec/machineType", "\"BASIC\"", ".machine_spec.machine_type",
       "'BASIC' is not a machine type"},
  };
  ExpectEachBroken(AContainerJob(), rows);
}

TEST(Validate, AcceleratorTypeAndCountComeTogether) {
  const BrokenRule rows[] = {
      {"machineSpec/acceleratorType", "\"NVIDIA_TESLA_T4\"", ".machine_spec.accelerator_type",
       "Both `accelerator_type` and `accelerator_count` should be specified or none."},
      {"machineSpec/acceleratorCount", "1", ".machine_spec.accelerator_type",
       "Both `accelerator_type` and `accelerator_count` should be specified or none."},
      {"machineSpec/acceleratorCount", "-1", ".machine_spec.accelerator_count", "-1 is negative"},
  };
  ExpectEachBroken(AContainerJob(), rows);
}

TEST(Validate, EachMachineTakesCertainAccelerators) {
  struct Row {
    const char* machine;
    const char* type;
    int count;
    const char* told;  // "" legal
  };
  const Row rows[] = {
      {"n1-standard-4", "NVIDIA_TESLA_K80", 8, ""},
      {"n1-standard-4", "NVIDIA_TESLA_T4", 3, "Legal counts: 1, 2, 4."},
      {"n1-standard-32", "NVIDIA_TESLA_T4", 1, "Legal counts: 2, 4."},
      {"n1-highcpu-64", "NVIDIA_TESLA_K80", 8, ""},
      {"n1-standard-4", "NVIDIA_L4", 1,
       "Accelerator \"NVIDIA_L4\" is not supported for machine type \"n1-standard-4\""},
      {"e2-standard-4", "NVIDIA_TESLA_T4", 1, "is not supported for machine type"},
      {"a2-highgpu-2g", "NVIDIA_TESLA_A100", 2, ""},
      {"a2-highgpu-2g", "NVIDIA_TESLA_A100", 1, "Legal counts: 2."},
      {"a2-highgpu-2g", nullptr, 0, "must be named. Set accelerator_type to NVIDIA_TESLA_A100"},
      {"a3-highgpu-8g", nullptr, 0, "must be named"},
      {"a4-highgpu-8g", "NVIDIA_B200", 8, ""},
      {"g2-standard-24", "NVIDIA_L4", 2, ""},
      {"g4-standard-48", nullptr, 0, "must be named"},
      {"ct5lp-hightpu-4t", nullptr, 0, "must be named"},
      {"cloud-tpu", nullptr, 0, "must be named"},
      {"cloud-tpu", "TPU_V2", 8, ""},
      {"cloud-tpu", "TPU_V3", 64, ""},
      {"cloud-tpu", "TPU_V3", 12, "Legal counts: 8, a multiple of 32."},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.machine) + " with " + (row.type ? row.type : "none"));
    const auto told =
        Told(Validate(Parsed(WithMachine(row.machine, row.type, row.count)), kRegion));
    if (*row.told == '\0') {
      EXPECT_THAT(told, IsEmpty());
    } else {
      EXPECT_THAT(told, ElementsAre(HasSubstr(row.told)));
    }
  }
}

TEST(Validate, MountsAreBelowTheirRoot) {
  const BrokenRule rows[] = {
      {"nfsMounts", R"([{"path": "/a", "mountPoint": "/mnt/nfs/a"}])", ".nfs_mounts[0].server",
       "Required field is not set."},
      {"nfsMounts", R"([{"server": "s", "path": "a", "mountPoint": "/mnt/nfs/a"}])",
       ".nfs_mounts[0].path", "The path 'a' is not absolute."},
      {"nfsMounts", R"([{"server": "s", "path": "/a", "mountPoint": "/mnt/a"}])",
       ".nfs_mounts[0].mount_point", "'/mnt/a' is not below /mnt/nfs/."},
      {"nfsMounts", R"([{"server": "s", "path": "/a/../b", "mountPoint": "a"}])",
       ".nfs_mounts[0].path", "leave out '..'"},
      {"nfsMounts", R"([{"server": "s", "path": "/a", "mountPoint": "/mnt/nfs/"}])",
       ".nfs_mounts[0].mount_point", "'/mnt/nfs/' is not below /mnt/nfs/."},
      {"nfsMounts", R"([{"server": "s", "path": "/a", "mountPoint": "a/../b"}])",
       ".nfs_mounts[0].mount_point", "'a/../b' is not below /mnt/nfs/."},
      {"nfsMounts", R"([{"server": "s", "path": "/a", "mountPoint": "."}])",
       ".nfs_mounts[0].mount_point", "'.' is not below /mnt/nfs/."},
      {"nfsMounts", R"([{"server": "s", "path": "/a", "mountPoint": "a"},
                        {"server": "s", "path": "/b", "mountPoint": "/mnt/nfs/a/"}])",
       ".nfs_mounts[1].mount_point", "The mount at '/mnt/nfs/a' and that at '/mnt/nfs/a'"},
      {"nfsMounts", R"([{"server": "s", "path": "/a", "mountPoint": "a/b"},
                        {"server": "s", "path": "/b", "mountPoint": "a"}])",
       ".nfs_mounts[1].mount_point", "'/mnt/nfs/a' and that at '/mnt/nfs/a/b'"},
      {"nfsMounts", R"([{"server": "s", "path": "/a"}])", ".nfs_mounts[0].mount_point",
       "Required field is not set."},
  };
  ExpectEachBroken(AContainerJob(), rows);
}

TEST(Validate, MountsMayBeBesideEachOther) {
  const Json job = Changed(AContainerJob(), "nfsMounts",
                           R"([{"server": "s", "path": "/a", "mountPoint": "data"},
                               {"server": "s", "path": "/a", "mountPoint": "data2"},
                               {"server": "s", "path": "/", "mountPoint": "/mnt/nfs/x/y"}])");
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)), IsEmpty());
}

TEST(Validate, OfManyMountsThatAreNotServedNamesTheFirst) {
  Json job = Changed(AContainerJob(), "nfsMounts", "[]");
  Json& mounts = job["jobSpec"]["workerPoolSpecs"][0]["nfsMounts"];
  for (int i = 0; i < 5000; ++i) {
    mounts.push_back({{"server", "s"}, {"path", "/a"}, {"mountPoint", "m" + std::to_string(i)}});
  }
  const Status status = StatusOf(FindUnserved(Parsed(job), {}), {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kUnimplemented);
  ASSERT_EQ(status.error().violations.size(), 101u);
  EXPECT_EQ(status.error().violations.back().description, "And 4900 more.");
  EXPECT_LT(status.error().message.size(), 50'000u);
}

TEST(Validate, SchedulingHasItsRules) {
  const BrokenRule rows[] = {
      {"/jobSpec/scheduling", R"({"timeout": "0s"})", "job_spec.scheduling.timeout",
       "The timeout '0s' is not positive."},
      {"/jobSpec/scheduling", R"({"maxWaitDuration": "-1s"})",
       "job_spec.scheduling.max_wait_duration", "'-1s' is negative."},
      {"/jobSpec/scheduling", R"({"strategy": "FLEX_START"})", ".machine_spec.accelerator_type",
       "FLEX_START needs accelerators, but the pool has none. Use one of: NVIDIA_L4, "},
  };
  ExpectEachBroken(AContainerJob(), rows);
  const LegalUse legal[] = {
      {"/jobSpec/scheduling", R"({"strategy": "SPOT", "timeout": "864000s"})"},
      {"/jobSpec/scheduling", R"({"maxWaitDuration": "0s", "disableRetries": true})"},
      {"/jobSpec/scheduling", R"({"strategy": 3})"},
  };
  ExpectEachLegal(AContainerJob(), legal);
}

TEST(Validate, FlexStartNeedsEqualMachinesAndAtMostAWeek) {
  Json job = WithPools(WithMachine("g2-standard-4", "NVIDIA_L4", 1), {2});
  job["jobSpec"]["scheduling"] = {{"strategy", "FLEX_START"}, {"timeout", "604800s"}};
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)), IsEmpty());
  job["jobSpec"]["scheduling"]["timeout"] = "604801s";
  job["jobSpec"]["workerPoolSpecs"][1]["machineSpec"]["machineType"] = "g2-standard-8";
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)),
              ElementsAre(HasSubstr("needs the same machine in all worker pools"),
                          HasSubstr("The timeout '604801s' is too long")));
}

TEST(Validate, SpotMachinesAreNoTpuPods) {
  Json job = WithMachine("cloud-tpu", "TPU_V3", 32);
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)), IsEmpty());
  job["jobSpec"]["scheduling"]["strategy"] = "SPOT";
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)),
              ElementsAre(HasSubstr("cannot be used with a TPU pod (32 TPU_V3)")));
}

TEST(Validate, PlacesAndNamesHaveTheirForms) {
  const BrokenRule rows[] = {
      {"/jobSpec/baseOutputDirectory", "{}", "job_spec.base_output_directory.output_uri_prefix",
       "Required field is not set."},
      {"/jobSpec/baseOutputDirectory", R"({"outputUriPrefix": "/tmp"})",
       "job_spec.base_output_directory.output_uri_prefix",
       "The output directory '/tmp' is not a location in Cloud Storage."},
      {"/jobSpec/serviceAccount", "\"me\"", "job_spec.service_account", "'me' is malformed"},
      {"/jobSpec/tensorboard", R"("projects/1/locations/us-central1/tensorboards/2")",
       "job_spec.service_account",
       "custom_job.job_spec.service_account must be specified when uploading to TensorBoard"},
      {"/jobSpec/network", "\"default\"", "job_spec.network", "'default' is malformed"},
      {"/jobSpec/reservedIpRanges", R"(["A"])", "job_spec.reserved_ip_ranges", "'A' is malformed"},
      {"/jobSpec/pscInterfaceConfig", R"({"networkAttachment": "a/b"})",
       "job_spec.psc_interface_config.network_attachment", "'a/b' is malformed"},
      {"/jobSpec/experiment", "\"e\"", "job_spec.experiment", "metadataStores/S/contexts/C"},
      {"/jobSpec/experimentRun", "\"e\"", "job_spec.experiment_run", "'e' is malformed"},
      {"/jobSpec/models", R"(["m"])", "job_spec.models", "'m' is malformed"},
      {"/jobSpec/protectedArtifactLocationId", "\"Mars\"",
       "job_spec.protected_artifact_location_id", "'Mars' is malformed"},
      {"/jobSpec/persistentResourceId", "\"X\"", "job_spec.persistent_resource_id",
       "'X' is malformed"},
      {"/labels", R"({"A": "b"})", "labels",
       "There can be no more than 64 labels attached to a single resource. Label keys and values "
       "can only contain lowercase letters, numbers, dashes and underscores"},
      {"/labels", R"({"a": "B"})", "labels", "The value 'B' is not allowed."},
      {"/encryptionSpec", "{}", "encryption_spec.kms_key_name", "Required field is not set."},
      {"/encryptionSpec", R"({"kmsKeyName": "k"})", "encryption_spec.kms_key_name",
       "'k' is malformed"},
      {"/encryptionSpec",
       R"({"kmsKeyName": "projects/p/locations/us-east1/keyRings/r/cryptoKeys/k"})",
       "encryption_spec.kms_key_name", "The key is in location 'us-east1'"},
  };
  ExpectEachBroken(AContainerJob(), rows);
}

TEST(Validate, AJobHasAtMost64Labels) {
  Json job = AContainerJob();
  for (int i = 0; i < 64; ++i) job["labels"]["k" + std::to_string(i)] = "v";
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)), IsEmpty());
  job["labels"]["one-more"] = "v";
  EXPECT_THAT(Told(Validate(Parsed(job), kRegion)),
              ElementsAre(AllOf(StartsWith("labels: There can be no more than 64 labels"),
                                HasSubstr("There are 65 labels."))));
}

TEST(Validate, AJobMayUseEveryField) {
  const CustomJob job = Parsed(FromText(R"~({
    "displayName": "x", "labels": {"team": "a"},
    "encryptionSpec": {
      "kmsKeyName": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"},
    "jobSpec": {
      "workerPoolSpecs": [{
        "machineSpec": {"machineType": "cloud-tpu", "acceleratorType": "TPU_V2",
                        "acceleratorCount": 8, "tpuTopology": "2x2",
                        "reservationAffinity": {"reservationAffinityType": "ANY_RESERVATION"}},
        "containerSpec": {"imageUri": "gcr.io/p/i", "env": [{"name": "A", "value": "$(B)"}]
}
}],
      "network": "projects/12345/global/networks/myVPC", "reservedIpRanges": ["range-1"],
      "pscInterfaceConfig": {"networkAttachment": "projects/p/regions/r/networkAttachments/n"},
      "serviceAccount": "a@p.iam.gserviceaccount.com",
      "tensorboard": "projects/1/locations/us-central1/tensorboards/2",
      "baseOutputDirectory": {"outputUriPrefix": "gs://bkt/out"},
      "experiment": "projects/1/locations/us-central1/metadataStores/default/contexts/e",
      "models": ["projects/1/locations/us-central1/models/7@golden"],
      "protectedArtifactLocationId": "us-east1",
      "enableWebAccess": true, "enableDashboardAccess": true
}
})~"));
  EXPECT_THAT(Told(Validate(job, kRegion)), IsEmpty());
}

TEST(Validate, TheLocationIsARegionOfTraining) {
  const CustomJob job = Parsed(AContainerJob());
  EXPECT_THAT(Told(Validate(job, "mars")),
              ElementsAre(StartsWith("parent: 'mars' is not a region of custom training. Use one "
                                     "of: africa-south1, asia-east1, ")));
  EXPECT_THAT(Told(Validate(job, "mars", {.extra_regions = {"mars"}})), IsEmpty());
  EXPECT_THAT(ValidationOptions{}.RegionNames(), SizeIs(38));
}

TEST(CheckCustomJob, ListsAllViolationsInOneMessagePoolsFirst) {
  Json job = Changed(AContainerJob(), "machineSpec/acceleratorCount", "1");
  job.erase("displayName");
  const Status checked = CheckCustomJob(Parsed(job), kRegion);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, Code::kInvalidArgument);
  EXPECT_EQ(checked.error().message,
            "List of found errors:\t"
            "1.Field: job_spec.worker_pool_specs[0].machine_spec.accelerator_type; Message: Both "
            "`accelerator_type` and `accelerator_count` should be specified or none.\t"
            "2.Field: display_name; Message: Required field is not set.\t");
  EXPECT_THAT(checked.error().violations, SizeIs(2));
}

TEST(CheckCustomJob, SendsSomeTextsAloneAsAPlainMessage) {
  const Json job = WithMachine("n1-standard-4", "NVIDIA_L4", 1);
  const Status checked = CheckCustomJob(Parsed(job), kRegion);
  EXPECT_EQ(checked.error().message,
            "Accelerator \"NVIDIA_L4\" is not supported for machine type \"n1-standard-4\"");
  EXPECT_THAT(checked.error().violations, SizeIs(1));
  const Status with_more = CheckCustomJob(Parsed(Changed(job, "/displayName", "")), kRegion);
  EXPECT_THAT(with_more.error().message, StartsWith("List of found errors:\t1.Field: job_spec."));
}

TEST(CheckCustomJob, NamesWhatIsNotServedBeforeAnythingElse) {
  struct Row {
    const char* at;
    const char* value;
    const char* told;
  };
  const Row rows[] = {
      {"lustreMounts", R"([{"instanceIp": "10.0.0.1"}])", "'lustreMounts'"},
      {"nfsMounts", R"([{"server": "10.0.0.2", "path": "/b"}])", "'10.0.0.2:/b'"},
      {"nfsMounts", R"([{"server": "10.0.0.2", "path": "/ab"}])", "'10.0.0.2:/ab'"},
      {"nfsMounts", R"([{"server": "10.0.0.3", "path": "/a"}])", "'10.0.0.3:/a'"},
  };
  for (const Row& row : rows) {
    Json job = Changed(AContainerJob(), row.at, row.value);
    job.erase("displayName");
    const Status checked =
        CheckCustomJob(Parsed(job), kRegion, {.nfs_exports = {{"10.0.0.2:/a", "/srv"}}});
    ASSERT_FALSE(checked.ok()) << row.value;
    EXPECT_EQ(checked.error().code, Code::kUnimplemented);
    EXPECT_THAT(checked.error().message, HasSubstr(row.told));
  }
  const Json mapped =
      Changed(AContainerJob(), "nfsMounts",
              R"([{"server": "10.0.0.2", "path": "/a", "mountPoint": "/mnt/nfs/a"}])");
  EXPECT_FALSE(CheckCustomJob(Parsed(mapped), kRegion).ok());
  EXPECT_TRUE(
      CheckCustomJob(Parsed(mapped), kRegion, {.nfs_exports = {{"10.0.0.2:/a", "/srv"}}}).ok());
}

TEST(CheckCustomJob, FindsPersistentResourcesThatTheSettingsDeclare) {
  const CustomJob job =
      Parsed(Changed(AContainerJob(), "/jobSpec/persistentResourceId", "\"pool-1\""));
  EXPECT_EQ(CheckCustomJob(job, kRegion).error().code, Code::kNotFound);
  EXPECT_TRUE(CheckCustomJob(job, kRegion, {.persistent_resources = {"pool-1"}}).ok());
}

}  // namespace
}  // namespace caip::vertex
