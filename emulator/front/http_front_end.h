#pragma once
// The handler of all requests: it identifies the caller, answers the requests for the metadata
// server and the token endpoints, passes the others on, and writes the access log.

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "emulator/front/access_log.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/metadata_api.h"
#include "fakes/metadata/oauth_api.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"
#include "http/router.h"

namespace caip::front {

/// Identifies callers by their token, or else by the listener that they came to. Any thread. Mint
/// and machines outlive it.
class CallerReader {
 public:
  CallerReader(const metadata::TokenMint& mint, const metadata::MachineTable& machines)
      : mint_(mint), machines_(machines) {}

  /// The caller's identity; empty if it is unknown. Callers with any token are served, but only
  /// caip's own tokens have an identity.
  metadata::Identity CallerOf(const http::Request& request, const std::string& listener) const;

 private:
  metadata::Identity IdentityOfToken(std::string_view token) const;

  const metadata::TokenMint& mint_;
  const metadata::MachineTable& machines_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, metadata::Identity, std::less<>> known_;  // tokens seen lately
};

/// The outermost handler of requests. Any thread. The parts outlive it.
class HttpFrontEnd {
 public:
  struct Parts {
    const metadata::MachineTable& machines;
    const metadata::TokenMint& mint;
    metadata::Identity user;   // the identity of refresh tokens
    http::Handler inner;       // all other APIs
    AccessLog* log = nullptr;  // nullptr: no access log
    const Clock& wall;
  };
  explicit HttpFrontEnd(Parts parts);

  http::Response Handle(const http::Request& request) const;
  /// Writes the line of a request that the server answers itself.
  void LogOwnAnswer(const http::Request& request, const http::Response& response) const;

 private:
  bool IsForMetadata(const http::Request& request) const;
  http::Response Answer(const http::Request& request, bool for_metadata,
                        const std::string& listener) const;
  AccessEntry EntryFor(const http::Request& request, const std::string& listener) const;

  Parts parts_;
  metadata::MetadataApi metadata_;
  http::Router oauth_;
  CallerReader callers_;
};

}  // namespace caip::front
