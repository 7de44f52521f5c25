#include "http/http2/http2_messages.h"

#include <algorithm>

#include "base/text.h"
#include "http/errors.h"

namespace caip::http {
namespace {

// Fields of HTTP/1.1's connections (RFC 9113, section 8.2.2), and the length, which is set apart.
bool IsFramingName(std::string_view name) {
  return name == "content-length" || name == "connection" || name == "transfer-encoding" ||
         name == "keep-alive" || name == "proxy-connection" || name == "upgrade";
}

// A value from a user's object must be one line without control characters.
std::string OneLine(std::string_view value) {
  std::string line(value);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }, ' ');
  return std::string(Trim(line));
}

std::string WithoutDefaultPort(std::string_view host) {
  for (const std::string_view port : {":80", ":443"}) {
    if (host.ends_with(port)) host.remove_suffix(port.size());
  }
  return LowerCase(host);
}

void AddFields(const Headers& headers, Http2Fields& fields) {
  for (const auto& [name, value] : headers.all()) {
    const std::string lower = LowerCase(name);
    if (!IsFramingName(lower)) fields.Add(lower, OneLine(value));
  }
}

}  // namespace

void Http2Fields::Add(std::string_view name, std::string_view value) {
  texts_.emplace_back(name, value);
}

const nghttp2_nv* Http2Fields::data() const {
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));  // nghttp2 copies them
  };
  fields_.clear();
  for (const auto& [name, value] : texts_) {
    fields_.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  return fields_.data();
}

void AddHttp2Field(Request& request, std::string_view name, std::string_view value) {
  if (name == ":method") {
    request.method = std::string(value);
  } else if (name == ":path") {
    request.path = std::string(value);
  } else if (name == ":scheme") {
    request.scheme = LowerCase(value);
  } else if (name == ":authority") {
    request.host = std::string(value);
  } else if (!name.starts_with(':')) {
    request.headers.Add(name, value);
  }
}

std::optional<Response> ReadHttp2Target(Request& request) {
  if (request.method == "CONNECT") return errors::TunnelInsideHttp2();
  if (request.scheme != "http" && request.scheme != "https") {
    return errors::SchemeUnknown(request.scheme);
  }
  const std::string host(request.headers.Get("host"));
  if (request.host.empty()) request.host = host;
  if (!host.empty() && WithoutDefaultPort(host) != WithoutDefaultPort(request.host)) {
    return errors::HostDiffers(host, request.host);
  }
  if (request.host.empty()) return errors::HostFieldCount();
  if (!request.headers.Has("host")) request.headers.Add("Host", request.host);
  auto target = ParseTarget(request.path);
  if (!target || !target->authority.empty()) return errors::TargetMalformed(request.path);
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  return std::nullopt;
}

Http2Fields ResponseFields(int status, const Headers& headers, int64_t content_length) {
  Http2Fields fields;
  fields.Add(":status", std::to_string(status));
  AddFields(headers, fields);
  if (content_length >= 0) fields.Add("content-length", std::to_string(content_length));
  return fields;
}

Http2Fields TrailerFields(const Headers& trailers) {
  Http2Fields fields;
  AddFields(trailers, fields);
  return fields;
}

}  // namespace caip::http
