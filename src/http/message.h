#pragma once
// HTTP messages as plain values, which depend neither on Beast nor on Google's APIs.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::http {

/// True if two names of header fields are equal, ignoring case (RFC 9110, section 5.1).
bool IsSameFieldName(std::string_view a, std::string_view b);

/// True for a text that can be the name of a header field (RFC 9110, section 5.6.2).
bool IsFieldName(std::string_view text);

/// Header fields in order. Comparisons of names ignore case. Views stay valid until the next
/// change.
class Headers {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;
  };
  void Set(std::string_view name, std::string_view value);  // replaces all of that name
  void Add(std::string_view name, std::string_view value);
  /// The first of that name, or "".
  std::string_view Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  std::vector<Field> all() const;
  /// All names and values, and those that were replaced, without anything between them.
  std::string_view bytes() const { return text_; }

 private:
  struct Place {  // in text_
    uint32_t begin;
    uint32_t name_size;
    uint32_t value_size;
  };
  std::string_view NameAt(const Place& place) const {
    return std::string_view(text_).substr(place.begin, place.name_size);
  }
  std::string_view ValueAt(const Place& place) const {
    return std::string_view(text_).substr(place.begin + place.name_size, place.value_size);
  }

  // All names and values in one text, because a message has a dozen fields, each too long for a
  // string without memory of its own.
  std::string text_;
  std::vector<Place> places_;
};

/// Bytes that arrive piece by piece. Read() returns up to `size` bytes, 0 at the end.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  virtual Result<size_t> Read(char* buffer, size_t size) = 0;
};

/// A request as a handler sees it. `path` is the raw path (still %-encoded); `query` is decoded.
struct Request {
  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;
  Headers headers;
  BodyReader* body = nullptr;  // never null in a handler; lives as long as the call
  std::string scheme = "http";
  std::string host;      // the Host header: "127.0.0.1:8080"
  std::string userinfo;  // "caip:TOKEN" if the client sends its token in this form; else ""
  std::string peer;      // the client: "127.0.0.1:51234", "[::1]:51234"
  std::string listener;  // tag of the listener that received it; "" the main one
  bool is_http2 = false;

  /// The first query parameter of that name, or "".
  std::string_view Query(std::string_view name) const;
  bool HasQuery(std::string_view name) const;
  /// The URL of this server for this client, without a final "/". It has the client's userinfo,
  /// because such a client sends no token of its own to the links that it gets.
  std::string BaseUrl() const;
  /// Reads the whole body. kResourceExhausted: it exceeds `limit`; kUnavailable: the peer closed
  /// the connection.
  Result<std::string> ReadBody(size_t limit) const;
};

/// A part of an open file. The descriptor's own position is neither used nor moved.
struct FileSlice {
  Fd descriptor;
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// A response. Its body is `body` (sent with Content-Length), or `file` (the same, sent from the
/// page cache), or `write_body`, which is called once with a sink. With `content_length` >= 0 the
/// sink must receive exactly that many bytes; otherwise the body is sent in chunks.
struct Response {
  using Sink = std::function<bool(std::string_view)>;  // false: the connection is lost, stop
  int status = 200;
  Headers headers;
  std::string body;
  std::function<void(const Sink&)> write_body;
  int64_t content_length = -1;
  std::shared_ptr<const FileSlice> file;
  /// Fields after the body, which only HTTP/2 sends. They may change until the body is complete.
  std::shared_ptr<const Headers> trailers;
  bool reset = false;  // send nothing and reset the connection (an injected fault)
};

using Handler = std::function<Response(const Request&)>;

/// Makes a response with a JSON text and its content type.
Response JsonResponse(int status, std::string json);

// The target of a request line: a raw path and a decoded query.

struct Target {
  std::string path;  // still %-encoded, because %2F is not a separator
  std::vector<std::pair<std::string, std::string>> query;
  std::string authority = {};  // "host:port" of a whole URL; "" if the target is a path
};

/// Reads "/path?a=b" and "http://host/path?a=b". nullopt: the text has neither form, or an escape
/// in its query is broken. `+` in a query is a blank.
std::optional<Target> ParseTarget(std::string_view text);

}  // namespace caip::http
