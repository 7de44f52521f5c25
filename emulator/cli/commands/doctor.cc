// `caip doctor`: what this host offers, and what each missing thing costs.

#include <algorithm>

#include "base/json.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/exit_codes.h"
#include "host/machine/host_report.h"
#include "host/process/child_process.h"

namespace caip::cli {
namespace {

using Found = host::HostFact::Found;

std::string_view Mark(Found found, bool coloured) {
  switch (found) {
    case Found::kYes:
      return coloured ? "\x1b[32m✓\x1b[0m" : "yes";
    case Found::kPartly:
      return coloured ? "\x1b[33m~\x1b[0m" : "in part";
    case Found::kNo:
      break;
  }
  return coloured ? "\x1b[31m✗\x1b[0m" : "no";
}

std::string AsText(const std::vector<host::HostFact>& facts, bool coloured) {
  size_t names = 0;
  for (const host::HostFact& fact : facts) names = std::max(names, fact.name.size());
  std::string text;
  for (const host::HostFact& fact : facts) {
    std::string name = fact.name;
    name.resize(names, ' ');
    std::string mark(Mark(fact.found, coloured));
    if (!coloured) mark.resize(7, ' ');
    text += mark + "  " + name + "  " + fact.detail + "\n";
    if (!fact.cost_when_missing.empty()) {
      text += std::string(coloured ? 3 : 9, ' ') + std::string(names, ' ') + "  -> " +
              fact.cost_when_missing + "\n";
    }
  }
  return text;
}

Json AsJson(const std::vector<host::HostFact>& facts) {
  Json list = Json::array();
  for (const host::HostFact& fact : facts) {
    list.push_back({{"name", fact.name},
                    {"found", Mark(fact.found, false)},
                    {"detail", fact.detail},
                    {"costWhenMissing", fact.cost_when_missing}});
  }
  return list;
}

}  // namespace

int RunDoctor(const DoctorCommand& command, const Surroundings& world) {
  const auto own = host::OwnEnvironment();
  host::HostReportOptions options;
  options.state = app::StateDirectory(command.emulator);
  for (const auto& [name, value] : own) {
    if (name == "PATH") options.path = value;
  }
  options.devices.path = options.path;
  host::Interpreters interpreters(host::DefaultSearch(own), {});
  const auto facts = host::ReportHost(options, interpreters);
  const std::string format = command.gcloud.format.value_or("text");
  if (format == "json") {
    world.io.out(PrettyJson(AsJson(facts)) + "\n");
  } else {
    world.io.out(AsText(facts, world.io.out_is_terminal));
  }
  return kExitSuccess;
}

}  // namespace caip::cli
