#include "grpc/message_frame.h"

#include <zlib.h>

#include <cstdint>

#include "grpc/errors.h"

namespace caip::grpc {
namespace {

constexpr size_t kFrameHeadBytes = 5;
constexpr int kAnyDeflateWindow = 15 + 32;  // zlib finds out whether the data are gzip or zlib

// Reads `size` bytes, or fewer at the body's end.
Result<std::string> ReadUpTo(http::BodyReader& body, size_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(bytes.data() + have, size - have));
    if (count == 0) break;
    have += count;
  }
  bytes.resize(have);
  return bytes;
}

class Inflater {
 public:
  Inflater() : is_ready_(::inflateInit2(&stream_, kAnyDeflateWindow) == Z_OK) {}
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> Unpack(std::string packed) {
    if (!is_ready_) return errors::CompressionBroken();
    stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
    std::string message;
    char piece[16 << 10];
    int code = Z_OK;
    while (code == Z_OK) {
      stream_.next_out = reinterpret_cast<Bytef*>(piece);
      stream_.avail_out = sizeof piece;
      code = ::inflate(&stream_, Z_NO_FLUSH);
      message.append(piece, sizeof piece - stream_.avail_out);
      if (message.size() > kMessageBytesMax) return errors::MessageTooLarge(kMessageBytesMax);
    }
    if (code != Z_STREAM_END || stream_.avail_in > 0) return errors::CompressionBroken();
    return message;
  }

 private:
  z_stream stream_{};
  bool is_ready_;
};

Result<std::string> Unpack(std::string packed, std::string_view encoding) {
  if (encoding.empty() || encoding == "identity") return errors::CompressionUnnamed();
  return Inflater().Unpack(std::move(packed));
}

Status CheckEncoding(std::string_view encoding) {
  const bool is_known =
      encoding.empty() || encoding == "identity" || encoding == "gzip" || encoding == "deflate";
  return is_known ? Status(Ok{}) : errors::CompressionUnknown(encoding);
}

uint32_t LengthOf(std::string_view head) {
  uint32_t length = 0;
  for (const char c : head.substr(1)) length = length << 8 | static_cast<unsigned char>(c);
  return length;
}

}  // namespace

Result<std::string> ReadFirstMessage(const http::Request& request) {
  const std::string_view encoding = request.headers.Get("grpc-encoding");
  RETURN_IF_ERROR(CheckEncoding(encoding));
  ASSIGN_OR_RETURN(const std::string head, ReadUpTo(*request.body, kFrameHeadBytes));
  if (head.empty()) return errors::MessageMissing();
  if (head.size() < kFrameHeadBytes) return errors::FrameCut();
  if (head[0] != 0 && head[0] != 1) return errors::FrameFlagUnknown(head[0]);
  const uint32_t length = LengthOf(head);
  if (length > kMessageBytesMax) return errors::MessageTooLarge(kMessageBytesMax);
  ASSIGN_OR_RETURN(std::string message, ReadUpTo(*request.body, length));
  if (message.size() < length) return errors::FrameCut();
  if (head[0] == 0) return message;
  return Unpack(std::move(message), encoding);
}

Result<std::string> ReadOnlyMessage(const http::Request& request) {
  ASSIGN_OR_RETURN(std::string message, ReadFirstMessage(request));
  ASSIGN_OR_RETURN(const std::string more, ReadUpTo(*request.body, 1));
  if (!more.empty()) return errors::MessagesTooMany();
  return message;
}

std::string FrameMessage(std::string_view message) {
  std::string frame(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>(message.size() >> shift & 0xff);
  }
  return frame.append(message);
}

}  // namespace caip::grpc
