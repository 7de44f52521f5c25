#include "http/compression.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "http/errors.h"

namespace caip::http {
namespace {

constexpr int kGzipWindow = 15 + 16;      // tells zlib to use gzip's header
constexpr int kGzipLevel = 1;             // the peer is on this machine: speed matters
constexpr size_t kCompressionMin = 1400;  // the content of one packet
constexpr size_t kGzipInputBytes = 64 << 10;

// Decompresses a body while it is read.
class GunzipReader final : public BodyReader {
 public:
  explicit GunzipReader(BodyReader& packed) : packed_(packed), input_(kGzipInputBytes) {
    ready_ = ::inflateInit2(&stream_, kGzipWindow) == Z_OK;
  }
  ~GunzipReader() override { ::inflateEnd(&stream_); }
  GunzipReader(const GunzipReader&) = delete;
  GunzipReader& operator=(const GunzipReader&) = delete;

  Result<size_t> Read(char* buffer, size_t size) override {
    if (!ready_) return errors::BodyMalformed("zlib could not start decompressing it");
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && wanted > 0) {
      if (stream_.avail_in == 0) {
        ASSIGN_OR_RETURN(const size_t count, packed_.Read(input_.data(), input_.size()));
        if (count == 0 && !between_members_)
          return errors::BodyMalformed("the gzip data ends early");
        if (count == 0) return size_t{0};
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      if (std::exchange(between_members_, false) && started_) ::inflateReset(&stream_);
      started_ = true;
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return errors::BodyMalformed("it is not valid gzip data");
      }
    }
    return size_t{wanted - stream_.avail_out};
  }

 private:
  BodyReader& packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool ready_ = false;
  bool started_ = false;
  bool between_members_ = true;  // an empty body is valid
};

// "*" stands for all codings that the header does not name.
bool AcceptsGzip(std::string_view header) {
  return AcceptsCoding(header, "gzip").value_or(AcceptsCoding(header, "*").value_or(false));
}

bool IsTextType(std::string_view content_type) {
  const std::string type = LowerCase(content_type);
  return type.starts_with("text/") || type.starts_with("application/json") ||
         type.starts_with("application/javascript") || type.starts_with("application/xml") ||
         type.starts_with("image/svg");
}

// Compression would contradict the lengths, ranges and checksums of these responses.
bool RepresentsStoredBytes(const Response& response) {
  const Headers& headers = response.headers;
  return response.status == 206 || headers.Has("Content-Range") || headers.Has("ETag") ||
         headers.Has("Content-Encoding") || headers.Has("Accept-Ranges") ||
         LowerCase(headers.Get("Cache-Control")).find("no-transform") != std::string::npos;
}

void CompressResponse(const Request& request, Response& response) {
  if (response.write_body || response.file || response.body.size() < kCompressionMin) return;
  if (!IsTextType(response.headers.Get("Content-Type")) || RepresentsStoredBytes(response)) return;
  response.headers.Add("Vary", "Accept-Encoding");
  if (!AcceptsGzip(request.headers.Get("Accept-Encoding"))) return;
  response.body = Gzip(response.body);
  response.headers.Set("Content-Encoding", "gzip");
}

Headers WithoutEncoding(const Headers& headers) {
  Headers kept;
  for (const auto& [name, value] : headers.all()) {
    const std::string lower = LowerCase(name);
    if (lower != "content-encoding" && lower != "content-length") kept.Add(name, value);
  }
  return kept;
}

}  // namespace

std::optional<bool> AcceptsCoding(std::string_view header, std::string_view coding) {
  for (const std::string& item : Split(LowerCase(header), ',')) {
    const std::vector<std::string> parts = Split(item, ';');
    if (Trim(parts[0]) != coding) continue;
    return std::none_of(parts.begin() + 1, parts.end(), [](std::string_view part) {
      const std::string_view weight = Trim(part);
      return weight.starts_with("q=") && weight.find_first_not_of("0.", 2) == weight.npos;
    });
  }
  return std::nullopt;
}

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  [[maybe_unused]] const int ready =
      ::deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  assert(ready == Z_OK);
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(std::min<size_t>(packed.size(), stream.total_out));
  ::deflateEnd(&stream);
  return packed;
}

Handler WithCompression(Handler next, std::function<bool(const Request&)> keeps) {
  return [next = std::move(next), keeps = std::move(keeps)](const Request& request) {
    const std::string coding = LowerCase(request.headers.Get("Content-Encoding"));
    if ((coding != "gzip" && coding != "x-gzip") || (keeps && keeps(request))) {
      Response response = next(request);
      CompressResponse(request, response);
      return response;
    }
    GunzipReader unpacked(*request.body);
    Request plain = request;
    plain.headers = WithoutEncoding(request.headers);
    plain.body = &unpacked;
    Response response = next(plain);
    CompressResponse(request, response);
    return response;
  };
}

}  // namespace caip::http
