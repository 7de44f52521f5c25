// The rights of a machine: what its root can do to its init, to the launcher and to the host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "base/encoding.h"
#include "host/process/launcher_link.h"
#include "tests/host/machine/machines_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Docker's default capabilities without CAP_MKNOD, and CAP_SYS_PTRACE.
TEST_F(Machines, RunTheReplicaAsRootWithTheRightsOfAContainer) {
  world_.Run(OnMachine("echo $(id -u) $(id -g); grep CapEff /proc/self/status"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("0 0", "CapEff:\t00000000a00c25fb"));
}

// CAP_SYS_PTRACE lets root of the machine write into the memory of the init.
TEST_F(Machines, HaveAnInitThatHasNoMoreRightsThanTheReplica) {
  world_.Run(OnMachine("grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/1/status"));
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("CapInh:\t0000000000000000", "CapPrm:\t00000000a00c25fb",
                          "CapEff:\t00000000a00c25fb", "CapBnd:\t00000000a00c25fb",
                          "CapAmb:\t0000000000000000"));
}

// The rest belongs to the launcher and its other replicas.
TEST_F(Machines, HaveAnInitThatHoldsOnlyItsOwnSocketAndSignals) {
  world_.Run(
      OnMachine("ls -l /proc/1/fd | sed -n 's/.* -> //p' | sed 's/[0-9]*//g' | grep -v null | sort;"
                " grep -c rw-s /proc/1/maps"));
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("anon_inode:[signalfd]", "socket:[]", "0"));
}

// Root of a machine may copy the descriptors of its init.
TEST_F(Machines, CanBreakNoConnectionOfTheLauncherButTheirOwn) {
  world_.Launch(AShell("exec sleep 1000", AKey(1)));
  world_.AwaitStarts(1);
  world_.Launch(
      APython("import ctypes, os, socket, time\n"
              "libc = ctypes.CDLL(None)\n"
              "init = libc.syscall(434, 1, 0)\n"  // pidfd_open
              "for name in os.listdir('/proc/1/fd'):\n"
              "    copy = libc.syscall(438, init, int(name), 0)\n"  // pidfd_getfd
              "    if copy >= 0 and os.readlink(f'/proc/self/fd/{copy}').startswith('socket:'):\n"
              "        socket.socket(fileno=copy).shutdown(socket.SHUT_RDWR)\n"
              "time.sleep(1000)\n"));
  const engine::ReplicaExit exit = world_.AwaitExits(1).back();
  EXPECT_EQ(exit.key, AKey());
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(world_.Run(AShell("", AKey(2))).exit_code, 0);
  EXPECT_EQ(world_.ExitCount(), 2u) << "the other replica has ended, too";
}

// Root of a machine may send over a copy of the socket of its init. A machine whose end is reported
// must end: the next start of the replica has the same boot disk.
TEST_F(Machines, EndWhenAProgramReportsTheirEnd) {
  launcher::Report faked;
  faked.kind = launcher::Report::kEnded;
  faked.left_running = INT_MIN;
  std::strcpy(faked.left, "1 conmon\n");
  const std::string bytes(reinterpret_cast<const char*>(&faked), sizeof faked);
  world_.Launch(
      APython("import base64, ctypes, os, signal, socket, time\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
              "print('ready', flush=True)\n"
              "signal.sigwait([signal.SIGUSR1])\n"
              "libc = ctypes.CDLL(None)\n"
              "init = libc.syscall(434, 1, 0)\n"  // pidfd_open
              "for name in os.listdir('/proc/1/fd'):\n"
              "    copy = libc.syscall(438, init, int(name), 0)\n"  // pidfd_getfd
              "    if copy >= 0 and os.readlink(f'/proc/self/fd/{copy}').startswith('socket:'):\n"
              "        socket.socket(fileno=copy).send(base64.b64decode('" +
              Base64(bytes) +
              "'))\n"
              "time.sleep(1000)\n"));
  ASSERT_TRUE(world_.sink.AwaitMessage("ready"));
  const engine::RunKey run = AKey().run;
  const auto living = world_.launcher->LivingOf(run.project, run.job_id);
  ASSERT_EQ(living.size(), 1u);
  const Fd init(static_cast<int>(::syscall(SYS_pidfd_open, living.front().init, 0)));
  world_.launcher->Signal(AKey(), SIGUSR1);
  EXPECT_EQ(world_.AwaitExits(1).back().exit_code, 0);
  pollfd end{init.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "the machine of the ended replica runs on";
}

// Root of a machine may follow the link, out of its own files.
TEST_F(Machines, HaveAnInitWhoseProgramIsNoFileOfTheHost) {
  if (const auto setting = ReadFile("/proc/sys/vm/memfd_noexec");
      setting.ok() && *setting == "2\n") {
    GTEST_SKIP() << "vm.memfd_noexec of this host is 2";
  }
  struct stat before {};
  struct stat after {};
  ASSERT_EQ(::stat(LauncherProgram().c_str(), &before), 0);
  world_.Run(
      APython("import fcntl, os\n"
              "os.chmod('/proc/1/exe', 0o1755)\n"
              "with open('/proc/1/exe', 'rb') as program:\n"
              "    print('seals', fcntl.fcntl(program, 1034))\n"));  // F_GET_SEALS
  EXPECT_THAT(world_.sink.Messages(), ElementsAre("seals 15"));      // all
  ASSERT_EQ(::stat(LauncherProgram().c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode) << "the machine has changed the file";
  ::chmod(LauncherProgram().c_str(), before.st_mode & 07777);
}

// NVIDIA's libraries make the files of GPUs that are not lent, where they may. These machines have
// the host's /dev, in which only root of the host may make files at all.
TEST_F(Machines, CannotMakeTheFilesOfDevices) {
  world_.Run(
      APython("import errno, os, stat\n"
              "open('file', 'w').close()\n"
              "for place in ('device', '/dev/caip-test'):\n"
              "    try:\n"
              "        os.mknod(place, 0o600 | stat.S_IFCHR, os.makedev(1, 3))\n"
              "    except OSError as error:\n"
              "        print(place, errno.errorcode[error.errno])\n"));
  EXPECT_THAT(world_.sink.Messages(),
              ElementsAre("device EPERM",
                          IsRootOfHost() ? "/dev/caip-test EPERM" : "/dev/caip-test EACCES"));
}

}  // namespace
}  // namespace caip::host
