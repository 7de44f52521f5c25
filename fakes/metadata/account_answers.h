#pragma once
// Answers for service-accounts/<account>/token and .../identity, which are created on demand.

#include <string_view>

#include "fakes/metadata/machine.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// The owner of a machine's tokens.
Identity IdentityOfMachine(const Machine& machine);

/// `what` is "token" or "identity".
http::Response AnswerAccountRequest(std::string_view what, const http::Request& request,
                                    const Machine& machine, const TokenMint& mint);

/// The number of an account, always the same: "sub", "azp".
std::string AccountNumber(std::string_view account);

}  // namespace caip::metadata
