#pragma once
// All error texts of the HTTP server and client.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace caip::http::errors {

// Starting a server.
Error PortTaken(std::string_view address, uint16_t port);
Error AddressInvalid(std::string_view address);
Error CannotListen(std::string_view address, uint16_t port, int error_number);
Error ListenerExists(std::string_view tag);

// TLS.
Error NoCertificate(std::string_view why);
Error NoTls(std::string_view why);
Error TrustUnreadable(std::string_view file);
Error TlsRefused(std::string_view base, std::string_view why);

// Reading a body.
Error BodyTooLarge(size_t limit);
Error BodyTruncated();
Error BodyMalformed(std::string_view why);
Error PeerSilent(int seconds);
Error PeerGone();

// Errors of the client.
Error BaseInvalid(std::string_view base);
Error CannotReach(std::string_view base, std::string_view why);
Error AddressForbidden(std::string_view host);
Error NoAnswer(std::string_view base, std::string_view why);
/// kAborted: the connection failed before the first byte of a response.
Error ClosedBeforeAnswer(std::string_view base);
Error AnswerSilent(std::string_view base, int seconds);

/// A response of the server itself, without a handler. Its JSON has the fields of both of Google's
/// error formats: the newer has `status`, the older `errors[].reason`.
Response Refusal(int status, std::string_view message);
Response TooManyConnections(int limit);
Response HeadTimeout();
Response HeadTooLarge(size_t limit);
Response NotHttp(std::string_view why);
Response VersionNotSupported();
Response TransferCodingNotSupported();
Response TransferCodingFieldCount();
Response HostFieldCount();
Response HostDiffers(std::string_view host, std::string_view authority);
Response SchemeUnknown(std::string_view scheme);
Response TargetMalformed(std::string_view target);
Response HandlerFailed(std::string_view why);  // "" unknown
Response HostNotAllowed(std::string_view host);
Response OriginNotAllowed(std::string_view origin);
Response SiteNotAllowed();
/// `user`: the name of the client's user, "" if it is not known.
Response UserNotAdmitted(std::string_view user);
Response TokenNotValid();
/// A 401 that asks for Basic credentials, with the text of `refusal`.
Response WithChallenge(Response refusal);
Response ProxyTokenNotValid();

// Responses of the proxy.
Response TunnelInsideTls();
Response TunnelInsideHttp2();
Response TunnelWithBody();
Response DestinationMalformed(std::string_view target);
Response RelayOff(std::string_view host);
Response PortNotRelayed(std::string_view host, uint16_t port);
Response PlainNotRelayed(std::string_view host);
Response CannotRelay(const Error& error);

}  // namespace caip::http::errors
