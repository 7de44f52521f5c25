#include "emulator/app/attach/owner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "base/files.h"
#include "host/process/launcher_lock.h"
#include "host/store/state_directory.h"

namespace caip::app {
namespace {

// A port on which a test waits for a request and closes the connection without an answer.
class MutePort {
 public:
  MutePort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* plain = reinterpret_cast<struct sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), plain, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 4), 0);
    EXPECT_EQ(::getsockname(socket_.get(), plain, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& url() const { return url_; }
  // Returns when a client has connected. Later clients are refused.
  void HangUpOnce() {
    const Fd client(::accept(socket_.get(), nullptr, nullptr));
    EXPECT_TRUE(client.valid());
    socket_.Close();
  }

 private:
  Fd socket_;
  std::string url_;
};

// A process that owns the state directory until the pipe `ends` closes.
pid_t ForkOwner(const Path& state, const std::string& url, int owns, int ends) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::dup2(owns, 10);  // and no other descriptor of the test, which waits for the end of some
  ::dup2(ends, 11);
  ::close_range(3, 9, 0);
  ::close_range(12, ~0U, 0);
  auto owned = host::StateDirectory::Own(state, "1", Instant{});
  if (!owned.ok() || !owned->Publish(url).ok()) ::_exit(1);
  char byte = 'x';
  if (::write(10, &byte, 1) != 1) ::_exit(1);
  while (::read(11, &byte, 1) > 0) {
  }
  ::_exit(0);
}

TEST(StopOwner, WaitsForAnOwnerThatIsEndingAndNoLongerAnswers) {
  const TemporaryDirectory directory;
  MutePort port;
  int owns[2];
  int ends[2];
  ASSERT_EQ(::pipe2(owns, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd owns_read(owns[0]);
  const Fd owns_write(owns[1]);
  const Fd ends_read(ends[0]);
  Fd ends_write(ends[1]);
  const pid_t owner = ForkOwner(directory.path() / "state", port.url(), owns[1], ends[0]);
  char byte = 0;
  ASSERT_EQ(::read(owns[0], &byte, 1), 1);
  std::thread ending([&] {
    port.HangUpOnce();
    ends_write.Close();
    EXPECT_EQ(::waitpid(owner, nullptr, 0), owner);
  });
  const auto stopped = StopOwner(directory.path() / "state");
  ending.join();
  ASSERT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_TRUE(*stopped);
}

TEST(StopOwner, EndsAnOwnerThatDoesNotServeYet) {
  const TemporaryDirectory directory;
  int owns[2];
  int ends[2];
  ASSERT_EQ(::pipe2(owns, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd owns_read(owns[0]);
  const Fd owns_write(owns[1]);
  const Fd ends_read(ends[0]);
  const Fd ends_write(ends[1]);
  const pid_t owner = ForkOwner(directory.path() / "state", "", owns[1], ends[0]);
  char byte = 0;
  ASSERT_EQ(::read(owns[0], &byte, 1), 1);
  const auto stopped = StopOwner(directory.path() / "state");
  ASSERT_TRUE(stopped.ok()) << stopped.error().message;
  EXPECT_TRUE(*stopped);
  int status = 0;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

// Its process ID is that of this test, as it may be for an owner in a container.
TEST(StopOwner, SendsNoSignalToAProcessThatIsNotTheOwner) {
  const TemporaryDirectory directory;
  const Path file = directory.path() / "owner.lock";
  const std::string pid = std::to_string(::getpid());
  ASSERT_TRUE(WriteFile(file, R"({"pid":)" + pid + R"(,"start_ticks":1,"url":""})").ok());
  const Fd held(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(held.get(), F_OFD_SETLK, &lock), 0) << errno;
  const auto stopped = StopOwner(directory.path());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message,
            "Process " + pid +
                " owns the state directory and does not serve yet. This command cannot signal it: "
                "it may run in a container. Try again when it serves, or end it in the container.");
}

// A program that never serves. It ignores SIGTERM if this process does.
ServerStart StartThatHangs(const Path& directory, std::chrono::milliseconds end_patience) {
  const Path program = directory / "hangs";
  EXPECT_TRUE(WriteFile(program, "#!/bin/sh\nexec sleep 1000\n").ok());
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return {program, std::chrono::milliseconds(1), end_patience};
}

TEST(StartInBackground, EndsAServerThatDoesNotServeInTime) {
  const TemporaryDirectory directory;
  const ServerStart start = StartThatHangs(directory.path(), std::chrono::seconds(30));
  const auto url = StartInBackground({}, directory.path() / "state", start);
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().message,
            "The background server did not serve within 0.001s, so it was ended. Try again, or run "
            "`caip serve`, which has no such limit. (The log of the server is " +
                (directory.path() / "state" / "server.log").string() + ")");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it may serve later";
}

TEST(StartInBackground, KillsAServerThatSigtermDoesNotEnd) {
  const TemporaryDirectory directory;
  const ServerStart start = StartThatHangs(directory.path(), std::chrono::milliseconds(1));
  const auto before = ::signal(SIGTERM, SIG_IGN);
  const auto url = StartInBackground({}, directory.path() / "state", start);
  ::signal(SIGTERM, before);
  EXPECT_FALSE(url.ok());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it lives";
}

TEST(StartInBackground, WaitsLongerThanTheServerForReplicasOfAnEarlierOne) {
  EXPECT_GE(ServerStart().patience, host::kLauncherPatience + std::chrono::seconds(10));
}

TEST(StopOwner, IsFalseWithoutAnOwner) {
  const TemporaryDirectory directory;
  const auto stopped = StopOwner(directory.path() / "state");
  ASSERT_TRUE(stopped.ok());
  EXPECT_FALSE(*stopped);
}

}  // namespace
}  // namespace caip::app
