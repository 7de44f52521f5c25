#include "host/process/child_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/process/v2/process.hpp>

#include "base/descriptor_limit.h"
#include "base/files.h"
#include "base/text.h"
#include "host/errors.h"
#include "host/launcher/protocol.h"
#include "host/process/helper_files.h"
#include "host/process/line_splitter.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace caip::host {
namespace {

namespace asio = boost::asio;
namespace process = boost::process::v2;
using boost::system::error_code;

constexpr size_t kToolLineBytesMax = 1u << 20;
constexpr size_t kCaptureBytesMax = 64u << 20;

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

/// A tool about to be started.
struct Birth {
  const char* executable;
  const char* const* argv;
  const char* const* environment;
  const char* directory;
  int out, err;
  int failure;  // gets the errno of a failed start; closes at exec
  int lives;    // for the guard of the tool; -1: it has none
};

// Ends the new process, which could not become the tool. errno has the reason.
[[noreturn]] void EndBirth(int failure) {
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

// Gives the descriptors to the guard, which knows them by their numbers. Returns that of `failure`.
int HandToGuard(const Birth& birth) {
  const int lives = ::fcntl(birth.lives, F_DUPFD_CLOEXEC, launcher::kToolFailure + 1);
  if (lives < 0) EndBirth(birth.failure);
  const int failure = ::fcntl(birth.failure, F_DUPFD_CLOEXEC, launcher::kToolFailure + 1);
  if (failure < 0) EndBirth(birth.failure);
  ::dup2(lives, launcher::kToolLives);
  ::dup2(failure, launcher::kToolFailure);
  return failure;
}

// Runs in the new process, in the parent's memory, so it makes only system calls.
[[noreturn]] void BecomeTool(const Birth& birth) {
  ::setpgid(0, 0);
  const bool is_guarded = birth.lives >= 0;
  // No tool may outlive this process. A guard must, until it has killed the tool.
  if (!is_guarded) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0) EndBirth(birth.failure);
  ::dup2(null, STDIN_FILENO);
  ::dup2(birth.out, STDOUT_FILENO);
  ::dup2(birth.err, STDERR_FILENO);
  const int failure = is_guarded ? HandToGuard(birth) : birth.failure;
  const auto first = static_cast<unsigned>(is_guarded ? launcher::kToolFailure + 1 : 3);
  ::syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_CLOEXEC);
  if (::chdir(birth.directory) == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    RestoreDescriptorLimit(0);  // last: caip may have all descriptors below this limit in use
    ::execve(birth.executable, const_cast<char* const*>(birth.argv),
             const_cast<char* const*>(birth.environment));
  }
  EndBirth(failure);
}

// The new process, or -1. Boost's launchers do not fit: they run asio's fork handlers in the new
// process, hold descriptors that a process started at the same moment inherits, and call exit()
// after a failed exec.
pid_t ForkTool(const Birth& birth) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // our handlers must not run in the new process
  const pid_t pid = ::vfork();                    // NOLINT: the child makes only system calls
  if (pid == 0) BecomeTool(birth);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// Starts the tool. The error is the errno of fork, chdir or exec.
Result<pid_t> StartTool(Birth birth, const std::string& name) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  birth.failure = writing.get();
  const pid_t pid = ForkTool(birth);
  if (pid < 0) return CannotRun(name, errno);
  writing.Close();
  int error = 0;
  ssize_t count;
  do count = ::read(reading.get(), &error, sizeof error);
  while (count < 0 && errno == EINTR);
  if (count <= 0) return pid;
  ::waitpid(pid, nullptr, 0);
  return CannotRun(name, error);
}

// The file for argv[0], by the rules of execvp and the tool's own PATH.
std::string Executable(const Tool& tool) {
  const std::string& name = tool.argv.front();
  const std::string path = FindVariable(tool.environment, "PATH").value_or("");
  const std::string found = FindProgram(name, path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path);
  return found.empty() ? name : found;  // execve reports that `name` does not exist
}

/// One of the tool's two streams.
class Stream {
 public:
  Stream(asio::io_context& context, ToolStream which, const Tool& tool)
      : pipe_(context), which_(which), tool_(tool), lines_(kToolLineBytesMax) {}

  /// Creates the pipe and returns the tool's end.
  Result<Fd> Open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
    error_code ignored;
    pipe_.assign(ends[0], ignored);
    return Fd(ends[1]);
  }

  void Listen() {
    pipe_.async_read_some(asio::buffer(buffer_), [this](error_code error, size_t count) {
      if (count > 0) Take({buffer_.data(), count});
      if (!error && listens_) Listen();
    });
  }

  /// The next poll of the context hands out what was read already, and nothing reads on.
  void EndListening() {
    listens_ = false;
    error_code ignored;
    pipe_.cancel(ignored);
  }

  /// Reads the rest of the pipe. The tool's processes are dead, and nothing listens.
  void Drain() {
    error_code error;
    pipe_.non_blocking(true, error);
    while (!error) {
      const size_t count = pipe_.read_some(asio::buffer(buffer_), error);
      if (count > 0) Take({buffer_.data(), count});
    }
    lines_.Finish([this](std::string_view line) { Say(line); });
  }

 private:
  void Take(std::string_view bytes) {
    lines_.Feed(bytes, [this](std::string_view line) { Say(line); });
  }
  void Say(std::string_view line) {
    if (tool_.on_line) tool_.on_line(which_, line);
  }

  asio::posix::stream_descriptor pipe_;
  ToolStream which_;
  const Tool& tool_;
  LineSplitter lines_;
  bool listens_ = true;
  std::vector<char> buffer_ = std::vector<char>(64u << 10);
};

/// One run, on the calling thread.
class Run {
 public:
  explicit Run(const Tool& tool)
      : tool_(tool),
        out_(context_, ToolStream::kOut, tool),
        err_(context_, ToolStream::kErr, tool),
        timer_(context_) {}

  Result<ToolResult> ToItsEnd() {
    ASSIGN_OR_RETURN(process::process child, Start());
    pid_ = child.id();
    out_.Listen();
    err_.Listen();
    if (tool_.timeout) {
      timer_.expires_after(*tool_.timeout);
      timer_.async_wait([this](error_code error) {
        if (!error) Stop(result_.timed_out);
      });
    }
    const std::stop_callback on_stop(
        tool_.stop, [this] { asio::post(context_, [this] { Stop(result_.stopped); }); });
    child.async_wait([this](error_code, int) { ended_ = true; });
    while (!ended_) context_.run_one();
    return End(child.native_exit_code());
  }

 private:
  Result<process::process> Start() {
    ASSIGN_OR_RETURN(Fd out, out_.Open());
    ASSIGN_OR_RETURN(Fd err, err_.Open());
    std::vector<std::string> variables;
    for (const auto& [name, value] : tool_.environment) variables.push_back(name + "=" + value);
    const std::vector<const char*> environment = Pointers(variables);
    std::vector<std::string> words = tool_.argv;
    std::string executable = Executable(tool_);
    Fd lives;
    const std::string guard = tool_.is_guarded ? HelperFile("caip-launcher").string() : "";
    if (IsProgram(guard)) {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) return CannotMakePipe(errno);
      lives = Fd(ends[0]);
      guarded_ = Fd(ends[1]);
      words.insert(words.begin(), {guard, launcher::kToolWord, executable});
      executable = guard;
    }
    const std::vector<const char*> argv = Pointers(words);
    const std::string directory = tool_.directory.empty() ? "." : tool_.directory;
    const Birth birth{
        executable.c_str(), argv.data(), environment.data(), directory.c_str(), out.get(),
        err.get(),          -1,          lives.get()};
    const std::string where = tool_.directory.empty() ? "" : "' in '" + tool_.directory;
    ASSIGN_OR_RETURN(const pid_t pid, StartTool(birth, tool_.argv.front() + where));
    return process::process(context_.get_executor(), pid);
  }

  void Stop(bool& why) {
    if (ended_ || result_.timed_out || result_.stopped) return;
    why = true;
    ::kill(-pid_, SIGTERM);
    timer_.expires_after(tool_.grace);
    timer_.async_wait([this](error_code error) {
      if (!error && !ended_) Kill();
    });
  }

  void Kill() {
    if (!guarded_.valid()) ::kill(-pid_, SIGKILL);
    guarded_.Close();
  }

  ToolResult End(int status) {
    Kill();  // remaining processes of its group
    // Asio reads ahead: a read may be complete, with its handler still in the queue.
    for (Stream* stream : {&out_, &err_}) stream->EndListening();
    context_.poll();
    for (Stream* stream : {&out_, &err_}) stream->Drain();
    if (WIFSIGNALED(status)) {
      result_.signal = WTERMSIG(status);
    } else {
      result_.exit_code = WEXITSTATUS(status);
    }
    return result_;
  }

  const Tool& tool_;
  asio::io_context context_;
  Stream out_;
  Stream err_;
  asio::steady_timer timer_;
  ToolResult result_;
  pid_t pid_ = -1;
  Fd guarded_;  // its guard kills the tool when this closes
  bool ended_ = false;
};

}  // namespace

Result<ToolResult> RunTool(const Tool& tool) {
  if (tool.argv.empty() || tool.argv.front().empty()) {
    return errors::ToolWithoutCommand();
  }
  try {
    return Run(tool).ToItsEnd();
  } catch (const std::exception& exception) {  // Boost's, out of memory or descriptors
    return errors::ToolNotRun(tool.argv.front(), exception.what());
  }
}

Result<ToolOutput> CaptureTool(Tool tool) {
  ToolOutput output;
  tool.on_line = [&output](ToolStream stream, std::string_view line) {
    std::string& text = stream == ToolStream::kOut ? output.out : output.err;
    if (text.size() + line.size() + 1 > kCaptureBytesMax) return;
    text.append(line).push_back('\n');
  };
  ASSIGN_OR_RETURN(output.result, RunTool(tool));
  return output;
}

std::optional<std::string> FindVariable(const Variables& variables, std::string_view name) {
  for (const auto& [variable, value] : variables) {
    if (variable == name) return value;
  }
  return std::nullopt;
}

Variables OwnEnvironment() {
  Variables environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

bool IsProgram(const std::string& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(file.c_str(), X_OK) == 0;
}

std::string FindProgram(const std::string& name, std::string_view path) {
  if (name.find('/') != std::string::npos) return IsProgram(name) ? name : "";
  for (const std::string& directory : Split(path, ':')) {
    const std::string file = directory + "/" + name;
    if (!directory.empty() && IsProgram(file)) return file;
  }
  return "";
}

}  // namespace caip::host
