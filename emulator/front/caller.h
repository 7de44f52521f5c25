#pragma once
// Who sends a request: by its token, else by the door it came through.

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::front {

/// Any thread. Mint and book outlive it.
class CallerReader {
 public:
  CallerReader(const metadata::TokenMint& mint, const metadata::MachineTable& book)
      : mint_(mint), book_(book) {}

  /// Any token is good enough to be served; ours say whose they are. Nobody: an empty identity.
  metadata::Identity CallerOf(const http::Request& request, const std::string& listener) const;

 private:
  metadata::Identity IdentityOfToken(std::string_view token) const;

  const metadata::TokenMint& mint_;
  const metadata::MachineTable& book_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, metadata::Identity, std::less<>> known_;  // tokens seen lately
};

/// The token of an Authorization field or an access_token parameter; "" none.
std::string_view BearerToken(const http::Request& request);

}  // namespace caip::front
