#include <fcntl.h>

#include <chrono>
#include <vector>

#include "base/encoding.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/json/api_methods.h"
#include "fakes/gcs/service/encryption_keys.h"
#include "fakes/gcs/service/gunzip.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/wire/byte_ranges.h"

namespace caip::gcs {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
constexpr uint64_t kSmallBytes = 64 << 10;  // sent together with the head, in one system call

// RFC 9110's form: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(Instant instant) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::string text = Rfc3339(instant);  // 1994-11-06T08:49:37Z
  std::string answer = kDays[std::chrono::weekday(day).c_encoding()];
  answer.append(", ").append(text, 8, 2).append(" ");
  answer.append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ");
  return answer.append(text, 0, 4).append(" ").append(text, 11, 8).append(" GMT");
}

void AddHeaders(const ObjectInfo& info, http::Headers* headers) {
  const auto add_if = [&](const char* name, const std::string& value) {
    if (!value.empty()) headers->Add(name, value);
  };
  headers->Add("Content-Type",
               info.content_type.empty() ? "application/octet-stream" : info.content_type);
  add_if("Content-Disposition", info.content_disposition);
  add_if("Content-Language", info.content_language);
  add_if("Cache-Control", info.cache_control);
  headers->Add("ETag", EtagOf(info));
  add_if("x-goog-encryption-key-sha256", info.customer_key_sha256);
  if (!info.customer_key_sha256.empty()) {
    headers->Add("x-goog-encryption-algorithm", "AES256");
  }
  headers->Add("Last-Modified", HttpDate(info.updated));
  std::string hashes = "crc32c=" + Crc32cText(info.crc32c);
  if (!info.md5.empty()) hashes += ",md5=" + Base64(info.md5);
  headers->Add("x-goog-hash", hashes);
  headers->Add("x-goog-generation", std::to_string(info.generation));
  headers->Add("x-goog-metageneration", std::to_string(info.metageneration));
  headers->Add("x-goog-storage-class", info.storage_class);
  headers->Add("x-goog-stored-content-encoding",
               info.content_encoding.empty() ? "identity" : info.content_encoding);
  headers->Add("x-goog-stored-content-length", std::to_string(info.size));
  if (info.component_count > 0) {
    headers->Add("x-goog-component-count", std::to_string(info.component_count));
  }
}

void StreamPart(ObjectReader& reader, uint64_t first, uint64_t length, const Response::Sink& sink) {
  std::vector<char> piece(std::min<uint64_t>(kPieceBytes, std::max<uint64_t>(length, 1)));
  while (length > 0) {
    const auto count = reader.ReadAt(first, piece.data(), std::min<uint64_t>(piece.size(), length));
    // A file cut short by hand: the promised length is not reached, and the connection ends.
    if (!count.ok() || *count == 0 || !sink({piece.data(), *count})) return;
    first += *count;
    length -= *count;
  }
}

Response RangeImpossible(const std::string& size) {
  Response response =
      errors::ToResponse(416, "requestedRangeNotSatisfiable",
                         "Request range not satisfiable: the object has " + size + " bytes.");
  response.headers.Add("Content-Range", "bytes */" + size);
  return response;
}

// The stored bytes, unpacked: their number is not known beforehand, so no part can be asked for.
Response Unpacked(const std::shared_ptr<ObjectReader>& reader) {
  Response response;
  AddHeaders(reader->info(), &response.headers);
  response.headers.Add("Warning", "214 UploadServer gunzipped");
  response.headers.Add("Vary", "Accept-Encoding");
  response.write_body = [reader](const Response::Sink& sink) { (void)Gunzip(*reader, sink); };
  return response;
}

// False when the file was cut short by hand.
bool ReadWhole(ObjectReader& reader, const RangeAsked& range, std::string* bytes) {
  bytes->resize(range.length);
  for (size_t done = 0; done < bytes->size();) {
    const auto count =
        reader.ReadAt(range.first + done, bytes->data() + done, bytes->size() - done);
    if (!count.ok() || *count == 0) return false;
    done += *count;
  }
  return true;
}

// What is not small goes from the page cache to the socket where a file has the bytes.
void SendPart(const std::shared_ptr<ObjectReader>& reader, const RangeAsked& range, bool with_bytes,
              Response* response) {
  if (with_bytes && range.length <= kSmallBytes) {
    if (ReadWhole(*reader, range, &response->body)) return;
    response->body.clear();
  }
  Fd file;
  if (reader->descriptor() >= 0) file = Fd(::fcntl(reader->descriptor(), F_DUPFD_CLOEXEC, 0));
  if (file.valid()) {
    response->file = std::make_shared<const http::FileSlice>(
        http::FileSlice{std::move(file), range.first, range.length});
    return;
  }
  response->content_length = static_cast<int64_t>(range.length);
  response->write_body = [reader, range](const Response::Sink& sink) {
    StreamPart(*reader, range.first, range.length, sink);
  };
}

}  // namespace

// GET /download/.../o/{object} and GET .../o/{object}?alt=media
Result<Response> DownloadObject(StorageApi& api, const Request& request,
                                const PathParameters& path) {
  ASSIGN_OR_RETURN(const Version version, VersionOf(request));
  ASSIGN_OR_RETURN(auto opened,
                   api.store.OpenObject(path.At("bucket"), path.At("object"), version));
  const std::shared_ptr<ObjectReader> reader = std::move(opened);
  const ObjectInfo& info = reader->info();
  ASSIGN_OR_RETURN(auto not_modified, CheckReadConditions(request, info));
  if (not_modified) return std::move(*not_modified);
  ASSIGN_OR_RETURN(const std::string key, KeyShown(request));
  RETURN_IF_ERROR(CheckKey(info, key));
  if (MustGunzip(request, *reader)) return Unpacked(reader);
  const RangeAsked range = ParseRange(request.headers.Get("Range"), info.size);
  const std::string size = std::to_string(info.size);
  if (range.kind == RangeAsked::Kind::kUnsatisfiable) return RangeImpossible(size);
  Response response;
  AddHeaders(info, &response.headers);
  if (!info.content_encoding.empty()) {
    response.headers.Add("Content-Encoding", info.content_encoding);
  }
  response.headers.Add("Accept-Ranges", "bytes");
  if (range.kind == RangeAsked::Kind::kPart) {
    response.status = 206;
    response.headers.Add("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                              std::to_string(range.first + range.length - 1) + "/" +
                                              size);
  }
  SendPart(reader, range, request.method != "HEAD", &response);
  return response;
}

}  // namespace caip::gcs
