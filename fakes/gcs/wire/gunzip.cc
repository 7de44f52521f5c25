#include "fakes/gcs/wire/gunzip.h"

#include <zlib.h>

#include <vector>

#include "base/text.h"

namespace caip::gcs {
namespace {

constexpr size_t kGunzipPieceBytes = 256 << 10;
constexpr int kGzipOnly = 15 + 16;  // largest window, gzip's own header

bool Takes(std::string_view accepted, std::string_view coding) {
  for (const std::string& item : Split(LowerCase(accepted), ',')) {
    const std::string_view name = Trim(std::string_view(item).substr(0, item.find(';')));
    const bool refused =
        item.find("q=0") != std::string::npos && item.find("q=0.") == std::string::npos;
    if (name == coding && !refused) return true;
  }
  return false;
}

// zlib's state, freed at the end.
class Inflater {
 public:
  Inflater() { ok_ = ::inflateInit2(&stream_, kGzipOnly) == Z_OK; }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // All of `packed` through to the sink.
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

}  // namespace

bool MustGunzip(const http::Request& request, ObjectReader& reader) {
  const ObjectInfo& info = reader.info();
  if (LowerCase(info.content_encoding) != "gzip") return false;
  if (LowerCase(info.cache_control).find("no-transform") != std::string::npos) return false;
  if (Takes(request.headers.Get("Accept-Encoding"), "gzip")) return false;
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

}  // namespace caip::gcs
