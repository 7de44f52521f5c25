#include "emulator/app/serving.h"

#include <algorithm>

#include "base/text.h"
#include "emulator/front/hosts_file.h"
#include "http/compression.h"
#include "ml/catalog/catalog.h"

namespace caip::app {
namespace {

// The names of Google's that the APIs here answer to (docs/service/clients.md, sections 1 and 6).
const std::vector<std::string> kServedNames = {
    "storage.googleapis.com",
    "*.storage.googleapis.com",
    "www.googleapis.com",
    "oauth2.googleapis.com",
    "accounts.google.com",
    "iamcredentials.googleapis.com",
    "ml.googleapis.com",
    "*-ml.googleapis.com",
    "logging.googleapis.com",
    "metadata.google.internal",
    "metadata",
    "169.254.169.254",
};

// First segments of the JSON APIs' paths. There gzip is how a body travels, uploads too (gcloud
// storage cp -J, the Java library); elsewhere, in the XML API, it is how an object is stored.
constexpr std::string_view kApiPaths[] = {
    "v1",         "v2",          "storage",    "b",        "upload",       "resumable",
    "batch",      "discovery",   "$discovery", "emulator", "%24discovery", "computeMetadata",
    "retry_test", "retry_tests",
};

bool BodyIsData(const http::Request& request) {
  const std::string_view path = std::string_view(request.path).substr(1);
  const std::string_view first = path.substr(0, path.find('/'));
  return std::find(std::begin(kApiPaths), std::end(kApiPaths), first) == std::end(kApiPaths);
}

std::string VariableOrEmpty(const Variables& variables, std::string_view name) {
  for (const auto& [variable, value] : variables) {
    if (variable == name) return value;
  }
  return "";
}

// Either spelling, the small one first, as curl reads them.
std::string FindEither(const Variables& variables, const std::string& name) {
  const std::string value = VariableOrEmpty(variables, name);
  return value.empty() ? VariableOrEmpty(variables, UpperCase(name)) : value;
}

}  // namespace

Result<std::shared_ptr<http::CertificateAuthority>> OpenAuthority(const Path& state,
                                                                  const Clock& wall,
                                                                  const Variables& own) {
  ASSIGN_OR_RETURN(auto opened,
                   http::CertificateAuthority::Open(state / "ca", kServedNames, wall,
                                                    VariableOrEmpty(own, "SSL_CERT_FILE")));
  return std::shared_ptr<http::CertificateAuthority>(std::move(opened));
}

http::ServerOptions ServingOptions(const EmulatorOptions& options, uint16_t port,
                                   std::shared_ptr<http::CertificateProvider> certificates,
                                   const Variables& own) {
  http::ServerOptions serving;
  serving.address = options.address;
  serving.port = port;
  serving.allowed_hosts = options.allowed_hosts;
  serving.served_names = kServedNames;
  serving.tls = std::move(certificates);
  serving.relay.enabled = true;
  serving.relay.upstream = FindEither(own, "https_proxy");
  serving.relay.upstream_exempt = FindEither(own, "no_proxy");
  return serving;
}

std::vector<std::string> NamesOfHostsFile() {
  std::vector<std::string> names;
  for (const std::string& name : kServedNames) {
    const bool is_metadata = name.starts_with("metadata") || name == front::kMetadataAddress;
    if (!is_metadata && !name.starts_with("*")) names.push_back(name);
  }
  for (const ml::Region& region : ml::DefaultCatalog().regions()) {
    names.push_back(region.name + "-ml.googleapis.com");
  }
  return names;
}

std::vector<std::string> DirectHosts(const Variables& own) {
  std::vector<std::string> direct;
  for (const std::string& item : Split(FindEither(own, "no_proxy"), ',')) {
    const std::string host(Trim(item));
    std::string_view ending = host;
    while (ending.starts_with('*') || ending.starts_with('.')) ending.remove_prefix(1);
    const bool hides = std::any_of(kServedNames.begin(), kServedNames.end(),
                                   [&](const std::string& name) { return name.ends_with(ending); });
    if (!hides) direct.push_back(host);
  }
  return direct;
}

http::Handler WithEncodings(http::Handler next) {
  return http::WithCompression(std::move(next), BodyIsData);
}

}  // namespace caip::app
