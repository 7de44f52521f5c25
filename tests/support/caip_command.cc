#include "tests/support/caip_command.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "base/text.h"
#include "host/process/child_process.h"
#include "places.h"

namespace caip::testing {
namespace {

namespace fs = std::filesystem;

std::string Slurp(const Path& path) {
  // A process may end between the opening and the reading; a stream would throw then.
  auto text = ReadFile(path);
  return text.ok() ? std::move(*text) : "";
}

bool IsZombie(const Path& process) {
  const std::string stat = Slurp(process / "stat");
  const size_t end = stat.rfind(')');
  return end == std::string::npos || end + 2 >= stat.size() || stat[end + 2] == 'Z';
}

using Variables = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void Execute(const std::vector<std::string>& words, const Variables& variables) {
  std::vector<std::string> pairs;
  for (const auto& [name, value] : variables) pairs.push_back(name + "=" + value);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (std::string& pair : pairs) environment.push_back(pair.data());
  environment.push_back(nullptr);
  ::execve(argv[0], argv.data(), environment.data());
  ::_exit(127);
}

}  // namespace

CaipCommand::CaipCommand() : directory_("caip-e2e-"), state_(directory_.path() / "state") {
  environment_ = host::OwnEnvironment();
  std::erase_if(environment_, [](const auto& variable) {
    return variable.first.starts_with("CAIP_") || variable.first.starts_with("CLOUDSDK_");
  });
  Set("HOME", directory_.path().string());
  Set("TZ", "UTC");
}

CaipCommand::~CaipCommand() { Run({"stop"}); }

void CaipCommand::Set(const std::string& name, const std::string& value) {
  std::erase_if(environment_, [&](const auto& variable) { return variable.first == name; });
  environment_.emplace_back(name, value);
}

std::vector<std::string> CaipCommand::Argv(std::vector<std::string> words) const {
  std::vector<std::string> argv = {std::string(CAIP_BINARY_DIR) + "/caip"};
  // Our own flags go before the first `--`, where the user's arguments begin.
  const auto dashes = std::find(words.begin(), words.end(), "--");
  argv.insert(argv.end(), words.begin(), dashes);
  const bool bare = words.empty() || words[0] == "version" || words[0] == "local" ||
                    words[0] == "completion" || words[0] == "help";
  if (!bare) argv.insert(argv.end(), {"--state", state_.string()});
  if (!bare && words[0] != "serve" && words[0] != "stop") {
    argv.insert(argv.end(), {"--project", "demo"});
  }
  argv.insert(argv.end(), dashes, words.end());
  return argv;
}

Transcript CaipCommand::Run(std::vector<std::string> words) const {
  auto output = host::CaptureTool({.argv = Argv(std::move(words)),
                                   .environment = environment_,
                                   .directory = directory_.path().string(),
                                   .timeout = std::chrono::minutes(4)});
  if (!output.ok()) return {-1, "", output.error().message};
  return {output->result.ShellStatus(), std::move(output->out), std::move(output->err)};
}

std::string CaipCommand::RunOnTerminal(std::vector<std::string> words) const {
  const std::vector<std::string> argv = Argv(std::move(words));
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) Execute(argv, environment_);
  std::string received;
  struct pollfd news {
    terminal, POLLIN, 0
  };
  char piece[4096];
  int status = 0;
  while (true) {
    // Other processes may keep the terminal open after the command's end.
    const bool ended = ::waitpid(pid, &status, WNOHANG) == pid;
    while (::poll(&news, 1, ended ? 0 : 50) > 0) {
      const ssize_t count = ::read(terminal, piece, sizeof piece);
      if (count <= 0) break;  // EIO: no process has the terminal open
      received.append(piece, static_cast<size_t>(count));
    }
    if (ended) break;
  }
  ::close(terminal);
  return ReplaceAll(received, "\r\n", "\n");
}

RunningCommand CaipCommand::Start(std::vector<std::string> words) const {
  static int started = 0;
  const Path base = directory_.path() / ("run-" + std::to_string(++started));
  const Path out = base.string() + ".out";
  const Path err = base.string() + ".err";
  const std::vector<std::string> argv = Argv(std::move(words));
  const pid_t pid = ::fork();
  if (pid != 0) return {pid, out, err};
  ::setpgid(0, 0);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);  // may be ignored
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 1);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), 2);
  Execute(argv, environment_);
}

RunningCommand::~RunningCommand() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void RunningCommand::Signal(int signal) const { ::kill(pid_, signal); }
std::string RunningCommand::out() const { return Slurp(out_); }
std::string RunningCommand::err() const { return Slurp(err_); }

Transcript RunningCommand::End() {
  int status = 0;
  if (!Eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, 120)) {
    return {-1, out(), err() + "(it did not end)"};
  }
  pid_ = 0;
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), out(), err()};
}

Json CaipCommand::Describe(const std::string& job) const {
  auto parsed = ParseJson(Run({"jobs", "describe", job, "--format", "json"}).out);
  return parsed.ok() ? *parsed : Json();
}

std::string CaipCommand::StateOf(const std::string& job) const {
  return StringOr(Describe(job), "state");
}

std::string CaipCommand::LogOf(const std::string& job) const {
  return Run({"jobs", "stream-logs", job}).out;
}

Path CaipCommand::BucketFile(const std::string& bucket, const std::string& object) const {
  return state_ / "buckets" / bucket / object;
}

Path WritePackage(const Path& parent, const std::string& task_source) {
  fs::create_directories(parent / "trainer");
  std::ofstream(parent / "trainer/__init__.py") << "";
  std::ofstream(parent / "trainer/task.py") << task_source;
  return parent / "trainer";
}

std::vector<int> ProcessesMentioning(const std::string& text) {
  std::vector<int> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::stoi(name) == ::getpid() || IsZombie(entry.path())) continue;
    if (Slurp(entry.path() / "environ").find(text) != std::string::npos ||
        Slurp(entry.path() / "cmdline").find(text) != std::string::npos) {
      ids.push_back(std::stoi(name));
    }
  }
  return ids;
}

bool Eventually(const std::function<bool()>& condition, int seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

}  // namespace caip::testing
