#include "ml/command_line.h"

#include <algorithm>

#include "base/text.h"
#include "tuning/space.h"

namespace caip::ml {
namespace {

// The order of the job's spec; names that it does not have come last, in alphabetical order.
std::vector<std::string> NamesInOrder(const TrainingInput& input,
                                      const tuning::ValueTexts& values) {
  std::vector<std::string> names;
  if (input.hyperparameters) {
    for (const ParameterSpec& spec : input.hyperparameters->params) {
      if (values.contains(spec.parameter_name)) names.push_back(spec.parameter_name);
    }
  }
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void Append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

std::string JobDirOf(std::string_view job_dir, std::string_view trial) {
  std::string path(job_dir);
  if (path.empty() || trial.empty()) return path;
  // gs://b/out/ and gs://b/out name the same directory; a doubled slash would name another object.
  if (path.back() != '/') path += '/';
  return path.append(trial);
}

std::vector<std::string> FinalArguments(const TrainingInput& input, std::string_view trial,
                                        const tuning::ValueTexts& values,
                                        std::string_view job_dir) {
  std::vector<std::string> arguments = input.args;
  for (const std::string& name : NamesInOrder(input, values)) {
    arguments.push_back("--" + name);
    arguments.push_back(values.at(name));
  }
  const std::string path = JobDirOf(job_dir.empty() ? input.job_dir : job_dir, trial);
  if (!path.empty()) Append(arguments, {"--job-dir", path});
  return arguments;
}

std::vector<std::string> PythonCommand(std::string interpreter, const std::string& module,
                                       const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {std::move(interpreter), "-m", module};
  Append(command, arguments);
  return command;
}

std::string PythonCommandText(std::string_view python_version, const std::string& module,
                              const std::vector<std::string>& arguments) {
  const bool is_python2 = python_version.starts_with("2.");
  return Join(PythonCommand(is_python2 ? "python" : "python3", module, arguments), " ");
}

}  // namespace caip::ml
