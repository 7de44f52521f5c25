// The tests of layers and stores again, as a user without rights over the host. Where the tests run
// as such a user, they need no second run.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/files.h"

namespace caip::images {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kCannotRun = 77;

TEST(WithoutRights, LayersAndStoresWorkTheSame) {
  if (::geteuid() != 0) GTEST_SKIP() << "this user has no rights over the host";
  TemporaryDirectory directory;
  ASSERT_EQ(::chown(directory.path().c_str(), kNobody, kNobody), 0);
  const Path output = directory.path() / "output";
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0) {
      ::_exit(kCannotRun);
    }
    ::execl("/proc/self/exe", "images_test", "--gtest_brief=1",
            "--gtest_filter=LayerStoreTest.*:SmallLayerStoreTest.*:ImageStoreTest.*:"
            "BlobStoreTest.*:HostileArchives.*:-*.RefusesTenMillionFiles",
            nullptr);
    ::_exit(kCannotRun);
  }
  ::close(file);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotRun) {
    GTEST_SKIP() << "nobody may not run this program";
  }
  EXPECT_EQ(status, 0) << *ReadFile(output);
}

}  // namespace
}  // namespace caip::images
