// Unfinished uploads after a power failure, which a test plays with a new name of the host's start,
// and with bytes that no answer has confirmed. Sessions that left memory.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/sqlite.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/uploads.h"
#include "http/text_body.h"
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

// A commit renames the upload's file. Without a journal, a file system may keep the old name as
// well through a power failure.
class TwiceNamedUploadTest : public InterruptedUploadTest {
 protected:
  // The process may end between the steps of the commit.
  void Commit(int last_step = 0) {
    world_.Close();
    const pid_t child = ::fork();
    if (child == 0) {
      int steps = 0;
      world_.Open({.root = world_.root(), .boot = "first boot", .between_steps = [&] {
                     if (++steps == last_step) ::_exit(0);
                   }});
      SendBothPieces();
      ObjectInfo info;
      info.content_type = "text/made";
      ::_exit(Resume()->Commit(info, {}, {}, {}).ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  Path OldName() const { return world_.uploads() / kKey; }
  void RestoreOldName() {
    world_.Close();
    std::filesystem::create_hard_link(world_.File("made"), OldName());
  }
  void ExpectCompleteUpload() {
    EXPECT_EQ(world_.Get("made"), std::string(kConfirmed) + kLater);
    const auto made = world_->GetObject("bkt", "made");
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made->content_type, "text/made");
    EXPECT_FALSE(std::filesystem::exists(OldName()));
    const auto note = world_->UploadNote(kKey);
    ASSERT_TRUE(note.ok()) << note.error().message;
    EXPECT_EQ(*note, std::to_string(made->generation));
  }
};

TEST_F(TwiceNamedUploadTest, IsComplete) {
  Commit();
  RestoreOldName();
  Open("second boot");
  ExpectCompleteUpload();
}

TEST_F(TwiceNamedUploadTest, IsCompleteIfItsRecordWasNotSaved) {
  constexpr int kInPlace = 2;
  Commit(kInPlace);
  RestoreOldName();
  Open("second boot");
  ExpectCompleteUpload();
}

TEST_F(TwiceNamedUploadTest, IsNotCutAfterARestartOfTheEmulator) {
  Commit();
  Open("first boot");  // the note of the commit becomes shorter
  RestoreOldName();
  Open("second boot");
  ExpectCompleteUpload();
}

TEST_F(TwiceNamedUploadTest, StaysCancelled) {
  SendBothPieces();
  ASSERT_TRUE(world_->NoteUpload(kKey, "cancelled").ok());
  Open("second boot");
  EXPECT_FALSE(std::filesystem::exists(OldName()));
  EXPECT_EQ(*world_->UploadNote(kKey), "cancelled");
}

// The same of files that were never uploads.
TEST_F(TwiceNamedUploadTest, TemporaryNamesAreRemoved) {
  const ObjectInfo small = world_.Put("small", "bytes");
  const ObjectInfo large = world_.Put("large", std::string(100'000, 'x'));
  const Path temporary = world_.root() / ".caip-tmp";
  for (const char* boot : {"first boot", "second boot"}) {
    world_.Close();
    for (const char* name : {"small", "large"}) {
      std::filesystem::create_hard_link(world_.File(name), temporary / name);
    }
    Open(boot);
    EXPECT_TRUE(FilesIn(temporary).empty()) << boot;
    EXPECT_EQ(world_.Get("small"), "bytes") << boot;
    EXPECT_EQ(world_.Get("large"), std::string(100'000, 'x')) << boot;
    EXPECT_EQ(world_->GetObject("bkt", "small")->generation, small.generation) << boot;
    EXPECT_EQ(world_->GetObject("bkt", "large")->generation, large.generation) << boot;
  }
}

class FinishedSessionsTest : public ::testing::Test {
 protected:
  FinishedSessionsTest() { EXPECT_TRUE(world_->CreateBucket("bkt").ok()); }

  std::string Start(const std::string& name) {
    UploadPlan plan;
    plan.info.bucket = "bkt";
    plan.info.name = name;
    return *sessions_.Start(plan);
  }

  Result<UploadProgress> Send(const std::string& id, const std::string& bytes) {
    http::TextBody body(bytes);
    return sessions_.Put(id, std::nullopt, {}, body);
  }

  Result<UploadProgress> Ask(const std::string& id) {
    http::TextBody body("");
    return sessions_.Put(id, ContentRange{}, {}, body);
  }

  StoreWorld world_;
  ResumableSessions sessions_{*world_, 1};
};

TEST_F(FinishedSessionsTest, LeaveMemoryAndStillAnswer) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < 3 * ResumableSessions::kFinishedMax; ++i) {
    ids.push_back(Start("made" + std::to_string(i)));
    ASSERT_TRUE(Send(ids.back(), "bytes").ok());
  }
  EXPECT_EQ(sessions_.size(), ResumableSessions::kFinishedMax);
  for (const std::string& id : ids) {
    const auto asked = Ask(id);
    ASSERT_TRUE(asked.ok()) << asked.error().message;
    ASSERT_TRUE(asked->done.has_value());
    EXPECT_EQ(asked->received, 5U);
  }
  EXPECT_EQ(sessions_.size(), ResumableSessions::kFinishedMax);
}

TEST_F(FinishedSessionsTest, LeaveMemoryAfterTheyWereCancelled) {
  const std::string unfinished = Start("unfinished");
  std::vector<std::string> cancelled;
  for (size_t i = 0; i < 3 * ResumableSessions::kFinishedMax; ++i) {
    const std::string id = Start("made");
    ASSERT_TRUE(sessions_.Cancel(id).ok());
    cancelled.push_back(id);
  }
  EXPECT_EQ(sessions_.size(), ResumableSessions::kFinishedMax + 1);
  for (const std::string& id : cancelled) EXPECT_EQ(Ask(id).error().code, Code::kOutOfRange);
  EXPECT_EQ(sessions_.size(), ResumableSessions::kFinishedMax + 1);
  EXPECT_EQ(Ask(unfinished)->received, 0U);
}

}  // namespace
}  // namespace caip::gcs
