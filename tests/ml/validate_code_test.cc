// https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs#TrainingInput

#include "tests/ml/validate_rules.h"

namespace caip::ml {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ValidatePackages, APythonJobNeedsPackagesAndAModule) {
  const BrokenRule rows[] = {
      {"packageUris", [](TrainingInput& input) { input.package_uris.clear(); }, "package_uris",
       "The field is required"},
      {"pythonModule", [](TrainingInput& input) { input.python_module.clear(); }, "python_module",
       "The field is required"},
      {"at most 100",
       [](TrainingInput& input) { input.package_uris.assign(101, "gs://bkt/a.tar.gz"); },
       "package_uris", "101 package URIs. At most 100"},
      {"a local path", [](TrainingInput& input) { input.package_uris.push_back("dist/a.tar.gz"); },
       "package_uris", "'dist/a.tar.gz' is not an object in Cloud Storage. It must have the form"},
      {"a bucket only", [](TrainingInput& input) { input.package_uris = {"gs://bkt"}; },
       "package_uris", "Name the package's archive"},
      {"a folder", [](TrainingInput& input) { input.package_uris = {"gs://bkt/dist/"}; },
       "package_uris", "Name the package's archive"},
      {"a bad bucket", [](TrainingInput& input) { input.package_uris = {"gs://B/a.tar.gz"}; },
       "package_uris", "'B' is not a valid bucket name"},
      {"an object's name too long",
       [](TrainingInput& input) { input.package_uris = {"gs://bkt/" + std::string(1025, 'a')}; },
       "package_uris", "at most 1024 bytes"},
      {"a path as module", [](TrainingInput& input) { input.python_module = "trainer/task.py"; },
       "python_module", "'trainer/task.py' is not a Python module"},
      {"an empty name in the module",
       [](TrainingInput& input) { input.python_module = "trainer..task"; }, "python_module",
       "is not a Python module"},
      {"blanks in the module",
       [](TrainingInput& input) { input.python_module = "trainer.task --x"; }, "python_module",
       "is not a Python module"},
      {"an option as module", [](TrainingInput& input) { input.python_module = "-c"; },
       "python_module", "is not a Python module"},
      {"NUL in args",
       [](TrainingInput& input) {
         input.args = {"a", std::string("b\0c", 3)};
       },
       "args[1]", "NUL"},
  };
  ExpectEachReported(AJob(), rows);
  Job job = AJob();
  job.training_input->package_uris.assign(100, "gs://bkt/a.tar.gz");
  EXPECT_THAT(Told(Validate(job)), IsEmpty()) << "100 are allowed";
}

TEST(ValidatePackages, TheJobDirIsAPlaceInCloudStorage) {
  const BrokenRule rows[] = {
      {"local", [](TrainingInput& input) { input.job_dir = "/tmp/out"; }, "job_dir",
       "It must have the form gs://BUCKET/OBJECT"},
      {"no bucket", [](TrainingInput& input) { input.job_dir = "gs://"; }, "job_dir",
       "not a valid bucket name"},
      {"IP address", [](TrainingInput& input) { input.job_dir = "gs://10.0.0.1/x"; }, "job_dir",
       "is not an IP address"},
      {"line end", [](TrainingInput& input) { input.job_dir = "gs://bkt/a\nb"; }, "job_dir",
       "line breaks"},
  };
  ExpectEachReported(AJob(), rows);
  const AllowedUse fine[] = {
      {"bucket", [](TrainingInput& input) { input.job_dir = "gs://bkt"; }},
      {"bucket with slash", [](TrainingInput& input) { input.job_dir = "gs://bkt/"; }},
      {"prefix", [](TrainingInput& input) { input.job_dir = "gs://bkt/jobs/j1/"; }},
  };
  ExpectEachAllowed(AJob(), fine);
}

struct PairRow {
  const char* runtime;
  const char* python;
  bool legal;
};

// 3.7 from 1.15 on, 3.5 with 1.4 to 1.14, 2.7 up to 1.15.
TEST(ValidateRuntime, PythonGoesWithTheRuntimeVersion) {
  std::vector<PairRow> rows;
  const char* old[] = {"1.0", "1.1", "1.2", "1.3"};
  const char* middle[] = {"1.4",  "1.5",  "1.6",  "1.7",  "1.8", "1.9",
                          "1.10", "1.11", "1.12", "1.13", "1.14"};
  const char* recent[] = {"2.1", "2.2", "2.3", "2.4",  "2.5", "2.6",
                          "2.7", "2.8", "2.9", "2.10", "2.11"};
  const auto add = [&](const char* runtime, bool py37, bool py35, bool py27) {
    rows.push_back({runtime, "3.7", py37});
    rows.push_back({runtime, "3.5", py35});
    rows.push_back({runtime, "2.7", py27});
    rows.push_back({runtime, "", true});
  };
  for (const char* runtime : old) add(runtime, false, false, true);
  for (const char* runtime : middle) add(runtime, false, true, true);
  add("1.15", true, false, true);
  for (const char* runtime : recent) add(runtime, true, false, false);
  for (const PairRow& row : rows) {
    SCOPED_TRACE(std::string(row.runtime) + " with Python " + row.python);
    Job job = AJob();
    job.training_input->runtime_version = row.runtime;
    job.training_input->python_version = row.python;
    if (row.legal) {
      EXPECT_THAT(Told(Validate(job)), IsEmpty());
    } else {
      EXPECT_THAT(Told(Validate(job)),
                  ElementsAre(AllOf(HasSubstr("python_version: "), HasSubstr(row.runtime))));
    }
  }
}

TEST(ValidateRuntime, FaultsAreTold) {
  const BrokenRule rows[] = {
      {"required without an image", [](TrainingInput& input) { input.runtime_version.clear(); },
       "runtime_version", "The field is required"},
      {"there is no 2.0", [](TrainingInput& input) { input.runtime_version = "2.0"; },
       "runtime_version", "'2.0' is not supported. Options are [1.0, 1.1, "},
      {"form", [](TrainingInput& input) { input.runtime_version = "2.4.1"; }, "runtime_version",
       "MAJOR.MINOR"},
      {"unknown Python", [](TrainingInput& input) { input.python_version = "3.9"; },
       "python_version", "'3.9' is not supported. Options are [2.7, 3.5, 3.7]"},
      {"Python of another runtime", [](TrainingInput& input) { input.python_version = "2.7"; },
       "python_version", "not supported with runtime version '2.4'. Options are [3.7]"},
  };
  ExpectEachReported(AJob(), rows);
}

TEST(ValidateRuntime, OptionsMayAddRuntimesAndADefault) {
  Job job = AJob();
  job.training_input->runtime_version = "3.1";
  job.training_input->python_version = "3.11";
  ValidationOptions options;
  EXPECT_THAT(Validate(job, options), ::testing::SizeIs(2));
  options.extra_runtimes = {{"3.1", {"3.11"}, {}, false}};
  EXPECT_THAT(Told(Validate(job, options)), IsEmpty());

  job = AJob();
  job.training_input->runtime_version.clear();
  job.training_input->python_version.clear();
  options.default_runtime_version = "2.4";
  EXPECT_THAT(Told(Validate(job, options)), IsEmpty());
  FillDefaults(*job.training_input, options);
  EXPECT_EQ(job.training_input->runtime_version, "2.4");
  EXPECT_EQ(PythonVersionOf(*job.training_input, options), "3.7");
  options.default_runtime_version = "2.0";
  job.training_input->runtime_version.clear();
  EXPECT_THAT(Told(Validate(job, options)), ElementsAre(HasSubstr("'2.0' is not supported")));
}

TEST(ValidateRuntime, DefaultsAreNotForContainers) {
  Job job = AContainerJob();
  ValidationOptions options;
  options.default_runtime_version = "2.4";
  FillDefaults(*job.training_input, options);
  EXPECT_EQ(job.training_input->runtime_version, "");
  EXPECT_THAT(Told(Validate(job, options)), IsEmpty());
}

TEST(ValidateImages, FaultsAreTold) {
  const BrokenRule rows[] = {
      {"image xor runtime", [](TrainingInput& input) { input.runtime_version = "2.4"; },
       "runtime_version", "Only one of runtime_version and master_config.image_uri"},
      {"no image at all", [](TrainingInput& input) { input.master.config->image_uri = "My Image"; },
       "master_config.image_uri", "'My Image' is not a container image"},
      {"a URL", [](TrainingInput& input) { input.master.config->image_uri = "https://gcr.io/p/i"; },
       "master_config.image_uri", "is not a container image"},
      {"args or containerArgs",
       [](TrainingInput& input) {
         input.args = {"--x"};
         input.master.config->container_args = {"--y"};
       },
       "args", "args cannot be combined"},
      {"args or containerCommand of any role",
       [](TrainingInput& input) {
         input.args = {"--x"};
         input.worker.config.emplace().container_command = {"run"};
       },
       "args", "which worker_config has"},
      {"NUL in a command",
       [](TrainingInput& input) {
         input.master.config->container_command = {std::string("a\0", 2)};
       },
       "master_config.container_command[0]", "NUL"},
      {"unknown Python", [](TrainingInput& input) { input.python_version = "4"; }, "python_version",
       "is not supported"},
  };
  ExpectEachReported(AContainerJob(), rows);
}

TEST(ValidateImages, LegalUsesAreAccepted) {
  const AllowedUse rows[] = {
      {"args",
       [](TrainingInput& input) {
         input.args = {"--epochs", "2"};
       }},
      {"command and args",
       [](TrainingInput& input) {
         input.master.config->container_command = {"python"};
         input.master.config->container_args = {"-m", "trainer"};
       }},
      {"worker runs the master's image",
       [](TrainingInput& input) {
         input.worker = {"n1-standard-4", ReplicaConfig{}, 2};
         input.worker.config->container_args = {"--role", "worker"};
       }},
      {"worker runs its own image",
       [](TrainingInput& input) {
         input.worker = {"n1-standard-4", ReplicaConfig{}, 2};
         input.worker.config->image_uri = "gcr.io/my-project/worker@sha256:" + std::string(64, 'a');
       }},
      {"chief in TF_CONFIG", [](TrainingInput& input) { input.use_chief_in_tf_config = true; }},
      {"packages beside an image, as the PyTorch images want them",
       [](TrainingInput& input) {
         input.package_uris = {"gs://bkt/a.tar.gz"};
         input.python_module = "trainer.task";
       }},
  };
  ExpectEachAllowed(AContainerJob(), rows);
}

// docs/service/tables.md, section 5
TEST(ValidateImages, APrebuiltContainerRunsTheModuleOfThePackagesAndNothingElse) {
  Job job = AContainerJob();
  TrainingInput& prebuilt = *job.training_input;
  prebuilt.master.config->image_uri = "gcr.io/cloud-ml-public/training/pytorch-gpu.1-7";
  prebuilt.master.config->container_command.clear();
  prebuilt.master.config->container_args.clear();
  prebuilt.args = {"--epochs", "2"};
  prebuilt.package_uris = {"gs://bkt/trainer.tar.gz"};
  prebuilt.python_module = "trainer.task";
  const BrokenRule rows[] = {
      {"packages without a module", [](TrainingInput& input) { input.python_module.clear(); },
       "python_module", "The field is required"},
      {"a command",
       [](TrainingInput& input) {
         input.args.clear();
         input.master.config->container_command = {"python"};
       },
       "master_config.container_command", "must not name another program"},
      {"another image",
       [](TrainingInput& input) { input.worker.config.emplace().image_uri = "gcr.io/p/worker:v1"; },
       "worker_config.image_uri", "must not name another program"},
  };
  ExpectEachReported(job, rows);
  const AllowedUse fine[] = {
      {"packages and module", [](TrainingInput&) {}},
      {"neither",
       [](TrainingInput& input) {
         input.package_uris.clear();
         input.python_module.clear();
       }},
  };
  ExpectEachAllowed(job, fine);
}

TEST(ValidateImages, WithoutAMastersImageNoOtherRoleHasOneNorACommand) {
  const BrokenRule rows[] = {
      {"worker image",
       [](TrainingInput& input) { input.worker.config.emplace().image_uri = "gcr.io/p/i"; },
       "worker_config.image_uri", "Set master_config.image_uri, too"},
      {"containerArgs",
       [](TrainingInput& input) { input.master.config.emplace().container_args = {"--x"}; },
       "master_config.container_args", "container_args needs a custom container"},
      {"containerCommand",
       [](TrainingInput& input) { input.evaluator.config.emplace().container_command = {"x"}; },
       "evaluator_config.container_command", "container_command needs a custom container"},
  };
  ExpectEachReported(AJob(), rows);
}

TEST(ValidateImages, BuiltInAlgorithmsHaveNoCodeAndNeedAJobDir) {
  Job job = AContainerJob();
  job.training_input->master.config->image_uri = "gcr.io/cloud-ml-algos/boosted_trees:latest";
  job.training_input->job_dir = "gs://bkt/out";
  const BrokenRule rows[] = {
      {"packages", [](TrainingInput& input) { input.package_uris = {"gs://bkt/a.tar.gz"}; },
       "package_uris", "A built-in algorithm brings its own code"},
      {"module", [](TrainingInput& input) { input.python_module = "trainer.task"; },
       "python_module", "must not be set"},
      {"job dir", [](TrainingInput& input) { input.job_dir.clear(); }, "job_dir",
       "A built-in algorithm writes its model there"},
  };
  ExpectEachReported(job, rows);
}

}  // namespace
}  // namespace caip::ml
