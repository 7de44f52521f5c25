// https://cloud.google.com/ai-platform/training/docs/reference/rest/v1/projects.jobs

#include "ml/validate/validate.h"

#include "ml/errors.h"
#include "tests/ml/validate_rules.h"

namespace caip::ml {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Validate, ValidJobsOfEveryKindAreAccepted) {
  EXPECT_THAT(Told(Validate(AJob())), IsEmpty());
  EXPECT_THAT(Told(Validate(ACustomJob())), IsEmpty());
  EXPECT_THAT(Told(Validate(AContainerJob())), IsEmpty());
  EXPECT_THAT(Told(Validate(ATpuJob())), IsEmpty());
  EXPECT_THAT(Told(Validate(ATuningJob())), IsEmpty());
}

TEST(Validate, AllViolationsAreToldAtOnceInAStableOrder) {
  Job job = AJob();
  job.job_id = "9lives";
  job.labels = {{"Team", "x"}};
  job.training_input->region = "mars";
  job.training_input->package_uris.clear();
  job.training_input->worker.count = -1;
  job.training_input->scheduling.emplace().priority = 1001;
  const std::vector<FieldViolation> found = Validate(job);
  EXPECT_THAT(Told(found),
              ElementsAre(StartsWith("job.job_id: "), StartsWith("worker_count: "),
                          StartsWith("package_uris: "), StartsWith("region: "),
                          StartsWith("scheduling.priority: "), StartsWith("job.labels: ")));
  EXPECT_EQ(found, Validate(job));
}

TEST(Validate, TheErrorTellsTheFirstViolationAndCarriesAll) {
  const Error error = ValidationError({{"region", "R."}, {"args", "A."}});
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_EQ(error.message, "Field: region Error: R.");
  EXPECT_EQ(error.violations, (std::vector<FieldViolation>{{"region", "R."}, {"args", "A."}}));
}

TEST(Validate, AJobHasExactlyOneInput) {
  Job none;
  none.job_id = "j";
  EXPECT_THAT(Told(Validate(none)),
              ElementsAre(AllOf(StartsWith("job.training_input: "), HasSubstr("none is"))));
  EXPECT_EQ(CheckJob(none).error().code, Code::kInvalidArgument);
  Job both = AJob();
  both.has_prediction_input = true;
  EXPECT_THAT(Told(Validate(both)),
              ElementsAre(HasSubstr("several are"), StartsWith("job.prediction_input: ")));
  EXPECT_EQ(CheckJob(both).error().code, Code::kInvalidArgument);
}

TEST(Validate, PredictionAndExplanationAreRefusedAsNotEmulated) {
  Job job;
  job.job_id = "j";
  job.has_prediction_input = true;
  EXPECT_THAT(Told(Validate(job)), ElementsAre(AllOf(StartsWith("job.prediction_input: "),
                                                     HasSubstr("are not emulated"))));
  EXPECT_EQ(CheckJob(job).error().code, Code::kInvalidArgument) << "gcloud retries 501";
  job.has_prediction_input = false;
  job.has_explanation_input = true;
  EXPECT_THAT(Told(Validate(job)), ElementsAre(StartsWith("job.explanation_input: ")));
  EXPECT_TRUE(CheckJob(AJob()).ok());
}

TEST(Validate, ArchitectureSearchIsRefusedAsNotEmulated) {
  const BrokenRule rows[] = {{"nasJobSpec",
                              [](TrainingInput& input) { input.has_nas_job_spec = true; },
                              "nas_job_spec", "not emulated"}};
  ExpectEachReported(AJob(), rows);
}

TEST(ValidateJobId, BreaksAreTold) {
  for (const char* id : {"", "9lives", "_x", "no-dashes", "a b", "a.b", "\xc3\xa4"}) {
    Job job = AJob();
    job.job_id = id;
    EXPECT_THAT(Told(Validate(job)),
                ElementsAre(StartsWith("job.job_id: The job id '" + std::string(id) + "'")));
  }
  Job job = AJob();
  job.job_id = std::string(128, 'a');
  EXPECT_THAT(Told(Validate(job)), IsEmpty());
  job.job_id += 'a';
  EXPECT_THAT(Validate(job), ::testing::SizeIs(1));
}

TEST(ValidateLabels, BreaksAreTold) {
  Job job = AJob();
  job.labels = {{"Owner", "a"}, {"team", "A"}, {"", "x"}, {"ok", ""}};
  EXPECT_THAT(Told(Validate(job)),
              ElementsAre(HasSubstr("The label key ''"), HasSubstr("The label key 'Owner'"),
                          HasSubstr("The value 'A' of label 'team'")));
  job.labels.clear();
  for (int i = 0; i < 64; ++i) job.labels["k" + std::to_string(i)] = "v";
  EXPECT_THAT(Told(Validate(job)), IsEmpty());
  job.labels["one_more"] = "v";
  EXPECT_THAT(Told(Validate(job)), ElementsAre(HasSubstr("65 labels. At most 64")));
}

TEST(ValidatePlace, ARegionThatIsNotOfferedIsToldInTheServicesWords) {
  Job job = AJob();
  job.training_input->region = "us-central2";
  EXPECT_THAT(Told(Validate(job)),
              ElementsAre("region: The provided GCE region 'us-central2' is not available. Options "
                          "are [asia-east1, asia-east2, asia-northeast1, asia-northeast2, "
                          "asia-northeast3, asia-south1, asia-southeast1, europe-north1, "
                          "europe-west1, europe-west2, europe-west3, europe-west4, europe-west6, "
                          "us-central1, us-east1, us-east4, us-west1, us-west2, us-west3]."));
  ValidationOptions options;
  options.extra_regions = {"us-central2"};
  EXPECT_THAT(Told(Validate(job, options)), IsEmpty());
  for (const Region& region : DefaultCatalog().regions()) {
    job.training_input->region = region.name;
    EXPECT_THAT(Told(Validate(job)), IsEmpty());
  }
}

TEST(ValidatePlace, FaultsAreTold) {
  const auto key = [](const char* name) {
    return [name](TrainingInput& input) { input.kms_key_name = name; };
  };
  const BrokenRule rows[] = {
      {"region is required", [](TrainingInput& input) { input.region.clear(); }, "region",
       "The field is required"},
      {"global is not a region", [](TrainingInput& input) { input.region = "global"; }, "region",
       "'global' is not available"},
      {"network by the project's number",
       [](TrainingInput& input) { input.network = "projects/my-project/global/networks/default"; },
       "network", "with the project's number"},
      {"network's name", [](TrainingInput& input) { input.network = "default"; }, "network",
       "projects/NUMBER/global/networks/NAME"},
      {"service account", [](TrainingInput& input) { input.service_account = "trainer"; },
       "service_account", "e-mail address"},
      {"service account without domain",
       [](TrainingInput& input) { input.service_account = "a@b"; }, "service_account",
       "e-mail address"},
      {"key's form", key("my-key"), "encryption_config.kms_key_name", "is malformed"},
      {"key's region", key("projects/p/locations/us-east1/keyRings/r/cryptoKeys/k"),
       "encryption_config.kms_key_name",
       "in location 'us-east1', but the job's region is 'us-central1'"},
      {"global key", key("projects/p/locations/global/keyRings/r/cryptoKeys/k"),
       "encryption_config.kms_key_name", "in location 'global'"},
      {"an empty encryptionConfig",
       [](TrainingInput& input) { input.has_encryption_config = true; },
       "encryption_config.kms_key_name", "The field is required"},
  };
  ExpectEachReported(AJob(), rows);
  const AllowedUse fine[] = {
      {"network",
       [](TrainingInput& input) { input.network = "projects/123456/global/networks/my-net"; }},
      {"the documentation's network",
       [](TrainingInput& input) { input.network = "projects/12345/global/networks/myVPC"; }},
      {"service account",
       [](TrainingInput& input) {
         input.service_account = "t@my-project.iam.gserviceaccount.com";
       }},
      {"service account by number",
       [](TrainingInput& input) { input.service_account = "113456789012345678901"; }},
      {"key in the region", key("projects/p/locations/us-central1/keyRings/r/cryptoKeys/k-1")},
      {"web access", [](TrainingInput& input) { input.enable_web_access = true; }},
  };
  ExpectEachAllowed(AJob(), fine);
}

TEST(ValidateScheduling, WaitsRunsAndPrioritiesHaveBounds) {
  using std::chrono::seconds;
  const auto wait = [](Duration span) {
    return [span](TrainingInput& input) { input.scheduling.emplace().max_wait_time = span; };
  };
  const auto running = [](Duration span) {
    return [span](TrainingInput& input) { input.scheduling.emplace().max_running_time = span; };
  };
  const auto priority = [](int32_t value) {
    return [value](TrainingInput& input) { input.scheduling.emplace().priority = value; };
  };
  const BrokenRule rows[] = {
      {"wait at least 1800s", wait(seconds(1800) - Duration(1)), "scheduling.max_wait_time",
       "'1799.999999999s' is too short. It must be '1800s' or more"},
      {"negative wait", wait(seconds(-1)), "scheduling.max_wait_time", "'-1s' is too short"},
      {"run at all", running(Duration(0)), "scheduling.max_running_time", "more than '0s'"},
      {"negative run", running(seconds(-5)), "scheduling.max_running_time", "'-5s' is illegal"},
      {"priority not negative", priority(-1), "scheduling.priority", "It must be 0 to 1000"},
      {"priority at most 1000", priority(1001), "scheduling.priority", "1001 is out of range"},
  };
  ExpectEachReported(AJob(), rows);
  const AllowedUse fine[] = {
      {"1800s", wait(seconds(1800))},
      {"the least run", running(Duration(1))},
      {"priority 0", priority(0)},
      {"priority 1000", priority(1000)},
  };
  ExpectEachAllowed(AJob(), fine);
}

}  // namespace
}  // namespace caip::ml
