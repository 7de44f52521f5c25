// Any text is a JSON Web Token or an error. A token is unchanged after it is written and parsed
// again, and its signed part is the start of the text.

#include "fakes/metadata/jwt.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/encoding.h"

namespace {

using namespace caip;

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = metadata::ParseJwt(text);
  if (!token.ok()) {
    Require(token.error().code == Code::kInvalidArgument && !token.error().message.empty());
    return 0;
  }
  Require(text.starts_with(token->signed_part + "."));
  Require(token->header.is_object() && token->claims.is_object());
  const std::string written = Base64Url(CompactJson(token->header)) + "." +
                              Base64Url(CompactJson(token->claims)) + "." +
                              Base64Url(token->signature);
  const auto again = metadata::ParseJwt(written);
  Require(again.ok() && again->header == token->header && again->claims == token->claims);
  Require(again->signature == token->signature);
  return 0;
}
