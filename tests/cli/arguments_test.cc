#include "emulator/cli/arguments/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

Words Submit(const Words& more) {
  Words words = {"ai-platform", "jobs", "submit", "training", "j1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

SubmitCommand Parsed(const Words& more) {
  Words words = Submit(more);
  words.insert(words.begin(), "beta");
  const Command command = ParseArguments(words);
  if (const auto* print = std::get_if<PrintCommand>(&command)) ADD_FAILURE() << print->err;
  const auto* submit = std::get_if<SubmitCommand>(&command);
  return submit ? *submit : SubmitCommand{};
}

// A usage error; "" if there is none.
std::string WholeComplaint(const Words& words) {
  const Command command = ParseArguments(words);
  const auto* print = std::get_if<PrintCommand>(&command);
  if (!print || print->exit_code == kExitSuccess) return "";
  EXPECT_EQ(print->exit_code, kExitUsage);
  EXPECT_EQ(print->out, "");
  return print->err;
}

// The first line of a usage error.
std::string Complaint(const Words& words) {
  const std::string whole = WholeComplaint(words);
  return whole.substr(0, whole.find('\n'));
}

TEST(Arguments, TheProductAndTheTrackMayBeLeftOut) {
  for (const Words& head : {Words{}, Words{"ai-platform"}, Words{"ml-engine"},
                            Words{"beta", "ai-platform"}, Words{"alpha", "ml-engine"}}) {
    Words words = head;
    for (const char* word : {"jobs", "describe", "j1"}) words.push_back(word);
    const Command command = ParseArguments(words);
    ASSERT_TRUE(std::holds_alternative<DescribeCommand>(command));
    EXPECT_EQ(std::get<DescribeCommand>(command).job, "j1");
  }
}

// As gcloud, whose main track does not have them.
TEST(Arguments, FlagsOfTheBetaTrackNeedIt) {
  for (const char* flag : {"--network", "--tpu-tf-version"}) {
    EXPECT_EQ(Complaint(Submit({flag, "x"})),
              "ERROR: (caip.jobs.submit.training) argument " + std::string(flag) +
                  ": The flag is available in the alpha and beta release tracks only, as in "
                  "gcloud. Try:");
    const Command check = ParseArguments(
        {"check", flag, "x", "--module-name", "trainer.task", "--package-path", "trainer"});
    EXPECT_TRUE(std::holds_alternative<CheckCommand>(check));
  }
}

TEST(Arguments, ReadsEveryFlagOfSubmit) {
  const SubmitCommand c = Parsed({"--module-name",
                                  "trainer.task",
                                  "--package-path=trainer",
                                  "--packages",
                                  "a.whl,gs://b/c",
                                  "--staging-bucket",
                                  "gs://stage/",
                                  "--job-dir",
                                  "gs://bkt",
                                  "--region",
                                  "us-central1",
                                  "--config",
                                  "c.yaml",
                                  "--scale-tier",
                                  "STANDARD_1",
                                  "--runtime-version",
                                  "2.11",
                                  "--python-version",
                                  "3.7",
                                  "--service-account",
                                  "a@b.c",
                                  "--enable-web-access",
                                  "--master-machine-type",
                                  "m",
                                  "--master-accelerator",
                                  "type=nvidia-tesla-t4,count=2",
                                  "--master-image-uri",
                                  "mi",
                                  "--worker-machine-type",
                                  "w",
                                  "--worker-count",
                                  "3",
                                  "--worker-accelerator",
                                  "count=1,type=TPU_V2",
                                  "--worker-image-uri",
                                  "wi",
                                  "--parameter-server-machine-type",
                                  "p",
                                  "--parameter-server-count",
                                  "4",
                                  "--parameter-server-image-uri",
                                  "pi",
                                  "--use-chief-in-tf-config",
                                  "yes",
                                  "--labels",
                                  "a=b,c=",
                                  "--kms-key",
                                  "k",
                                  "--kms-keyring",
                                  "r",
                                  "--kms-location",
                                  "l",
                                  "--kms-project",
                                  "kp",
                                  "--stream-logs",
                                  "--network",
                                  "n",
                                  "--tpu-tf-version",
                                  "2.1",
                                  "--project",
                                  "proj"});
  EXPECT_EQ(c.request.flags.job, "j1");
  EXPECT_EQ(c.request.flags.module_name, "trainer.task");
  EXPECT_EQ(c.request.package_path, "trainer");
  EXPECT_THAT(c.request.packages, ElementsAre("a.whl", "gs://b/c"));
  EXPECT_EQ(c.request.staging_bucket, "stage");
  EXPECT_EQ(c.request.flags.job_dir, "gs://bkt/");  // as the client sends it
  EXPECT_EQ(c.request.flags.region, "us-central1");
  EXPECT_EQ(c.request.config, "c.yaml");
  EXPECT_EQ(c.request.flags.scale_tier, "STANDARD_1");
  EXPECT_EQ(c.request.flags.runtime_version, "2.11");
  EXPECT_EQ(c.request.flags.python_version, "3.7");
  EXPECT_EQ(c.request.flags.service_account, "a@b.c");
  EXPECT_TRUE(c.request.flags.enable_web_access);
  EXPECT_EQ(c.request.flags.master.machine_type, "m");
  EXPECT_EQ(c.request.flags.master.accelerator, (client::AcceleratorFlag{"NVIDIA_TESLA_T4", 2}));
  EXPECT_EQ(c.request.flags.master.image_uri, "mi");
  EXPECT_EQ(c.request.flags.worker.machine_type, "w");
  EXPECT_EQ(c.request.flags.worker.count, 3);
  EXPECT_EQ(c.request.flags.worker.accelerator, (client::AcceleratorFlag{"TPU_V2", 1}));
  EXPECT_EQ(c.request.flags.worker.image_uri, "wi");
  EXPECT_EQ(c.request.flags.parameter_server.machine_type, "p");
  EXPECT_EQ(c.request.flags.parameter_server.count, 4);
  EXPECT_EQ(c.request.flags.parameter_server.image_uri, "pi");
  EXPECT_EQ(c.request.flags.use_chief_in_tf_config, true);
  EXPECT_EQ(c.request.flags.labels, (std::map<std::string, std::string>{{"a", "b"}, {"c", ""}}));
  EXPECT_EQ(c.request.kms.key, "k");
  EXPECT_EQ(c.request.kms.keyring, "r");
  EXPECT_EQ(c.request.kms.location, "l");
  EXPECT_EQ(c.request.kms.project, "kp");
  EXPECT_TRUE(c.stream_logs);
  EXPECT_EQ(c.request.flags.network, "n");
  EXPECT_EQ(c.request.flags.tpu_tf_version, "2.1");
  EXPECT_EQ(c.gcloud.project, "proj");
}

TEST(Arguments, ReadsTheEmulatorsOwnFlags) {
  const SubmitCommand c = Parsed({"--dry-run",
                                  "--validate-only",
                                  "--strict",
                                  "--state",
                                  "/s",
                                  "--map-image",
                                  "a=b",
                                  "--map-image",
                                  "c=d e",
                                  "--create-buckets",
                                  "--gpus",
                                  "share",
                                  "--fake-gpus",
                                  "4xNVIDIA_TESLA_T4",
                                  "--addressing",
                                  "ports",
                                  "--storage-view",
                                  "path",
                                  "--queue-delay",
                                  "constant:20m",
                                  "--provision-delay",
                                  "constant:1m",
                                  "--strict-runtime",
                                  "--durability",
                                  "relaxed",
                                  "--seed",
                                  "7",
                                  "--emulator-config",
                                  "f"});
  EXPECT_TRUE(c.dry_run && c.validate_only && c.request.strict);
  EXPECT_EQ(c.emulator.state, "/s");
  EXPECT_THAT(c.emulator.settings.at("images"), ElementsAre("a=b", "c=d e"));
  EXPECT_TRUE(c.emulator.Has("create_buckets") && c.emulator.Has("strict_runtime"));
  EXPECT_THAT(c.emulator.settings.at("gpus"), ElementsAre("share"));
  EXPECT_THAT(c.emulator.settings.at("fake_gpus"), ElementsAre("4xNVIDIA_TESLA_T4"));
  EXPECT_THAT(c.emulator.settings.at("addressing"), ElementsAre("ports"));
  EXPECT_THAT(c.emulator.settings.at("storage_view"), ElementsAre("path"));
  EXPECT_THAT(c.emulator.settings.at("durability"), ElementsAre("relaxed"));
  EXPECT_THAT(c.emulator.settings.at("queue_delay"), ElementsAre("constant:20m"));
  EXPECT_THAT(c.emulator.settings.at("provision_delay"), ElementsAre("constant:1m"));
  EXPECT_THAT(c.emulator.settings.at("seed"), ElementsAre("7"));
  EXPECT_EQ(c.emulator.config, "f");
}

TEST(Arguments, EverythingBehindTheFirstBarBelongsToTheProgram) {
  EXPECT_EQ(Parsed({}).request.flags.user_args, std::nullopt);
  EXPECT_THAT(Parsed({"--"}).request.flags.user_args.value(), ElementsAre());
  EXPECT_THAT(Parsed({"--", "--b=2", "--", "--help"}).request.flags.user_args.value(),
              ElementsAre("--b=2", "--", "--help"));
  EXPECT_THAT(Complaint({"jobs", "list", "--", "x"}), HasSubstr("unrecognized arguments: --"));
}

TEST(Arguments, ReadsValuesAsArgparseDoes) {
  EXPECT_EQ(Parsed({"--region="}).request.flags.region, "");
  EXPECT_EQ(Parsed({"--module-name", "-1"}).request.flags.module_name, "-1");
  EXPECT_EQ(Parsed({"--module-name", "-"}).request.flags.module_name, "-");
  EXPECT_EQ(Parsed({"--module-name", "-x y"}).request.flags.module_name, "-x y");
  EXPECT_EQ(Parsed({"--module-name=-x"}).request.flags.module_name, "-x");
  EXPECT_EQ(Parsed({"--region", "a", "--region", "b"}).request.flags.region, "b");
  EXPECT_EQ(
      Parsed({"--worker-count= 1_0 ", "--worker-machine-type", "w"}).request.flags.worker.count,
      10);
  EXPECT_EQ(Parsed({"--worker-count", "unlimited", "--worker-machine-type", "w"})
                .request.flags.worker.count,
            std::nullopt);
  EXPECT_FALSE(
      Parsed({"--enable-web-access", "--no-enable-web-access"}).request.flags.enable_web_access);
  EXPECT_THAT(Parsed({"--packages", "^;^a,b;c"}).request.packages, ElementsAre("a,b", "c"));
  EXPECT_EQ(Parsed({"--labels=a=b", "--labels=a=c,é=ü"}).request.flags.labels,
            (std::map<std::string, std::string>{{"a", "c"}, {"é", "ü"}}));
}

TEST(Arguments, WideFlagsMayStandAnywhere) {
  const Command command =
      ParseArguments({"--project", "p", "jobs", "--quiet", "list", "--limit=5", "-q"});
  ASSERT_TRUE(std::holds_alternative<ListCommand>(command));
  EXPECT_EQ(std::get<ListCommand>(command).gcloud.project, "p");
  EXPECT_EQ(std::get<ListCommand>(command).limit, 5);
}

TEST(Arguments, FlagsOfACommandMayStandBeforeIt) {
  for (const Words& words : std::vector<Words>{
           {"--state", "/s", "--project", "jobs", "jobs", "list", "--limit", "5"},
           {"--limit=5", "--project=jobs", "jobs", "--state", "/s", "list"},
           {"ai-platform", "--limit", "5", "--state=/s", "jobs", "--project", "jobs", "list"}}) {
    const Command command = ParseArguments(words);
    ASSERT_TRUE(std::holds_alternative<ListCommand>(command)) << words.front();
    EXPECT_EQ(std::get<ListCommand>(command).emulator.state, "/s");
    EXPECT_EQ(std::get<ListCommand>(command).gcloud.project, "jobs");
    EXPECT_EQ(std::get<ListCommand>(command).limit, 5);
  }
  const Command submit = ParseArguments({"--strict", "jobs", "submit", "training", "j1"});
  ASSERT_TRUE(std::holds_alternative<SubmitCommand>(submit));
  EXPECT_EQ(Complaint({"--limt", "5", "jobs", "list"}),
            "ERROR: (caip.jobs.list) unrecognized arguments: --limt 5 (did you mean '--limit'?)");
  EXPECT_NE(Complaint({"--state", "/s", "jobs"}), "");
}

// Usage errors: gcloud's words, exit code 2.
TEST(Arguments, SaysWhatIsWrongWithTheWords) {
  const std::pair<Words, const char*> rows[] = {
      {{"--staging-bucket", "bkt"},
       "argument --staging-bucket: Must be a valid Google Cloud Storage bucket of the form "
       "[gs://somebucket]"},
      {{"--staging-bucket=gs://b"}, "argument --staging-bucket: Invalid bucket name [b]"},
      {{"--staging-bucket=gs://bkt/x"},
       "argument --staging-bucket: Invalid bucket name [bkt/x]: Name only the bucket: gs://bkt"},
      {{"--job-dir", "/x"}, "argument --job-dir: Must be of form gs://bucket/object"},
      {{"--job-dir=gs://b"}, "argument --job-dir: Invalid bucket name [b]"},
      {{"--project="}, "argument --project: The project property is set to the empty string"},
      {{"--queue-delay=20m"}, "argument --queue-delay: '20m' is not a delay model."},
      {{"--epochs=3"},
       "unrecognized arguments: --epochs=3\nArguments of the trainer come after `--`, at the end "
       "of the line:\n\n  caip jobs submit training ... -- --epochs=3 ..."},
      {{"--job-dir=gs:///x"}, "argument --job-dir: Must be of form gs://bucket/object"},
      {{"--job-dir=gs://BKT/x"}, "argument --job-dir: Invalid bucket name [BKT]"},
      {{"--scale-tier", "foo"}, "argument --scale-tier: Invalid choice: 'foo'."},
      {{"--scale-tier", "standard"},
       "argument --scale-tier: Invalid choice: 'standard'.\n\nValid choices are [basic, "
       "standard-1, "
       "premium-1, basic-gpu, basic-tpu, custom].\nMaybe you meant:\n  standard-1"},
      {{"--scale-tier="}, "argument --scale-tier: Invalid choice: ''."},
      {{"--async", "--stream-logs"},
       "argument --async: At most one of --async | --stream-logs can be specified."},
      {{"--worker-count=3"},
       "argument --worker-machine-type: Must be specified. It is needed with --worker-count."},
      {{"--worker-machine-type=x"}, "argument --worker-count: Must be specified."},
      {{"--parameter-server-count=3"},
       "argument --parameter-server-machine-type: Must be specified."},
      {{"--worker-count=0", "--worker-machine-type=x"},
       "argument --worker-count: Value must be greater than or equal to 1; received: 0"},
      {{"--worker-count=x", "--worker-machine-type=x"},
       "argument --worker-count: Value must be an integer; received: x"},
      {{"--master-accelerator", "type=nvidia-tesla-t4"},
       "argument --master-accelerator: Key [count] required in dict arg but not provided"},
      {{"--master-accelerator", "count=1"},
       "argument --master-accelerator: Key [type] required in dict arg but not provided"},
      {{"--master-accelerator", "type=foo,count=1"},
       "argument --master-accelerator: Invalid accelerator: foo."},
      {{"--master-accelerator", "type=tpu-v2,count=0"},
       "argument --master-accelerator: The count of the accelerator must be greater than 0."},
      {{"--master-accelerator", "type=tpu-v2,count=1,x=y"},
       "argument --master-accelerator: valid keys are [count, type]; received: x"},
      {{"--labels=A=b"}, "argument --labels: Bad value [A]: Only hyphens (-), underscores (_)"},
      {{"--labels=a=É"}, "argument --labels: Bad value [É]:"},
      {{"--labels=1a=b"}, "argument --labels: Bad value [1a]:"},
      {{"--labels=a"}, "argument --labels: Bad syntax for dict arg: [a]."},
      {{"--labels==b"}, "argument --labels: Invalid flag value [=b]"},
      {{"--labels=" + std::string(64, 'a') + "=b"}, "argument --labels: Bad value [aaaa"},
      {{"--service-account=a@b"}, "argument --service-account: Bad value [a@b]: Not a valid"},
      {{"--use-chief-in-tf-config=1"},
       "argument --use-chief-in-tf-config: Invalid flag value [1], expected one of [true, yes, "
       "false, no]"},
      {{"--kms-keyring=r"}, "argument --kms-keyring: --kms-key must be specified."},
      {{"--job-dir", "--region", "x"}, "argument --job-dir: expected one argument"},
      {{"--job-dir"}, "argument --job-dir: expected one argument"},
      {{"--module-name", "-x"}, "argument --module-name: expected one argument"},
      {{"--enable-web-access=true"},
       "argument --enable-web-access: ignored explicit argument 'true'"},
      {{"--scale", "basic"}, "unrecognized arguments: --scale basic"},
      {{"--scale-teir=basic"},
       "unrecognized arguments: --scale-teir=basic (did you mean '--scale-tier'?)"},
      {{"extra"}, "unrecognized arguments: extra"},
      {{"--verbosity=loud"}, "argument --verbosity: Invalid choice: 'loud'."},
  };
  for (const auto& [words, text] : rows) {
    EXPECT_THAT(WholeComplaint(Submit(words)),
                StartsWith("ERROR: (caip.jobs.submit.training) " + std::string(text)));
  }
  EXPECT_THAT(WholeComplaint({"jobs", "submit", "training"}),
              HasSubstr("argument JOB: Must be specified."));
  EXPECT_THAT(WholeComplaint({"local", "train"}),
              HasSubstr("argument --module-name: Must be specified."));
  EXPECT_THAT(WholeComplaint({"jobs"}), HasSubstr("Command name argument expected."));
  EXPECT_THAT(WholeComplaint({}), HasSubstr("Command name argument expected."));
  EXPECT_THAT(WholeComplaint({"jbos"}),
              HasSubstr("Invalid choice: 'jbos'.\nMaybe you meant:\n  jobs"));
  EXPECT_THAT(WholeComplaint({"predict"}), HasSubstr("Valid choices are [jobs, "));
  EXPECT_THAT(WholeComplaint({"gcloud", "ai-platform", "jobs"}),
              HasSubstr("Write `caip` instead of"));
  EXPECT_THAT(WholeComplaint({"jobs", "submit", "j1"}), HasSubstr("Valid choices are [training]."));
  EXPECT_THAT(WholeComplaint({"help", "jobs", "lits"}), HasSubstr("Maybe you meant:\n  list"));
  EXPECT_THAT(WholeComplaint({"jobs", "list", "--", "x"}), HasSubstr("takes nothing after `--`"));
  EXPECT_THAT(WholeComplaint({"explore", "train.py", "--epochs", "3"}),
              HasSubstr("write all of it after `--`:\n\n  caip explore -- COMMAND"));
  EXPECT_THAT(WholeComplaint({"scenario", "run", "--", "python3", "train.py"}),
              HasSubstr("nothing after `--`. In a scenario, write the command as `trainer: {"));
  EXPECT_THAT(WholeComplaint({"scenario", "validate", "a.yaml", "train.py"}),
              HasSubstr("'train.py' is a program, not a scenario. In a scenario, write"));
  EXPECT_THAT(WholeComplaint({"serve", "--idle-timeout", "5"}),
              HasSubstr("'5' is not a valid duration"));
  EXPECT_THAT(WholeComplaint({"jobs", "update", "j", "--clear-labels", "--remove-labels=a"}),
              HasSubstr("At most one of --clear-labels | --remove-labels"));
  EXPECT_THAT(WholeComplaint({"serve", "--port", "70000"}),
              HasSubstr("less than or equal to 65535"));
}

TEST(Arguments, ReadsTheOtherCommands) {
  EXPECT_TRUE(std::holds_alternative<CancelCommand>(ParseArguments({"jobs", "cancel", "j"})));
  EXPECT_TRUE(std::holds_alternative<StopCommand>(ParseArguments({"stop"})));
  EXPECT_TRUE(std::holds_alternative<EnvCommand>(ParseArguments({"env"})));
  EXPECT_TRUE(std::holds_alternative<DoctorCommand>(ParseArguments({"doctor"})));
  EXPECT_TRUE(std::holds_alternative<VersionCommand>(ParseArguments({"version"})));
  EXPECT_TRUE(std::holds_alternative<VersionCommand>(ParseArguments({"--version"})));
  EXPECT_TRUE(std::holds_alternative<BucketsListCommand>(ParseArguments({"buckets", "list"})));

  const auto update = std::get<UpdateCommand>(
      ParseArguments({"jobs", "update", "j", "--update-labels=a=b", "--remove-labels=c,d"}));
  EXPECT_EQ(update.update_labels, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_THAT(update.remove_labels.value(), ElementsAre("c", "d"));

  const auto list = std::get<ListCommand>(ParseArguments(
      {"jobs", "list", "--filter", "state=FAILED", "--sort-by=~endTime,jobId", "--uri"}));
  EXPECT_EQ(list.filter, "state=FAILED");
  EXPECT_THAT(list.sort_by, ElementsAre("~endTime", "jobId"));
  EXPECT_TRUE(list.uri);

  const auto stream = std::get<StreamLogsCommand>(ParseArguments(
      {"jobs", "stream-logs", "j", "--polling-interval", "5", "--task-name=ps-replica-0"}));
  EXPECT_EQ(stream.polling_interval, 5);
  EXPECT_EQ(stream.task_name, "ps-replica-0");

  const auto serve = std::get<ServeCommand>(ParseArguments(
      {"serve", "--port=8080", "--allow-host", "a", "--allow-host", "b", "--idle-timeout=1m"}));
  EXPECT_EQ(serve.port, 8080);
  EXPECT_THAT(serve.allow_hosts, ElementsAre("a", "b"));
  EXPECT_EQ(serve.idle_timeout, "1m");

  const auto create = std::get<BucketsCreateCommand>(
      ParseArguments({"buckets", "create", "gs://one", "two", "gs://three/"}));
  EXPECT_THAT(create.buckets, ElementsAre("one", "two", "three"));

  const auto train = std::get<LocalTrainCommand>(ParseArguments(
      {"local", "train", "--module-name=t", "--distributed", "--worker-count=3", "--", "--x"}));
  EXPECT_TRUE(train.distributed);
  EXPECT_EQ(train.worker_count, 3);
  EXPECT_EQ(train.parameter_server_count, std::nullopt);
  EXPECT_EQ(train.start_port, 27182);
  EXPECT_THAT(train.user_args, ElementsAre("--x"));
}

}  // namespace
}  // namespace caip::cli
