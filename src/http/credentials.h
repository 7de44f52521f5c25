#pragma once
// The tokens that clients show: in the form of Google's clients, and in the form of a URL with a
// user and a password, for clients that send no token of their own to an emulator.

#include <string>
#include <string_view>

#include "http/message.h"

namespace caip::http {

struct Credentials {
  std::string token;     // "" none
  std::string userinfo;  // "caip:TOKEN", for a URL, if the token is a password; else ""
};

/// Reads the value of an Authorization or Proxy-Authorization field: "Bearer TOKEN",
/// "OAuth TOKEN", or "Basic" (RFC 7617) with any user and the token as the password.
Credentials ReadCredentials(std::string_view field);

/// The credentials of the Authorization field, else the token of the parameter access_token, else
/// that of the Proxy-Authorization field: a client may use the server as its proxy.
Credentials CredentialsOf(const Request& request);

}  // namespace caip::http
