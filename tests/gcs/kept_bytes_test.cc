#include "fakes/gcs/store/kept_bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "fakes/gcs/store/bucket_tree.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

struct KeptFile {
  KeptFile(const Path& at, std::string_view bytes) : path(at) {
    EXPECT_TRUE(WriteFile(path, bytes).ok());
    Open();
  }
  void Open() {
    fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    record.file = IdentityOf(status());
  }
  struct stat status() const {
    struct stat now {};
    EXPECT_EQ(::stat(path.c_str(), &now), 0);
    return now;
  }
  Path path;
  Fd fd;
  ObjectRecord record;
};

class KeptBytesTest : public ::testing::Test {
 protected:
  // Reads until the time of the file's change is old enough to differ from that of a later one.
  std::shared_ptr<const std::string> ReadSettled(KeptBytes& kept, const KeptFile& file) {
    const MonotonicTime deadline = MonotonicNow() + std::chrono::seconds(30);
    while (MonotonicNow() < deadline) {
      if (auto bytes = kept.Read(file.record, file.fd.get())) return bytes;
    }
    ADD_FAILURE() << "the file is not kept";
    return nullptr;
  }
  Path At(const std::string& name) const { return directory_.path() / name; }

  TemporaryDirectory directory_;
  KeptBytes kept_;
};

TEST_F(KeptBytesTest, AreFoundWhileTheFileIsUnchanged) {
  KeptFile file(At("a"), "one");
  file.record.info.generation = 1;
  EXPECT_EQ(kept_.Find(1, file.status()), nullptr);
  EXPECT_EQ(*ReadSettled(kept_, file), "one");
  ASSERT_NE(kept_.Find(1, file.status()), nullptr);
  EXPECT_EQ(*kept_.Find(1, file.status()), "one");
  EXPECT_EQ(kept_.Find(2, file.status()), nullptr);
}

TEST_F(KeptBytesTest, AreNotFoundAfterAChangeThatKeepsSizeAndTime) {
  KeptFile file(At("a"), "one");
  file.record.info.generation = 1;
  ReadSettled(kept_, file);
  const struct stat before = file.status();
  const Fd writer(::open(file.path.c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(::pwrite(writer.get(), "two", 3, 0), 3);
  const timespec times[] = {before.st_atim, before.st_mtim};
  EXPECT_EQ(::futimens(writer.get(), times), 0);
  EXPECT_EQ(IdentityOf(file.status()), IdentityOf(before));
  EXPECT_EQ(kept_.Find(1, file.status()), nullptr);
  EXPECT_EQ(*ReadSettled(kept_, file), "two");
}

TEST_F(KeptBytesTest, OfAFileThatWasJustChangedAreNotKept) {
  KeptFile file(At("a"), "one");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(WriteFile(file.path, std::to_string(i)).ok());
    file.Open();
    const auto bytes = kept_.Read(file.record, file.fd.get());
    if (!bytes) return;  // a busy machine may take long between two of these lines
  }
  FAIL() << "the file was kept within a tick of the kernel's clock";
}

TEST_F(KeptBytesTest, OfAnotherFileThanTheRecordsAreNotKept) {
  KeptFile file(At("a"), "one");
  file.record.info.generation = 1;
  ReadSettled(kept_, file);
  ++file.record.file.inode;
  EXPECT_EQ(kept_.Read(file.record, file.fd.get()), nullptr);
}

TEST_F(KeptBytesTest, AreBoundedAndThoseInUseStay) {
  KeptBytes kept(1000);
  KeptFile wanted(At("wanted"), std::string(300, 'w'));
  wanted.record.info.generation = 1;
  ReadSettled(kept, wanted);
  KeptFile other(At("other"), std::string(300, 'o'));
  for (int i = 2; i < 30; ++i) {
    other.record.info.generation = i;
    ReadSettled(kept, other);
    ASSERT_NE(kept.Find(1, wanted.status()), nullptr) << i;
    ASSERT_LE(kept.size(), 2000u);
  }
  EXPECT_EQ(kept.Find(2, other.status()), nullptr);
}

TEST_F(KeptBytesTest, AreForgottenInBothGenerations) {
  KeptBytes kept(500);
  KeptFile file(At("a"), std::string(300, 'x'));
  for (int64_t i : {1, 2}) {
    file.record.info.generation = i;
    ReadSettled(kept, file);
  }
  kept.Forget(1);
  EXPECT_EQ(kept.Find(1, file.status()), nullptr);
  EXPECT_EQ(kept.size(), 300u);
  kept.Forget(2);
  kept.Forget(2);
  EXPECT_EQ(kept.size(), 0u);
  EXPECT_EQ(kept.count(), 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have their own heaps
TEST_F(KeptBytesTest, OfDeletedAndReplacedObjectsAreForgotten) {
  constexpr int kObjects = 50;
  constexpr size_t kBytes = 60'000;
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  const auto put_all = [&](char byte) {
    for (int i = 0; i < kObjects; ++i) world.Put(std::to_string(i), std::string(kBytes, byte));
  };
  put_all('a');
  const size_t before = ::mallinfo2().uordblks;
  const auto is_kept = [&] { return ::mallinfo2().uordblks > before + kObjects * kBytes * 3 / 4; };
  const auto read_until_kept = [&] {
    const MonotonicTime deadline = MonotonicNow() + std::chrono::seconds(30);
    while (!is_kept() && MonotonicNow() < deadline) {
      for (int i = 0; i < kObjects; ++i) world.Get(std::to_string(i));
    }
    return is_kept();
  };
  ASSERT_TRUE(read_until_kept());
  put_all('b');
  EXPECT_LT(::mallinfo2().uordblks, before + kObjects * kBytes / 4);
  ASSERT_TRUE(read_until_kept());
  for (int i = 0; i < kObjects; ++i) ASSERT_TRUE(world.Delete(std::to_string(i)).ok());
  EXPECT_LT(::mallinfo2().uordblks, before + kObjects * kBytes / 4);
}
#endif

TEST_F(KeptBytesTest, OfEmptyFilesAreBounded) {
  constexpr int kFiles = 100;
  KeptBytes kept(16 * 256);
  std::vector<KeptFile> files;
  for (int i = 0; i < kFiles; ++i) {
    files.emplace_back(At(std::to_string(i)), "");
    files.back().record.info.generation = i + 1;
  }
  for (const KeptFile& file : files) ASSERT_NE(ReadSettled(kept, file), nullptr);
  EXPECT_LE(kept.count(), 32u);
  EXPECT_NE(kept.Find(kFiles, files.back().status()), nullptr);
}

TEST_F(KeptBytesTest, OfLargeFilesAreNotKept) {
  KeptFile file(At("a"), std::string(KeptBytes::kFileBytesMax + 1, 'x'));
  KeptFile settled(At("b"), "one");
  ReadSettled(kept_, settled);
  EXPECT_EQ(kept_.Read(file.record, file.fd.get()), nullptr);
}

}  // namespace
}  // namespace caip::gcs
