#include "client/staging.h"

#include "base/encoding.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "client/errors.h"
#include "client/flag_values.h"

namespace caip::client {
namespace {

Result<http::ClientResponse> Ask(Connection& connection, const http::ClientRequest& request,
                                 const std::string& doing) {
  Result<http::ClientResponse> response = connection.Send(request);
  if (!response.ok()) return errors::EmulatorUnreachable(doing, response.error().message);
  return response;
}

// Whether the object exists with these bytes. Its name has their digest, so an unchanged package
// exists already.
Result<bool> IsUploaded(Connection& connection, const StagedFile& file, const std::string& bytes) {
  http::ClientRequest request;
  request.target =
      "/storage/v1/b/" + PercentEncoded(file.bucket) + "/o/" + PercentEncoded(file.object);
  ASSIGN_OR_RETURN(const http::ClientResponse response,
                   Ask(connection, request, "looking for " + file.Uri()));
  if (response.status != 200) return false;
  const Result<Json> info = ParseJson(response.body);
  return info.ok() && IntOr(*info, "size", -1) == static_cast<long long>(bytes.size()) &&
         StringOr(*info, "md5Hash") == Base64(Md5(bytes));
}

Status Upload(Connection& connection, const StagedFile& file) {
  const Result<std::string> bytes = ReadFile(file.file);
  if (!bytes.ok()) return errors::FileUnreadable(file.file.string(), bytes.error().message);
  ASSIGN_OR_RETURN(const bool uploaded, IsUploaded(connection, file, *bytes));
  if (uploaded) return Ok{};
  http::ClientRequest request;
  request.method = "POST";
  request.target = "/upload/storage/v1/b/" + PercentEncoded(file.bucket) +
                   "/o?uploadType=media&name=" + PercentEncoded(file.object);
  request.headers.Set("Content-Type",
                      file.file.extension() == ".whl" ? "application/zip" : "application/x-tar");
  request.body = *bytes;
  ASSIGN_OR_RETURN(const http::ClientResponse response,
                   Ask(connection, request, "uploading " + file.file.string()));
  if (response.status == 404) return errors::BucketMissing(file.bucket);
  const Result<Json> info = ParseJson(response.body);
  if (response.status != 200) {
    const Json* error = info.ok() ? Member(*info, "error") : nullptr;
    return errors::UploadRefused(file.file.string(), response.status,
                                 error ? StringOr(*error, "message") : response.body);
  }
  if (!info.ok() || IntOr(*info, "size", -1) != static_cast<long long>(bytes->size())) {
    return errors::UploadDiffers(file.file.string());
  }
  return Ok{};
}

}  // namespace

Result<std::optional<StagingLocation>> StagingLocationOf(
    const std::string& job, const std::optional<std::string>& staging_bucket,
    const std::optional<std::string>& job_dir) {
  if (!staging_bucket && !job_dir) return std::optional<StagingLocation>();
  StagingLocation location;
  if (staging_bucket) {
    location = {*staging_bucket, job};
  } else {
    ASSIGN_OR_RETURN(const google::GcsUri name, ParseObject(*job_dir));
    std::string prefix = name.object;
    while (prefix.ends_with('/')) prefix.pop_back();
    location = {name.bucket, prefix.empty() ? "packages" : prefix + "/packages"};
  }
  RETURN_IF_ERROR(CheckBucketName(location.bucket));
  RETURN_IF_ERROR(CheckObjectName(location.prefix));
  return std::optional<StagingLocation>(location);
}

Result<std::vector<StagedFile>> StagedFiles(const StagingLocation& location,
                                            const std::string& digest,
                                            const std::vector<Path>& files) {
  std::vector<StagedFile> staged;
  for (const Path& file : files) {
    const std::string object = location.prefix + "/" + digest + "/" + file.filename().string();
    RETURN_IF_ERROR(CheckObjectName(object));
    staged.push_back({file, location.bucket, object});
  }
  return staged;
}

Status UploadFiles(Connection& connection, const std::vector<StagedFile>& files) {
  for (const StagedFile& file : files) RETURN_IF_ERROR(Upload(connection, file));
  return Ok{};
}

Status EnsureBucket(Connection& connection, const std::string& project, const std::string& bucket) {
  http::ClientRequest request;
  request.method = "POST";
  request.target = "/storage/v1/b?project=" + PercentEncoded(project);
  request.headers.Set("Content-Type", "application/json");
  Json body;
  body["name"] = bucket;
  request.body = CompactJson(body);
  ASSIGN_OR_RETURN(const http::ClientResponse response,
                   Ask(connection, request, "creating the bucket gs://" + bucket));
  if (response.status == 200 || response.status == 409) return Ok{};  // 409: it exists
  return errors::BucketRefused(bucket, response.status, response.body);
}

}  // namespace caip::client
