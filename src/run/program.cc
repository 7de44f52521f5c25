#include "run/program.h"

namespace caip::run {
namespace {

void AppendWords(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

struct CommandWords {
  const std::string& interpreter;
  const std::vector<std::string>& arguments;

  std::vector<std::string> operator()(const LocalCommand& program) const {
    std::vector<std::string> words = program.words;
    if (!words.empty()) AppendWords(words, arguments);
    return words;
  }
  std::vector<std::string> operator()(const PythonModule& program) const {
    std::vector<std::string> words = {interpreter, "-m", program.module};
    AppendWords(words, arguments);
    return words;
  }
  // By Docker's and Kubernetes' table: what the API adds comes after the job's own arguments. The
  // image's own arguments count only if the job has neither a command nor arguments.
  std::vector<std::string> operator()(const ContainerImage& image) const {
    if (image.command.empty() && image.entrypoint.empty() && image.default_args.empty()) return {};
    std::vector<std::string> words = image.command.empty() ? image.entrypoint : image.command;
    AppendWords(words, image.args);
    const bool is_bare = image.command.empty() && image.args.empty() && arguments.empty();
    if (is_bare) AppendWords(words, image.default_args);
    AppendWords(words, arguments);
    return words;
  }
};

}  // namespace

std::vector<std::string> CommandLine(const Program& program, const std::string& interpreter,
                                     const std::vector<std::string>& arguments) {
  return std::visit(CommandWords{interpreter, arguments}, program);
}

}  // namespace caip::run
