// https://cloud.google.com/ai-platform/training/docs/machine-types and .../using-gpus,
// .../using-tpus

#include "ml/validate/violations.h"
#include "tests/ml/validate_rules.h"

namespace caip::ml {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void Workers(TrainingInput& input, const char* machine, int64_t count) {
  input.worker.machine_type = machine;
  input.worker.count = count;
}

AcceleratorConfig& Accelerator(RoleInput& role) {
  if (!role.config) role.config.emplace();
  return role.config->accelerator_config.emplace();
}

TEST(ValidateMachines, ATierOtherThanCustomChoosesTheMachinesItself) {
  const BrokenRule rows[] = {
      {"masterType only with CUSTOM",
       [](TrainingInput& input) { input.master.machine_type = "n1-standard-8"; }, "master_type",
       "'n1-standard-8' can be asked for only with scale tier 'CUSTOM', but the job's is 'BASIC'"},
      {"workerCount only with CUSTOM", [](TrainingInput& input) { input.worker.count = 2; },
       "worker_count", "only with scale tier 'CUSTOM'"},
      {"workerType only with CUSTOM",
       [](TrainingInput& input) { input.worker.machine_type = "standard"; }, "worker_type",
       "only with scale tier 'CUSTOM'"},
      {"parameterServerCount only with CUSTOM",
       [](TrainingInput& input) { input.parameter_server.count = 1; }, "parameter_server_count",
       "only with scale tier 'CUSTOM'"},
      {"evaluatorType only with CUSTOM",
       [](TrainingInput& input) { input.evaluator.machine_type = "standard"; }, "evaluator_type",
       "only with scale tier 'CUSTOM'"},
      {"an absent tier is BASIC",
       [](TrainingInput& input) {
         input.scale_tier.clear();
         input.evaluator.count = 1;
       },
       "evaluator_count", "but the job's is 'BASIC'"},
      {"acceleratorConfig needs a machine type",
       [](TrainingInput& input) {
         Accelerator(input.master) = {1, "NVIDIA_TESLA_T4"};
       },
       "master_config.accelerator_config", "Set scale_tier to CUSTOM and master_type"},
      {"a tier must exist", [](TrainingInput& input) { input.scale_tier = "HUGE"; }, "scale_tier",
       "'HUGE' is not offered"},
  };
  ExpectEachReported(AJob(), rows);
}

TEST(ValidateMachines, EveryTierIsAcceptedAlone) {
  for (const char* tier : {"", "BASIC", "STANDARD_1", "PREMIUM_1", "BASIC_GPU", "BASIC_TPU"}) {
    Job job = AJob();
    job.training_input->scale_tier = tier;
    EXPECT_THAT(Told(Validate(job)), IsEmpty()) << tier;
  }
}

TEST(ValidateMachines, CustomNeedsTypesAndCounts) {
  const BrokenRule rows[] = {
      {"masterType is required with CUSTOM",
       [](TrainingInput& input) { input.master.machine_type = ""; }, "master_type",
       "The field is required"},
      {"a count needs a type", [](TrainingInput& input) { input.worker.count = 2; }, "worker_type",
       "asks for 2 replicas of role worker, but not on which machines. Set worker_type"},
      {"a type needs a count",
       [](TrainingInput& input) { input.parameter_server.machine_type = "n1-standard-4"; },
       "parameter_server_count", "Set parameter_server_count to 1 or more"},
      {"the same for evaluators", [](TrainingInput& input) { input.evaluator.count = 1; },
       "evaluator_type", "Set evaluator_type"},
      {"a count is not negative", [](TrainingInput& input) { Workers(input, "n1-standard-8", -1); },
       "worker_count", "The count -1 is negative"},
      {"a cluster fits into one machine's memory",
       [](TrainingInput& input) { Workers(input, "n1-standard-8", INT64_MAX); }, "worker_count",
       "more than 10000 replicas"},
      {"a machine type must exist",
       [](TrainingInput& input) { input.master.machine_type = "n1-standard"; }, "master_type",
       "The specified machine type 'n1-standard' is not available"},
      {"n1-standard-1 is not accepted",
       [](TrainingInput& input) { input.master.machine_type = "n1-standard-1"; }, "master_type",
       "'n1-standard-1' is not available"},
      {"n1-highcpu-8 is for tiers only",
       [](TrainingInput& input) { input.master.machine_type = "n1-highcpu-8"; }, "master_type",
       "inside scale tiers only"},
      {"every role's type must exist", [](TrainingInput& input) { Workers(input, "huge", 1); },
       "worker_type", "'huge' is not available"},
  };
  ExpectEachReported(ACustomJob(), rows);
}

TEST(ValidateMachines, LegacyAndComputeEngineTypesDoNotMix) {
  const BrokenRule rows[] = {
      {"workers", [](TrainingInput& input) { Workers(input, "large_model", 1); }, "worker_type",
       "'large_model' is a legacy one, but master_type 'n1-standard-8' is one of Compute Engine"},
      {"parameter servers",
       [](TrainingInput& input) {
         input.parameter_server.machine_type = "standard";
         input.parameter_server.count = 1;
       },
       "parameter_server_type", "must be legacy ones, or all Compute Engine's"},
      {"evaluators",
       [](TrainingInput& input) {
         input.evaluator.machine_type = "standard_gpu";
         input.evaluator.count = 1;
       },
       "evaluator_type", "must be legacy ones, or all Compute Engine's"},
  };
  ExpectEachReported(ACustomJob(), rows);
  Job all_legacy = ACustomJob("standard");
  Workers(*all_legacy.training_input, "complex_model_l_v100", 3);
  EXPECT_THAT(Told(Validate(all_legacy)), IsEmpty());
}

TEST(ValidateMachines, DisksAreOfTwoTypesAndOfSizesBetween100And64000) {
  const auto disk = [](const char* type, int32_t size_gb) {
    return [type, size_gb](TrainingInput& input) {
      input.master.config.emplace().disk_config = DiskConfig{type, size_gb};
    };
  };
  const BrokenRule rows[] = {
      {"type", disk("pd-fast", 100), "master_config.disk_config.boot_disk_type",
       "'pd-fast' is not available. Options are [pd-ssd, pd-standard]"},
      {"too small", disk("pd-ssd", 99), "master_config.disk_config.boot_disk_size_gb",
       "99 GB is out of range. It must be 100 to 64000"},
      {"too large", disk("", 64001), "master_config.disk_config.boot_disk_size_gb", "64001 GB"},
      {"negative", disk("", -1), "master_config.disk_config.boot_disk_size_gb", "-1 GB"},
  };
  ExpectEachReported(ACustomJob(), rows);
  const AllowedUse fine[] = {{"least", disk("pd-ssd", 100)},
                             {"most", disk("pd-standard", 64000)},
                             {"nothing said", disk("", 0)}};
  ExpectEachAllowed(ACustomJob(), fine);
}

TEST(ValidateAccelerators, FaultsAreToldWithWhatWouldBeRight) {
  const auto gpu = [](int64_t count, const char* type) {
    return [=](TrainingInput& input) { Accelerator(input.master) = {count, type}; };
  };
  const BrokenRule rows[] = {
      {"type missing", gpu(1, ""), "master_config.accelerator_config.type", "required"},
      {"type unspecified", gpu(1, "ACCELERATOR_TYPE_UNSPECIFIED"),
       "master_config.accelerator_config.type", "required"},
      {"count missing", gpu(0, "NVIDIA_TESLA_T4"), "master_config.accelerator_config.count",
       "It must be 1 or more"},
      {"count negative", gpu(-4, "NVIDIA_TESLA_T4"), "master_config.accelerator_config.count",
       "The count -4"},
      {"count illegal", gpu(3, "NVIDIA_TESLA_V100"), "master_config.accelerator_config.count",
       "3 accelerators 'NVIDIA_TESLA_V100' cannot be used with machine type 'n1-standard-8'. "
       "Options are [1, 2, 4, 8]"},
      {"type not for the machine", gpu(1, "NVIDIA_TESLA_A100"),
       "master_config.accelerator_config.type",
       "Options are [NVIDIA_TESLA_K80, NVIDIA_TESLA_P100, NVIDIA_TESLA_P4, NVIDIA_TESLA_T4, "
       "NVIDIA_TESLA_V100]"},
      {"machine without accelerators",
       [&](TrainingInput& input) {
         input.master.machine_type = "e2-standard-8";
         Accelerator(input.master) = {1, "NVIDIA_TESLA_T4"};
       },
       "master_config.accelerator_config.type", "It takes none"},
      {"legacy machine",
       [&](TrainingInput& input) {
         input.master.machine_type = "standard_gpu";
         Accelerator(input.master) = {1, "NVIDIA_TESLA_K80"};
       },
       "master_config.accelerator_config", "legacy machine type 'standard_gpu'"},
      {"TPU on a machine", gpu(8, "TPU_V2"), "master_config.accelerator_config.type",
       "only workers of machine type 'cloud_tpu'"},
      {"each role by itself",
       [](TrainingInput& input) {
         Workers(input, "n1-highmem-96", 2);
         Accelerator(input.worker) = {1, "NVIDIA_TESLA_P4"};
       },
       "worker_config.accelerator_config.count", "Options are [4]"},
      {"a role without a machine",
       [](TrainingInput& input) {
         Accelerator(input.evaluator) = {1, "NVIDIA_TESLA_T4"};
       },
       "evaluator_config.accelerator_config", "evaluator_type"},
  };
  ExpectEachReported(ACustomJob(), rows);
}

// Every machine type x every accelerator x every count from 1 to 17, against the catalog, whose own
// test holds it against the table of the documentation.
TEST(ValidateAccelerators, ExactlyTheCountsOfTheTableAreAccepted) {
  const char* types[] = {"NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100", "NVIDIA_TESLA_V100",
                         "NVIDIA_TESLA_P4",  "NVIDIA_TESLA_T4",   "NVIDIA_TESLA_A100"};
  int accepted = 0;
  for (const MachineType& machine : DefaultCatalog().machines()) {
    if (machine.category != MachineCategory::kComputeEngine || machine.tier_only) continue;
    for (const char* type : types) {
      const auto row = machine.accelerator_counts.find(type);
      const bool fits = row != machine.accelerator_counts.end();
      const std::vector<int64_t> legal = fits ? row->second : std::vector<int64_t>();
      for (int64_t count = 1; count <= 17; ++count) {
        Job job = ACustomJob(machine.name);
        Accelerator(job.training_input->master) = {count, type};
        const bool is_legal = std::find(legal.begin(), legal.end(), count) != legal.end();
        accepted += is_legal;
        EXPECT_EQ(Validate(job).empty(), is_legal) << machine.name << " " << count << " " << type;
      }
    }
  }
  EXPECT_EQ(accepted, 185) << "as many as the table of the documentation has";
}

TEST(ValidateTpu, MisuseIsToldInTheServicesWords) {
  const BrokenRule rows[] = {
      {"cloud_tpu is not a master type",
       [](TrainingInput& input) { input.master.machine_type = "cloud_tpu"; }, "master_type",
       "The specified machine type for masteris not supported in TPU training jobs: cloud_tpu"},
      {"nor a parameter server",
       [](TrainingInput& input) {
         input.parameter_server.machine_type = "cloud_tpu";
         input.parameter_server.count = 1;
       },
       "parameter_server_type",
       "The specified machine type for parameter server is not supported in TPU training jobs"},
      {"the master has no GPU of its own",
       [](TrainingInput& input) { input.master.machine_type = "standard_gpu"; }, "master_type",
       "for masteris not supported in TPU training jobs: standard_gpu"},
      {"nor an added one",
       [](TrainingInput& input) {
         Accelerator(input.master) = {1, "NVIDIA_TESLA_T4"};
       },
       "master_type", "for masteris not supported in TPU training jobs: n1-standard-8"},
      {"one TPU worker", [](TrainingInput& input) { input.worker.count = 2; }, "worker_count",
       "not 2. Set worker_count to 1"},
      {"cores come in eights",
       [](TrainingInput& input) {
         Accelerator(input.worker) = {4, "TPU_V3"};
       },
       "worker_config.accelerator_config.count", "Options are [8]"},
      {"pods in 32s",
       [](TrainingInput& input) {
         Accelerator(input.worker) = {8, "TPU_V2_POD"};
       },
       "worker_config.accelerator_config.count", "Options are [32 or a multiple of it]"},
      {"no GPU on a TPU node",
       [](TrainingInput& input) {
         Accelerator(input.worker) = {1, "NVIDIA_TESLA_T4"};
       },
       "worker_config.accelerator_config.type",
       "Options are [TPU_V2, TPU_V2_POD, TPU_V3, TPU_V3_POD, TPU_V4_POD]"},
      {"2.3 has no TPU", [](TrainingInput& input) { input.runtime_version = "2.3"; },
       "runtime_version",
       "The specified runtime version '2.3' is not supported for TPU training. Please specify a "
       "different runtime version."},
      {"tpuTfVersion is for containers",
       [](TrainingInput& input) { input.worker.config.emplace().tpu_tf_version = "2.1"; },
       "tpu_tf_version", "worker_config.tpu_tf_version can be set only"},
  };
  ExpectEachReported(ATpuJob(), rows);
}

TEST(ValidateTpu, LegalJobsAreAccepted) {
  const AllowedUse rows[] = {
      {"v2-8 when nothing is said", [](TrainingInput&) {}},
      {"v3-8",
       [](TrainingInput& input) {
         Accelerator(input.worker) = {8, "TPU_V3"};
       }},
      {"pod",
       [](TrainingInput& input) {
         Accelerator(input.worker) = {64, "TPU_V3_POD"};
       }},
      {"a legacy master", [](TrainingInput& input) { input.master.machine_type = "standard"; }},
  };
  ExpectEachAllowed(ATpuJob(), rows);
}

TEST(ValidateTpu, ACustomContainerTellsItsTensorFlow) {
  Job job = AContainerJob();
  Workers(*job.training_input, "cloud_tpu", 1);
  EXPECT_THAT(Told(Validate(job)),
              ::testing::ElementsAre(HasSubstr("tpu_tf_version: The field is required")));
  ReplicaConfig& worker = job.training_input->worker.config.emplace();
  worker.tpu_tf_version = "2.1";
  EXPECT_THAT(Told(Validate(job)), IsEmpty());
  for (const char* version : {"2.3", "9.9", "two"}) {
    worker.tpu_tf_version = version;
    EXPECT_THAT(Told(Validate(job)),
                ::testing::ElementsAre(
                    std::string("tpu_tf_version: The specified runtime version '") + version +
                    "' is not supported for TPU training. Please specify a different runtime "
                    "version."));
  }
}

TEST(ValidateTpu, ATpuVersionOutsideTpuJobsIsRefusedForEveryRole) {
  for (const Role role : kRoles) {
    Job job = AContainerJob();
    RoleInput& asked = job.training_input->Of(role);
    if (!asked.config) asked.config.emplace();
    asked.config->tpu_tf_version = "2.1";
    EXPECT_THAT(Validate(job), SizeIs(1)) << RoleInProse(role);
  }
}

}  // namespace
}  // namespace caip::ml
