#pragma once
// Requests and responses as lists of HTTP/2's fields. Private to src/http.

#include <nghttp2/nghttp2.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message.h"

namespace caip::http {

/// Fields in the form of nghttp2, with their bytes.
class Http2Fields {
 public:
  void Add(std::string_view name, std::string_view value);
  /// Valid until the next Add.
  const nghttp2_nv* data() const;
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
  mutable std::vector<nghttp2_nv> fields_;
};

/// Adds a received field. The target stays in `path`, and the client's scheme in `scheme`, until
/// ReadHttp2Target.
void AddHttp2Field(Request& request, std::string_view name, std::string_view value);

/// Reads the target and the host of a complete header, or returns the refusal.
std::optional<Response> ReadHttp2Target(Request& request);

/// The head of a response: names in lower case, no fields of HTTP/1.1's connections. The length of
/// the body is -1 if it is unknown.
Http2Fields ResponseFields(int status, const Headers& headers, int64_t content_length);
Http2Fields TrailerFields(const Headers& trailers);

}  // namespace caip::http
