#include "http/credentials.h"

#include "base/encoding.h"
#include "base/text.h"

namespace caip::http {

Credentials ReadCredentials(std::string_view field) {
  const size_t blank = field.find(' ');
  if (blank == field.npos) return {};
  const std::string scheme = LowerCase(field.substr(0, blank));
  const std::string_view value = Trim(field.substr(blank + 1));
  if (scheme == "bearer" || scheme == "oauth") return {std::string(value), ""};
  if (scheme != "basic") return {};
  const std::string pair = FromBase64(value).value_or("");
  const size_t colon = pair.find(':');
  if (colon == pair.npos || colon + 1 == pair.size()) return {};
  const std::string token = pair.substr(colon + 1);
  return {token, PercentEncoded(pair.substr(0, colon)) + ":" + PercentEncoded(token)};
}

Credentials CredentialsOf(const Request& request) {
  Credentials shown = ReadCredentials(request.headers.Get("Authorization"));
  if (shown.token.empty()) shown.token = std::string(request.Query("access_token"));
  if (shown.token.empty()) {
    shown.token = ReadCredentials(request.headers.Get("Proxy-Authorization")).token;
  }
  return shown;
}

}  // namespace caip::http
