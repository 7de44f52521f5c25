#include "emulator/front/front_environment.h"

#include <algorithm>

#include "base/text.h"

namespace caip::front {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Most libraries compare names, some also match networks. gRPC between replicas must not use the
// proxy, so all their hosts are listed.
std::string DirectHosts(const HttpsFront& front) {
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1", "127.0.0.0/8"};
  for (const std::string& host : front.direct) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  return Join(hosts, ",");
}

void AddHttps(const HttpsFront& front, Variables& out) {
  // Some libraries read only one of the spellings. http_proxy stays unset: plain http needs no
  // proxy.
  out.emplace_back("https_proxy", front.proxy);
  out.emplace_back("HTTPS_PROXY", front.proxy);
  const std::string direct = DirectHosts(front);
  out.emplace_back("no_proxy", direct);
  out.emplace_back("NO_PROXY", direct);
  out.emplace_back("no_grpc_proxy", direct);
  out.emplace_back("CURL_CA_BUNDLE", front.bundle);      // libcurl, TensorFlow's gs://
  out.emplace_back("SSL_CERT_FILE", front.bundle);       // OpenSSL, Python's ssl, Go
  out.emplace_back("REQUESTS_CA_BUNDLE", front.bundle);  // Python's requests, pip
  out.emplace_back("HTTPLIB2_CA_CERTS", front.bundle);   // google-api-python-client
  out.emplace_back("AWS_CA_BUNDLE", front.bundle);       // boto3 on Cloud Storage's XML API
  out.emplace_back("NODE_EXTRA_CA_CERTS", front.bundle);
  out.emplace_back("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", front.bundle);
  out.emplace_back("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", front.bundle);
}

}  // namespace

Variables RenderGrpcEnvironment(const HttpsFront& front) {
  return {{"grpc_proxy", front.proxy},
          {"no_grpc_proxy", DirectHosts(front)},
          {"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", front.bundle}};
}

Variables RenderFrontEnvironment(const FrontFacts& facts) {
  Variables variables;
  if (!facts.metadata.empty()) {
    variables.emplace_back("GCE_METADATA_HOST", facts.metadata);
    variables.emplace_back("GCE_METADATA_IP", facts.metadata);
    variables.emplace_back("GCE_METADATA_ROOT", facts.metadata);
  }
  // Old TensorFlow versions do not know GCE_METADATA_HOST and would look the real name up
  // repeatedly.
  if (!facts.token.empty()) variables.emplace_back("GOOGLE_AUTH_TOKEN_FOR_TESTING", facts.token);
  if (facts.https) AddHttps(*facts.https, variables);
  return variables;
}

}  // namespace caip::front
