#include "client/vertex/preparation.h"

#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "client/config_file.h"
#include "client/errors.h"
#include "client/flag_values.h"
#include "client/kms_key.h"
#include "client/staging.h"
#include "client/submit_typing.h"
#include "client/vertex/gcloud_messages.h"
#include "client/vertex/vertex_errors.h"

namespace caip::client::vertex {
namespace {

constexpr char kStandardInput[] = "-";

/// The steps that both kinds of jobs have. Each needs the results of the steps before it.
class Draft {
 public:
  Draft(JobKind kind, const CreateRequest& request, const PreparationOptions& options)
      : request_(request), options_(options) {
    job.kind = kind;
  }

  PreparedJob job;

  Status FindLocation() {
    ASSIGN_OR_RETURN(job.location, LocationOf(request_.gcloud, request_.region));
    return Ok{};
  }

  // As `custom-jobs create` does, which reads the standard input too.
  Status ReadSpec() {
    if (!has_config()) return Ok{};
    const std::string& path = *request_.config;
    Result<std::string> text =
        path == kStandardInput ? options_.read_input() : ReadFileUpTo(path, kYamlBytesMax);
    if (!text.ok()) return errors::FileUnreadable(path, text.error().message);
    Result<ConfigFile> file = ConfigFile::Parse(*std::move(text), path);
    if (!file.ok()) return errors::FileBroken(file.error().message);
    config_ = *std::move(file);
    return Ok{};
  }

  // As `hp-tuning-jobs create` does.
  Status ReadJob() {
    if (!has_config()) return Ok{};
    ASSIGN_OR_RETURN(config_, ConfigFile::Load(*request_.config));
    return Ok{};
  }

  SubmitFile File() const { return config_ ? config_->File() : SubmitFile{}; }

  Result<std::optional<std::string>> KmsKey() const {
    return KmsKeyOf(request_.kms, request_.gcloud);
  }

  // The error with its places in the file.
  Error Complete(const Error& error) const {
    if (config_) return client::errors::Reworded(error, config_->Shown(error));
    std::string text = error.message;
    for (const FieldViolation& violation : error.violations) {
      text += "\n  " + violation.field + ": " + violation.description;
    }
    return client::errors::Reworded(error, std::move(text));
  }

  PreparedJob Finish() {
    if (config_ && !request_.strict) options_.warn(config_->DuplicateWarnings());
    return std::move(job);
  }

  void AddHints(std::vector<FieldViolation> traps) {
    std::vector<FileHint> hints;
    for (FieldViolation& trap : traps) {
      hints.push_back({std::move(trap.field), true, std::move(trap.description)});
    }
    if (config_) job.hints = config_->Hints(hints);
  }

 private:
  bool has_config() const { return request_.config && !request_.config->empty(); }

  const CreateRequest& request_;
  const PreparationOptions& options_;
  std::optional<ConfigFile> config_;
};

// What the service will reject in the file: names that gcloud does not know.
std::vector<FieldViolation> RejectedNames(const SubmitFile& file) {
  std::vector<FieldViolation> traps;
  if (!file.tree) return traps;
  if (Member(*file.tree, "jobSpec")) return {errors::NestedCustomJob("jobSpec")};
  return TypeFileAs(CustomJobSpecMessage(), *file.tree).traps;
}

Status MakeCustomJob(const CustomJobRequest& request, const PreparationOptions& options,
                     Draft& draft) {
  CustomJobFlags flags = request.flags;
  ASSIGN_OR_RETURN(const std::string project, ProjectOf(request.gcloud));
  RETURN_IF_ERROR(draft.FindLocation());
  RETURN_IF_ERROR(draft.ReadSpec());
  ASSIGN_OR_RETURN(Json spec, ReadCustomJobSpec(draft.File(), flags));
  RETURN_IF_ERROR(CheckPools(flags, spec));
  if (request.strict) RETURN_IF_ERROR(CheckCustomJobTraps(flags, draft.File()));
  if (!flags.pools.empty() && flags.pools.front().Has("local-package-path")) {
    draft.job.image =
        MakeLocalImage(flags.pools.front(), flags.display_name, project, options.clock.Now());
    options.warn(draft.job.image->warning);
  }
  ASSIGN_OR_RETURN(flags.kms_key, draft.KmsKey());
  draft.job.job =
      MergeCustomJob(flags, std::move(spec), draft.job.image ? draft.job.image->uri : "");
  draft.AddHints(RejectedNames(draft.File()));
  return Ok{};
}

Status MakeTuningJob(const TuningJobRequest& request, Draft& draft) {
  TuningJobFlags flags = request.flags;
  RETURN_IF_ERROR(draft.FindLocation());
  ASSIGN_OR_RETURN(flags.kms_key, draft.KmsKey());
  RETURN_IF_ERROR(draft.ReadJob());
  ASSIGN_OR_RETURN(draft.job.job, MergeTuningJob(flags, draft.File()));
  if (request.strict) RETURN_IF_ERROR(CheckTuningJobTraps(flags, draft.File()));
  return Ok{};
}

http::ClientRequest PostJob(std::string target, const Json& body) {
  http::ClientRequest request{.method = "POST", .target = std::move(target)};
  request.headers.Set("Content-Type", "application/json");
  request.body = CompactJson(body);
  return request;
}

// Adds to a refusal what to do, if the client knows it.
Error WithFileHints(const Error& error, const PreparedJob& prepared) {
  const bool is_wrong = error.code == Code::kInvalidArgument;
  return client::errors::Reworded(error, error.message + (is_wrong ? prepared.hints : ""));
}

}  // namespace

Result<PreparedJob> Prepare(const CustomJobRequest& request, const PreparationOptions& options) {
  Draft draft(JobKind::kCustomJob, request, options);
  const Status made = MakeCustomJob(request, options, draft);
  return made.ok() ? Result<PreparedJob>(draft.Finish()) : draft.Complete(made.error());
}

Result<PreparedJob> Prepare(const TuningJobRequest& request, const PreparationOptions& options) {
  Draft draft(JobKind::kTuningJob, request, options);
  const Status made = MakeTuningJob(request, draft);
  return made.ok() ? Result<PreparedJob>(draft.Finish()) : draft.Complete(made.error());
}

Status EnsureOutputBucket(Connection& connection, const PreparedJob& prepared) {
  const bool is_custom = prepared.kind == JobKind::kCustomJob;
  const Json* spec = Member(prepared.job, is_custom ? "jobSpec" : "trialJobSpec");
  const Json* output = spec ? Member(*spec, "baseOutputDirectory") : nullptr;
  if (!output) return Ok{};
  const Result<google::GcsUri> directory = ParseObject(StringOr(*output, "outputUriPrefix"));
  if (!directory.ok()) return Ok{};  // the service reports it
  return EnsureBucket(connection, prepared.location.project, directory->bucket);
}

Result<Json> CreateJob(Connection& connection, const PreparedJob& prepared) {
  Result<Json> created =
      CallService(connection, PostJob(prepared.location.Path(prepared.kind), prepared.job),
                  prepared.location.project);
  return created.ok() ? created : Result<Json>(WithFileHints(created.error(), prepared));
}

Status CheckJob(Connection& connection, const PreparedJob& prepared) {
  const std::string target = "/emulator" + prepared.location.Path(prepared.kind) + ":check";
  const auto fits =
      CallService(connection, PostJob(target, {{"job", prepared.job}}), prepared.location.project);
  return fits.ok() ? Status(Ok{}) : Status(WithFileHints(fits.error(), prepared));
}

Result<Json> CallForJob(Connection& connection, const http::ClientRequest& request,
                        const JobName& name) {
  Result<Json> answer = CallService(connection, request, name.location.project);
  if (answer.ok() || answer.error().code != Code::kNotFound) return answer;
  return errors::JobMissing(answer.error(), WordsOf(name.kind).command, name.location.region,
                            name.location.project);
}

}  // namespace caip::client::vertex
