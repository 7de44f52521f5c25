#include "run/program.h"

namespace caip::run {
namespace {

void AppendWords(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

struct CommandHead {
  const std::string& interpreter;

  std::vector<std::string> operator()(const LocalCommand& program) const { return program.words; }
  std::vector<std::string> operator()(const PythonModule& program) const {
    return {interpreter, "-m", program.module};
  }
  // By Docker's and Kubernetes' table: what the API adds comes after the job's own arguments.
  std::vector<std::string> operator()(const ContainerImage& image) const {
    std::vector<std::string> words = image.command.empty() ? image.entrypoint : image.command;
    if (words.empty()) return {};
    AppendWords(words, image.args);
    return words;
  }
};

}  // namespace

std::vector<std::string> CommandLine(const Program& program, const std::string& interpreter,
                                     const std::vector<std::string>& arguments) {
  std::vector<std::string> words = std::visit(CommandHead{interpreter}, program);
  if (!words.empty()) AppendWords(words, arguments);
  return words;
}

}  // namespace caip::run
