#pragma once
// The judge's own HTTP client. It trusts nothing that an endpoint says: everything has a deadline
// and a size.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/result.h"

namespace conform {

/// "https://host:port/path" in parts.
struct Url {
  std::string scheme;  // http or https
  std::string host;
  std::string port;
  std::string path;  // without the last slash; "" for the root
};
Result<Url> ParseUrl(const std::string& text);

/// How an https endpoint is trusted.
struct Trust {
  std::string ca_file;    // "": the system's authorities
  bool insecure = false;  // anything goes
};

struct WireRequest {
  std::string method = "GET";
  std::string target;  // path and query, percent-encoded
  std::map<std::string, std::string> headers;
  std::string body;
};

struct WireResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

/// One connection at a time to one place, kept open between requests. Used by one thread.
class WireClient {
 public:
  WireClient(Url base, Trust trust, std::chrono::milliseconds deadline);
  ~WireClient();
  WireClient(const WireClient&) = delete;

  /// The whole answer within the deadline, or why there was none.
  Result<WireResponse> Send(const WireRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Percent-encodes all but unreserved characters.
std::string Encoded(const std::string& text);

}  // namespace conform
