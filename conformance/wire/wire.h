#pragma once
// The judge's own HTTP client. It does not trust the endpoint: everything has a deadline and a
// maximum size.

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
  bool insecure = false;  // accept any certificate
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

/// One connection to one host, kept open between requests. Used by one thread.
class WireClient {
 public:
  WireClient(Url base, Trust trust, std::chrono::milliseconds deadline);
  ~WireClient();
  WireClient(const WireClient&) = delete;

  /// The complete answer, or why none arrived within the deadline.
  Result<WireResponse> Send(const WireRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Percent-encodes all characters except unreserved ones.
std::string Encoded(const std::string& text);

}  // namespace conform
