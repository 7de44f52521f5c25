// Unfinished uploads after a power failure. A test plays it with a new name of the host's start,
// and with bytes that no answer has confirmed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

constexpr char kKey[] = "abc123";
constexpr char kConfirmed[] = "confirmed, ";
constexpr char kLater[] = "later";

class InterruptedUploadTest : public ::testing::Test {
 protected:
  InterruptedUploadTest() {
    Open("first boot");
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
  }

  void Open(const std::string& boot, bool durable = true) {
    world_.Open({.root = world_.root(), .durable = durable, .boot = boot});
  }

  std::unique_ptr<ObjectWriter> Resume() { return *world_->ResumeObject("bkt", "made", kKey); }

  void SendBothPieces() {
    const auto writer = Resume();
    EXPECT_TRUE(writer->Append(kConfirmed).ok());
    EXPECT_TRUE(writer->Persist().ok());
    EXPECT_TRUE(writer->Append(kLater).ok());
  }

  static constexpr size_t kConfirmedBytes = sizeof kConfirmed - 1;
  static constexpr size_t kAllBytes = kConfirmedBytes + sizeof kLater - 1;
  StoreWorld world_;
};

TEST_F(InterruptedUploadTest, KeepsAllBytesIfOnlyTheEmulatorEnded) {
  SendBothPieces();
  Open("first boot");
  EXPECT_EQ(Resume()->size(), kAllBytes);
}

// The disk may have the later bytes without the ones before them.
TEST_F(InterruptedUploadTest, ContinuesAfterTheConfirmedBytesIfThePowerFailed) {
  SendBothPieces();
  Open("second boot");
  const auto writer = Resume();
  EXPECT_EQ(writer->size(), kConfirmedBytes);
  ASSERT_TRUE(writer->Append("end").ok());
  ASSERT_TRUE(writer->Commit(ObjectInfo(), {}, {}, {}).ok());
  EXPECT_EQ(world_.Get("made"), std::string(kConfirmed) + "end");
}

TEST_F(InterruptedUploadTest, BeginsAgainIfNothingWasConfirmed) {
  EXPECT_TRUE(Resume()->Append(kLater).ok());
  Open("second boot");
  EXPECT_EQ(Resume()->size(), 0u);
}

// The process ends in the commit, when all bytes are on the disk.
TEST_F(InterruptedUploadTest, KeepsTheBytesOfAnInterruptedCommitThroughPowerFailures) {
  SendBothPieces();
  world_.Close();
  const pid_t child = ::fork();
  if (child == 0) {
    world_.Open({.root = world_.root(), .boot = "first boot", .between_steps = [] { ::_exit(9); }});
    (void)Resume()->Commit(ObjectInfo(), {}, {}, {}).ok();
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  for (const char* boot : {"second boot", "third boot"}) {
    Open(boot);
    EXPECT_EQ(Resume()->size(), kAllBytes) << boot;
  }
}

// An emulator of an earlier version confirmed bytes without a note.
class EarlierUploadTest : public InterruptedUploadTest {
 protected:
  EarlierUploadTest() {
    SendBothPieces();
    world_.Close();
    ForgetNotes();
  }
  void ForgetNotes() {
    EXPECT_TRUE(std::filesystem::remove(world_.uploads() / (std::string(kKey) + ".note")));
    SqliteDatabase records(world_.side_file(), errors::SideStoreFailed);
    EXPECT_TRUE(records.Open(SqliteDatabase::Mode::kExisting).ok());
    EXPECT_TRUE(records.Run("DELETE FROM counters WHERE name NOT IN ('generation', 'boot')").ok());
  }
};

TEST_F(EarlierUploadTest, KeepsAllBytesAfterAPowerFailure) {
  for (const char* boot : {"second boot", "third boot"}) {
    Open(boot);
    EXPECT_EQ(Resume()->size(), kAllBytes) << boot;
  }
}

TEST_F(EarlierUploadTest, KeepsAllBytesIfThePowerFailsAfterAnUpgrade) {
  Open("first boot");
  EXPECT_TRUE(Resume()->Append("not confirmed").ok());
  Open("second boot");
  EXPECT_EQ(Resume()->size(), kAllBytes);
}

// The file's name leaves no room for that of a temporary note.
TEST_F(EarlierUploadTest, KeepsAllBytesIfTheirNoteCannotBeWritten) {
  const Path file = world_.uploads() / std::string(250, 'a');
  ASSERT_TRUE(WriteAll(Fd(::open(file.c_str(), O_WRONLY | O_CREAT, 0666)).get(), kConfirmed));
  for (const char* boot : {"second boot", "third boot"}) {
    Open(boot);
    EXPECT_EQ(std::filesystem::file_size(file), kConfirmedBytes) << boot;
    EXPECT_EQ(Resume()->size(), kAllBytes) << boot;
  }
}

TEST_F(InterruptedUploadTest, KeepsAllBytesOfAnEmulatorThatWritesNoNotes) {
  Open("first boot", false);
  SendBothPieces();
  Open("second boot");
  EXPECT_EQ(Resume()->size(), kAllBytes);
}

TEST_F(InterruptedUploadTest, KeepsAllBytesThatAreLeftIfNothingIsSynced) {
  Open("first boot", false);
  SendBothPieces();
  Open("second boot", false);
  EXPECT_EQ(Resume()->size(), kAllBytes);
}

}  // namespace
}  // namespace caip::gcs
