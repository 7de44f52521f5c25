#pragma once
// Compute Engine's metadata server over HTTP: /computeMetadata/v1/... and the ping at "/".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// The parameters of a request for a value.
struct QueryOptions {
  bool recursive = false;
  bool as_json = false;
  bool as_text = false;
  bool wait = false;
  std::optional<std::string> last_etag;
  std::optional<MachineTable::Deadline> deadline;
};

/// Serves the metadata of machines. Any thread. The table and the mint must outlive it.
class MetadataApi {
 public:
  MetadataApi(const MachineTable& table, const TokenMint& mint) : table_(table), mint_(mint) {}

  /// Answers for the machine of the listener. Blocks if the request waits for a change;
  /// MachineTable::Close() ends that.
  http::Response Handle(const http::Request& request, const std::string& listener) const;

 private:
  http::Response Answer(const http::Request& request, const std::string& listener) const;
  /// Answers a request for a value. nullopt: the request waits for a change, and there is none.
  std::optional<http::Response> AnswerNow(const http::Request& request,
                                          const std::vector<std::string>& segments,
                                          const Machine& machine, QueryOptions& options) const;
  http::Response Serve(const http::Request& request, const std::string& listener) const;

  const MachineTable& table_;
  const TokenMint& mint_;
};

/// True if a request is for the metadata server, on any listener: by its path, by the server's
/// name, or as a ping ("/" with the flavor header).
bool IsMetadataRequest(const http::Request& request);

/// Returns the owner of a machine's tokens.
Identity IdentityOfMachine(const Machine& machine);

/// Answers service-accounts/<account>/token and .../identity, which are created on demand. `what`
/// is "token" or "identity".
http::Response AnswerAccountRequest(std::string_view what, const http::Request& request,
                                    const Machine& machine, const TokenMint& mint);

/// The claims of an identity token of an account. `now` is in seconds since 1970.
Json AccountClaims(const std::string& account, std::string_view audience, int64_t now);

/// Returns the number of an account, which never changes: "sub", "azp".
std::string AccountNumber(std::string_view account);

}  // namespace caip::metadata
