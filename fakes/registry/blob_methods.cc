// Methods of blobs: GET, HEAD and DELETE. The bytes go from the page cache to the socket.

#include "fakes/registry/errors.h"
#include "fakes/registry/methods.h"

namespace caip::registry {
namespace {

void AddBlobFields(const images::Digest& digest, Response* response) {
  response->headers.Add("Content-Type", "application/octet-stream");
  response->headers.Add("Docker-Content-Digest", digest.text());
  response->headers.Add("ETag", "\"" + digest.text() + "\"");
  response->headers.Add("Accept-Ranges", "bytes");
  ForbidActingAsPage(response);
}

std::string RangeText(const ByteRange& range, uint64_t size) {
  return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" +
         std::to_string(size);
}

void AddBlobBody(OpenBlob blob, const BlobRange& range, Response* response) {
  auto slice = std::make_shared<http::FileSlice>();
  slice->descriptor = std::move(blob.file);
  slice->length = blob.size;
  if (range.kind == BlobRange::Kind::kPart) {
    response->status = 206;
    response->headers.Add("Content-Range", RangeText(range.bytes, blob.size));
    slice->offset = range.bytes.first;
    slice->length = range.bytes.length();
  }
  response->file = std::move(slice);
}

Response UnsatisfiableRange(std::string_view field, uint64_t size) {
  Response response = errors::ToResponse(errors::RangeUnsatisfiable(field, size));
  response.headers.Add("Content-Range", "bytes */" + std::to_string(size));
  ForbidActingAsPage(&response);
  return response;
}

// True if the client has the blob already. The bytes of a digest never change.
bool HasBlob(const Request& request, const images::Digest& digest) {
  return request.headers.Get("If-None-Match").find(digest.text()) != std::string_view::npos;
}

}  // namespace

Result<Response> GetBlob(Registry& registry, const Request& request, const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const images::Digest digest, images::Digest::Parse(path.At("digest")));
  ASSIGN_OR_RETURN(OpenBlob blob, registry.Open(in, digest));
  const std::string_view field = request.headers.Get("Range");
  const BlobRange range = ParseBlobRange(field, blob.size);
  if (range.kind == BlobRange::Kind::kUnsatisfiable) return UnsatisfiableRange(field, blob.size);
  Response response = EmptyResponse(HasBlob(request, digest) ? 304 : 200);
  AddBlobFields(digest, &response);
  if (response.status == 200) AddBlobBody(std::move(blob), range, &response);
  return response;
}

Result<Response> DeleteBlob(Registry& registry, const Request& request,
                            const PathParameters& path) {
  ASSIGN_OR_RETURN(const Repository in, RepositoryIn(request, path));
  ASSIGN_OR_RETURN(const images::Digest digest, images::Digest::Parse(path.At("digest")));
  RETURN_IF_ERROR(registry.RemoveBlob(in, digest));
  return EmptyResponse(202);
}

}  // namespace caip::registry
