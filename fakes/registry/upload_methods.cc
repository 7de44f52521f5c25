// Methods of uploads: whole blobs, pieces, and mounts of blobs that another repository has.

#include <charconv>

#include "base/text.h"
#include "fakes/registry/errors.h"
#include "fakes/registry/methods.h"

namespace caip::registry {
namespace {

// The range of what an upload has. Clients expect "0-0" where there is nothing yet.
std::string ReceivedRange(uint64_t offset) {
  return "0-" + std::to_string(offset > 0 ? offset - 1 : 0);
}

void AddUploadFields(const Repository& to, const std::string& id, uint64_t offset,
                     Response* response) {
  response->headers.Set("Location", PathOf(to) + "/blobs/uploads/" + id);
  response->headers.Set("Range", ReceivedRange(offset));
  response->headers.Set("Docker-Upload-UUID", id);
}

Response UploadState(int status, const Repository& to, const std::string& id, uint64_t offset) {
  Response response = EmptyResponse(status);
  AddUploadFields(to, id, offset, &response);
  return response;
}

Response CreatedBlob(const Repository& in, const images::Digest& digest) {
  Response response = EmptyResponse(201);
  response.headers.Add("Location", PathOf(in) + "/blobs/" + digest.text());
  response.headers.Add("Docker-Content-Digest", digest.text());
  return response;
}

std::optional<uint64_t> ContentLength(const Request& request) {
  const std::string_view text = request.headers.Get("Content-Length");
  uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  const bool is_number = IsDigits(text) && error == std::errc();
  return is_number ? std::optional(length) : std::nullopt;
}

Result<UploadPiece> ReadPiece(const Request& request) {
  UploadPiece piece{*request.body};
  const std::string_view field = request.headers.Get("Content-Range");
  if (field.empty()) return piece;
  piece.range = ParsePieceRange(field);
  if (!piece.range) return errors::ContentRangeInvalid(field);
  const auto length = ContentLength(request);
  if (length && *length != piece.range->length()) {
    return errors::UploadSizeWrong(piece.range->length(), *length);
  }
  return piece;
}

Result<images::Digest> ReadBlobDigest(const Request& request) {
  if (!request.HasQuery("digest")) return errors::DigestMissing();
  return images::Digest::Parse(request.Query("digest"));
}

// A piece at a wrong place: the client learns where the upload continues.
Result<Response> RefusePiece(Registry& registry, const Repository& to, const std::string& id,
                             const Error& error) {
  ASSIGN_OR_RETURN(const uint64_t offset, registry.UploadOffset(to, id));
  Response response = errors::ToResponse(error);
  AddUploadFields(to, id, offset, &response);
  return response;
}

bool IsPlaceError(const Error& error) {
  return error.reason == "uploadRangeWrong" || error.reason == "uploadSizeWrong";
}

Result<Response> MountBlob(Registry& registry, const Request& request, const Repository& to) {
  ASSIGN_OR_RETURN(const images::Digest digest, images::Digest::Parse(request.Query("mount")));
  std::optional<Repository> from;
  if (request.HasQuery("from")) {
    ASSIGN_OR_RETURN(from, FindRepository(request.host, request.Query("from")));
  }
  ASSIGN_OR_RETURN(const bool mounted, registry.Mount(to, from ? &*from : nullptr, digest));
  if (mounted) return CreatedBlob(to, digest);
  ASSIGN_OR_RETURN(const std::string id, registry.StartUpload(to));
  return UploadState(202, to, id, 0);
}

Result<Response> PutWholeBlob(Registry& registry, const Request& request, const Repository& to) {
  ASSIGN_OR_RETURN(const images::Digest digest, ReadBlobDigest(request));
  RETURN_IF_ERROR(registry.PutBlob(to, digest, *request.body));
  return CreatedBlob(to, digest);
}

}  // namespace

Result<Response> StartUpload(Registry& registry, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository to, RepositoryIn(request, path));
  if (request.HasQuery("mount")) return MountBlob(registry, request, to);
  if (request.HasQuery("digest")) return PutWholeBlob(registry, request, to);
  ASSIGN_OR_RETURN(const std::string id, registry.StartUpload(to));
  return UploadState(202, to, id, 0);
}

Result<Response> GetUpload(Registry& registry, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository to, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const uint64_t offset, registry.UploadOffset(to, path.At("upload")));
  return UploadState(204, to, path.At("upload"), offset);
}

Result<Response> PatchUpload(Registry& registry, const Request& request,
                             const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository to, RepositoryIn(request, path));
  const std::string& id = path.At("upload");
  const auto piece = ReadPiece(request);
  const auto offset = piece.ok() ? registry.AddToUpload(to, id, *piece) : piece.error();
  if (offset.ok()) return UploadState(202, to, id, *offset);
  if (IsPlaceError(offset.error())) return RefusePiece(registry, to, id, offset.error());
  return offset.error();
}

Result<Response> PutUpload(Registry& registry, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository to, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const images::Digest digest, ReadBlobDigest(request));
  const std::string& id = path.At("upload");
  const auto piece = ReadPiece(request);
  const Status done = piece.ok() ? registry.FinishUpload(to, id, *piece, digest) : piece.error();
  if (done.ok()) return CreatedBlob(to, digest);
  if (IsPlaceError(done.error())) return RefusePiece(registry, to, id, done.error());
  return done.error();
}

Result<Response> DeleteUpload(Registry& registry, const Request& request,
                              const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository to, RepositoryIn(request, path));
  RETURN_IF_ERROR(registry.CancelUpload(to, path.At("upload")));
  return EmptyResponse(204);
}

}  // namespace caip::registry
