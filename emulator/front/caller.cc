#include "emulator/front/caller.h"

#include "base/text.h"
#include "fakes/metadata/metadata_api.h"

namespace caip::front {
namespace {

constexpr size_t kKnownMax = 1024;
constexpr size_t kTokenBytesMax = 4096;

}  // namespace

std::string_view BearerToken(const http::Request& request) {
  const std::string_view field = request.headers.Get("Authorization");
  const size_t blank = field.find(' ');
  if (blank != field.npos) {
    const std::string scheme = LowerCase(field.substr(0, blank));
    if (scheme == "bearer" || scheme == "oauth") return Trim(field.substr(blank + 1));
  }
  return request.Query("access_token");
}

metadata::Identity CallerReader::CallerOf(const http::Request& request,
                                          const std::string& listener) const {
  const std::string_view token = BearerToken(request);
  if (!token.empty() && token.size() <= kTokenBytesMax) {
    metadata::Identity identity = IdentityOfToken(token);
    if (!identity.account.empty()) return identity;
  }
  if (listener.empty()) return {};
  const auto sight = book_.Find(listener);
  return sight ? metadata::IdentityOfMachine(sight->machine) : metadata::Identity{};
}

// A client shows the same token with every request: it is opened once.
metadata::Identity CallerReader::IdentityOfToken(std::string_view token) const {
  if (!token.starts_with(metadata::kTokenPrefix)) return {};
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(token);
    if (found != known_.end()) return found->second;
  }
  const auto facts = mint_.Read(token);
  if (!facts) return {};
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kKnownMax) known_.clear();
  return known_.emplace(std::string(token), facts->identity).first->second;
}

}  // namespace caip::front
