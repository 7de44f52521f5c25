#include "client/job_preparation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/errors.h"
#include "base/files.h"
#include "base/result.h"
#include "base/text.h"
#include "client/config_file.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/file_hints.h"
#include "client/flag_values.h"
#include "client/kms_key.h"
#include "client/packaging.h"
#include "client/submit_flags.h"

namespace caip::client {
namespace {

// The text of `error` if there is no file. Its violations are about flags.
std::string ShownWithoutFile(const Error& error) {
  std::string text = error.message;
  for (const FieldViolation& violation : error.violations) {
    text += "\n  " + violation.field + ": " + violation.description;
  }
  return text;
}

}  // namespace

namespace {

/// Prepares one job. Each step needs the results of the steps before it.
class Preparation {
 public:
  Preparation(const SubmitRequest& request, const PreparationOptions& options)
      : request_(request), flags_(request.flags), options_(options) {}

  Result<PreparedJob> Run() {
    const Status made = MakeJob();
    if (made.ok()) return std::move(prepared_);
    const Error& error = made.error();
    return errors::Reworded(error, config_ ? config_->Shown(error) : ShownWithoutFile(error));
  }

 private:
  Status MakeJob() {
    const bool has_config = request_.config && !request_.config->empty();
    if (has_config && FileComesFirst(flags_)) RETURN_IF_ERROR(LoadConfig());
    RETURN_IF_ERROR(CheckServerFlags(flags_, File()));
    ASSIGN_OR_RETURN(flags_.kms_key, KmsKeyOf(request_.kms, request_.gcloud));
    if (!flags_.region) flags_.region = GcloudProperty(request_.gcloud, "compute", "region");
    if (!flags_.region) return errors::RegionMissing();
    RETURN_IF_ERROR(CollectFiles());
    if (has_config && !config_) RETURN_IF_ERROR(LoadConfig());
    if (request_.strict) RETURN_IF_ERROR(CheckTraps(flags_, File()));
    ASSIGN_OR_RETURN(prepared_.job, MergeJob(flags_, File(), package_uris_));
    if (config_ && !request_.strict) options_.warn(config_->DuplicateWarnings());
    if (config_) prepared_.hints = config_->Hints(FindFileHints(config_->tree()));
    ASSIGN_OR_RETURN(prepared_.project, ProjectOf(request_.gcloud));
    return Ok{};
  }

  Status LoadConfig() {
    ASSIGN_OR_RETURN(config_, ConfigFile::Load(*request_.config));
    return Ok{};
  }

  SubmitFile File() const { return config_ ? config_->File() : SubmitFile{}; }

  Status CollectFiles() {
    ASSIGN_OR_RETURN(const auto location,
                     StagingLocationOf(flags_.job, request_.staging_bucket, flags_.job_dir));
    PackageRequest wanted{request_.packages, request_.package_path, request_.package_cache};
    wanted.read_only_cache = options_.read_only_cache;
    wanted.stop = options_.stop;
    ASSIGN_OR_RETURN(PackageFiles files, CollectPackages(wanted));
    prepared_.built = files.keep;
    package_uris_ = prepared_.remote_packages = files.remote;
    if (files.local.empty()) return Ok{};
    if (!location) return errors::NoStagingLocation();
    ASSIGN_OR_RETURN(const std::string digest, DigestOf(files.local));
    ASSIGN_OR_RETURN(prepared_.staged, StagedFiles(*location, digest, files.local));
    for (const StagedFile& file : prepared_.staged) package_uris_.push_back(file.Uri());
    return Ok{};
  }

  const SubmitRequest& request_;
  SubmitFlags flags_;
  const PreparationOptions& options_;
  std::optional<ConfigFile> config_;
  std::vector<std::string> package_uris_;
  PreparedJob prepared_;
};

http::ClientRequest PostJson(std::string target, const Json& body) {
  http::ClientRequest request{.method = "POST", .target = std::move(target)};
  request.headers.Set("Content-Type", "application/json");
  request.body = CompactJson(body);
  return request;
}

// The job that has the id may have been removed by `caip jobs delete --strict`.
Error IdTaken(Connection& connection, const Error& refusal, const PreparedJob& prepared) {
  const std::string id = StringOr(prepared.job, "jobId");
  const auto job =
      CallService(connection, {.target = JobsPath(prepared.project, id)}, prepared.project);
  const bool is_gone = !job.ok() && job.error().code == Code::kNotFound;
  return is_gone ? errors::JobIdStaysTaken(refusal, id)
                 : errors::JobIdTaken(refusal, id, prepared.project);
}

// Adds to a refusal of the job what to do, if the client knows it.
Error WithRemedy(Connection& connection, const Error& error, const PreparedJob& prepared) {
  if (error.code == Code::kAlreadyExists) return IdTaken(connection, error, prepared);
  for (const FieldViolation& violation : error.violations) {
    if (violation.field != "package_uris" || prepared.remote_packages.empty()) continue;
    return errors::PackagesUnreadable(error, prepared.remote_packages);
  }
  const bool is_wrong = error.code == Code::kInvalidArgument;
  return errors::Reworded(error, error.message + (is_wrong ? prepared.hints : ""));
}

}  // namespace

Result<PreparedJob> PrepareJob(const SubmitRequest& request, const PreparationOptions& options) {
  return Preparation(request, options).Run();
}

Status StageFiles(Connection& connection, const PreparedJob& prepared, bool create_buckets) {
  if (create_buckets) {
    if (!prepared.staged.empty()) {
      RETURN_IF_ERROR(EnsureBucket(connection, prepared.project, prepared.staged.front().bucket));
    }
    const Json* input = Member(prepared.job, "trainingInput");
    const Result<google::GcsUri> job_dir = ParseObject(StringOr(*input, "jobDir"));
    if (job_dir.ok()) {
      RETURN_IF_ERROR(EnsureBucket(connection, prepared.project, job_dir->bucket));
    }
  }
  return UploadFiles(connection, prepared.staged);
}

Result<Json> CreateJob(Connection& connection, const PreparedJob& prepared) {
  Result<Json> created =
      CallService(connection, PostJson(JobsPath(prepared.project), prepared.job), prepared.project);
  return created.ok() ? created : Result<Json>(WithRemedy(connection, created.error(), prepared));
}

Status CheckJob(Connection& connection, const PreparedJob& prepared) {
  Json arriving = Json::array();
  for (const StagedFile& file : prepared.staged) arriving.push_back(file.Uri());
  const Json body = {{"job", prepared.job}, {"arriving", std::move(arriving)}};
  const auto fits =
      CallService(connection, PostJson("/emulator" + JobsPath(prepared.project) + ":check", body),
                  prepared.project);
  return fits.ok() ? Status(Ok{}) : Status(WithRemedy(connection, fits.error(), prepared));
}

}  // namespace caip::client
