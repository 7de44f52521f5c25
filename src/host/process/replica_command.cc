#include "host/process/replica_command.h"

#include "host/process/orphans.h"

namespace caip::host {

Status CheckTexts(const engine::ReplicaLaunch& launch, const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().empty()) {
    return Error{Code::kInvalidArgument, "cannot start the replica: its command is empty"};
  }
  for (const std::string& argument : argv) {
    if (argument.find('\0') == std::string::npos) continue;
    return Error{Code::kInvalidArgument,
                 "cannot start '" + argv.front() + "': an argument holds a NUL character"};
  }
  for (const auto& [name, value] : launch.environment) {
    const bool is_name = !name.empty() && name.find_first_of(std::string("=\0", 2)) == name.npos;
    if (is_name && value.find('\0') == std::string::npos) continue;
    return Error{Code::kInvalidArgument, "cannot start '" + argv.front() +
                                             "': environment variable '" + name +
                                             "' has no legal name, or its value holds a NUL"};
  }
  return Ok{};
}

std::vector<std::string> VariableWords(const engine::Environment& environment,
                                       const std::string& marker) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    if (name != kReplicaVariable) variables.push_back(name + "=" + value);
  }
  variables.push_back(std::string(kReplicaVariable) + "=" + marker);
  return variables;
}

}  // namespace caip::host
