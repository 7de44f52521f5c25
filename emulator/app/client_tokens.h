#pragma once
// The tokens that admit clients whose user the kernel does not know: those in containers and on
// other hosts (docs/security.md).

#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"
#include "fakes/metadata/token_mint.h"

namespace caip::app {

/// Any thread, after Open.
class ClientTokens {
 public:
  /// Reads the token from `file`, or writes a random one there if the file does not exist. `mint`
  /// outlives it. kInvalidArgument: the file has no token, or other users may read it.
  static Result<ClientTokens> Open(const Path& file, const metadata::TokenMint& mint);

  /// Whether the token is that of the file, or an access token of the mint that has not expired.
  bool IsValid(std::string_view token) const;

  /// The token of the file, for `caip env --remote`. It does not expire.
  const std::string& ForClients() const { return from_file_; }

 private:
  ClientTokens(const metadata::TokenMint& mint, std::string from_file)
      : mint_(&mint), from_file_(std::move(from_file)) {}

  const metadata::TokenMint* mint_;
  std::string from_file_;
};

}  // namespace caip::app
