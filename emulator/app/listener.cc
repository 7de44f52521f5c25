#include "emulator/app/listener.h"

#include <vector>

#include "emulator/app/serving.h"
#include "emulator/app/settings/part_options.h"
#include "emulator/app/usual_port.h"
#include "fakes/metadata/metadata_api.h"
#include "host/machine/addresses.h"
#include "host/process/child_process.h"

namespace caip::app {
namespace {

constexpr int kGraceMilliseconds = 200;

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Open(const EmulatorOptions& options,
                                                 const metadata::TokenMint& mint, const Clock& wall,
                                                 http::Handler apis) {
  std::unique_ptr<Listener> made(new Listener());
  ASSIGN_OR_RETURN(made->authority_, OpenAuthority(options.state, wall, host::OwnEnvironment()));
  const metadata::Machine host = HostGuest(options, wall.Now());
  made->guests_ = std::make_unique<metadata::MachineTable>(host);
  if (options.access_log != "off") {
    const Path file =
        options.access_log.empty() ? options.state / "access.log" : Path(options.access_log);
    ASSIGN_OR_RETURN(made->access_log_, front::AccessLog::Open(file));
  }
  made->door_ = std::make_unique<front::FrontDoor>(
      front::FrontDoor::Parts{*made->guests_, mint, metadata::IdentityOfMachine(host),
                              std::move(apis), made->access_log_.get(), wall});
  return made;
}

// A request that came before a start that failed must not wait for ever, nor outlive the rest.
Listener::~Listener() {
  StartAnswering();
  Close();
}

Result<std::unique_ptr<http::Server>> Listener::ServeAt(const EmulatorOptions& options,
                                                        uint16_t port) {
  return http::Server::Start(ServingOptions(options, port, authority_, host::OwnEnvironment()),
                             WithEncodings([this](const http::Request& request) {
                               ready_.wait();
                               return door_->Handle(request);
                             }));
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
  const bool any = options.address == "0.0.0.0" || options.address == "::";
  base_url_ = "http://" + (any ? std::string(host::kLoopbackAddress) : options.address) + ":" +
              std::to_string(server_->port());
  return Ok{};
}

void Listener::StartAnswering() {
  if (!ready_.try_wait()) ready_.count_down();
}

void Listener::Close() {
  if (guests_) guests_->Close();
  if (server_) server_->Stop(kGraceMilliseconds);
}

}  // namespace caip::app
