#include "host/process/launcher_link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor_limit.h"
#include "host/errors.h"
#include "host/launcher/descriptor_message.h"
#include "host/launcher/protocol.h"
#include "host/process/helper_files.h"

namespace caip::host {
namespace {

using launcher::Command;
using launcher::Report;

// Starts the program with `socket` and `lock` as descriptors 3 and 4 in a session of its own, so
// that Ctrl-C reaches only caip, which then decides about the replicas.
Result<pid_t> Spawn(const Path& program, int socket, int lock) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, launcher::kSocket);
  if (lock >= 0) posix_spawn_file_actions_adddup2(&actions, lock, launcher::kLock);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  sigset_t ignored;  // by caip alone
  ::sigemptyset(&ignored);
  ::sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  std::string name = program.string();
  char* const argv[] = {name.data(), nullptr};
  char* const environment[] = {nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, argv, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return CannotStart(program, error);
  RestoreDescriptorLimit(pid);  // the launcher starts nothing yet
  return pid;
}

// The bytes of plain structs.
template <typename Part>
std::string BytesOfParts(const std::vector<Part>& parts) {
  return {reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(Part)};
}

// Makes a memory file with the bytes.
Result<Fd> MemoryFile(const std::string& bytes) {
  Fd file(::memfd_create("caip-recipe", MFD_CLOEXEC));
  if (!file.valid()) return errors::CannotMakeMemoryFile(errno);
  if (!WriteAll(file.get(), bytes)) return errors::CannotWriteMemoryFile(errno);
  return file;
}

// Receives a report, and the descriptor that came with it, if any.
ssize_t ReceiveReport(int socket, Report& report, Fd& listener) {
  int fds[1];
  const ssize_t size = launcher::ReceiveWithDescriptors(socket, &report, sizeof report, fds);
  if (fds[0] >= 0) listener = Fd(fds[0]);
  return size;
}

Status SendWith(int socket, const Command& command, const int (&fds)[3]) {
  ssize_t sent;
  do {
    sent = launcher::SendWithDescriptors(socket, &command, sizeof command, fds);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return errors::CannotReachLauncher(errno);
  return Ok{};
}

// Neither 3 nor 4: dup2 onto itself would keep it close-on-exec, and another one would replace it.
Fd BesideFixedOnes(Fd fd) {
  const bool is_fixed = fd.get() == launcher::kSocket || fd.get() == launcher::kLock;
  return is_fixed ? Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, launcher::kLock + 1)) : std::move(fd);
}

}  // namespace

Path OwnLauncher() { return HelperFile("caip-launcher"); }

Result<std::unique_ptr<LauncherLink>> LauncherLink::Start(const Path& program, Listener listener,
                                                          int lock) {
  if (::access("/proc/self/exe", F_OK) != 0) return errors::NoProcessFiles();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return errors::CannotMakeSocketFor(program.string(), errno);
  }
  Fd ours(ends[0]);
  const Fd theirs = BesideFixedOnes(Fd(ends[1]));
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(program, theirs.get(), lock));
  return std::unique_ptr<LauncherLink>(new LauncherLink(std::move(ours), pid, std::move(listener)));
}

LauncherLink::LauncherLink(Fd socket, pid_t pid, Listener listener)
    : socket_(std::move(socket)), pid_(pid), listener_(std::move(listener)) {
  thread_ = std::thread([this] { Listen(); });
}

LauncherLink::~LauncherLink() {
  is_closing_ = IsAlive();  // else the thread may not have reported the launcher's death yet
  ::shutdown(socket_.get(), SHUT_RDWR);  // the launcher and its inits end at the hang-up
  thread_.join();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool LauncherLink::IsAlive() const {
  pollfd end{socket_.get(), 0, 0};  // the thread may not have seen yet that the launcher has died
  return is_alive_ && ::poll(&end, 1, 0) == 0;
}

void LauncherLink::Listen() {
  Report report;
  for (;;) {
    Fd listener;
    const ssize_t size = ReceiveReport(socket_.get(), report, listener);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof report || is_closing_) break;
    Dispatch(report, std::move(listener));
  }
  // Every init has the launcher's end of the socket, too, or the lock keeper has it for the init,
  // so it closes when the last of them has ended.
  is_alive_ = false;
  if (!is_closing_) listener_.gone();
}

void LauncherLink::Dispatch(const Report& report, Fd descriptor) {
  switch (report.kind) {
    case Report::kWatched:
      if (!descriptor.valid()) return Lose(report.replica);
      return listener_.watched(report.replica, std::move(descriptor), report.init);
    case Report::kEndpointOpened:
      if (!descriptor.valid()) NoteDescriptorShortage();
      if (listener_.endpoint)
        listener_.endpoint(report.replica, report.endpoint, std::move(descriptor));
      return;
    case Report::kNetworkOpened:
    case Report::kNetworkFailed:
      if (listener_.network) listener_.network(report);
      return;
    case Report::kFaultsSet:
    case Report::kRelayLost:
      if (listener_.faults) listener_.faults(report);
      return;
    case Report::kNatLost:
      if (listener_.nat) listener_.nat(report);
      return;
    default:
      return listener_.report(report);
  }
}

Status LauncherLink::Launch(const Replica& replica) {
  ASSIGN_OR_RETURN(const Fd recipe, MemoryFile(launcher::EncodeRecipe(
                                        replica.directory, replica.machine, replica.argv,
                                        replica.environment, replica.removal)));
  Command command;
  command.kind = Command::kLaunch;
  command.replica = replica.number;
  command.watch = replica.watch;
  command.network = replica.network;
  command.address = replica.address;
  command.is_new = replica.is_new;
  command.has_removal = !replica.removal.argv.empty();
  return SendWith(socket_.get(), command, {recipe.get(), replica.out, replica.err});
}

Status LauncherLink::OpenNetwork(uint64_t number,
                                 const std::vector<launcher::Endpoint>& endpoints) {
  ASSIGN_OR_RETURN(const Fd file, MemoryFile(BytesOfParts(endpoints)));
  Command command;
  command.kind = Command::kOpenNetwork;
  command.network = number;
  return SendWith(socket_.get(), command, {file.get(), -1, -1});
}

Status LauncherLink::LinkMachine(uint64_t network, uint32_t address, bool is_new) {
  Command command;
  command.kind = Command::kLink;
  command.network = network;
  command.address = address;
  command.is_new = is_new;
  return SendWith(socket_.get(), command, {-1, -1, -1});
}

void LauncherLink::CloseNetwork(uint64_t number) {
  Command command;
  command.kind = Command::kCloseNetwork;
  command.network = number;
  Send(command);
}

Status LauncherLink::SetFaults(uint64_t network, uint64_t request,
                               const std::vector<PacketFault>& faults) {
  ASSIGN_OR_RETURN(const Fd file, MemoryFile(BytesOfParts(faults)));
  Command command;
  command.kind = Command::kSetFaults;
  command.network = network;
  command.replica = request;
  return SendWith(socket_.get(), command, {file.get(), -1, -1});
}

void LauncherLink::Signal(uint64_t replica, int signal) {
  Send({Command::kSignal, signal, replica});
}

void LauncherLink::Kill(uint64_t replica) { Send({Command::kKill, SIGKILL, replica}); }

void LauncherLink::Freeze(uint64_t replica) { Send({Command::kFreeze, 0, replica}); }

void LauncherLink::Thaw(uint64_t replica) { Send({Command::kThaw, 0, replica}); }

// No descriptor was free for its calls, so the kernel refuses them. It ends as one whose machine is
// lost. On the link's own thread, which must not wait for the launcher.
void LauncherLink::Lose(uint64_t replica) {
  NoteDescriptorShortage();
  const Command kill{Command::kKill, SIGKILL, replica};
  ::send(socket_.get(), &kill, sizeof kill, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// If the launcher has died, its replicas are dead, too, and the command is not needed.
void LauncherLink::Send(const Command& command) {
  while (::send(socket_.get(), &command, sizeof command, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

}  // namespace caip::host
