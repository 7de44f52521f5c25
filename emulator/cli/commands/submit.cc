// `jobs submit training`: the client's checks in gcloud's order, packages, the Job, what to say.

#include "base/json.h"
#include "base/text.h"
#include "emulator/app/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/commands/service_call.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/gcloud_properties.h"
#include "emulator/cli/gcloud_values.h"
#include "emulator/cli/packaging.h"
#include "emulator/cli/print/resource_text.h"
#include "emulator/cli/print/verbosity.h"
#include "emulator/cli/service_error.h"
#include "emulator/cli/staging.h"
#include "emulator/cli/submit_config.h"
#include "emulator/cli/yaml_text.h"

namespace caip::cli {
namespace {

/// A submit on its way: each step needs what the one before it found out.
class Submission {
 public:
  Submission(const SubmitCommand& command, const Surroundings& world)
      : command_(command), flags_(command.flags), world_(world) {}

  int Run() {
    // Until the job is sent nothing may be left behind, so no signal ends us where we stand.
    const InterruptGuard guard;
    if (command_.async) Warn(errors::AsyncDeprecated());
    const Status made = MakeJob();
    if (guard.interrupted()) return EndEarly();
    if (!made.ok()) return Refuse(made.error());
    if (command_.validate_only) return Judge();
    if (command_.dry_run) return Print(PrettyJson(job_) + "\n", kExitSuccess);
    return Send(guard);
  }

 private:
  // The client's half. Nothing is uploaded or written but what a build leaves behind.
  Status MakeJob() {
    const bool has_config = command_.config && !command_.config->empty();
    if (has_config && spec::FileComesFirst(flags_)) RETURN_IF_ERROR(LoadConfig());
    RETURN_IF_ERROR(spec::CheckServerFlags(flags_, File()));
    RETURN_IF_ERROR(ReadKmsKey());
    if (!flags_.region) flags_.region = GcloudProperty(command_.gcloud, "compute", "region");
    if (!flags_.region) return errors::RegionMissing();
    RETURN_IF_ERROR(StagePackages());
    if (has_config && !config_) RETURN_IF_ERROR(LoadConfig());
    if (command_.strict) RETURN_IF_ERROR(spec::CheckTraps(flags_, File()));
    ASSIGN_OR_RETURN(job_, spec::MergeJob(flags_, File(), package_uris_));
    if (config_ && !command_.strict) Warn(config_->DuplicateWarnings());
    ASSIGN_OR_RETURN(project_, ProjectOf(command_.gcloud));
    return Ok{};
  }

  Status LoadConfig() {
    ASSIGN_OR_RETURN(config_, SubmitConfig::Load(*command_.config));
    return Ok{};
  }

  spec::SubmitFile File() const { return config_ ? config_->File() : spec::SubmitFile{}; }

  // A full name or URL stands for itself; anything else is a key's id and needs the other parts.
  Status ReadKmsKey() {
    const KmsFlags& kms = command_.kms;
    std::string key = kms.key.value_or("");
    const bool url = key.starts_with("https://") || key.starts_with("http://");
    if (url) key = key.substr(std::min(key.find("/projects/"), key.size() - 1) + 1);
    const std::vector<std::string> parts = Split(key, '/');
    const bool full = parts.size() >= 8 && parts[0] == "projects" && parts[2] == "locations" &&
                      parts[4] == "keyRings" && parts[6] == "cryptoKeys";
    if (full && !parts[1].empty() && !parts[3].empty() && !parts[5].empty()) {
      flags_.kms_key = key;
      return Ok{};
    }
    const std::string ring = kms.keyring.value_or("");
    const std::string location = kms.location.value_or("");
    const std::string own_project = kms.project.value_or("");
    if (key.empty() && ring.empty() && location.empty() && own_project.empty()) return Ok{};
    const Result<std::string> project =
        own_project.empty() ? ProjectOf(command_.gcloud) : Result<std::string>(own_project);
    if (full || url || key.empty() || ring.empty() || location.empty() || !project.ok()) {
      return errors::EncryptionKeyIncomplete();
    }
    flags_.kms_key = "projects/" + *project + "/locations/" + location + "/keyRings/" + ring +
                     "/cryptoKeys/" + key;
    return Ok{};
  }

  Status StagePackages() {
    ASSIGN_OR_RETURN(const auto location,
                     StagingLocationOf(flags_.job, command_.staging_bucket, flags_.job_dir));
    const bool keep = !command_.dry_run && !command_.validate_only;
    PackageRequest request{command_.packages, command_.package_path, {}};
    request.cache = StateDirectory(command_.emulator) / "sdists";
    request.read_only_cache = !keep;
    ASSIGN_OR_RETURN(files_, CollectPackages(request));
    package_uris_ = files_.remote;
    if (files_.local.empty()) return Ok{};
    if (!location) return errors::NoStagingLocation();
    ASSIGN_OR_RETURN(const std::string digest, DigestOf(files_.local));
    ASSIGN_OR_RETURN(staged_, StagedFiles(*location, digest, files_.local));
    for (const StagedFile& file : staged_) package_uris_.push_back(file.Uri());
    return Ok{};
  }

  int Judge() {
    const auto connected = world_.connect(command_.emulator, Lifetime::kBriefly);
    if (!connected.ok()) return Complain(connected.error().message);
    Json arriving = Json::array();
    for (const StagedFile& file : staged_) arriving.push_back(file.Uri());
    http::ClientRequest request;
    request.method = "POST";
    request.target = "/emulator" + JobsPath(project_) + ":check";
    request.headers.Set("Content-Type", "application/json");
    request.body = CompactJson({{"job", job_}, {"arriving", std::move(arriving)}});
    const Result<Json> fits = CallService(**connected, request, project_);
    if (!fits.ok()) return Complain(fits.error().message);
    Say(errors::JobFits(flags_.job));
    return command_.dry_run ? Print(PrettyJson(job_) + "\n", kExitSuccess) : kExitSuccess;
  }

  int Send(const InterruptGuard& guard) {
    auto connected = world_.connect(
        command_.emulator, command_.stream_logs ? Lifetime::kThisCommand : Lifetime::kBackground);
    if (guard.interrupted()) return EndEarly();
    if (!connected.ok()) return Complain(connected.error().message);
    Connection& connection = **connected;
    const Status staged = Stage(connection);
    if (guard.interrupted()) return EndEarly();
    if (!staged.ok()) return Refuse(staged.error());

    http::ClientRequest request;
    request.method = "POST";
    request.target = JobsPath(project_);
    request.headers.Set("Content-Type", "application/json");
    request.body = CompactJson(job_);
    const Result<Json> created = CallService(connection, request, project_);
    if (!created.ok()) return Complain(created.error().message);
    const std::string job = StringOr(*created, "jobId", flags_.job);
    Say(errors::Submitted(job));
    if (command_.stream_logs) return FollowToTheEnd(connection, job);
    Say(errors::FollowUp(job));
    return PrintJob(*created, kExitSuccess);
  }

  Status Stage(Connection& connection) {
    if (command_.emulator.create_buckets) {
      if (!staged_.empty()) {
        RETURN_IF_ERROR(EnsureBucket(connection, project_, staged_.front().bucket));
      }
      const Json* input = Member(job_, "trainingInput");
      const Result<ObjectName> job_dir = ParseObject(StringOr(*input, "jobDir"));
      if (job_dir.ok()) RETURN_IF_ERROR(EnsureBucket(connection, project_, job_dir->bucket));
    }
    return UploadFiles(connection, staged_);
  }

  int FollowToTheEnd(Connection& connection, const std::string& job) {
    const FollowOutcome outcome = world_.follow(connection, {project_, job, "", false}, world_.io);
    using End = FollowOutcome::End;
    if (outcome.end == End::kStopped) {
      Say(errors::EmulatorStopped(job));
      return kExitFailure;
    }
    if (outcome.end == End::kInterrupted) Say(errors::Interrupted(outcome.signal));
    if (outcome.end == End::kFailed) Say(errors::PollingFailed(outcome.failure));
    if (outcome.end != End::kJobFinished) Say(errors::FollowUp(job));
    http::ClientRequest request;
    request.target = JobsPath(project_, job);
    const Result<Json> ended = CallService(connection, request, project_);
    if (!ended.ok()) return Complain(ended.error().message);
    const bool succeeded = StringOr(*ended, "state") == "SUCCEEDED";
    return PrintJob(*ended, succeeded ? kExitSuccess : kExitFailure);
  }

  // jobId, state and times; with --format the whole Job.
  int PrintJob(const Json& job, int exit_code) {
    if (command_.gcloud.format) {
      const Result<std::string> text = FormatResource(job, *command_.gcloud.format);
      return text.ok() ? Print(*text, exit_code) : Refuse(text.error());
    }
    Json shown = Json::object();
    for (const char* name : {"jobId", "state"}) {
      if (const Json* value = Member(job, name)) shown[name] = *value;
    }
    for (const char* name : {"startTime", "endTime"}) {
      if (const Json* value = Member(job, name)) shown[name] = LocalDate(value->get<std::string>());
    }
    return Print(YamlText(shown), exit_code);
  }

  int Print(const std::string& text, int exit_code) const {
    if (command_.gcloud.user_output_enabled) world_.io.out(text);
    return exit_code;
  }

  void Say(const std::string& text) const {
    if (command_.gcloud.user_output_enabled && !text.empty()) world_.io.err(text);
  }

  void Warn(const std::string& text) const {
    if (IsShown(command_.gcloud, Message::kWarning) && !text.empty()) world_.io.err(text);
  }

  int EndEarly() const {
    Say(errors::InterruptedEarly());
    return kExitInterrupted;
  }

  int Refuse(const Error& error) const {
    return Complain(config_ ? config_->Shown(error) : ShownWithoutFile(error));
  }

  int Complain(const std::string& text) const {
    if (IsShown(command_.gcloud, Message::kError)) {
      world_.io.err("ERROR: (caip.jobs.submit.training) " + text + "\n");
    }
    return kExitFailure;
  }

  const SubmitCommand& command_;
  spec::SubmitFlags flags_;
  const Surroundings& world_;
  std::optional<SubmitConfig> config_;
  PackageFiles files_;
  std::vector<StagedFile> staged_;
  std::vector<std::string> package_uris_;
  std::string project_;
  Json job_;
};

}  // namespace

int RunSubmit(const SubmitCommand& command, const Surroundings& world) {
  return Submission(command, world).Run();
}

}  // namespace caip::cli
