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
#include <boost/process/v2/start_dir.hpp>
#include <boost/process/v2/stdio.hpp>

#include "base/files.h"
#include "base/text.h"
#include "host/errors.h"
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

// The preparation of the new process before it executes the tool.
struct OwnGroup {
  const char* const* environment;

  error_code on_setup(process::posix::default_launcher& launcher, const process::filesystem::path&,
                      const char* const*&) {
    launcher.env = environment;
    return {};
  }
  error_code on_exec_setup(process::posix::default_launcher&, const process::filesystem::path&,
                           const char* const*) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no tool may outlive this process
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // Boost's own code leaves some open. They close on exec, because Boost needs one to report an
    // error.
    ::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
    return {};
  }
  // Boost would call exit(), which would run destructors in the copy of this process.
  void on_exec_error(process::posix::default_launcher&, const process::filesystem::path&,
                     const char* const*, const error_code&) {
    ::_exit(127);
  }
  // Boost 1.81 calls the function above only if this one exists, too.
  void on_exec_error(process::posix::default_launcher&, const error_code&,
                     const process::filesystem::path&, const char* const*, const error_code&) {
    ::_exit(127);
  }
};

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
    if (::pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot make a pipe", errno);
    error_code ignored;
    pipe_.assign(ends[0], ignored);
    return Fd(ends[1]);
  }

  void Listen() {
    pipe_.async_read_some(asio::buffer(buffer_), [this](error_code error, size_t count) {
      if (count > 0) Take({buffer_.data(), count});
      if (!error) Listen();
    });
  }

  /// Reads the rest of the pipe. The tool's processes are dead.
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
    std::vector<const char*> argv = Pointers(tool_.argv);
    const std::string executable = Executable(tool_);
    process::posix::default_launcher launcher;
    error_code error;
    process::process child =
        launcher(context_.get_executor(), error, process::filesystem::path(executable), argv.data(),
                 process::process_stdio{nullptr, out.get(), err.get()},
                 process::process_start_dir(tool_.directory.empty() ? "." : tool_.directory),
                 OwnGroup{environment.data()});
    if (error) {
      if (launcher.pid > 0) ::waitpid(launcher.pid, nullptr, 0);
      const std::string where = tool_.directory.empty() ? "" : " in '" + tool_.directory + "'";
      return SystemError("cannot run '" + tool_.argv.front() + "'" + where, error.value());
    }
    return child;
  }

  void Stop(bool& why) {
    if (ended_ || result_.timed_out || result_.stopped) return;
    why = true;
    ::kill(-pid_, SIGTERM);
    timer_.expires_after(tool_.grace);
    timer_.async_wait([this](error_code error) {
      if (!error && !ended_) ::kill(-pid_, SIGKILL);
    });
  }

  ToolResult End(int status) {
    ::kill(-pid_, SIGKILL);  // remaining processes of its group
    out_.Drain();
    err_.Drain();
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
