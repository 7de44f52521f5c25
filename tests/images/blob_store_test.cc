#include "images/blob_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace caip::images {
namespace {

namespace fs = std::filesystem;

constexpr char kEmptyHex[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

class BlobStoreTest : public testing::Test {
 protected:
  BlobStoreTest() { Reopen(); }
  void Reopen() {
    auto opened = BlobStore::Open(directory_.path());
    ASSERT_TRUE(opened.ok());
    store_ = *std::move(opened);
  }
  std::string Contents(const Digest& digest) { return *store_->Read(digest, 1 << 20); }

  TemporaryDirectory directory_;
  std::unique_ptr<BlobStore> store_;
};

TEST(Digest, IsAnAlgorithmAndLowerCaseDigits) {
  EXPECT_EQ(Digest::Of("").text(), std::string("sha256:") + kEmptyHex);
  EXPECT_EQ(*Digest::Parse(Digest::Of("x").text()), Digest::Of("x"));
  std::string upper = Digest::Of("x").text();
  upper.back() = 'F';
  for (const std::string& text :
       {std::string(), std::string("sha256:"), std::string(kEmptyHex),
        "sha512:" + std::string(kEmptyHex), "sha256:" + std::string(63, 'a'),
        "sha256:" + std::string(65, 'a'), upper, "sha256:../" + std::string(61, 'a'),
        "sha256:" + std::string(63, 'a') + "\n"}) {
    const auto digest = Digest::Parse(text);
    ASSERT_FALSE(digest.ok()) << text;
    EXPECT_EQ(digest.error().code, Code::kInvalidArgument);
    EXPECT_EQ(digest.error().reason, "digestInvalid");
  }
}

TEST_F(BlobStoreTest, KeepsBytesByTheirDigest) {
  const Digest digest = *store_->Put("manifest");
  EXPECT_EQ(digest, Digest::Of("manifest"));
  EXPECT_TRUE(store_->Has(digest));
  EXPECT_EQ(*store_->Size(digest), 8u);
  EXPECT_EQ(Contents(digest), "manifest");
  const Fd file = *store_->OpenBlob(digest);
  char bytes[16];
  EXPECT_EQ(::read(file.get(), bytes, sizeof bytes), 8);
  EXPECT_EQ(*store_->Put("manifest"), digest) << "a second time";
  ASSERT_EQ(store_->List()->size(), 1u);
  EXPECT_EQ(store_->List()->front().size, 8u);
  EXPECT_TRUE(fs::exists(directory_.path() / "blobs/sha256" / digest.hex()));
}

TEST_F(BlobStoreTest, RemovesBlobs) {
  const Digest digest = *store_->Put("x");
  ASSERT_TRUE(store_->Remove(digest).ok());
  EXPECT_FALSE(store_->Has(digest));
  EXPECT_EQ(store_->Remove(digest).error().reason, "blobUnknown");
  EXPECT_EQ(store_->Size(digest).error().reason, "blobUnknown");
  EXPECT_EQ(store_->OpenBlob(digest).error().reason, "blobUnknown");
  EXPECT_EQ(store_->Read(digest, 9).error().code, Code::kNotFound);
}

TEST_F(BlobStoreTest, DoesNotReadBlobsAboveALimit) {
  const Digest digest = *store_->Put("12345");
  EXPECT_TRUE(store_->Read(digest, 5).ok());
  EXPECT_EQ(store_->Read(digest, 4).error().code, Code::kOutOfRange);
}

TEST_F(BlobStoreTest, AnUploadBecomesABlobWhenItsDigestIsRight) {
  BlobUpload upload = *store_->Begin("one");
  ASSERT_TRUE(upload.Append("hello ").ok());
  ASSERT_TRUE(upload.Append("world").ok());
  EXPECT_EQ(upload.offset(), 11u);
  EXPECT_EQ(*store_->Offset("one"), 11u);
  const Digest digest = Digest::Of("hello world");
  EXPECT_FALSE(store_->Has(digest));
  ASSERT_TRUE(upload.Finish(digest).ok());
  EXPECT_EQ(Contents(digest), "hello world");
  EXPECT_TRUE(store_->Uploads().empty());
  EXPECT_EQ(store_->Resume("one").error().reason, "uploadUnknown");
}

TEST_F(BlobStoreTest, AnUploadWithAnotherDigestIsDeleted) {
  BlobUpload upload = *store_->Begin("one");
  ASSERT_TRUE(upload.Append("hello").ok());
  const Status finished = upload.Finish(Digest::Of("other"));
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().code, Code::kDataLoss);
  EXPECT_EQ(finished.error().reason, "digestMismatch");
  EXPECT_TRUE(store_->List()->empty());
  EXPECT_TRUE(store_->Uploads().empty());
}

TEST_F(BlobStoreTest, AnUploadHasADigestBeforeItsEnd) {
  BlobUpload upload = *store_->Begin("one");
  ASSERT_TRUE(upload.Append("hello ").ok());
  EXPECT_EQ(*upload.DigestSoFar(), Digest::Of("hello "));
  ASSERT_TRUE(upload.Append("world").ok());
  EXPECT_EQ(*upload.DigestSoFar(), Digest::Of("hello world"));
  EXPECT_TRUE(upload.Finish(Digest::Of("hello world")).ok());
}

TEST_F(BlobStoreTest, AnUploadMayHaveNoBytes) {
  BlobUpload upload = *store_->Begin("one");
  EXPECT_EQ(upload.FinishAny()->hex(), kEmptyHex);
}

TEST_F(BlobStoreTest, AnUploadOfAKnownBlobIsNotKeptTwice) {
  const Digest digest = *store_->Put("x");
  BlobUpload upload = *store_->Begin("one");
  ASSERT_TRUE(upload.Append("x").ok());
  ASSERT_TRUE(upload.Finish(digest).ok());
  EXPECT_TRUE(store_->Uploads().empty());
  EXPECT_EQ(store_->List()->size(), 1u);
}

// Bytes that a disk has lost, in place of those of the digest.
TEST_F(BlobStoreTest, ADamagedBlobIsReplacedByItsBytes) {
  const Digest digest = Digest::Of("right");
  const Path path = directory_.path() / "blobs/sha256" / digest.hex();
  for (const char* damaged : {"wrong", "other size", ""}) {
    for (const bool is_put : {true, false}) {
      ASSERT_TRUE(WriteFile(path, damaged).ok());
      EXPECT_TRUE(store_->Has(digest));
      EXPECT_FALSE(store_->IsIntact(digest)) << damaged;
      EXPECT_FALSE(store_->IsIntact(digest, 5)) << damaged;
      const Fd reader = *store_->OpenBlob(digest);
      if (is_put) {
        EXPECT_EQ(*store_->Put("right"), digest);
      } else {
        BlobUpload upload = *store_->Begin("one");
        ASSERT_TRUE(upload.Append("right").ok());
        ASSERT_TRUE(upload.Finish(digest).ok());
      }
      EXPECT_EQ(Contents(digest), "right") << damaged;
      EXPECT_TRUE(store_->IsIntact(digest));
      EXPECT_TRUE(store_->IsIntact(digest, 5));
      EXPECT_FALSE(store_->IsIntact(digest, 4));
      struct stat status {};
      ASSERT_EQ(::fstat(reader.get(), &status), 0);
      EXPECT_EQ(status.st_size, static_cast<off_t>(std::string(damaged).size()))
          << "the file is replaced in one step, not written to";
    }
  }
  EXPECT_FALSE(store_->IsIntact(Digest::Of("unknown")));
  EXPECT_TRUE(store_->Uploads().empty());
}

TEST_F(BlobStoreTest, DoesNotReturnDamagedBytes) {
  const Digest digest = *store_->Put("right");
  ASSERT_TRUE(WriteFile(directory_.path() / "blobs/sha256" / digest.hex(), "wrong").ok());
  const auto read = store_->Read(digest, 1 << 20);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kDataLoss);
  EXPECT_EQ(read.error().reason, "digestMismatch");
}

TEST_F(BlobStoreTest, KnowsABlobUntilItsFileChanges) {
  const Digest digest = *store_->Put("right");
  const Path path = directory_.path() / "blobs/sha256" / digest.hex();
  EXPECT_TRUE(store_->IsKnownIntact(digest));
  ASSERT_TRUE(WriteFile(path, "wrong").ok());
  EXPECT_FALSE(store_->IsKnownIntact(digest));
  ASSERT_TRUE(WriteFile(path, "right").ok());
  EXPECT_TRUE(store_->IsKnownIntact(digest));
  ASSERT_TRUE(store_->Remove(digest).ok());
  EXPECT_FALSE(store_->IsKnownIntact(digest));
}

TEST_F(BlobStoreTest, KnowsADamagedBlobThatWasReadUntilItsFileChanges) {
  const Digest digest = *store_->Put("right");
  const Path path = directory_.path() / "blobs/sha256" / digest.hex();
  for (const bool is_put : {true, false}) {
    ASSERT_TRUE(WriteFile(path, "wrong").ok());
    EXPECT_FALSE(store_->IsKnownDamaged(digest)) << "nobody has read it";
    EXPECT_FALSE(store_->IsIntact(digest, 4));
    EXPECT_FALSE(store_->IsKnownDamaged(digest)) << "nobody has read it";
    EXPECT_FALSE(store_->IsKnownIntact(digest));
    EXPECT_TRUE(store_->IsKnownDamaged(digest));
    if (is_put) {
      ASSERT_TRUE(store_->Put("right").ok());
      EXPECT_TRUE(store_->IsKnownIntact(digest));
    } else {
      ASSERT_TRUE(store_->Remove(digest).ok());
    }
    EXPECT_FALSE(store_->IsKnownDamaged(digest));
  }
}

TEST_F(BlobStoreTest, KnowsTheBlobsThatWereUsedLast) {
  const auto damaged = [&](size_t number) {
    const Digest digest = Digest::Of(std::to_string(number));
    const Path path = directory_.path() / "blobs/sha256" / digest.hex();
    if (!fs::exists(path)) {
      EXPECT_TRUE(WriteFile(path, "wrong").ok());
    }
    return digest;
  };
  for (size_t i = 0; i < 2 * BlobStore::kCheckedBlobs; ++i) {
    ASSERT_FALSE(store_->IsKnownIntact(damaged(i)));
    ASSERT_TRUE(store_->IsKnownDamaged(damaged(0))) << "used after each";
  }
  EXPECT_TRUE(store_->IsKnownDamaged(damaged(BlobStore::kCheckedBlobs)));
  EXPECT_FALSE(store_->IsKnownDamaged(damaged(1)));
}

// Others may damage, remove or repair the blob of the same digest after Prepare.
TEST_F(BlobStoreTest, FinishesAPreparedUploadWhateverHappensToTheBlob) {
  const Digest digest = Digest::Of("right");
  const Path path = directory_.path() / "blobs/sha256" / digest.hex();
  for (const char* before : {"right", "wrong", ""}) {
    for (const char* after : {"right", "wrong", ""}) {
      fs::remove(path);
      if (*before != '\0') {
        ASSERT_TRUE(WriteFile(path, before).ok());
      }
      BlobUpload upload = *store_->Begin("one");
      ASSERT_TRUE(upload.Append("right").ok());
      ASSERT_TRUE(upload.Prepare(digest).ok());
      if (*after == '\0') fs::remove(path);
      if (*after != '\0') {
        ASSERT_TRUE(WriteFile(path, after).ok());
      }
      ASSERT_TRUE(upload.Finish(digest).ok());
      EXPECT_EQ(*ReadFile(path), "right") << before << " " << after;
      EXPECT_TRUE(store_->Uploads().empty());
    }
  }
}

TEST_F(BlobStoreTest, TakesMoreBytesAfterPrepare) {
  ASSERT_TRUE(store_->Put("hello").ok());
  BlobUpload upload = *store_->Begin("one");
  ASSERT_TRUE(upload.Append("hello").ok());
  ASSERT_TRUE(upload.Prepare(Digest::Of("hello")).ok());
  ASSERT_TRUE(upload.Append(" world").ok());
  EXPECT_TRUE(upload.Prepare(Digest::Of("other")).ok()) << "Finish reports it";
  EXPECT_TRUE(upload.Finish(Digest::Of("hello world")).ok());
  EXPECT_EQ(Contents(Digest::Of("hello world")), "hello world");
}

TEST_F(BlobStoreTest, AnUploadThatCannotBecomeABlobCanBeResumed) {
  const Digest digest = Digest::Of("right");
  const Path path = directory_.path() / "blobs/sha256" / digest.hex();
  fs::create_directory(path);  // nothing can be renamed to it
  {
    BlobUpload upload = *store_->Begin("one");
    ASSERT_TRUE(upload.Append("right").ok());
    EXPECT_FALSE(upload.Finish(digest).ok());
  }
  EXPECT_EQ(fs::status(directory_.path() / "uploads/one").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  fs::remove(path);
  ASSERT_TRUE(store_->Resume("one")->Finish(digest).ok());
  EXPECT_EQ(Contents(digest), "right");
}

TEST_F(BlobStoreTest, AnIntactBlobIsNotWrittenAgain) {
  const Digest digest = *store_->Put("x");
  struct stat before {};
  struct stat after {};
  const Path path = directory_.path() / "blobs/sha256" / digest.hex();
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  ASSERT_TRUE(store_->Put("x").ok());
  BlobUpload upload = *store_->Begin("one");
  ASSERT_TRUE(upload.Append("x").ok());
  ASSERT_TRUE(upload.Finish(digest).ok());
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

TEST_F(BlobStoreTest, AnUploadIsResumedWhereItsWriterLeftIt) {
  ASSERT_TRUE(store_->Begin("one")->Append("hello ").ok());
  EXPECT_EQ(store_->Uploads(), std::vector<std::string>{"one"});
  BlobUpload upload = *store_->Resume("one");
  EXPECT_EQ(upload.offset(), 6u);
  ASSERT_TRUE(upload.Append("world").ok());
  EXPECT_TRUE(upload.Finish(Digest::Of("hello world")).ok());
}

TEST_F(BlobStoreTest, AnUploadIsResumedByAnotherStore) {
  ASSERT_TRUE(store_->Begin("one")->Append("hello ").ok());
  Reopen();
  BlobUpload upload = *store_->Resume("one");
  EXPECT_EQ(upload.offset(), 6u);
  ASSERT_TRUE(upload.Append("world").ok());
  EXPECT_TRUE(upload.Finish(Digest::Of("hello world")).ok());
}

TEST_F(BlobStoreTest, AHashIsNotReusedAfterAnotherStoreHasWritten) {
  ASSERT_TRUE(store_->Begin("one")->Append("a").ok());
  {
    const auto other = *BlobStore::Open(directory_.path());
    ASSERT_TRUE(other->Resume("one")->Append("b").ok());
  }
  BlobUpload upload = *store_->Resume("one");
  ASSERT_TRUE(upload.Append("c").ok());
  EXPECT_TRUE(upload.Finish(Digest::Of("abc")).ok());
}

// Of uploads that a client starts and does not end. Here, each file is removed by hand, and the
// store still has its hash. On a disk, that takes ten times as long as in memory.
TEST_F(BlobStoreTest, KeepsTheHashesOfAHundredThousandUploadsAtMost) {
  const auto memory = TemporaryDirectory::MakeIn("/dev/shm", "caip-");
  const Path directory = memory.ok() ? memory->path() : directory_.path();
  store_ = *BlobStore::Open(directory);
  const Path uploads = directory / "uploads";
  ASSERT_TRUE(store_->Begin("a")->Append("x").ok());
  for (int i = 0; i < 100'000; ++i) {
    const std::string id = "b" + std::to_string(i);
    ASSERT_TRUE(store_->Begin(id)->Append("x").ok());
    ASSERT_TRUE(fs::remove(uploads / id));
  }
  ASSERT_TRUE(WriteFile(uploads / "a", "y").ok());
  EXPECT_EQ(*store_->Resume("a")->DigestSoFar(), Digest::Of("y")) << "the file is read again";
}

TEST_F(BlobStoreTest, AnUploadSurvivesTheKillOfItsWriter) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto upload = store_->Begin("one");
    (void)upload->Append("hello ");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  BlobUpload upload = *store_->Resume("one");
  EXPECT_EQ(upload.offset(), 6u);
  ASSERT_TRUE(upload.Append("world").ok());
  EXPECT_TRUE(upload.Finish(Digest::Of("hello world")).ok());
}

TEST_F(BlobStoreTest, AnUploadHasOneWriter) {
  BlobUpload upload = *store_->Begin("one");
  EXPECT_EQ(store_->Begin("one").error().code, Code::kAlreadyExists);
  EXPECT_EQ(store_->Resume("one").error().reason, "uploadBusy");
  const auto other = *BlobStore::Open(directory_.path());
  EXPECT_EQ(other->Resume("one").error().code, Code::kAborted);
  upload.Cancel();
  EXPECT_EQ(store_->Resume("one").error().reason, "uploadUnknown");
  EXPECT_TRUE(store_->Begin("one").ok()) << "the id is free again";
}

TEST_F(BlobStoreTest, AMovedUploadLeavesNothingBehind) {
  BlobUpload first = *store_->Begin("one");
  ASSERT_TRUE(first.Append("a").ok());
  BlobUpload second = *store_->Begin("two");
  second = std::move(first);
  EXPECT_EQ(second.id(), "one");
  EXPECT_TRUE(store_->Resume("two").ok()) << "its writer is gone, its bytes are kept";
  EXPECT_TRUE(second.Finish(Digest::Of("a")).ok());
}

TEST_F(BlobStoreTest, TheIdOfAnUploadCannotLeaveTheDirectory) {
  for (const std::string& id :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("/x"),
        std::string("a/b"), std::string("a\0b", 3), std::string("a b"), std::string(129, 'a')}) {
    EXPECT_EQ(store_->Begin(id).error().reason, "uploadIdInvalid") << id;
    EXPECT_EQ(store_->Resume(id).error().reason, "uploadIdInvalid") << id;
    EXPECT_EQ(store_->Offset(id).error().reason, "uploadIdInvalid") << id;
  }
  EXPECT_TRUE(store_->Begin(std::string(128, 'a')).ok());
  EXPECT_EQ(store_->Offset("none").error().reason, "uploadUnknown");
}

// A full disk fails a write in the middle: the limit of a file's size does the same.
TEST_F(BlobStoreTest, AFailedWriteAddsNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit {
      6, RLIM_INFINITY
    };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto upload = store_->Begin("one");
    const bool is_kept = upload->Append("1234").ok() && !upload->Append("5678").ok() &&
                         upload->offset() == 4 && *store_->Offset("one") == 4;
    ::_exit(is_kept && upload->Finish(Digest::Of("1234")).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Contents(Digest::Of("1234")), "1234");
}

TEST_F(BlobStoreTest, ManyThreadsMayUploadTheSameBytes) {
  std::vector<std::thread> threads;
  std::atomic<int> finished{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i, &finished] {
      BlobUpload upload = *store_->Begin("upload-" + std::to_string(i));
      (void)upload.Append("same");
      finished += upload.Finish(Digest::Of("same")).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finished, 8);
  EXPECT_EQ(store_->List()->size(), 1u);
  EXPECT_TRUE(store_->Uploads().empty());
}

TEST_F(BlobStoreTest, ForeignFilesAreNoBlobs) {
  ASSERT_TRUE(WriteFile(directory_.path() / "blobs/sha256/README", "x").ok());
  fs::create_directory(directory_.path() / "blobs/sha256" / Digest::Of("x").hex());
  EXPECT_TRUE(store_->List()->empty());
  EXPECT_FALSE(store_->Has(Digest::Of("x")));
}

}  // namespace
}  // namespace caip::images
