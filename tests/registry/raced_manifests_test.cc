// Manifests of blobs that other clients store or remove while the registry checks them.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <future>
#include <thread>

#include "fakes/registry/errors.h"
#include "tests/registry/registry_world.h"

namespace caip::registry {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::SizeIs;

/// The kernel holds the calls of one thread that ask for the state of a file by its path (stat),
/// so that a test can change the file between two of them.
class HeldLooks {
 public:
  /// Runs `work` on a thread of its own. Calls `before` before the thread looks at `file` for the
  /// first, the second, ... time, and returns how often it looked.
  static int Run(const Path& file, const std::function<void()>& work,
                 const std::function<void(int look)>& before) {
    std::promise<int> installed;
    std::thread thread([&] {
      installed.set_value(Install());
      work();
      struct stat none {};
      ::stat(kEndOfWork, &none);
    });
    const Fd listener(installed.get_future().get());
    EXPECT_TRUE(listener.valid());
    int looks = 0;
    for (std::string path; listener.valid() && path != kEndOfWork;) {
      const auto [id, address] = Receive(listener.get());
      path = TextAt(address);
      if (path == file) before(++looks);
      GoOn(listener.get(), id);
    }
    thread.join();
    return looks;
  }

  /// Why the kernel cannot do that here; "" if it can.
  static std::string WhyNot() {
    const std::string memory = TextAt(reinterpret_cast<uint64_t>(kEndOfWork));
    if (memory != kEndOfWork) return "/proc/self/mem is not readable";
    std::string why;
    std::thread([&] {
      if (const Fd listener(Install()); !listener.valid()) why = std::strerror(errno);
    }).join();
    return why;
  }

 private:
  static constexpr char kEndOfWork[] = "/the/end/of/the/work";
  // The kernel's structures may be larger than those of the headers.
  template <typename Known>
  union Large {
    Known known;
    char room[512];
  };

  // From now on, the calls of this thread wait. Returns their listener; -1 with errno.
  static int Install() {
    constexpr int kCalls[] = {
#ifdef SYS_stat
        SYS_stat,
#endif
        SYS_newfstatat, SYS_statx};
    std::vector<sock_filter> code = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (const int call : kCalls) {
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1));
      code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
    }
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // of this thread alone
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                      SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  }

  // Waits for a call. Returns its number, and the address of its path.
  static std::pair<uint64_t, uint64_t> Receive(int listener) {
    Large<seccomp_notif> call;
    int error = 0;
    do {
      std::memset(&call, 0, sizeof call);
      error = ::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0 ? 0 : errno;
    } while (error == EINTR);
    EXPECT_EQ(error, 0) << std::strerror(error);
    const auto& data = call.known.data;
#ifdef SYS_stat
    if (data.nr == SYS_stat) return {call.known.id, data.args[0]};
#endif
    return {call.known.id, data.args[1]};
  }

  static void GoOn(int listener, uint64_t id) {
    Large<seccomp_notif_resp> answer;
    std::memset(&answer, 0, sizeof answer);
    answer.known.id = id;
    answer.known.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    EXPECT_EQ(::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer), 0) << std::strerror(errno);
  }

  // Through the kernel, because nothing else orders this read after the thread's write.
  static std::string TextAt(uint64_t address) {
    const Fd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    char text[4096] = {};
    (void)!::pread(memory.get(), text, sizeof text - 1, static_cast<off_t>(address));
    return text;
  }
};

class RacedManifestTest : public RegistryTest {
 protected:
  void SetUp() override {
    const std::string why_not = HeldLooks::WhyNot();
    if (!why_not.empty()) GTEST_SKIP() << "the kernel cannot hold calls here: " << why_not;
    PushBlob("{}");
    PushBlob("layer");
  }

  // Pushes the manifest of a layer with that size, again and again: before its first look at the
  // layer's file, then before its second look, and so on, `change` is called. Returns the reasons
  // of the answers, "" for a success. The last answer is without a change.
  std::vector<std::string> Race(size_t size, const std::function<void()>& prepare,
                                const std::function<void()>& change) {
    Json manifest = ImageManifest("{}", {"layer"});
    manifest["layers"][0]["size"] = size;
    const std::string bytes = CompactJson(manifest);
    std::vector<std::string> reasons;
    for (int changed = 1;; ++changed) {
      prepare();
      const auto push = [&] {
        const auto pushed = registry_->PutManifest(to_, "latest", {}, kOciManifest, bytes);
        reasons.push_back(pushed.ok() ? "" : pushed.error().reason);
      };
      const int looks = HeldLooks::Run(file_, push, [&](int look) {
        if (look == changed) change();
      });
      if (looks < changed) return reasons;
    }
  }
  void Store() { EXPECT_TRUE(blobs_->Put("layer").ok()); }
  void Remove() { (void)blobs_->Remove(layer_); }

  const images::Digest layer_ = images::Digest::Of("layer");
  const Path file_ = directory_.path() / "blobs/sha256" / layer_.hex();
  const Repository to_ = *FindRepository("gcr.io", "p/i");
};

const char kUnknown[] = "manifestBlobUnknown";

TEST_F(RacedManifestTest, IsStoredOrWantsABlobThatWasMissing) {
  const auto reasons = Race(
      5, [this] { Remove(); }, [this] { Store(); });
  EXPECT_EQ(reasons.front(), "") << "the blob was there at the first look";
  EXPECT_EQ(reasons.back(), kUnknown) << "no one stored the blob";
  EXPECT_THAT(reasons, Each(AnyOf("", kUnknown)));
  EXPECT_THAT(reasons, SizeIs(::testing::Gt(2u)));
}

TEST_F(RacedManifestTest, IsStoredOrWantsABlobThatWasCut) {
  const auto cut = [this] { ASSERT_TRUE(WriteFile(file_, "lay").ok()); };
  const auto reasons = Race(5, cut, [this] { Store(); });
  EXPECT_EQ(reasons.front(), "") << "the blob was whole at the first look";
  EXPECT_EQ(reasons.back(), kUnknown) << "no one stored the blob";
  EXPECT_THAT(reasons, Each(AnyOf("", kUnknown)));
  EXPECT_THAT(reasons, SizeIs(::testing::Gt(2u)));
}

TEST_F(RacedManifestTest, OfAWrongSizeIsRefusedOrWantsABlobThatIsRemoved) {
  const auto reasons = Race(
      7, [this] { Store(); }, [this] { Remove(); });
  const std::string wrong = errors::DescriptorSizeWrong("", 0, 0).reason;
  EXPECT_EQ(reasons.front(), kUnknown) << "the blob was missing at the first look";
  EXPECT_EQ(reasons.back(), wrong) << "no one removed the blob";
  EXPECT_THAT(reasons, Each(AnyOf(wrong, kUnknown)));
  EXPECT_THAT(reasons, SizeIs(::testing::Gt(2u)));
}

}  // namespace
}  // namespace caip::registry
