// Rewrites, copies and compositions.
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/methods.h"
#include "fakes/gcs/json/object_json.h"
#include "fakes/gcs/json/request_fields.h"
#include "fakes/gcs/wire/request_headers.h"

namespace caip::gcs {
namespace {

constexpr int64_t kStepUnit = 1 << 20;  // maxBytesRewrittenPerCall comes in these

// The sums of the request's resource are ignored: gsutil sends those of the source along.
Result<CopyRequest> CopyRequestOf(const Request& request, const PathParameters& path) {
  CopyRequest copy;
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(copy.of_target, PreconditionsOf(request));
  ASSIGN_OR_RETURN(copy.version, VersionOf(request, "sourceGeneration"));
  ASSIGN_OR_RETURN(copy.of_source, PreconditionsOf(request, "ifSource"));
  ASSIGN_OR_RETURN(copy.source_key, KeyShown(request, kSourceKeyHeaders));
  copy.source = ObjectAt(path);
  copy.target = {path.At("toBucket"), path.At("toObject")};
  copy.change = [resource, &request](ObjectInfo* info) -> Status {
    RETURN_IF_ERROR(ApplyObjectFields(resource, info));
    return ApplyDestination(request, info);
  };
  return copy;
}

Result<std::optional<uint64_t>> StepLimit(const Request& request) {
  ASSIGN_OR_RETURN(const auto limit, IntParameter(request, "maxBytesRewrittenPerCall"));
  if (!limit) return std::optional<uint64_t>();
  if (*limit < kStepUnit || *limit % kStepUnit != 0) {
    return errors::ParameterInvalid("maxBytesRewrittenPerCall", std::to_string(*limit),
                                    "expected a multiple of 1 MiB");
  }
  return std::optional<uint64_t>(static_cast<uint64_t>(*limit));
}

ComposeSource ComposeSourceOf(const Json& json) {
  ComposeSource source{StringOr(json, "name"), IntOr(json, "generation", 0)};
  const Json* conditions = Member(json, "objectPreconditions");
  if (conditions && Member(*conditions, "ifGenerationMatch")) {
    source.if_generation_match = IntOr(*conditions, "ifGenerationMatch", 0);
  }
  return source;
}

// The sums in `destination` are those of the first source (gcloud sends them so): checking them
// would break every composite upload.
Result<ComposeRequest> ComposeRequestOf(const Request& request, const PathParameters& path) {
  ComposeRequest compose;
  ASSIGN_OR_RETURN(const Json body, JsonBody(request));
  ASSIGN_OR_RETURN(compose.preconditions, PreconditionsOf(request));
  compose.target = ObjectAt(path);
  const Json* sources = Member(body, "sourceObjects");
  if (sources && sources->is_array()) {
    for (const Json& source : *sources) compose.sources.push_back(ComposeSourceOf(source));
  }
  if (const Json* destination = Member(body, "destination")) {
    RETURN_IF_ERROR(ApplyObjectFields(*destination, &compose.info));
  }
  RETURN_IF_ERROR(ApplyDestination(request, &compose.info));
  const Json* no_more_needed = Member(body, "deleteSourceObjects");
  compose.delete_sources = no_more_needed && *no_more_needed == true;
  return compose;
}

}  // namespace

// POST /b/{bucket}/o/{object}/rewriteTo/b/{toBucket}/o/{toObject}
Result<Response> RewriteObject(StorageService& service, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const auto limit, StepLimit(request));
  ASSIGN_OR_RETURN(const CopyRequest copy, CopyRequestOf(request, path));
  const std::string token(request.Query("rewriteToken"));
  ASSIGN_OR_RETURN(const RewriteProgress progress, service.Rewrite(copy, token, limit));
  Json answer = {{"kind", "storage#rewriteResponse"},
                 {"totalBytesRewritten", std::to_string(progress.rewritten)},
                 {"objectSize", std::to_string(progress.size)},
                 {"done", progress.rewritten == progress.size}};
  if (progress.made) {
    answer["resource"] = RenderedObject(service, request, *progress.made);
  } else {
    answer["rewriteToken"] = progress.token;
  }
  return Rendered(answer);
}

// POST /b/{bucket}/o/{object}/copyTo/b/{toBucket}/o/{toObject}
Result<Response> CopyObject(StorageService& service, const Request& request,
                            const PathParameters& path) {
  ASSIGN_OR_RETURN(const CopyRequest copy, CopyRequestOf(request, path));
  ASSIGN_OR_RETURN(const ObjectInfo info, service.Copy(copy));
  return Rendered(RenderedObject(service, request, info));
}

// POST /b/{bucket}/o/{object}/compose
Result<Response> ComposeObject(StorageService& service, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(ComposeRequest compose, ComposeRequestOf(request, path));
  ASSIGN_OR_RETURN(const ObjectInfo made, service.Compose(std::move(compose)));
  return Rendered(RenderedObject(service, request, made));
}

}  // namespace caip::gcs
