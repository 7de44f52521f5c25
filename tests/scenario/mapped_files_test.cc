#include "emulator/scenario/watch/mapped_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>

#include "emulator/scenario/contents/file_recorder.h"

namespace caip::scenario {
namespace {

constexpr auto kPipeDeadline = std::chrono::seconds(20);
const engine::ReplicaKey kMaster = {{"p", "j", ""}, {"master", 0}, 1};

using ChangedFiles = std::vector<std::pair<std::string, uint64_t>>;

class MappedFilesTest : public testing::Test {
 protected:
  void Write(const std::string& text) { ASSERT_TRUE(WriteFile(file_, text).ok()); }
  /// Puts a pipe without a writer at the path of the file.
  void ReplaceByPipe() {
    std::filesystem::remove(file_);
    ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  }
  /// Whether the call returns before the deadline. One that waits at the pipe is released.
  template <typename Call>
  bool Returns(Call call) {
    const auto done = std::async(std::launch::async, call);
    const bool has_returned = done.wait_for(kPipeDeadline) == std::future_status::ready;
    if (!has_returned) const Fd writer(::open(file_.c_str(), O_RDWR | O_CLOEXEC));
    return has_returned;
  }

  TemporaryDirectory scratch_;
  const Path file_ = scratch_.path() / "weights";
  MappedFiles files_;
};

TEST_F(MappedFilesTest, ReportsAChangeOfBytesOnce) {
  Write("first");
  files_.Add(kMaster, "job/weights", file_);
  EXPECT_EQ(files_.TakeChanged(kMaster), ChangedFiles());
  Write("second");
  EXPECT_EQ(files_.TakeChanged(kMaster), (ChangedFiles{{"job/weights", 6}}));
  EXPECT_EQ(files_.TakeChanged(kMaster), ChangedFiles());
}

TEST_F(MappedFilesTest, DoesNotReportWhatACallHasChanged) {
  Write("first");
  files_.Add(kMaster, "job/weights", file_);
  Write("second");
  files_.NoteCall(kMaster, "job/weights");
  EXPECT_EQ(files_.TakeChanged(kMaster), ChangedFiles());
}

TEST_F(MappedFilesTest, AFileThatAPipeHasReplacedIsGone) {
  Write("first");
  files_.Add(kMaster, "job/weights", file_);
  ReplaceByPipe();
  ChangedFiles changed;
  EXPECT_TRUE(Returns([&] { changed = files_.TakeChanged(kMaster); }));
  EXPECT_EQ(changed, ChangedFiles());
  EXPECT_TRUE(Returns([&] { files_.NoteCall(kMaster, "job/weights"); }));
}

TEST_F(MappedFilesTest, DoesNotWaitAtAPipeThatIsMapped) {
  ReplaceByPipe();
  EXPECT_TRUE(Returns([&] { files_.Add(kMaster, "job/weights", file_); }));
}

// Copies of volumes and the recorder of files open them in this way.
TEST_F(MappedFilesTest, OnlyRegularFilesAreOpened) {
  Write("first");
  EXPECT_TRUE(OpenRegularFile(file_).valid());
  const Path link = scratch_.path() / "link";
  std::filesystem::create_symlink(file_, link);
  EXPECT_FALSE(OpenRegularFile(link).valid());
  EXPECT_FALSE(OpenRegularFile(scratch_.path() / "missing").valid());
  EXPECT_FALSE(OpenRegularFile(scratch_.path()).valid());
  ReplaceByPipe();
  int reason = 0;
  EXPECT_TRUE(Returns([&] {
    const Fd pipe = OpenRegularFile(file_);
    reason = pipe.valid() ? 0 : errno;
  }));
  EXPECT_EQ(reason, ENOENT);
}

}  // namespace
}  // namespace caip::scenario
