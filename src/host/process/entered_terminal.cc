#include "host/process/entered_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace caip::host {
namespace {

constexpr size_t kPieceBytes = 16u << 10;

/// Lets the person's terminal pass all keys on, as long as it exists.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    is_set_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (is_set_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }

 private:
  termios before_{};
  bool is_set_ = false;
};

void CopyWindowSize(int terminal) {
  winsize size{};
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(terminal, TIOCSWINSZ, &size);
}

// False once the program has ended.
bool PassSignals(const TakenSignals& signals, pid_t program, int terminal, int& status) {
  while (const int number = signals.Next()) {
    if (number == SIGCHLD) {
      if (::waitpid(program, &status, WNOHANG) == program) return false;
    } else if (number == SIGWINCH) {
      if (terminal >= 0) CopyWindowSize(terminal);
    } else {
      ::kill(-program, number);
    }
  }
  return true;
}

// False if the terminal has no more bytes now, or will never have.
bool PassOutput(int terminal) {
  char piece[kPieceBytes];
  const ssize_t count = ::read(terminal, piece, sizeof piece);
  return count > 0 && WriteAll(STDOUT_FILENO, {piece, static_cast<size_t>(count)});
}

/// Keys that the program has not taken yet.
class Keys {
 public:
  bool empty() const { return pending_.empty(); }
  bool ended() const { return ended_; }
  void Read() {
    char piece[kPieceBytes];
    const ssize_t count = ::read(STDIN_FILENO, piece, sizeof piece);
    if (count > 0) pending_.assign(piece, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) ended_ = true;
  }
  void PassTo(int terminal) {
    const ssize_t count = ::write(terminal, pending_.data(), pending_.size());
    if (count > 0) pending_.erase(0, static_cast<size_t>(count));
  }

 private:
  std::string pending_;
  bool ended_ = false;
};

}  // namespace

TakenSignals::TakenSignals() {
  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCHLD}) {
    ::sigaddset(&taken, number);
  }
  ::sigprocmask(SIG_BLOCK, &taken, &before_);
  descriptor_ = Fd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

TakenSignals::~TakenSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int TakenSignals::Next() const {
  signalfd_siginfo info{};
  const bool read = ::read(descriptor(), &info, sizeof info) == sizeof info;
  return read ? static_cast<int>(info.ssi_signo) : 0;
}

bool IsAtTerminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

namespace {

/// True if the program has closed its terminal and lives; else `status` is that of its end.
bool ServeUntilClosed(const TakenSignals& signals, const Fd& terminal, pid_t program, int& status) {
  const RawTerminal raw;
  const int fd = terminal.get();
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  CopyWindowSize(fd);
  Keys keys;
  bool lives = ::waitpid(program, &status, WNOHANG) == 0;
  while (lives) {
    const short wanted = keys.empty() ? POLLIN : POLLIN | POLLOUT;
    const bool reads = keys.empty() && !keys.ended();
    pollfd fds[] = {
        {signals.descriptor(), POLLIN, 0}, {fd, wanted, 0}, {reads ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(fds, 3, -1) < 0) continue;
    if (fds[1].revents & POLLIN) PassOutput(fd);
    if (fds[1].revents & POLLOUT) keys.PassTo(fd);
    if (fds[2].revents) keys.Read();
    lives = PassSignals(signals, program, fd, status);
    // without a program at its other end, the terminal would be ready all the time
    if (lives && (fds[1].revents & (POLLIN | POLLHUP)) == POLLHUP) return true;
  }
  while (PassOutput(fd)) continue;
  return false;
}

}  // namespace

int ServeTerminal(const TakenSignals& signals, const Fd& terminal, pid_t program) {
  int status = 0;
  const bool is_closed = ServeUntilClosed(signals, terminal, program, status);
  return is_closed ? AwaitProgram(signals, program) : status;  // the user's terminal is as before
}

int AwaitProgram(const TakenSignals& signals, pid_t program) {
  int status = 0;
  bool lives = ::waitpid(program, &status, WNOHANG) == 0;
  while (lives) {
    pollfd asked{signals.descriptor(), POLLIN, 0};
    if (::poll(&asked, 1, -1) < 0) continue;
    lives = PassSignals(signals, program, -1, status);
  }
  return status;
}

}  // namespace caip::host
