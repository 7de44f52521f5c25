#pragma once
// What is made when it is asked for: service-accounts/<account>/token and .../identity.

#include <string_view>

#include "fakes/metadata/guest.h"
#include "fakes/metadata/token_mint.h"
#include "http/message.h"

namespace caip::metadata {

/// Whom a guest's tokens name.
Identity IdentityOf(const Guest& guest);

/// `what` is "token" or "identity".
http::Response AccountAnswer(std::string_view what, const http::Request& request,
                             const Guest& guest, const TokenMint& mint);

/// A number that stands for an account, the same at every time: "sub", "azp".
std::string UniqueIdOf(std::string_view account);

}  // namespace caip::metadata
