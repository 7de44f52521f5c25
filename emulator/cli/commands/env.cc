// `caip env`: the variables that point Google's clients at the emulator (docs/service/clients.md,
// section 1).

#include <cstdlib>

#include "client/gcloud_properties.h"
#include "emulator/cli/commands/client_environment.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/exit_codes.h"
#include "emulator/cli/output.h"
#include "emulator/cli/print/variables_text.h"
#include "ml/catalog/catalog.h"

namespace caip::cli {
namespace {

std::string OwnVariable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

ClientFacts FactsOf(const EnvCommand& command, std::string base_url) {
  ClientFacts facts;
  facts.base_url = std::move(base_url);
  facts.project =
      client::ProjectOf(command.gcloud).ok() ? *client::ProjectOf(command.gcloud) : "demo-project";
  facts.state = app::StateDirectory(command.emulator);
  facts.tls = command.tls;
  facts.no_proxy = OwnVariable("no_proxy");
  if (facts.no_proxy.empty()) facts.no_proxy = OwnVariable("NO_PROXY");
  return facts;
}

std::vector<std::string> RegionNames() {
  std::vector<std::string> names;
  for (const ml::Region& region : ml::DefaultCatalog().regions()) names.push_back(region.name);
  return names;
}

}  // namespace

int RunEnv(const EnvCommand& command, const Surroundings& world) {
  const std::string name = command.gcloud.format.value_or("shell");
  const auto format = VariablesFormatNamed(name);
  if (!format) {
    const Error error = errors::NoSuchChoice(name, VariablesFormatNames());
    return Fail(world.io, "env", "argument --format: " + error.message, kExitUsage);
  }
  if (command.unset) {  // needs nobody
    ClientFacts facts = FactsOf(command, "http://127.0.0.1:0");
    facts.tls = true;  // whichever were set
    world.io.out(UnsetText(ClientVariables(facts), *format));
    return kExitSuccess;
  }
  const auto connection = world.connect(command.emulator, app::Lifetime::kBackground);
  if (!connection.ok()) return Fail(world.io, "env", connection.error().message, kExitFailure);
  const ClientFacts facts = FactsOf(command, (*connection)->base_url());
  if (command.hosts) {
    world.io.out(HostsLines(facts, RegionNames()));
    return kExitSuccess;
  }
  const Status written = WriteClientFiles(facts);
  if (!written.ok()) return Fail(world.io, "env", written.error().message, kExitFailure);
  world.io.out(SetText(ClientVariables(facts), *format));
  return kExitSuccess;
}

}  // namespace caip::cli
