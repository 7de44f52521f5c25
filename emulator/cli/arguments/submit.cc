// The flags of `jobs submit training`.

#include <set>

#include "base/text.h"
#include "client/flag_values.h"
#include "emulator/cli/arguments/definitions.h"
#include "emulator/cli/errors.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

// Flags that gcloud has on its alpha and beta tracks only.
Grammar::Setter OnTracks(const Grammar& grammar, const char* flag, Grammar::Setter set) {
  if (grammar.has_track()) return set;
  return [flag](const std::string&) -> Status { return errors::OnlyOnTracks(flag); };
}

constexpr const char* kSubmitFooter =
    R"(Flags override the file of --config. As in gcloud, packageUris, enableWebAccess and region of
the file are never used, and a `--` with nothing after it erases the file's args. --strict
reports that.

Examples:
  Package a source tree, run it, follow its log:
    caip jobs submit training my_job --stream-logs --region us-central1 \
        --module-name trainer.task --package-path trainer \
        --staging-bucket gs://my-bucket --job-dir gs://my-bucket/out \
        --runtime-version 2.11 --python-version 3.7 -- --epochs 3
  A package in a bucket, and a file with the versions and the cluster:
    caip jobs submit training cluster_job --region us-central1 \
        --module-name trainer.task --config cluster.yaml \
        --packages gs://my-bucket/trainer-0.1.tar.gz
  Only print the Job:
    caip jobs submit training next_job --region us-central1 \
        --module-name trainer.task --config cluster.yaml \
        --packages gs://my-bucket/trainer-0.1.tar.gz --dry-run)";

using Kind = Values::Kind;

std::vector<std::string> RegionChoices() {
  std::vector<std::string> names;
  for (const ml::Region& region : ml::DefaultCatalog().regions()) names.push_back(region.name);
  return names;
}

std::vector<std::string> RuntimeChoices() {
  std::vector<std::string> names;
  for (const ml::Runtime& runtime : ml::DefaultCatalog().runtimes()) {
    names.push_back(runtime.version);
  }
  return names;
}

std::vector<std::string> PythonChoices() {
  std::set<std::string> names;
  for (const ml::Runtime& runtime : ml::DefaultCatalog().runtimes()) {
    names.insert(runtime.pythons.begin(), runtime.pythons.end());
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> MachineChoices() {
  std::vector<std::string> names;
  for (const ml::MachineType& machine : ml::DefaultCatalog().machines()) {
    if (!machine.tier_only) names.push_back(machine.name);
  }
  return names;
}

std::vector<std::string> AcceleratorWords() {
  std::vector<std::string> words;
  for (const std::string& type : client::AcceleratorChoices()) {
    words.push_back("type=" + type + ",count=");
  }
  return words;
}

// Stores the parsed value.
template <typename T, typename Parse>
Grammar::Setter Parsed(std::optional<T>* into, Parse parse) {
  return [into, parse](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(*into, parse(value));
    return Ok{};
  };
}

Result<std::string> ParseTier(const std::string& choice) {
  std::string tier = client::ScaleTierOfChoice(choice);
  if (tier.empty()) return errors::NoSuchChoice(choice, client::ScaleTierChoices());
  return tier;
}

// Returns the URL as gcloud sends it: with a slash after the bucket.
Result<std::string> ParseJobDir(const std::string& url) {
  ASSIGN_OR_RETURN(const google::GcsUri name, client::ParseObject(url));
  RETURN_IF_ERROR(client::CheckBucketName(name.bucket));
  return std::string(google::kGcsScheme) + name.bucket + "/" + name.object;
}

struct CountFlag {
  std::optional<int64_t> value;
  bool given = false;
};

// The value "unlimited" counts as given, but is not sent.
Grammar::Setter ToCount(const std::shared_ptr<CountFlag>& count) {
  return [count](const std::string& value) -> Status {
    ASSIGN_OR_RETURN(count->value, client::ParseCount(value));
    count->given = true;
    return Ok{};
  };
}

void AddSourceFlags(Grammar& grammar, CLI::App& app, client::SubmitRequest* job) {
  client::SubmitFlags& flags = job->flags;
  grammar.Flag(app, "--module-name", "MODULE", "Python module to run: trainer.task.",
               To(&flags.module_name));
  grammar.Flag(app, "--package-path", "DIR",
               "Directory of the Python package to build; its parent may hold a setup.py.",
               To(&job->package_path));
  grammar.Flag(app, "--packages", "PACKAGE,...",
               "Archives to install: local files, which are uploaded, or gs:// objects.",
               [job](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(job->packages, client::ParseList(value));
                 return Ok{};
               });
  grammar.Suggest(app, "--packages", {.kind = Kind::kFiles});
  grammar.Flag(app, "--staging-bucket", "gs://BUCKET", "Bucket for uploaded packages.",
               Parsed(&job->staging_bucket, client::ParseStagingBucket));
  grammar.Flag(
      app, "--job-dir", "gs://BUCKET/OBJECT",
      "Folder of the trainer's output; passed to it as --job-dir. Packages are uploaded there "
      "if --staging-bucket is not given.",
      Parsed(&flags.job_dir, ParseJobDir));
  grammar.Flag(
      app, "--region", "REGION",
      "Region of the job (default: $CLOUDSDK_COMPUTE_REGION, else gcloud's configuration).",
      To(&flags.region));
  grammar.Suggest(app, "--region", {.kind = Kind::kWords, .words = RegionChoices});
  grammar.Flag(app, "--config", "FILE", "A Job in YAML or JSON; flags override it.",
               To(&job->config));
}

void AddServiceFlags(Grammar& grammar, CLI::App& app, client::SubmitRequest* job) {
  client::SubmitFlags& flags = job->flags;
  grammar.Flag(app, "--scale-tier", "TIER",
               "basic, standard-1, premium-1, basic-gpu, basic-tpu or custom.",
               Parsed(&flags.scale_tier, ParseTier));
  grammar.Suggest(app, "--scale-tier", {.kind = Kind::kWords, .words = client::ScaleTierChoices});
  grammar.Flag(app, "--runtime-version", "VERSION", "Runtime version, such as 2.11.",
               To(&flags.runtime_version));
  grammar.Suggest(app, "--runtime-version", {.kind = Kind::kWords, .words = RuntimeChoices});
  grammar.Flag(app, "--python-version", "VERSION", "Python version: 3.7, 3.5 or 2.7.",
               To(&flags.python_version));
  grammar.Suggest(app, "--python-version", {.kind = Kind::kWords, .words = PythonChoices});
  grammar.Flag(app, "--labels", "KEY=VALUE,...", "Labels of the job.",
               [job](const std::string& value) -> Status {
                 ASSIGN_OR_RETURN(const auto labels, client::ParseLabels(value));
                 auto& all = job->flags.labels;
                 if (!all) all.emplace();
                 for (const auto& [key, label] : labels) (*all)[key] = label;
                 return Ok{};
               });
}

void AddAccountFlags(Grammar& grammar, CLI::App& app, client::SubmitRequest* job) {
  client::SubmitFlags& flags = job->flags;
  grammar.Heading("Flags of account, network and key");
  grammar.Flag(app, "--service-account", "ACCOUNT", "Account the trainer runs as.",
               [job](const std::string& value) -> Status {
                 RETURN_IF_ERROR(client::CheckServiceAccount(value));
                 job->flags.service_account = value;
                 return Ok{};
               });
  grammar.Switch(app, "--enable-web-access", "Offer shells on the replicas (webAccessUris).",
                 &flags.enable_web_access);
  grammar.Flag(app, "--network", "NETWORK", "VPC network the job is peered with (alpha and beta).",
               OnTracks(grammar, "--network", To(&flags.network)));
  AddKmsFlags(grammar, app, &job->kms);
  grammar.Heading(std::string(kMainFlags));
}

void AddRoleFlags(Grammar& grammar, CLI::App& app, const std::string& role,
                  client::RoleFlags* into) {
  grammar.Flag(app, "--" + role + "-machine-type", "TYPE", "Machine type of the " + role + ".",
               To(&into->machine_type));
  grammar.Flag(app, "--" + role + "-accelerator", "type=TYPE,count=N",
               "Accelerators of each " + role + " machine.",
               Parsed(&into->accelerator, client::ParseAccelerator));
  grammar.Suggest(app, "--" + role + "-machine-type",
                  {.kind = Kind::kWords, .words = MachineChoices});
  grammar.Suggest(app, "--" + role + "-accelerator",
                  {.kind = Kind::kWords, .words = AcceleratorWords});
  grammar.Suggest(app, "--" + role + "-image-uri", {.kind = Kind::kImages});
  grammar.Flag(app, "--" + role + "-image-uri", "URI", "Container image of the " + role + ".",
               To(&into->image_uri));
}

void AddClusterFlags(Grammar& grammar, CLI::App& app, client::SubmitRequest* job,
                     const std::shared_ptr<CountFlag>& workers,
                     const std::shared_ptr<CountFlag>& servers) {
  grammar.Heading("Flags of the cluster");
  AddRoleFlags(grammar, app, "master", &job->flags.master);
  AddRoleFlags(grammar, app, "worker", &job->flags.worker);
  grammar.Flag(app, "--worker-count", "N", "Number of workers.", ToCount(workers));
  AddRoleFlags(grammar, app, "parameter-server", &job->flags.parameter_server);
  grammar.Flag(app, "--parameter-server-count", "N", "Number of parameter servers.",
               ToCount(servers));
  grammar.Flag(app, "--use-chief-in-tf-config", "true|false",
               "Call the master `chief` in the cluster; for containers.",
               Parsed(&job->flags.use_chief_in_tf_config, client::ParseBoolean));
  grammar.Flag(app, "--tpu-tf-version", "VERSION",
               "TensorFlow of a TPU worker's container (alpha and beta).",
               OnTracks(grammar, "--tpu-tf-version", To(&job->flags.tpu_tf_version)));
  grammar.Heading(std::string(kMainFlags));
}

void AddWaitFlags(Grammar& grammar, CLI::App& app, SubmitCommand* submit) {
  grammar.Switch(app, "--stream-logs", "Show the job's log until the job ends.",
                 &submit->stream_logs);
  grammar.Switch(app, "--async", "(DEPRECATED) Do not wait, which is the default.", &submit->async);
  grammar.Heading("Flags that gcloud does not have");
  grammar.Switch(app, "--dry-run", "Print the Job that would be sent, as JSON; do nothing else.",
                 &submit->dry_run);
  grammar.Switch(app, "--validate-only",
                 "Like --dry-run, and also check the Job by the service's rules.",
                 &submit->validate_only);
  grammar.Switch(
      app, "--strict",
      "Reject what gcloud ignores silently: dropped fields and unknown keys of the file.",
      &submit->request.strict);
  grammar.Heading(std::string(kMainFlags));
}

Status CheckPair(const std::optional<std::string>& type, const CountFlag& count,
                 const std::string& role) {
  if (count.given && !type) {
    return errors::Argument("--" + role + "-machine-type",
                            errors::MustBeSpecifiedWith("--" + role + "-count"));
  }
  if (type && !count.given) {
    return errors::Argument("--" + role + "-count",
                            errors::MustBeSpecifiedWith("--" + role + "-machine-type"));
  }
  return Ok{};
}

}  // namespace

FinishJob AddJobFlags(Grammar& grammar, CLI::App& app, client::SubmitRequest* job) {
  const auto workers = std::make_shared<CountFlag>();
  const auto servers = std::make_shared<CountFlag>();
  AddSourceFlags(grammar, app, job);
  AddServiceFlags(grammar, app, job);
  AddAccountFlags(grammar, app, job);
  AddClusterFlags(grammar, app, job, workers, servers);
  return [=](const Words& words) -> Status {
    RETURN_IF_ERROR(CheckPair(job->flags.worker.machine_type, *workers, "worker"));
    RETURN_IF_ERROR(
        CheckPair(job->flags.parameter_server.machine_type, *servers, "parameter-server"));
    RETURN_IF_ERROR(CheckKmsFlags(job->kms));
    job->flags.worker.count = workers->value;
    job->flags.parameter_server.count = servers->value;
    job->flags.user_args = words.user_args;
    return Ok{};
  };
}

void AddSubmitCommand(Grammar& grammar, CLI::App& jobs, const GcloudFlags& gcloud) {
  const auto submit = std::make_shared<SubmitCommand>();
  const auto finish_job = std::make_shared<FinishJob>();
  const auto finish = [submit, finish_job, &gcloud](const Words& words) -> Result<Command> {
    if (submit->async && submit->stream_logs) {
      return errors::Argument("--async", errors::AtMostOneOf({"--async", "--stream-logs"}));
    }
    RETURN_IF_ERROR((*finish_job)(words));
    submit->gcloud = gcloud;
    return Command(*submit);
  };
  CLI::App& group = grammar.Group(jobs, "submit", "Submits a job.");
  CLI::App& app = grammar.Leaf(group, "training", "Submits a training job.", kSubmitFooter, finish);
  grammar.TakesUserArgs(app);
  *finish_job = AddJobFlags(grammar, app, &submit->request);
  grammar.Positional(app, "JOB", "Name of the job: a letter, then letters, digits and underscores.",
                     To(&submit->request.flags.job));
  grammar.Suggest(app, "JOB", {.kind = Kind::kNone});
  AddWaitFlags(grammar, app, submit.get());
  AddEmulatorFlags(grammar, app, &submit->emulator);
}

}  // namespace caip::cli
