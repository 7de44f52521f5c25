#include <algorithm>

#include "base/encoding.h"
#include "base/json.h"

#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/service/encryption_keys.h"
#include "fakes/gcs/service/upload.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/preconditions.h"

namespace caip::gcs {
namespace {

constexpr size_t kSourcesMax = 32;
constexpr int64_t kStepUnit = 1 << 20;  // maxBytesRewrittenPerCall comes in these

// What a rewrite or copy is about. `source` keeps its bytes readable, whatever happens meanwhile.
struct CopyPlan {
  std::unique_ptr<ObjectReader> source;
  ObjectInfo info;  // the source's metadata, with what the request names on top
  Preconditions preconditions;
  std::string bucket;
  std::string name;
};

// The source as the request means it: its generation, the ifSource... conditions and its key.
Result<std::unique_ptr<ObjectReader>> OpenSource(StorageApi& api, const Request& request,
                                                 const PathParameters& path) {
  ASSIGN_OR_RETURN(const Version version, VersionOf(request, "sourceGeneration"));
  ASSIGN_OR_RETURN(auto reader,
                   api.store.OpenObject(path.At("bucket"), path.At("object"), version));
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request, "ifSource"));
  RETURN_IF_ERROR(CheckPreconditions(conditions, &reader->info()));
  ASSIGN_OR_RETURN(const std::string key, KeyShown(request, kSourceKeyHeaders));
  RETURN_IF_ERROR(CheckKey(reader->info(), key));
  return reader;
}

// The sums of the request's resource are ignored: gsutil sends those of the source along. Holds,
// retention and access lists stay with the source.
Result<CopyPlan> PlanCopy(StorageApi& api, const Request& request, const PathParameters& path) {
  CopyPlan plan;
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(plan.preconditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(plan.source, OpenSource(api, request, path));
  plan.info = plan.source->info();
  plan.info.temporary_hold = plan.info.event_based_hold = false;
  plan.info.retention.clear();
  plan.info.acl.clear();
  RETURN_IF_ERROR(ApplyObjectFields(resource, &plan.info));
  RETURN_IF_ERROR(ApplyDestination(request, &plan.info));
  plan.bucket = path.At("toBucket");
  plan.name = path.At("toObject");
  return plan;
}

Result<ObjectInfo> CopyWhole(StorageApi& api, CopyPlan& plan) {
  ASSIGN_OR_RETURN(const auto writer, api.store.NewObject(plan.bucket, plan.name));
  RETURN_IF_ERROR(writer->AppendFrom(*plan.source, 0, plan.source->info().size));
  return writer->Commit(plan.info, plan.preconditions, std::nullopt, std::nullopt);
}

// Only bytes that change their place or class are moved step by step; else it is done at once.
Result<bool> MovesBytes(StorageApi& api, const CopyPlan& plan) {
  const ObjectInfo& source = plan.source->info();
  ASSIGN_OR_RETURN(const Bucket from, api.store.GetBucket(source.bucket));
  ASSIGN_OR_RETURN(const Bucket to, api.store.GetBucket(plan.bucket));
  return from.location != to.location || source.storage_class != plan.info.storage_class ||
         source.customer_key_sha256 != plan.info.customer_key_sha256;
}

// A token is a number and the sum over it and over what is copied where; the store keeps the bytes
// that are copied so far under that sum.
std::string TokenKey(const CopyPlan& plan, std::string_view number) {
  const ObjectInfo& source = plan.source->info();
  Hasher hasher;
  for (std::string_view part :
       {std::string_view(source.bucket), std::string_view(source.name),
        std::string_view(plan.bucket), std::string_view(plan.name), number}) {
    hasher.Add(part);
    hasher.Add(std::string_view("\0", 1));
  }
  hasher.Add(std::to_string(source.generation));
  return Hex(hasher.Finish().md5);
}

Result<std::string> KeyOfToken(StorageApi& api, const CopyPlan& plan, std::string* token) {
  if (token->empty()) {
    std::string key;
    do {
      const std::string number = api.sessions.NewNumber();
      key = TokenKey(plan, number);
      *token = number + "." + key;
    } while (api.store.UploadNote(key));
    return key;
  }
  const size_t dot = token->find('.');
  const std::string key = TokenKey(plan, token->substr(0, dot));
  if (dot == std::string::npos || token->substr(dot + 1) != key) {
    return errors::RewriteTokenInvalid();
  }
  return key;
}

Json RewriteAnswer(uint64_t rewritten, uint64_t size) {
  return {{"kind", "storage#rewriteResponse"},
          {"totalBytesRewritten", std::to_string(rewritten)},
          {"objectSize", std::to_string(size)},
          {"done", rewritten == size}};
}

// One step of a rewrite: nullopt when more are needed.
Result<std::optional<ObjectInfo>> Step(StorageApi& api, CopyPlan& plan, const std::string& key,
                                       uint64_t limit, uint64_t* rewritten) {
  const ObjectInfo& source = plan.source->info();
  ASSIGN_OR_RETURN(const auto writer, api.store.ResumeObject(plan.bucket, plan.name, key));
  const uint64_t here = std::min<uint64_t>(writer->size(), source.size);
  RETURN_IF_ERROR(
      writer->AppendFrom(*plan.source, here, std::min<uint64_t>(limit, source.size - here)));
  *rewritten = writer->size();
  if (*rewritten < source.size) {
    RETURN_IF_ERROR(writer->Persist());
    return std::optional<ObjectInfo>();
  }
  const auto md5 = source.md5.empty() ? std::nullopt : std::optional(source.md5);
  auto done = writer->Commit(plan.info, plan.preconditions, md5, source.crc32c);
  api.store.ForgetUpload(key);
  if (!done.ok()) return done.error();
  return std::optional<ObjectInfo>(std::move(*done));
}

Result<std::unique_ptr<ObjectReader>> OpenComponent(StorageApi& api, const std::string& bucket,
                                                    const Json& source) {
  const std::string name = StringOr(source, "name");
  if (name.empty()) return errors::FieldInvalid("sourceObjects[].name", "a source needs a name");
  ASSIGN_OR_RETURN(auto reader, api.store.OpenObject(
                                    bucket, name, {.generation = IntOr(source, "generation", 0)}));
  if (const Json* conditions = Member(source, "objectPreconditions");
      conditions && Member(*conditions, "ifGenerationMatch")) {
    Preconditions wanted;
    wanted.if_generation_match = IntOr(*conditions, "ifGenerationMatch", 0);
    RETURN_IF_ERROR(CheckPreconditions(wanted, &reader->info()));
  }
  return reader;
}

}  // namespace

// POST /b/{bucket}/o/{object}/rewriteTo/b/{toBucket}/o/{toObject}
Result<Response> RewriteObject(StorageApi& api, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const auto limit, IntParameter(request, "maxBytesRewrittenPerCall"));
  if (limit && (*limit < kStepUnit || *limit % kStepUnit != 0)) {
    return errors::ParameterInvalid("maxBytesRewrittenPerCall", std::to_string(*limit),
                                    "expected a multiple of 1 MiB");
  }
  ASSIGN_OR_RETURN(CopyPlan plan, PlanCopy(api, request, path));
  const uint64_t size = plan.source->info().size;
  std::string token(request.Query("rewriteToken"));
  ASSIGN_OR_RETURN(const bool moves, MovesBytes(api, plan));
  std::optional<ObjectInfo> done;
  uint64_t rewritten = size;
  const bool steps = !token.empty() || (limit && moves && size > static_cast<uint64_t>(*limit));
  if (steps) {
    ASSIGN_OR_RETURN(const std::string key, KeyOfToken(api, plan, &token));
    ASSIGN_OR_RETURN(
        done, Step(api, plan, key, limit ? static_cast<uint64_t>(*limit) : size, &rewritten));
  } else {
    ASSIGN_OR_RETURN(done, CopyWhole(api, plan));
  }
  Json answer = RewriteAnswer(rewritten, size);
  if (done) {
    answer["resource"] = RenderedObject(api, request, *done);
  } else {
    answer["rewriteToken"] = token;
  }
  return Rendered(answer);
}

// POST /b/{bucket}/o/{object}/copyTo/b/{toBucket}/o/{toObject}
Result<Response> CopyObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(CopyPlan plan, PlanCopy(api, request, path));
  ASSIGN_OR_RETURN(const ObjectInfo info, CopyWhole(api, plan));
  return Rendered(RenderedObject(api, request, info));
}

// What somebody has overwritten since stays.
static Status DeleteSources(StorageApi& api, const std::string& bucket,
                            const std::vector<ObjectInfo>& sources) {
  for (const ObjectInfo& source : sources) {
    Preconditions unchanged;
    unchanged.if_generation_match = source.generation;
    const Status deleted = api.store.DeleteObject(bucket, source.name, unchanged, {});
    const bool gone = !deleted.ok() && (deleted.error().code == Code::kFailedPrecondition ||
                                        deleted.error().code == Code::kNotFound);
    if (!gone) RETURN_IF_ERROR(deleted);
  }
  return Ok{};
}

// POST /b/{bucket}/o/{object}/compose. The sums in `destination` are those of the first source
// (gcloud sends them so): checking them would break every composite upload.
Result<Response> ComposeObject(StorageApi& api, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  ASSIGN_OR_RETURN(const Preconditions preconditions, PreconditionsOf(request));
  const Json* sources = Member(body, "sourceObjects");
  const size_t count = sources && sources->is_array() ? sources->size() : 0;
  if (count == 0 || count > kSourcesMax) return errors::TooManySources(count);
  ObjectInfo info;
  if (const Json* destination = Member(body, "destination")) {
    RETURN_IF_ERROR(ApplyObjectFields(*destination, &info));
  }
  RETURN_IF_ERROR(ApplyDestination(request, &info));
  const std::string& bucket = path.At("bucket");
  ASSIGN_OR_RETURN(const auto writer, api.store.NewObject(bucket, path.At("object")));
  std::vector<ObjectInfo> read;
  for (const Json& source : *sources) {
    ASSIGN_OR_RETURN(const auto reader, OpenComponent(api, bucket, source));
    read.push_back(reader->info());
    RETURN_IF_ERROR(CheckKey(reader->info(), info.customer_key_sha256));
    info.component_count += std::max(reader->info().component_count, 1);
    RETURN_IF_ERROR(writer->AppendFrom(*reader, 0, reader->info().size));
  }
  ASSIGN_OR_RETURN(const ObjectInfo made,
                   writer->Commit(std::move(info), preconditions, std::nullopt, std::nullopt));
  const Json* no_more_needed = Member(body, "deleteSourceObjects");
  if (no_more_needed && *no_more_needed == true) {
    RETURN_IF_ERROR(DeleteSources(api, bucket, read));
  }
  return Rendered(RenderedObject(api, request, made));
}

}  // namespace caip::gcs
