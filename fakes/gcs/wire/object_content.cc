#include "fakes/gcs/wire/object_content.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "fakes/gcs/wire/byte_ranges.h"
#include "fakes/gcs/wire/gunzip.h"

namespace caip::gcs {
namespace {

using http::Response;
using ContentKind = ObjectContent::Kind;

constexpr size_t kStreamBytes = 256 << 10;
constexpr uint64_t kSmallBytes = 64 << 10;  // sent together with the head, in one system call

void StreamPart(ObjectReader& reader, uint64_t first, uint64_t length, const Response::Sink& sink) {
  std::vector<char> piece(std::min<uint64_t>(kStreamBytes, std::max<uint64_t>(length, 1)));
  while (length > 0) {
    const auto count = reader.ReadAt(first, piece.data(), std::min<uint64_t>(piece.size(), length));
    // A file cut short by hand: the promised length is not reached, and the connection ends.
    if (!count.ok() || *count == 0 || !sink({piece.data(), *count})) return;
    first += *count;
    length -= *count;
  }
}

// False when the file was cut short by hand.
bool ReadWhole(ObjectReader& reader, const ObjectContent& content, std::string* bytes) {
  bytes->resize(content.length);
  for (size_t done = 0; done < bytes->size();) {
    const auto count =
        reader.ReadAt(content.first + done, bytes->data() + done, bytes->size() - done);
    if (!count.ok() || *count == 0) return false;
    done += *count;
  }
  return true;
}

// What is not small goes from the page cache to the socket where a file has the bytes.
void SendBytes(const std::shared_ptr<ObjectReader>& reader, const ObjectContent& content,
               bool with_bytes, Response* response) {
  if (with_bytes && content.length <= kSmallBytes) {
    if (ReadWhole(*reader, content, &response->body)) return;
    response->body.clear();
  }
  Fd file;
  if (reader->descriptor() >= 0) file = Fd(::fcntl(reader->descriptor(), F_DUPFD_CLOEXEC, 0));
  if (file.valid()) {
    response->file = std::make_shared<const http::FileSlice>(
        http::FileSlice{std::move(file), content.first, content.length});
    return;
  }
  response->content_length = static_cast<int64_t>(content.length);
  response->write_body = [reader, content](const Response::Sink& sink) {
    StreamPart(*reader, content.first, content.length, sink);
  };
}

}  // namespace

ObjectContent ChooseContent(const http::Request& request, ObjectReader& reader) {
  if (MustGunzip(request, reader)) return {ContentKind::kUnpacked};
  const RangeAsked range = ParseRange(request.headers.Get("Range"), reader.info().size);
  switch (range.kind) {
    case RangeAsked::Kind::kUnsatisfiable:
      return {ContentKind::kUnsatisfiable};
    case RangeAsked::Kind::kPart:
      return {ContentKind::kPart, range.first, range.length};
    case RangeAsked::Kind::kWhole:
      break;
  }
  return {ContentKind::kWhole, 0, range.length};
}

void AddContent(const http::Request& request, const std::shared_ptr<ObjectReader>& reader,
                const ObjectContent& content, Response* response) {
  const std::string size = std::to_string(reader->info().size);
  if (content.kind == ContentKind::kUnsatisfiable) {
    response->headers.Set("Content-Range", "bytes */" + size);
    return;
  }
  if (content.kind ==
      ContentKind::kUnpacked) {  // how many bytes there will be is not known beforehand
    response->headers.Set("Warning", "214 UploadServer gunzipped");
    response->headers.Set("Vary", "Accept-Encoding");
    response->write_body = [reader](const Response::Sink& sink) { (void)Gunzip(*reader, sink); };
    return;
  }
  response->headers.Set("Accept-Ranges", "bytes");
  if (content.kind == ContentKind::kPart) {
    response->status = 206;
    response->headers.Set("Content-Range", "bytes " + std::to_string(content.first) + "-" +
                                               std::to_string(content.first + content.length - 1) +
                                               "/" + size);
  }
  SendBytes(reader, content, request.method != "HEAD", response);
}

}  // namespace caip::gcs
