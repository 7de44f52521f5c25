#include <vector>

#include "base/json.h"
#include "fakes/gcs/api_methods.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/preconditions.h"
#include "fakes/gcs/upload.h"

namespace caip::gcs {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kSourcesMax = 32;

Status AppendAll(ObjectReader& reader, ObjectWriter& writer) {
  std::vector<char> piece(kPieceBytes);
  for (uint64_t at = 0; at < reader.info().size;) {
    ASSIGN_OR_RETURN(const size_t count, reader.ReadAt(at, piece.data(), piece.size()));
    if (count == 0) return errors::ObjectNotFound(reader.info().bucket, reader.info().name);
    RETURN_IF_ERROR(writer.Append({piece.data(), count}));
    at += count;
  }
  return Ok{};
}

// The source as the request means it: its generation and the ifSource... conditions.
Result<std::unique_ptr<ObjectReader>> OpenSource(StorageApi& api, const Request& request,
                                                 const PathParameters& path) {
  ASSIGN_OR_RETURN(auto reader, api.store.OpenObject(path.At("bucket"), path.At("object")));
  RETURN_IF_ERROR(CheckGeneration(request, "sourceGeneration", reader->info()));
  ASSIGN_OR_RETURN(const Preconditions conditions, PreconditionsOf(request, "ifSource"));
  RETURN_IF_ERROR(CheckPreconditions(conditions, &reader->info()));
  return reader;
}

// The source's metadata, with what the request's resource names on top. Its sums are ignored:
// gsutil sends those of the source along.
Result<ObjectInfo> Copy(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Json resource, JsonBody(request));
  ASSIGN_OR_RETURN(const Preconditions preconditions, PreconditionsOf(request));
  ASSIGN_OR_RETURN(const auto source, OpenSource(api, request, path));
  ObjectInfo info = source->info();
  RETURN_IF_ERROR(ApplyObjectFields(resource, &info));
  ASSIGN_OR_RETURN(const auto writer,
                   api.store.NewObject(path.At("toBucket"), path.At("toObject")));
  RETURN_IF_ERROR(AppendAll(*source, *writer));
  return writer->Commit(std::move(info), preconditions, std::nullopt, std::nullopt);
}

Result<std::unique_ptr<ObjectReader>> OpenComponent(StorageApi& api, const std::string& bucket,
                                                    const Json& source) {
  const std::string name = StringOr(source, "name");
  if (name.empty()) return errors::FieldInvalid("sourceObjects[].name", "a source needs a name");
  ASSIGN_OR_RETURN(auto reader, api.store.OpenObject(bucket, name));
  const int64_t generation = IntOr(source, "generation", 0);
  if (generation != 0 && generation != reader->info().generation) {
    return errors::ObjectNotFound(bucket, name + "#" + std::to_string(generation));
  }
  if (const Json* conditions = Member(source, "objectPreconditions");
      conditions && Member(*conditions, "ifGenerationMatch")) {
    Preconditions wanted;
    wanted.if_generation_match = IntOr(*conditions, "ifGenerationMatch", 0);
    RETURN_IF_ERROR(CheckPreconditions(wanted, &reader->info()));
  }
  return reader;
}

}  // namespace

// POST /b/{bucket}/o/{object}/rewriteTo/b/{toBucket}/o/{toObject}, always done in one step.
Result<Response> RewriteObject(StorageApi& api, const Request& request,
                               const PathParameters& path) {
  ASSIGN_OR_RETURN(const ObjectInfo info, Copy(api, request, path));
  return Rendered(Json{{"kind", "storage#rewriteResponse"},
                       {"totalBytesRewritten", std::to_string(info.size)},
                       {"objectSize", std::to_string(info.size)},
                       {"done", true},
                       {"resource", ObjectJson(info, BaseOf(request))}});
}

// POST /b/{bucket}/o/{object}/copyTo/b/{toBucket}/o/{toObject}
Result<Response> CopyObject(StorageApi& api, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const ObjectInfo info, Copy(api, request, path));
  return Rendered(ObjectJson(info, BaseOf(request)));
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
  const std::string& bucket = path.At("bucket");
  ASSIGN_OR_RETURN(const auto writer, api.store.NewObject(bucket, path.At("object")));
  for (const Json& source : *sources) {
    ASSIGN_OR_RETURN(const auto reader, OpenComponent(api, bucket, source));
    info.component_count += std::max(reader->info().component_count, 1);
    RETURN_IF_ERROR(AppendAll(*reader, *writer));
  }
  ASSIGN_OR_RETURN(const ObjectInfo made,
                   writer->Commit(std::move(info), preconditions, std::nullopt, std::nullopt));
  return Rendered(ObjectJson(made, BaseOf(request)));
}

}  // namespace caip::gcs
