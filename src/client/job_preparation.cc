#include "client/job_preparation.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/files.h"
#include "base/result.h"
#include "base/text.h"
#include "base/yaml.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/file_hints.h"
#include "client/flag_values.h"
#include "client/packaging.h"
#include "client/submit_flags.h"

namespace caip::client {
namespace {

// The file of --config. It is read once, and its mistakes are reported with their places.

class SubmitConfig {
 public:
  // An error if the file cannot be read or is not YAML.
  static Result<SubmitConfig> Load(const std::string& path);

  // The file for the merge. Valid as long as this object exists.
  SubmitFile File() const;
  // The text of `error` and a line for each violation, which begins with file, line and column.
  std::string Shown(const Error& error) const;
  // The remedies for what the service rejects in the file; "" if there is nothing.
  std::string Hints() const;
  // The warnings about keys that occur twice.
  std::string DuplicateWarnings() const;

 private:
  // The place of the value, or of the nearest enclosing value that has one; 0:0 without one.
  Place PlaceOf(std::string pointer) const;
  // "file:line:column: text", the line, and a caret below it.
  std::string At(const Place& place, const std::string& text) const;

  std::string path_;
  std::string text_;
  YamlDocument document_;
};

// "/trainingInput/args/0" -> "trainingInput.args[0]".
std::string DottedPath(std::string_view pointer) {
  std::string path;
  for (const std::string& step : Split(pointer.substr(pointer.empty() ? 0 : 1), '/')) {
    const std::string name = NameOfPointerStep(step);
    if (IsDigits(name) && !path.empty()) {
      path += "[" + name + "]";
    } else {
      path += (path.empty() ? "" : ".") + name;
    }
  }
  return path;
}

bool IsPointer(const std::string& field) { return field.empty() || field.starts_with('/'); }

Result<SubmitConfig> SubmitConfig::Load(const std::string& path) {
  Result<std::string> text = ReadFileUpTo(path, kYamlBytesMax);
  if (!text.ok()) return errors::ConfigUnreadable(path, text.error().message);
  SubmitConfig config;
  config.path_ = path;
  config.text_ = *std::move(text);
  Result<YamlDocument> document = ParseYaml(config.text_, path);
  if (!document.ok()) return errors::ConfigBroken(path, document.error().message);
  config.document_ = std::move(*document);
  return config;
}

SubmitFile SubmitConfig::File() const {
  return {&document_.value, document_.dates, document_.duplicates};
}

Place SubmitConfig::PlaceOf(std::string pointer) const {
  while (true) {
    const auto found = document_.places.find(pointer);
    if (found != document_.places.end()) return found->second;
    const size_t slash = pointer.rfind('/');
    if (slash == std::string::npos) return {};
    pointer.resize(slash);
  }
}

std::string SubmitConfig::At(const Place& place, const std::string& text) const {
  if (place.line == 0) return path_ + ": " + text;
  return YamlError(text_, path_, place.line - 1, place.column - 1, text).message;
}

std::string SubmitConfig::Shown(const Error& error) const {
  std::string text = error.message;
  for (const FieldViolation& violation : error.violations) {
    const bool of_file = IsPointer(violation.field);
    const std::string name = of_file ? DottedPath(violation.field) : violation.field;
    const std::string line = (name.empty() ? "" : name + ": ") + violation.description;
    text += "\n  " + (of_file ? At(PlaceOf(violation.field), line) : line);
  }
  return text;
}

std::string SubmitConfig::Hints() const {
  std::string text;
  for (const FileHint& hint : FindFileHints(document_.value)) {
    const auto key = document_.key_places.find(hint.pointer);
    const bool at_key = hint.is_key && key != document_.key_places.end();
    const std::string line = DottedPath(hint.pointer) + ": " + hint.text;
    text += "\n" + At(at_key ? key->second : PlaceOf(hint.pointer), line);
  }
  return text;
}

std::string SubmitConfig::DuplicateWarnings() const {
  std::string text;
  for (const std::string& pointer : document_.duplicates) {
    const Place place = PlaceOf(pointer);
    text += errors::DuplicateKeyWarning(
        path_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column),
        DottedPath(pointer));
  }
  return text;
}

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
    RETURN_IF_ERROR(ReadKmsKey());
    if (!flags_.region) flags_.region = GcloudProperty(request_.gcloud, "compute", "region");
    if (!flags_.region) return errors::RegionMissing();
    RETURN_IF_ERROR(CollectFiles());
    if (has_config && !config_) RETURN_IF_ERROR(LoadConfig());
    if (request_.strict) RETURN_IF_ERROR(CheckTraps(flags_, File()));
    ASSIGN_OR_RETURN(prepared_.job, MergeJob(flags_, File(), package_uris_));
    if (config_ && !request_.strict) options_.warn(config_->DuplicateWarnings());
    if (config_) prepared_.hints = config_->Hints();
    ASSIGN_OR_RETURN(prepared_.project, ProjectOf(request_.gcloud));
    return Ok{};
  }

  Status LoadConfig() {
    ASSIGN_OR_RETURN(config_, SubmitConfig::Load(*request_.config));
    return Ok{};
  }

  SubmitFile File() const { return config_ ? config_->File() : SubmitFile{}; }

  // A full name or URL is used unchanged. Any other value is a key's ID and needs the other flags.
  Status ReadKmsKey() {
    const KmsFlags& kms = request_.kms;
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
        own_project.empty() ? ProjectOf(request_.gcloud) : Result<std::string>(own_project);
    if (full || url || key.empty() || ring.empty() || location.empty() || !project.ok()) {
      return errors::EncryptionKeyIncomplete();
    }
    flags_.kms_key = "projects/" + *project + "/locations/" + location + "/keyRings/" + ring +
                     "/cryptoKeys/" + key;
    return Ok{};
  }

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
  std::optional<SubmitConfig> config_;
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
