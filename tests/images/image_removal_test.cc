// Removed images: which blobs and layers go with them, and which stay. Also garbage collection.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/file.h>

#include <csignal>
#include <string>
#include <thread>

#include "tests/images/image_store_world.h"

namespace caip::images {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(ImageStoreTest, RemovesWhatNoOtherNameNeeds) {
  ImagePlan second = SmallImage("gcr.io/project/other:v1");
  second.layers[1] = {{"other", "3"}};
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage(), second}))).ok());
  ASSERT_TRUE(
      ImportFrom("oci:" + (directory_.path() / "layout").string() + ":gcr.io/project/other:v1",
                 "gcr.io/project/image:v2")
          .ok());
  for (const char* name : {"gcr.io/project/image:v1", "gcr.io/project/other:v1"}) {
    ASSERT_TRUE(store_->Unpack(DigestOf(name)).ok());
  }
  EXPECT_EQ(store_->blobs().List()->size(), 7u) << "two manifests and configurations, three layers";

  const RemovedFiles first = Remove("gcr.io/project/image:v1");
  EXPECT_EQ(first.blobs, 3u) << "its manifest, configuration and upper layer";
  EXPECT_EQ(first.layers, 1u);
  EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/project/other:v1")).ok());
  EXPECT_EQ(Remove("gcr.io/project/other:v1").blobs, 0u) << "another repository has it, too";
  EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/project/image:v2")).ok());
  EXPECT_EQ(Remove("gcr.io/project/image:v2").blobs, 4u);
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
  EXPECT_THAT(*store_->names().Repositories(), IsEmpty());
  EXPECT_EQ(store_->Remove(*ImageReference::Parse("gcr.io/project/image:v2")).error().reason,
            "nameUnknown");
}

// While it lives, a thread that opens the file for writing waits. The kernel's leases do that.
class HeldFile {
 public:
  explicit HeldFile(const Path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGIO);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    is_held_ = ::fcntl(file_.get(), F_SETLEASE, F_RDLCK) == 0;
  }
  ~HeldFile() {
    Release();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  bool is_held() const { return is_held_; }
  /// True when a thread waits.
  bool WaitForOpener() {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGIO);
    const timespec patience{.tv_sec = 30, .tv_nsec = 0};
    return ::sigtimedwait(&signals, nullptr, &patience) == SIGIO;
  }
  void Release() { file_.Close(); }

 private:
  Fd file_;
  sigset_t before_{};
  bool is_held_ = false;
};

// Layers may have millions of files. The store's own lock is free when they are removed, so that
// pushes and imports do not wait, also of an image with the same layers.
TEST_F(ImageStoreTest, IsFreeForImportsWhileLayersAreRemoved) {
  const std::string name = "gcr.io/project/image:v1";
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  const Path layer = store_->Unpack(DigestOf(name))->layers.front();
  HeldFile layer_lock(layer.string() + ".lock");
  if (!layer_lock.is_held()) GTEST_SKIP() << "this file system has no leases";
  std::thread removal([&] { EXPECT_EQ(Remove(name).layers, 2u); });
  EXPECT_TRUE(layer_lock.WaitForOpener()) << "no layer is removed";
  Fd store_lock(::open((directory_.path() / "images" / "lock").c_str(), O_RDWR | O_CLOEXEC));
  const bool is_free = ::flock(store_lock.get(), LOCK_SH | LOCK_NB) == 0;
  EXPECT_TRUE(is_free);
  store_lock.Close();
  if (is_free) {
    EXPECT_TRUE(ImportFrom(layout).ok());
  }
  layer_lock.Release();
  removal.join();
  ASSERT_TRUE(is_free);
  EXPECT_FALSE(fs::exists(layer));
  const auto unpacked = store_->Unpack(DigestOf(name));
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(*ReadFile(unpacked->layers.front() / "base"), "1") << "unpacked again";
}

TEST_F(ImageStoreTest, ATagOfTwoKeepsTheImage) {
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  ASSERT_TRUE(ImportFrom(layout, "gcr.io/project/image:v2").ok());
  EXPECT_EQ(Remove("gcr.io/project/image:v1").blobs, 0u);
  EXPECT_TRUE(store_->Unpack(DigestOf("gcr.io/project/image:v2")).ok());
}

TEST_F(ImageStoreTest, ADigestRemovesAllItsTags) {
  const Path layout = WriteLayout(MakeLayout({SmallImage()}));
  ASSERT_TRUE(ImportFrom(layout).ok());
  ASSERT_TRUE(ImportFrom(layout, "gcr.io/project/image:v2").ok());
  Remove("gcr.io/project/image@" + DigestOf("gcr.io/project/image:v1").text());
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, AnIndexTakesItsMembersWithIt) {
  ImagePlan foreign = SmallImage("");
  foreign.platform = kForeign;
  ImageFiles files = {{"oci-layout", R"({"imageLayoutVersion":"1.0.0"})"}};
  const std::string index = IndexOf({AddImage(files, foreign), AddImage(files, SmallImage(""))});
  files["index.json"] = IndexOf({{AddBlob(files, index), kOciIndex, index.size()}});
  ASSERT_TRUE(ImportFrom(WriteLayout(files), "gcr.io/p/i").ok());
  EXPECT_EQ(store_->names().Manifests("gcr.io/p/i")->size(), 3u);
  Remove("gcr.io/p/i");
  EXPECT_THAT(*store_->names().Repositories(), IsEmpty());
  EXPECT_THAT(*store_->blobs().List(), IsEmpty());
}

TEST_F(ImageStoreTest, LayersInUseStayUntilTheyAreFree) {
  ASSERT_TRUE(ImportFrom(WriteLayout(MakeLayout({SmallImage()}))).ok());
  {
    const auto unpacked = store_->Unpack(DigestOf("gcr.io/project/image:v1"));
    EXPECT_EQ(Remove("gcr.io/project/image:v1").layers, 0u);
    EXPECT_EQ(*ReadFile(unpacked->layers[0] / "base"), "1");
  }
  EXPECT_EQ(store_->CollectGarbage()->layers, 2u);
}

// What a registry has received and not yet named.
TEST_F(ImageStoreTest, GarbageCollectionKeepsLinkedBlobsAndForeignUploads) {
  const Digest linked = *store_->blobs().Put("linked");
  const Digest lost = *store_->blobs().Put("lost");
  ASSERT_TRUE(store_->names().Link("gcr.io/p/i", linked).ok());
  ASSERT_TRUE(store_->blobs().Begin("of-a-client")->Append("x").ok());
  ASSERT_TRUE(store_->blobs().Begin("caip-1-1")->Append("of a killed process").ok());
  const BlobUpload running = *store_->blobs().Begin("caip-2-2");
  EXPECT_EQ(store_->CollectGarbage()->blobs, 1u);
  EXPECT_TRUE(store_->blobs().Has(linked));
  EXPECT_FALSE(store_->blobs().Has(lost));
  EXPECT_THAT(store_->blobs().Uploads(), UnorderedElementsAre("of-a-client", "caip-2-2"));
}

}  // namespace
}  // namespace caip::images
