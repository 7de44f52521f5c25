#include "host/process/replica_command.h"

#include "host/errors.h"
#include "host/process/orphans.h"

namespace caip::host {

Status CheckCommand(const std::vector<std::string>& argv, const run::Environment& environment) {
  if (argv.empty() || argv.front().empty()) return errors::CommandEmpty();
  const std::string& program = argv.front();
  for (const std::string& argument : argv) {
    if (argument.find('\0') != std::string::npos) return errors::ArgumentWithNul(program);
  }
  for (const auto& [name, value] : environment) {
    const bool is_name = !name.empty() && name.find_first_of(std::string("=\0", 2)) == name.npos;
    if (!is_name || value.find('\0') != std::string::npos) {
      return errors::VariableNotLegal(program, name);
    }
  }
  return Ok{};
}

std::vector<std::string> VariablesFor(const engine::ReplicaLaunch& launch,
                                      const std::string& marker) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : launch.environment) {
    if (name != kReplicaVariable) variables.push_back(name + "=" + value);
  }
  variables.push_back(std::string(kReplicaVariable) + "=" + marker);
  return variables;
}

}  // namespace caip::host
