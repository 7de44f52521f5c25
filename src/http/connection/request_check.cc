#include "http/connection/request_check.h"

#include "http/connection/guard.h"
#include "http/errors.h"
#include "http/transport/peer_user.h"

namespace caip::http {

RequestCheck::RequestCheck(const Socket& socket, const Origin& origin, ConnectionContext& context)
    : options_(context.options) {
  if (!origin.isolated && !options_.admission.anyone) {
    user_ = context.peer_users.Find(socket.get());
  }
  is_admitted_ = origin.isolated || IsUserAdmitted(user_, options_.admission);
}

std::optional<Response> RequestCheck::Refuse(Request& request, bool whole_url) const {
  const std::string name = RemovePort(request.host);
  const bool is_known_host =
      IsHostAllowed(request.host, options_.address, options_.allowed_hosts) ||
      MatchesAnyName(name, options_.served_names);
  Credentials shown;  // not needed for most requests
  if (!is_admitted_ || !is_known_host) shown = CredentialsOf(request);
  if (!is_admitted_ && !IsTokenValid(shown)) {
    const auto& wants = options_.admission.wants_challenge;
    const Response refusal = NotAdmitted(shown);
    return wants && wants(request) ? errors::WithChallenge(refusal) : refusal;
  }
  if (!is_known_host && (whole_url || !IsTokenValid(shown))) {
    return whole_url ? errors::PlainNotRelayed(name) : errors::HostNotAllowed(request.host);
  }
  if (!is_admitted_ || !is_known_host) request.userinfo = std::move(shown.userinfo);
  const std::string_view origin = request.headers.Get("Origin");
  if (!IsOriginAllowed(origin, request.scheme, request.host)) {
    return errors::OriginNotAllowed(origin);
  }
  if (IsChangeFromOtherSite(request)) return errors::SiteNotAllowed();
  if (IsPreflight(request)) return AnswerPreflight(request);
  return std::nullopt;
}

void RequestCheck::AdmitBearer(const Credentials& shown) {
  if (!is_admitted_) is_admitted_ = IsTokenValid(shown);
}

Response RequestCheck::NotAdmitted(const Credentials& shown) const {
  if (!shown.token.empty()) return errors::TokenNotValid();
  return errors::UserNotAdmitted(user_ ? UserName(*user_) : "");
}

bool RequestCheck::IsTokenValid(const Credentials& shown) const {
  const auto& is_valid = options_.admission.is_token_valid;
  return is_valid && !shown.token.empty() && is_valid(shown.token);
}

}  // namespace caip::http
