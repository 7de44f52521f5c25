
#include "conformance/wire/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/problems.h"
#include "conformance/wire/pause.h"

extern char** environ;

namespace conform {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { [[maybe_unused]] const int made = ::pipe2(ends, O_CLOEXEC); }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  void CloseRead() { Close(0); }
  void CloseWrite() { Close(1); }
  void Close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

// The arguments of execvpe, allocated before the fork.
struct Arguments {
  std::vector<std::string> texts;
  std::vector<char*> words;
  std::vector<char*> variables;

  explicit Arguments(const Program& program) {
    for (const auto& [name, value] : program.environment) texts.push_back(name + "=" + value);
    for (const std::string& text : texts) variables.push_back(const_cast<char*>(text.c_str()));
    variables.push_back(nullptr);
    for (const std::string& word : program.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
  }
};

// Runs in the child after the fork: only async-signal-safe calls.
[[noreturn]] void Become(const Program& program, const Arguments& arguments, int out, int err,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (!program.directory.empty() && ::chdir(program.directory.c_str()) != 0) ::_exit(126);
  ::execvpe(arguments.words[0], arguments.words.data(), arguments.variables.data());
  ::_exit(127);
}

Result<pid_t> Fork(const Program& program, int out, int err) {
  const Arguments arguments(program);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) Become(program, arguments, out, err, parent);
  if (process < 0) return problems::ProgramNotStarted(program.words[0], std::strerror(errno));
  ::setpgid(process, process);
  return process;
}

int ExitCodeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int Milliseconds(Clock::duration left) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
}

// Reads both pipes to their ends. False: the deadline passed.
bool Drain(Pipe& out, Pipe& err, Ended* ended, Clock::time_point deadline) {
  pollfd both[2] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}};
  std::string* texts[2] = {&ended->out, &ended->err};
  int open = 2;
  char buffer[16384];
  while (open > 0) {
    const int left = Milliseconds(deadline - Clock::now());
    if (left <= 0 || ::poll(both, 2, left) == 0) return false;
    for (int i = 0; i < 2; ++i) {
      if (both[i].fd < 0 || both[i].revents == 0) continue;
      const ssize_t got = ::read(both[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<size_t>(got));
      } else {
        both[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

}  // namespace

Result<Ended> RunProgram(const Program& program, std::chrono::milliseconds patience) {
  Pipe out, err;
  const Result<pid_t> process = Fork(program, out.ends[1], err.ends[1]);
  if (!process.ok()) return process.problem();
  out.CloseWrite();
  err.CloseWrite();
  Ended ended;
  ended.late = !Drain(out, err, &ended, Clock::now() + patience);
  if (ended.late) ::kill(-process.value(), SIGKILL);
  int status = 0;
  while (::waitpid(process.value(), &status, 0) < 0 && errno == EINTR) {
  }
  ::kill(-process.value(), SIGKILL);  // remaining processes of its group
  ended.exit_code = ExitCodeOf(status);
  if (ended.exit_code == 127 && ended.out.empty() && ended.err.empty()) {
    return problems::ProgramNotStarted(program.words[0], "not found");
  }
  return ended;
}

Result<Companion> Companion::Start(const Program& program, const std::string& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return problems::FileUnwritable(log);
  const Result<pid_t> process = Fork(program, file, file);
  ::close(file);
  if (!process.ok()) return process.problem();
  return Companion(process.value());
}

bool Companion::alive() const {
  siginfo_t info{};
  return process_ > 0 &&
         ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

Companion::~Companion() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  for (int i = 0; i < 500 && alive(); ++i) Pause(std::chrono::milliseconds(20));
  ::kill(-process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr int kLooks = 3000;

std::string TextOfEmbedded(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Reads "... serves AI Platform Training at http://127.0.0.1:1234\n".
std::string UrlIn(const std::string& text) {
  const std::string mark = " at http://";
  const size_t at = text.find(mark);
  const size_t end = at == std::string::npos ? at : text.find('\n', at);
  return end == std::string::npos ? "" : text.substr(at + 4, end - at - 4);
}

}  // namespace

Result<Embedded> StartEmbedded(const std::string& caip, const std::string& scratch,
                               const Json& config) {
  std::filesystem::create_directories(scratch);
  std::ofstream(scratch + "/emulator.yaml") << config.dump(1);  // JSON is valid YAML
  const std::string log = scratch + "/emulator.log";
  Program program{{caip, "serve", "--port", "0", "--state", scratch + "/state", "--emulator-config",
                   scratch + "/emulator.yaml", "--access-log", "off"},
                  OwnEnvironment(),
                  ""};
  Result<Companion> started = Companion::Start(program, log);
  if (!started.ok()) return started.problem();
  Embedded embedded{"", std::make_unique<Companion>(std::move(started).value())};
  for (int i = 0; i < kLooks && embedded.url.empty(); ++i) {
    if (!embedded.server->alive()) break;
    Pause(kLook);
    embedded.url = UrlIn(TextOfEmbedded(log));
  }
  if (embedded.url.empty()) return problems::EmulatorNotStarted(caip, TextOfEmbedded(log));
  return embedded;
}

}  // namespace conform
