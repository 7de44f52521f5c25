#include "http/connection/response_writer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace caip::http {
namespace {

constexpr size_t kHeadBytes = 1024;  // usually enough

std::string_view ReasonPhrase(int status) {
  struct Reason {
    int status;
    std::string_view text;
  };
  static constexpr std::array kReasons = {
      Reason{200, "OK"},
      Reason{201, "Created"},
      Reason{202, "Accepted"},
      Reason{204, "No Content"},
      Reason{206, "Partial Content"},
      Reason{301, "Moved Permanently"},
      Reason{302, "Found"},
      Reason{304, "Not Modified"},
      Reason{307, "Temporary Redirect"},
      Reason{308, "Resume Incomplete"},
      Reason{400, "Bad Request"},
      Reason{401, "Unauthorized"},
      Reason{403, "Forbidden"},
      Reason{404, "Not Found"},
      Reason{405, "Method Not Allowed"},
      Reason{407, "Proxy Authentication Required"},
      Reason{408, "Request Timeout"},
      Reason{409, "Conflict"},
      Reason{410, "Gone"},
      Reason{411, "Length Required"},
      Reason{412, "Precondition Failed"},
      Reason{413, "Content Too Large"},
      Reason{416, "Range Not Satisfiable"},
      Reason{429, "Too Many Requests"},
      Reason{431, "Request Header Fields Too Large"},
      Reason{499, "Client Closed Request"},
      Reason{500, "Internal Server Error"},
      Reason{501, "Not Implemented"},
      Reason{502, "Bad Gateway"},
      Reason{503, "Service Unavailable"},
      Reason{504, "Gateway Timeout"},
      Reason{505, "HTTP Version Not Supported"},
  };
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.text;
  }
  return "Status";
}

bool IsBodiless(int status) { return status == 204 || status == 304 || status < 200; }

// True if no byte is a control character. Heads have some hundred bytes.
bool HasNoControls(std::string_view bytes) {
  constexpr uint64_t kEach = 0x0101010101010101;
  constexpr uint64_t kTop = 0x80 * kEach;
  uint64_t found = 0;
  const auto look = [&](uint64_t word) {
    const uint64_t deleted = word ^ (0x7f * kEach);  // zero where there is DEL
    const uint64_t below_blank = (word - 0x20 * kEach) & ~word;
    found |= below_blank | ((deleted - kEach) & ~deleted);
  };
  uint64_t word = 0;
  for (; bytes.size() >= sizeof word; bytes.remove_prefix(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    look(word);
  }
  word = 0x20 * kEach;
  std::memcpy(&word, bytes.data(), bytes.size());
  look(word);
  return (found & kTop) == 0;
}

// A value from a user's object must not start another header, and has no control characters.
void AppendOneLine(std::string& text, std::string_view value) {
  const auto begin = static_cast<std::ptrdiff_t>(text.size());
  text += value;
  std::replace_if(
      text.begin() + begin, text.end(),
      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }, ' ');
}

void AppendAsIs(std::string& text, std::string_view value) { text += value; }

// True for fields that the writer sets itself.
bool IsFramingField(std::string_view name) {
  return IsSameFieldName(name, "content-length") || IsSameFieldName(name, "transfer-encoding") ||
         IsSameFieldName(name, "connection");
}

std::string FormatHead(const Response& response, ResponseForm form) {
  std::string head;
  head.reserve(kHeadBytes);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head += ReasonPhrase(response.status);
  head += "\r\n";
  const auto append = HasNoControls(response.headers.bytes()) ? AppendAsIs : AppendOneLine;
  for (const auto& [name, value] : response.headers.all()) {
    if (IsFramingField(name)) continue;
    append(head, name);
    head += ": ";
    append(head, value);
    head += "\r\n";
  }
  if (!form.keep_alive) head += "Connection: close\r\n";
  return head;
}

// Sends the pieces of a body. The head goes with the first piece.
class BodyPieces {
 public:
  BodyPieces(Socket& socket, std::string head, int64_t content_length, bool chunked)
      : socket_(socket), head_(std::move(head)), left_(content_length), chunked_(chunked) {}

  bool Put(std::string_view piece) {
    if (broken_) return false;
    if (piece.empty()) return true;
    if (left_ >= 0 && static_cast<int64_t>(piece.size()) > left_) {
      broken_ = true;  // more bytes than announced
      return false;
    }
    if (left_ >= 0) left_ -= static_cast<int64_t>(piece.size());
    if (!chunked_) return SendParts(std::exchange(head_, {}), piece);
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    std::string framed = std::exchange(head_, {}) + size;
    framed.append(piece);
    framed += "\r\n";
    return SendParts(framed, {});
  }

  // True if the whole body was sent and the connection can be used again.
  bool Finish() {
    const std::string rest = std::exchange(head_, {}) + (chunked_ && !broken_ ? "0\r\n\r\n" : "");
    if (!broken_ && !rest.empty()) SendParts(rest, {});
    return !broken_ && (chunked_ || left_ == 0);
  }

  void Break() { broken_ = true; }

 private:
  bool SendParts(std::string_view first, std::string_view second) {
    if (socket_.Send(first, second) != Flow::kData) broken_ = true;
    return !broken_;
  }

  Socket& socket_;
  std::string head_;
  int64_t left_;
  bool chunked_;
  bool broken_ = false;
};

bool WriteStreamed(Socket& socket, const Response& response, ResponseForm form, std::string head) {
  const bool known = response.content_length >= 0;
  const bool chunked = !known && form.chunks;
  if (known) head += "Content-Length: " + std::to_string(response.content_length) + "\r\n";
  if (chunked) head += "Transfer-Encoding: chunked\r\n";
  head += "\r\n";
  if (form.head) return socket.Send(head) == Flow::kData;
  BodyPieces pieces(socket, std::move(head), response.content_length, chunked);
  try {
    response.write_body([&](std::string_view piece) { return pieces.Put(piece); });
  } catch (...) {
    pieces.Break();  // part of the body was sent; closing is the only signal left
  }
  return pieces.Finish();
}

bool WriteFileSlice(Socket& socket, const FileSlice& file, ResponseForm form, std::string head) {
  head += "Content-Length: " + std::to_string(file.length) + "\r\n\r\n";
  if (form.head) return socket.Send(head) == Flow::kData;
  return socket.SendFile(head, file.descriptor.get(), file.offset, file.length) == Flow::kData;
}

}  // namespace

bool WriteResponse(Socket& socket, const Response& response, ResponseForm form) {
  if (response.reset) {
    socket.ResetOnClose();
    return false;
  }
  if (response.write_body && response.content_length < 0 && !form.chunks) form.keep_alive = false;
  std::string head = FormatHead(response, form);
  if (IsBodiless(response.status)) {
    return socket.Send(head + "\r\n") == Flow::kData && form.keep_alive;
  }
  if (response.file) {
    return WriteFileSlice(socket, *response.file, form, std::move(head)) && form.keep_alive;
  }
  if (response.write_body) {
    return WriteStreamed(socket, response, form, std::move(head)) && form.keep_alive;
  }
  head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
  const std::string_view body = form.head ? std::string_view() : std::string_view(response.body);
  return socket.Send(head, body) == Flow::kData && form.keep_alive;
}

}  // namespace caip::http
