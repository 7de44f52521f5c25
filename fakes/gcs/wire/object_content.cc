#include "fakes/gcs/wire/object_content.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "fakes/gcs/wire/request_headers.h"
#include "http/compression.h"

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
    // If the file was truncated by hand, the body is shorter than announced, and the connection
    // ends.
    if (!count.ok() || *count == 0 || !sink({piece.data(), *count})) return;
    first += *count;
    length -= *count;
  }
}

// False if the file was truncated by hand.
bool ReadWhole(ObjectReader& reader, const ObjectContent& content, std::string* bytes) {
  if (const std::string* kept = reader.bytes()) {
    bytes->assign(*kept, content.first, content.length);
    return bytes->size() == content.length;
  }
  bytes->resize(content.length);
  for (size_t done = 0; done < bytes->size();) {
    const auto count =
        reader.ReadAt(content.first + done, bytes->data() + done, bytes->size() - done);
    if (!count.ok() || *count == 0) return false;
    done += *count;
  }
  return true;
}

// Sends larger contents of a file from the page cache to the socket.
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

constexpr size_t kGunzipPieceBytes = 256 << 10;
constexpr int kGzipOnly = 15 + 16;  // largest window, gzip's own header

// zlib's state, freed at the end.
class Inflater {
 public:
  Inflater() { ok_ = ::inflateInit2(&stream_, kGzipOnly) == Z_OK; }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks all of `packed` into the sink.
  bool Feed(std::string_view packed, const http::Response::Sink& sink) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    do {
      if (ended_) {  // another member follows
        ok_ = ok_ && ::inflateReset(&stream_) == Z_OK;
        ended_ = false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(unpacked_.data());
      stream_.avail_out = static_cast<uInt>(unpacked_.size());
      const int code = ok_ ? ::inflate(&stream_, Z_NO_FLUSH) : Z_DATA_ERROR;
      ended_ = code == Z_STREAM_END;
      if (code != Z_OK && !ended_ && code != Z_BUF_ERROR) return false;
      const size_t count = unpacked_.size() - stream_.avail_out;
      if (count > 0 && !sink({unpacked_.data(), count})) return false;
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return true;
  }
  bool ended() const { return ended_; }

 private:
  z_stream stream_{};
  bool ok_ = false;
  bool ended_ = false;
  std::vector<char> unpacked_ = std::vector<char>(kGunzipPieceBytes);
};

bool MustGunzip(const http::Request& request, ObjectReader& reader) {
  const ObjectInfo& info = reader.info();
  if (LowerCase(info.content_encoding) != "gzip") return false;
  if (LowerCase(info.cache_control).find("no-transform") != std::string::npos) return false;
  const auto accepted = http::AcceptsCoding(request.headers.Get("Accept-Encoding"), "gzip");
  if (accepted.value_or(false)) return false;
  char magic[2] = {};
  const auto count = reader.ReadAt(0, magic, sizeof magic);
  return count.ok() && *count == 2 && magic[0] == '\x1f' && magic[1] == '\x8b';
}

bool Gunzip(ObjectReader& reader, const http::Response::Sink& sink) {
  Inflater inflater;
  std::vector<char> packed(kGunzipPieceBytes);
  for (uint64_t at = 0;;) {
    const auto count = reader.ReadAt(at, packed.data(), packed.size());
    if (!count.ok()) return false;
    if (*count == 0) return inflater.ended();
    if (!inflater.Feed({packed.data(), *count}, sink)) return false;
    at += *count;
  }
}

}  // namespace

ObjectContent ChooseContent(const http::Request& request, ObjectReader& reader) {
  if (MustGunzip(request, reader)) return {ContentKind::kUnpacked};
  const RequestedRange range = ParseRange(request.headers.Get("Range"), reader.info().size);
  switch (range.kind) {
    case RequestedRange::Kind::kUnsatisfiable:
      return {ContentKind::kUnsatisfiable};
    case RequestedRange::Kind::kPart:
      return {ContentKind::kPart, range.first, range.length};
    case RequestedRange::Kind::kWhole:
      break;
  }
  return {ContentKind::kWhole, 0, range.length};
}

void AddContent(const http::Request& request, const std::shared_ptr<ObjectReader>& reader,
                const ObjectContent& content, Response* response) {
  const std::string size = std::to_string(reader->info().size);
  // The object shares its origin with the APIs. A browser must not run it as a page of that origin.
  response->headers.Set("Content-Security-Policy", "sandbox");
  response->headers.Set("X-Content-Type-Options", "nosniff");
  if (content.kind == ContentKind::kUnsatisfiable) {
    response->headers.Set("Content-Range", "bytes */" + size);
    return;
  }
  if (content.kind == ContentKind::kUnpacked) {  // the length is not known in advance
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
