#pragma once
// How the emulator's one port is served: for whom, in whose name, and with what encodings.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "emulator/app/settings/options.h"
#include "http/server.h"
#include "http/transport/certificate_authority.h"

namespace caip::app {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The local authority in <state>/ca. `wall`: clients compare its dates with their own clocks.
/// `own` may tell whom this machine trusts (SSL_CERT_FILE).
Result<std::shared_ptr<http::CertificateAuthority>> OpenAuthority(const Path& state,
                                                                  const Clock& wall,
                                                                  const Variables& own);

/// Plain http, TLS and an https proxy on one port. `own` tells the machine's own proxy.
http::ServerOptions ServingOptions(const EmulatorOptions& options, uint16_t port,
                                   std::shared_ptr<http::CertificateProvider> certificates,
                                   const Variables& own);

/// The served names as a hosts file has them, the regions' written out, without those of buckets
/// and of the metadata server.
std::vector<std::string> NamesOfHostsFile();

/// What the machine itself reaches without a proxy, less what would let Google's names pass us by.
std::vector<std::string> DirectHosts(const Variables& own);

/// gzip both ways for the JSON APIs. What is uploaded or put into a bucket stays as it came.
http::Handler WithEncodings(http::Handler next);

}  // namespace caip::app
