#include "emulator/app/listener.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "emulator/app/settings/part_options.h"
#include "emulator/front/replica_network.h"
#include "fakes/metadata/metadata_api.h"
#include "fakes/registry/registry_api.h"
#include "grpc/transcoder.h"
#include "host/machine/addresses.h"
#include "host/machine/machines.h"
#include "host/process/child_process.h"
#include "http/compression.h"
#include "ml/catalog/catalog.h"
#include "vertex/catalog/catalog.h"

namespace caip::app {
namespace {

// Google's host names that caip serves (docs/service/clients.md, sections 1 and 6).
const std::vector<std::string> kServedNames = {
    "storage.googleapis.com",
    "*.storage.googleapis.com",
    "www.googleapis.com",
    "oauth2.googleapis.com",
    "accounts.google.com",
    "iamcredentials.googleapis.com",
    "ml.googleapis.com",
    "*-ml.googleapis.com",
    "aiplatform.googleapis.com",
    "*-aiplatform.googleapis.com",
    "logging.googleapis.com",
    "gcr.io",
    "*.gcr.io",
    "*.pkg.dev",
    "metadata.google.internal",
    "metadata",
    "169.254.169.254",
};

// First path segments of the JSON APIs. There gzip is a transfer encoding, for uploads too (gcloud
// storage cp -J, the Java library). In the XML API it is the encoding of the stored object. Blobs
// of the registry, below /v2 like Cloud Logging, are stored as they come.
constexpr std::string_view kApiPaths[] = {
    "v1",           "v1beta1",         "ui",         "v2",          "storage",    "b",
    "upload",       "resumable",       "batch",      "discovery",   "$discovery", "emulator",
    "%24discovery", "computeMetadata", "retry_test", "retry_tests",
};

bool BodyIsData(const http::Request& request) {
  if (registry::IsRegistryPath(request.path)) return true;
  const std::string_view path = std::string_view(request.path).substr(1);
  const std::string_view first = path.substr(0, path.find('/'));
  return std::find(std::begin(kApiPaths), std::end(kApiPaths), first) == std::end(kApiPaths);
}

// Finds a variable by its lower-case name, else by its upper-case name, as curl does.
std::string FindEither(const Variables& variables, const std::string& name) {
  const std::string value = host::FindVariable(variables, name).value_or("");
  return value.empty() ? host::FindVariable(variables, UpperCase(name)).value_or("") : value;
}

constexpr char kFileName[] = "port";
constexpr int kNeighbours = 32;

uint16_t RememberedPort(const Path& state) {
  const auto text = ReadFileUpTo(state / kFileName, 16);
  if (!text.ok()) return 0;
  const std::string_view digits = Trim(*text);
  uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return code == std::errc() && end == digits.data() + digits.size() ? port : 0;
}

constexpr int kGraceMilliseconds = 200;

}  // namespace

Result<std::shared_ptr<http::CertificateAuthority>> OpenAuthority(const Path& state,
                                                                  const Clock& wall,
                                                                  const Variables& own) {
  ASSIGN_OR_RETURN(auto opened, http::CertificateAuthority::Open(
                                    state / "ca", kServedNames, wall,
                                    host::FindVariable(own, "SSL_CERT_FILE").value_or("")));
  return std::shared_ptr<http::CertificateAuthority>(std::move(opened));
}

http::ServerOptions ServingOptions(const EmulatorOptions& options, uint16_t port,
                                   std::shared_ptr<http::CertificateProvider> certificates,
                                   const Variables& own) {
  http::ServerOptions serving;
  serving.address = options.address;
  serving.port = port;
  serving.connections_max = options.connections_max;
  serving.allowed_hosts = options.allowed_hosts;
  if (options.isolation == Isolation::kMachine) {
    serving.allowed_hosts.emplace_back(host::kHubAddress);
  }
  serving.served_names = kServedNames;
  serving.admission.users = options.allowed_users;
  serving.admission.anyone = options.allow_all_users;
  serving.admission.wants_challenge = [](const http::Request& request) {
    return registry::IsRegistryPath(request.path);
  };
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
  for (const std::string& region : vertex::DefaultCatalog().regions()) {
    names.push_back(region + "-aiplatform.googleapis.com");
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

std::vector<uint16_t> PortsToTry(const Path& state) {
  std::vector<uint16_t> ports;
  const auto add = [&](uint16_t port) {
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  };
  if (const uint16_t before = RememberedPort(state)) add(before);
  for (int i = 0; i <= kNeighbours; ++i) add(static_cast<uint16_t>(kUsualPort + i));
  ports.push_back(0);
  return ports;
}

std::string PortNote(uint16_t usual, uint16_t port) {
  return "Port " + std::to_string(usual) +
         " is in use by another process. This emulator listens at port " + std::to_string(port) +
         ". Run `caip env` again in shells that use another port.";
}

Status RememberPort(const Path& state, uint16_t port) {
  return WriteFile(state / kFileName, std::to_string(port) + "\n");
}

Result<std::unique_ptr<Listener>> Listener::Open(const EmulatorOptions& options,
                                                 const metadata::TokenMint& mint, const Clock& wall,
                                                 http::Handler apis) {
  std::unique_ptr<Listener> made(new Listener());
  ASSIGN_OR_RETURN(made->authority_, OpenAuthority(options.state, wall, host::OwnEnvironment()));
  const metadata::Machine host = HostMachine(options, wall.Now());
  const Path token_file =
      options.token_file.empty() ? options.state / "keys/client-token" : Path(options.token_file);
  ASSIGN_OR_RETURN(made->tokens_, ClientTokens::Open(token_file, mint));
  made->machines_ = std::make_unique<metadata::MachineTable>(host);
  if (options.access_log != "off") {
    const Path file =
        options.access_log.empty() ? options.state / "access.log" : Path(options.access_log);
    ASSIGN_OR_RETURN(made->access_log_, front::AccessLog::Open(file));
  }
  made->front_end_ = std::make_unique<front::HttpFrontEnd>(
      front::HttpFrontEnd::Parts{*made->machines_, mint, metadata::IdentityOfMachine(host),
                                 std::move(apis), made->access_log_.get(), wall});
  return made;
}

// If the start failed, early requests must not wait forever, and must not outlive the other parts.
Listener::~Listener() {
  StartAnswering();
  Close();
}

void Listener::WarnAboutTrust(engine::LogSink& log, const Clock& clock) {
  trust_warnings_ = std::make_unique<front::TrustWarnings>(
      front::TrustWarnings::World{*machines_, log, clock}, bundle_file());
}

Result<std::unique_ptr<http::Server>> Listener::ServeAt(const EmulatorOptions& options,
                                                        uint16_t port) {
  auto serving = ServingOptions(options, port, authority_, host::OwnEnvironment());
  serving.admission.is_token_valid = [this](std::string_view token) {
    return tokens_->IsValid(token);
  };
  serving.on_own_answer = [this](const http::Request& request, const http::Response& response) {
    front_end_->LogOwnAnswer(request, response);
  };
  serving.on_certificate_rejected = [this](const http::CertificateRejection& rejection) {
    if (trust_warnings_) trust_warnings_->Warn(rejection);
  };
  serving.time_limit = grpc::LimitOf;
  serving.render_own_answer = grpc::RenderOwnAnswer;
  const auto handle = [this](const http::Request& request) {
    ready_.wait();
    return front_end_->Handle(request);
  };
  auto handler = grpc::WithGrpc(handle, WithEncodings(handle), serving.on_own_answer);
  return http::Server::Start(std::move(serving), std::move(handler));
}

Status Listener::Listen(const EmulatorOptions& options) {
  const std::vector<uint16_t> ports =
      options.port ? std::vector<uint16_t>{*options.port} : PortsToTry(options.state);
  for (const uint16_t port : ports) {
    auto started = ServeAt(options, port);
    const bool taken = !started.ok() && started.error().code == Code::kAlreadyExists;
    if (taken && port != ports.back()) continue;
    ASSIGN_OR_RETURN(server_, std::move(started));
    break;
  }
  if (!options.port && server_->port() != ports.front()) {
    port_note_ = PortNote(ports.front(), server_->port());
  }
  if (options.remember_port) RETURN_IF_ERROR(RememberPort(options.state, server_->port()));
  base_url_ = BaseUrlAt(options.address, server_->port());
  return Ok{};
}

std::string BaseUrlAt(const std::string& address, uint16_t port) {
  const bool is_any = address == "0.0.0.0" || address == "::";
  const std::string host = is_any ? std::string(host::kLoopbackAddress) : address;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return "http://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

void Listener::StartAnswering() {
  if (!ready_.try_wait()) ready_.count_down();
}

void Listener::Close() {
  if (machines_) machines_->Close();
  if (server_) server_->Stop(kGraceMilliseconds);
}

}  // namespace caip::app
