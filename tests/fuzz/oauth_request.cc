// Any body is answered by the token endpoints with JSON, and never with a fault of their own. The
// first byte of an input selects the endpoint and whether the body is a form or JSON.

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "base/time_text.h"
#include "fakes/metadata/oauth_api.h"
#include "fakes/metadata/token_mint.h"
#include "http/router.h"
#include "http/text_body.h"
#include "tests/support/a_signing_key.h"

namespace {

using namespace caip;
using namespace caip::metadata;

void Require(bool holds) {
  if (!holds) std::abort();
}

http::Response NotRouted(int status, const http::Request&, const std::string&) {
  http::Response response;
  response.status = status;
  return response;
}

/// The endpoints, with a key that is not made again.
class Endpoints {
 public:
  Endpoints() {
    PutTestKey(directory_.path());
    auto mint = TokenMint::Open(directory_.path(), clock_);
    Require(mint.ok());
    mint_ = std::move(*mint);
    router_.Add(OAuthRoutes(*mint_, {"me@example.com", "demo-project"}, ""));
  }

  http::Response Ask(const std::string& path, const std::string& type, std::string_view text) {
    http::TextBody body(text);
    http::Request request;
    request.method = "POST";
    request.path = path;
    request.host = "oauth2.googleapis.com";
    request.headers.Set("Content-Type", type);
    request.body = &body;
    return router_.Handle(request);
  }

 private:
  TemporaryDirectory directory_;
  VirtualClock clock_{*ParseRfc3339("2026-11-21T08:20:00Z")};
  std::unique_ptr<TokenMint> mint_;
  http::Router router_{NotRouted};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static Endpoints endpoints;
  constexpr const char* kPaths[] = {"/token", "/tokeninfo", "/revoke"};
  constexpr const char* kTypes[] = {"application/x-www-form-urlencoded", "application/json"};
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const http::Response answer = endpoints.Ask(kPaths[data[0] % std::size(kPaths)],
                                              kTypes[data[0] / std::size(kPaths) % 2], body);
  Require(answer.status == 200 || (answer.status >= 400 && answer.status < 500));
  Require(answer.body.empty() || ParseJson(answer.body).ok());
  return 0;
}
