// `jobs submit training` with a connection that records its requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/encoding.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "tests/support/golden.h"

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// A service of a few lines: objects, one answer to create, one to get.
struct Service {
  std::vector<std::string> requests;           // "METHOD target"
  std::map<std::string, std::string> objects;  // "bucket/name" -> bytes
  std::string created;                         // the last create's body
  bool has_bucket = true;
  bool loses_bytes = false;
  http::ClientResponse create_answer{200, {}, R"({"jobId": "j1", "state": "QUEUED"})"};
  std::string state = "SUCCEEDED";

  http::ClientResponse Answer(const http::ClientRequest& request) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path.starts_with("/upload/")) return Upload(request);
    if (request.method == "GET" && path.starts_with("/storage/")) return Object(path);
    if (path.starts_with("/storage/v1/b")) {
      has_bucket = true;
      return {200, {}, "{}"};
    }
    if (request.method == "POST") {
      created = request.body;
      return create_answer;
    }
    return {200,
            {},
            R"({"jobId": "j1", "state": ")" + state + R"(", "startTime": "2022-02-09T17:36:42Z"})"};
  }

  http::ClientResponse Upload(const http::ClientRequest& request) {
    if (!has_bucket) return {404, {}, R"({"error": {"message": "no bucket"}})"};
    const std::string bucket = Split(request.target, '/')[5];
    const std::string name =
        *PercentDecoded(request.target.substr(request.target.find("name=") + 5));
    objects[bucket + "/" + name] = request.body;
    const size_t size = request.body.size() - (loses_bytes ? 1 : 0);
    return {200, {}, R"({"size": ")" + std::to_string(size) + "\"}"};
  }

  http::ClientResponse Object(const std::string& path) {
    const std::string name = Split(path, '/')[4] + "/" + *PercentDecoded(Split(path, '/')[6]);
    const auto found = objects.find(name);
    if (found == objects.end()) return {404, {}, "{}"};
    // Always the hash of "def".
    return {200,
            {},
            R"({"size": ")" + std::to_string(found->second.size()) +
                R"(", "md5Hash": "TtlAdjDrEADA9rY4Qt76fQ=="})"};
  }
};

class FakeConnection final : public client::Connection {
 public:
  explicit FakeConnection(Service& service) : service_(service) {}
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                    const client::BodySink&) override {
    service_.requests.push_back(request.method + " " + request.target);
    return service_.Answer(request);
  }
  std::string base_url() const override { return "http://127.0.0.1:1"; }

 private:
  Service& service_;
};

class Submit : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_ACTIVE_CONFIG_NAME"}) {
      ::unsetenv(name);
    }
    ::setenv("CLOUDSDK_CONFIG", (root_ / "gcloud").c_str(), 1);
    ::setenv("CLOUDSDK_CORE_PROJECT", "demo", 1);
    ::setenv("CAIP_STATE", (root_ / "state").c_str(), 1);
    ::setenv("TZ", "UTC", 1);
  }

  Path Write(const std::string& file, const std::string& text) {
    EXPECT_TRUE(MakeDirectories((root_ / file).parent_path()).ok());
    EXPECT_TRUE(WriteFile(root_ / file, text).ok());
    return root_ / file;
  }

  int Run(const Words& more) {
    Words words = {"jobs", "submit", "training", "j1"};
    words.insert(words.end(), more.begin(), more.end());
    const Command command = ParseArguments(words);
    const auto* submit = std::get_if<SubmitCommand>(&command);
    if (!submit) return std::get<PrintCommand>(command).exit_code;
    out_ = err_ = "";
    const Io io{[this](std::string_view text) { out_ += text; },
                [this](std::string_view text) { err_ += text; }};
    const app::Connect connect = [this](const app::EmulatorFlags&, app::Lifetime lifetime) {
      lifetimes_.push_back(lifetime);
      return Result<std::unique_ptr<client::Connection>>(
          std::make_unique<FakeConnection>(service_));
    };
    const Follow follow = [this](client::Connection&, const FollowRequest& request, const Io& to) {
      to.err("INFO\t(the log of " + request.job_id + ")\n");
      return outcome_;
    };
    return RunSubmit(*submit, {io, connect, follow});
  }

  // Fails before it starts or sends anything, with a message that contains `text`.
  void ExpectRefused(const Words& words, const std::string& text) {
    EXPECT_EQ(Run(words), 1) << text;
    EXPECT_THAT(err_, HasSubstr("ERROR: (caip.jobs.submit.training) "));
    EXPECT_THAT(err_, HasSubstr(text));
    EXPECT_EQ(out_, "");
    EXPECT_THAT(lifetimes_, IsEmpty());
    EXPECT_THAT(service_.requests, IsEmpty());
  }

  TemporaryDirectory directory_;
  Path root_ = directory_.path();
  Service service_;
  FollowOutcome outcome_;
  std::vector<app::Lifetime> lifetimes_;
  std::string out_;
  std::string err_;
};

const Words kPlain = {"--region", "us-central1", "--packages", "gs://bkt/a.tar.gz"};

Words With(Words base, const Words& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

TEST_F(Submit, SendsTheJobAndSaysWhatToDoNext) {
  EXPECT_EQ(Run(With(kPlain, {"--", "--a", "1"})), 0);
  EXPECT_THAT(service_.requests, ElementsAre("POST /v1/projects/demo/jobs"));
  EXPECT_EQ(nlohmann::json::parse(service_.created).dump(),
            R"({"jobId":"j1","trainingInput":{"args":["--a","1"],"enableWebAccess":false,)"
            R"("packageUris":["gs://bkt/a.tar.gz"],"region":"us-central1"}})");
  EXPECT_THAT(lifetimes_, ElementsAre(app::Lifetime::kBackground));
  testing::ExpectGolden("cli/submitted.txt", "stdout:\n" + out_ + "stderr:\n" + err_);
}

TEST_F(Submit, FollowsTheLogAndEndsAsTheJobDid) {
  EXPECT_EQ(Run(With(kPlain, {"--stream-logs"})), 0);
  EXPECT_THAT(lifetimes_, ElementsAre(app::Lifetime::kThisCommand));
  testing::ExpectGolden("cli/streamed.txt", "stdout:\n" + out_ + "stderr:\n" + err_);
  service_.state = "FAILED";
  EXPECT_EQ(Run(With(kPlain, {"--stream-logs"})), 1);
  EXPECT_THAT(out_, HasSubstr("state: FAILED"));
}

TEST_F(Submit, AnInterruptedStreamTellsHowToGoOn) {
  outcome_.end = FollowOutcome::End::kInterrupted;
  service_.state = "RUNNING";
  EXPECT_EQ(Run(With(kPlain, {"--stream-logs"})), 1);
  EXPECT_THAT(err_, HasSubstr("Received keyboard interrupt.\n"));
  EXPECT_THAT(err_, HasSubstr("caip ai-platform jobs stream-logs j1"));
  outcome_ = {FollowOutcome::End::kFailed, "HTTP status 500"};
  EXPECT_EQ(Run(With(kPlain, {"--stream-logs"})), 1);
  EXPECT_THAT(err_, HasSubstr("Polling logs failed:\nHTTP status 500\n"));
}

TEST_F(Submit, AsyncWarnsAndChangesNothing) {
  EXPECT_EQ(Run(With(kPlain, {"--async"})), 0);
  EXPECT_THAT(err_, HasSubstr("WARNING: The --async flag is deprecated"));
}

TEST_F(Submit, VerbosityHidesWarningsAndErrors) {
  EXPECT_EQ(Run(With(kPlain, {"--async", "--verbosity=error"})), 0);
  EXPECT_THAT(err_, Not(HasSubstr("WARNING")));
  EXPECT_THAT(err_, HasSubstr("Job [j1] submitted successfully."));
  EXPECT_EQ(Run({"--region=r", "--verbosity=none"}), 1);
  EXPECT_EQ(err_, "");
  EXPECT_EQ(Run({"--region=r", "--verbosity=error"}), 1);
  EXPECT_THAT(err_, HasSubstr("Non-custom jobs must have packages."));
}

TEST_F(Submit, DryRunPrintsTheJobAndTouchesNothing) {
  const Path wheel = Write("one.whl", "abc");
  EXPECT_EQ(Run({"--region=r", "--packages=" + wheel.string(), "--staging-bucket=gs://stage",
                 "--dry-run"}),
            0);
  EXPECT_THAT(service_.requests, IsEmpty());
  EXPECT_THAT(lifetimes_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(root_ / "state"));
  EXPECT_EQ(ParseJson(out_)->at("trainingInput").at("packageUris")[0],
            "gs://stage/j1/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/"
            "one.whl");
  EXPECT_EQ(err_, "");
}

TEST_F(Submit, UploadsWhatIsNotThereYet) {
  const Path wheel = Write("one.whl", "abc");
  const Words words = {"--region=r", "--packages=" + wheel.string(), "--job-dir=gs://bkt/out/",
                       "--module-name=m"};
  EXPECT_EQ(Run(words), 0);
  const std::string object =
      "bkt/out/packages/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/one.whl";
  EXPECT_EQ(service_.objects[object], "abc");
  EXPECT_THAT(service_.created, HasSubstr("gs://" + object));
  EXPECT_THAT(service_.created, HasSubstr("\"jobDir\":\"gs://bkt/out/\""));
  EXPECT_EQ(service_.requests.size(), 3u);  // look, upload, create
}

TEST_F(Submit, AnObjectWithTheSameBytesIsNotSentAgain) {
  const Path wheel = Write("one.whl", "def");
  const auto digest = "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34";
  service_.objects["stage/j1/" + std::string(digest) + "/one.whl"] = "def";
  EXPECT_EQ(Run({"--region=r", "--packages=" + wheel.string(), "--staging-bucket=gs://stage"}), 0);
  for (const std::string& request : service_.requests) {
    EXPECT_THAT(request, Not(HasSubstr("/upload/"))) << request;
  }
}

TEST_F(Submit, MakesBucketsOnlyWhenAskedTo) {
  const Path wheel = Write("one.whl", "abc");
  service_.has_bucket = false;
  const Words words = {"--region=r", "--packages=" + wheel.string(), "--staging-bucket=gs://stage"};
  EXPECT_EQ(Run(words), 1);
  EXPECT_THAT(err_, HasSubstr("Could not upload file: [stage] bucket does not exist."));
  EXPECT_EQ(service_.created, "");
  EXPECT_EQ(Run(With(words, {"--create-buckets"})), 0);
}

// Rows of the table of client-side errors; those with exit code 2 are in arguments_test.
TEST_F(Submit, RefusesWithGcloudsWordsAndExitCode) {
  const Path wheel = Write("one.whl", "abc");
  const Path other = Write("sub/one.whl", "abc");
  const Path bare = Write("bare/task.py", "").parent_path();
  Write("bad/setup.py", "raise SystemExit('no luck')\n");
  const Path bad = Write("bad/pkg/__init__.py", "").parent_path();
  const std::string config = Write("c.yaml", "a: [\n");
  const std::string region = "--region=r";
  ExpectRefused(With(kPlain, {"--master-image-uri=x", "--runtime-version=2"}),
                "Only one of --master-image-uri, --runtime-version can be set.");
  ExpectRefused(With(kPlain, {"--scale-tier=custom"}),
                "--master-machine-type is required if scale-tier is set to `CUSTOM`.");
  ExpectRefused({"--packages=gs://bkt/a"}, "The required property [region] is not currently set.");
  ExpectRefused({region, "--packages=" + wheel.string()},
                "If local packages are provided, the `--staging-bucket` or `--job-dir` flag must "
                "be given.");
  ExpectRefused({region}, "Non-custom jobs must have packages.");
  ExpectRefused({region, "--package-path=" + bare.string()}, "does not contain an `__init__.py`");
  ExpectRefused({region, "--package-path=/nowhere"},
                "Source directory [/nowhere] is not a valid directory.\nIt does not exist. Give");
  Write("trainer/__init__.py", "");
  std::filesystem::create_symlink("unreadable", root_ / "unreadable");
  ExpectRefused(
      {region, "--package-path=" + (root_ / "trianer").string()},
      "\nIt does not exist. Did you mean --package-path " + (root_ / "trainer").string() + "?");
  ExpectRefused({region, "--package-path=" + wheel.string()}, "\nIt is a file. Give");
  ExpectRefused({region, "--package-path=" + bad.string(), "--staging-bucket=gs://stage"},
                "Packaging of user Python code failed with message:\n\nno luck");
  ExpectRefused({region, "--packages=" + wheel.string() + "," + other.string(),
                 "--staging-bucket=gs://stage"},
                "Cannot upload multiple packages with the same filename: [one.whl]");
  ExpectRefused({region, "--packages=nope.whl", "--staging-bucket=gs://stage"},
                "Unable to read file [nope.whl]: ");
  ExpectRefused(With(kPlain, {"--config=" + config}),
                "Failed to parse YAML from [" + config + "]: " + config + ":");
  ExpectRefused(With(kPlain, {"--config=nope.yaml"}), "Failed to load YAML from [nope.yaml]: ");
  ExpectRefused(With(kPlain, {"--config=/"}), "Failed to load YAML from [/]: ");
  ExpectRefused(With(kPlain, {"--kms-key=k"}),
                "Invalid value for [--kms-key]: Encryption key not fully specified.");
  ExpectRefused({region, "--", "--package-path=x"},
                "\n--package-path after `--` is an argument of the trainer.");
  ::unsetenv("CLOUDSDK_CORE_PROJECT");
  ExpectRefused(kPlain, "The required property [project] is not currently set.");
}

TEST_F(Submit, RefusesAnUploadThatLostBytes) {
  const Path wheel = Write("one.whl", "abc");
  service_.loses_bytes = true;
  EXPECT_EQ(Run({"--region=r", "--packages=" + wheel.string(), "--staging-bucket=gs://stage"}), 1);
  EXPECT_THAT(err_, HasSubstr("Cloud storage upload failure. Uploaded file does not match local "
                              "file: " +
                              wheel.string() + ". Please retry."));
  EXPECT_EQ(service_.created, "");
}

TEST_F(Submit, ShowsMistakesOfTheFileWithTheirPlaces) {
  const std::string config =
      Write("c.yaml", "trainingInput:\n  runtimeVersion: 2.4\n  args: [a, 1]\n");
  EXPECT_EQ(Run(With(kPlain, {"--config=" + config})), 1);
  EXPECT_THAT(err_, HasSubstr("\n  " + config +
                              ":2:19: trainingInput.runtimeVersion: expected text, found the "
                              "number 2.4; put it in quotes\n    runtimeVersion: 2.4\n"));
  EXPECT_THAT(err_, HasSubstr("\n  " + config + ":3:13: trainingInput.args[1]: expected text"));
}

TEST_F(Submit, WarnsOfKeysThatStandTwiceAndRefusesThemWhenStrict) {
  const std::string config = Write("c.yaml", "labels: {a: b}\nlabels: {c: d}\n");
  EXPECT_EQ(Run(With(kPlain, {"--dry-run", "--config=" + config})), 0);
  EXPECT_THAT(err_, HasSubstr("WARNING: " + config + ":1:9: labels occurs twice"));
  EXPECT_EQ(ParseJson(out_)->at("labels").dump(), R"({"a":"b"})");
  EXPECT_EQ(Run(With(kPlain, {"--dry-run", "--strict", "--config=" + config})), 1);
  EXPECT_THAT(err_, HasSubstr("this key occurs twice"));
}

TEST_F(Submit, TheRegionMayComeFromTheEnvironmentOrGcloudsConfiguration) {
  const auto region = [&] { return ParseJson(out_)->at("trainingInput").at("region"); };
  const Words words = {"--packages=gs://bkt/a", "--dry-run"};
  Write("gcloud/configurations/config_default", "[core]\nproject = x\n\n[compute]\nregion = cfg\n");
  EXPECT_EQ(Run(words), 0);
  EXPECT_EQ(region(), "cfg");
  Write("gcloud/configurations/config_other", "[compute]\nregion = other\n");
  EXPECT_EQ(Run(With(words, {"--configuration=other"})), 0);
  EXPECT_EQ(region(), "other");
  ::setenv("CLOUDSDK_COMPUTE_REGION", "env", 1);
  EXPECT_EQ(Run(words), 0);
  EXPECT_EQ(region(), "env");
  EXPECT_EQ(Run(With(words, {"--region=flag"})), 0);
  EXPECT_EQ(region(), "flag");
}

TEST_F(Submit, CompletesTheEncryptionKey) {
  const auto key = [&](const Words& more) {
    EXPECT_EQ(Run(With(With(kPlain, {"--dry-run"}), more)), 0) << err_;
    return ParseJson(out_)->at("trainingInput").at("encryptionConfig").at("kmsKeyName");
  };
  EXPECT_EQ(key({"--kms-key=k", "--kms-keyring=r", "--kms-location=l"}),
            "projects/demo/locations/l/keyRings/r/cryptoKeys/k");
  EXPECT_EQ(key({"--kms-key=k", "--kms-keyring=r", "--kms-location=l", "--kms-project=q"}),
            "projects/q/locations/l/keyRings/r/cryptoKeys/k");
  EXPECT_EQ(key({"--kms-key=projects/p/locations/l/keyRings/r/cryptoKeys/k", "--kms-project=q"}),
            "projects/p/locations/l/keyRings/r/cryptoKeys/k");
}

TEST_F(Submit, ShowsTheServicesErrorsAsGcloudDoes) {
  service_.create_answer = {
      409, {}, R"({"error": {"code": 409, "status": "ALREADY_EXISTS", "message":
              "Field: job.job_id Error: A job with this id already exists.", "details": [
              {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
              {"field": "job.job_id", "description": "A job with this id already exists."}]}]}})"};
  EXPECT_EQ(Run(kPlain), 1);
  testing::ExpectGolden("cli/conflict.txt", err_);
  service_.create_answer = {
      400, {}, R"({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Bad."}})"};
  EXPECT_EQ(Run(kPlain), 1);
  EXPECT_EQ(err_, "ERROR: (caip.jobs.submit.training) INVALID_ARGUMENT: Bad.\n");
  service_.create_answer = {502, {}, "gone"};
  EXPECT_EQ(Run(kPlain), 1);
  EXPECT_THAT(err_, HasSubstr("HTTP status 502: gone"));
}

TEST_F(Submit, AddsWhatIsWrongInTheFileToARefusal) {
  service_.create_answer = {
      400, {}, R"({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Bad."}})"};
  const std::string config = Write("c.yaml",
                                   "masterType: large_model\n"
                                   "trainingInput:\n"
                                   "  scaleTeir: BASIC\n"
                                   "  labels: {a: b}\n"
                                   "  imageUri: x\n"
                                   "  scheduling: {maxRunningTime: 1h}\n"
                                   "  hyperparameters: {goal: MAXIMISE}\n"
                                   "zzz: 1\n");
  EXPECT_EQ(Run(With(kPlain, {"--config=" + config})), 1) << "as gcloud";
  EXPECT_THAT(err_, StartsWith("ERROR: (caip.jobs.submit.training) INVALID_ARGUMENT: Bad.\n"));
  for (const std::string& hint :
       {config + ":1:1: masterType: 'masterType' is a field of trainingInput. Move it below "
                 "`trainingInput:`, and indent it.\n  masterType: large_model\n  ^\n",
        config + ":3:3: trainingInput.scaleTeir: no field is called 'scaleTeir'. Did you mean "
                 "'scaleTier'?\n    scaleTeir: BASIC\n    ^\n",
        config + ":4:3: trainingInput.labels: 'labels' is a field of the job itself.",
        config + ":5:3: trainingInput.imageUri: 'imageUri' is a field of "
                 "trainingInput.masterConfig, ",
        config + ":6:32: trainingInput.scheduling.maxRunningTime: '1h' is not a duration in "
                 "seconds. Write it as '3600s'.",
        config + ":7:27: trainingInput.hyperparameters.goal: expected one of MAXIMIZE, "
                 "MINIMIZE, found the text \"MAXIMISE\". Did you mean 'MAXIMIZE'?",
        config + ":8:1: zzz: no field is called 'zzz'. The fields here are jobId, "}) {
    EXPECT_THAT(err_, HasSubstr("\n" + hint));
  }
  service_.create_answer = {503, {}, "gone"};
  EXPECT_EQ(Run(With(kPlain, {"--config=" + config})), 1);
  EXPECT_THAT(err_, Not(HasSubstr("scaleTeir"))) << "the file was not refused";
}

TEST_F(Submit, ASoundFileAddsNothingToARefusal) {
  service_.create_answer = {
      400, {}, R"({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Bad."}})"};
  const std::string config =
      Write("c.yaml",
            "labels: {a: b}\n"
            "trainingInput:\n"
            "  scale_tier: BASIC\n"
            "  scheduling: {maxRunningTime: 1.5s}\n"
            "  hyperparameters: {goal: MAXIMIZE, params: [{type: INTEGER}]}\n");
  EXPECT_EQ(Run(With(kPlain, {"--config=" + config})), 1);
  EXPECT_EQ(err_, "ERROR: (caip.jobs.submit.training) INVALID_ARGUMENT: Bad.\n");
}

TEST_F(Submit, ValidateOnlyAsksTheServiceAndCreatesNothing) {
  const Words words = {"--region=us-central1",   "--packages=gs://bkt/a", "--module-name=t.t",
                       "--runtime-version=2.11", "--python-version=3.7",  "--validate-only"};
  EXPECT_EQ(Run(words), 0) << err_;
  EXPECT_EQ(err_, "Job [j1] is valid; nothing was submitted.\n");
  EXPECT_EQ(out_, "");
  EXPECT_THAT(service_.requests, ElementsAre("POST /emulator/v1/projects/demo/jobs:check"));
  service_.create_answer = {
      400,
      {},
      R"({"error": {"status": "INVALID_ARGUMENT", "message": "Field: region Error: no"}})"};
  EXPECT_EQ(Run(words), 1);
  EXPECT_THAT(err_, HasSubstr("INVALID_ARGUMENT: Field: region Error: no"));
}

TEST_F(Submit, AWrongFormatIsReportedBeforeAnythingIsDone) {
  for (const char* format : {"bogus", "value(jobId", "value(jobId.bogus())", "csv"}) {
    EXPECT_EQ(Run(With(kPlain, {"--stream-logs", std::string("--format=") + format})), 2) << format;
  }
  EXPECT_THAT(service_.requests, IsEmpty());
}

TEST_F(Submit, PrintsTheWholeJobInTheFormatAskedFor) {
  EXPECT_EQ(Run(With(kPlain, {"--format=json"})), 0);
  EXPECT_EQ(out_, "{\n  \"jobId\": \"j1\",\n  \"state\": \"QUEUED\"\n}\n");
  EXPECT_EQ(Run(With(kPlain, {"--format=value(state)"})), 0);
  EXPECT_EQ(out_, "QUEUED\n");
  EXPECT_EQ(Run(With(kPlain, {"--format=table"})), 0);
  EXPECT_EQ(out_, "JOB_ID  STATUS  CREATED\nj1      QUEUED\n");
  EXPECT_EQ(Run(With(kPlain, {"--no-user-output-enabled"})), 0);
  EXPECT_EQ(out_ + err_, "");
}

}  // namespace
}  // namespace caip::cli
