// No input has a valid signature with the keys of this program. The input is a request: a method, a
// target, and headers, each with a line end. A time in the compact form is a time of RFC 3339.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/signing/signature_check.h"

namespace {

using namespace caip;
using namespace caip::gcs;

void Require(bool holds) {
  if (!holds) std::abort();
}

/// One HMAC key, whose secret no input has.
class OneKey final : public KeyRing {
 public:
  std::optional<HmacSecret> SecretOf(const std::string& access_id) const override {
    if (access_id != "GOOG1KEY") return std::nullopt;
    return HmacSecret{"4kPq3nVnC1f0t1zXw7uJ2mB9sD6eR8yL5hG0aQvT", true};
  }
  std::vector<std::string> PublicKeysOf(const std::string&) const override { return {}; }
};

std::string_view NextLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

bool NamesSignature(const http::Request& request) {
  const bool in_query = std::ranges::any_of(request.query, [](const auto& parameter) {
    const std::string name = LowerCase(parameter.first);
    return name == "x-goog-signature" || name == "x-amz-signature" ||
           parameter.first == "Signature";
  });
  return in_query;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const OneKey keys;
  static const VirtualClock clock(*ParseRfc3339("2026-11-21T08:20:00Z"));
  static const SignatureCheck check(keys, clock, {.strict = true});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  http::Request request;
  request.method = std::string(NextLine(text));
  auto target = http::ParseTarget(NextLine(text));
  if (!target) return 0;
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.host = "storage.googleapis.com";
  while (!text.empty()) {
    const std::string_view line = NextLine(text);
    const size_t colon = line.find(':');
    if (colon != line.npos) request.headers.Add(line.substr(0, colon), line.substr(colon + 1));
    if (const auto time = ParseCompactTime(line)) Require(Rfc3339(*time, 0).size() == 20);
  }
  const auto flaw = check.Check(request, "bkt");
  if (flaw) Require(flaw->status >= 400 && flaw->status < 500 && !flaw->code.empty());
  if (NamesSignature(request)) Require(flaw.has_value());
  return 0;
}
