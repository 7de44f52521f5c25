#include "fakes/gcs/store/directory_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <thread>

#include "base/encoding.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"
#include "tests/gcs/store_world.h"
#include "tests/support/database_dump.h"

namespace caip::gcs {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DirectoryStoreTest : public ::testing::Test {
 protected:
  DirectoryStoreTest() { EXPECT_TRUE(world_->CreateBucket("bkt").ok()); }
  StoreWorld world_;
};

// Old kernels do not know it (ENOSYS), and profiles of containers forbid it (EPERM).
void RefuseOpenat2OfThisThread(uint32_t error_number) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(DirectoryStore, SaysWhatItNeedsWhereOpenat2IsRefused) {
  for (const int error_number : {ENOSYS, EPERM}) {
    const TemporaryDirectory directory;
    std::thread([&] {
      RefuseOpenat2OfThisThread(static_cast<uint32_t>(error_number));
      const VirtualClock clock{Instant(std::chrono::hours(1))};
      const auto store = DirectoryStore::Open({.root = directory.path() / "buckets"}, clock);
      ASSERT_FALSE(store.ok());
      EXPECT_EQ(store.error().code, Code::kUnimplemented);
      EXPECT_THAT(store.error().message,
                  AllOf(HasSubstr("openat2"), HasSubstr(std::strerror(error_number)),
                        HasSubstr("Linux 5.6"), HasSubstr("seccomp profile")));
    }).join();
  }
}

TEST_F(DirectoryStoreTest, KeepsObjectsAsPlainFiles) {
  world_.Put("data/train.csv", "1,2,3\n");
  EXPECT_EQ(*ReadFile(world_.File("data/train.csv")), "1,2,3\n");
  EXPECT_EQ(world_.Get("data/train.csv"), "1,2,3\n");
}

TEST_F(DirectoryStoreTest, ComputesBothSumsOnTheWayIn) {
  const ObjectInfo info = world_.Put("x", "123456789");
  EXPECT_EQ(Hex(info.md5), "25f9e794323b453885f5181f1b624d0b");
  EXPECT_EQ(info.crc32c, 0xe3069283u);  // the check value of CRC-32C
  EXPECT_EQ(info.size, 9u);
  EXPECT_EQ(Crc32cText(info.crc32c), "4waSgw==");
  EXPECT_EQ(world_.Put("empty", "").crc32c, 0u);
}

TEST_F(DirectoryStoreTest, RefusesBytesThatAreNotWhatWasPromised) {
  auto writer = world_->NewObject("bkt", "x");
  ASSERT_TRUE((*writer)->Append("abc").ok());
  const auto info = (*writer)->Commit({}, {}, std::string(16, 'm'), std::nullopt);
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().code, Code::kInvalidArgument);
  writer = world_->NewObject("bkt", "x");
  EXPECT_FALSE((*writer)->Commit({}, {}, std::nullopt, 1).ok());
  EXPECT_THAT(world_.Names(), IsEmpty());
}

TEST_F(DirectoryStoreTest, DropsAnObjectThatIsNeverCommitted) {
  {
    auto writer = world_->NewObject("bkt", "x");
    ASSERT_TRUE((*writer)->Append("half").ok());
    EXPECT_THAT(world_.Names(), IsEmpty());
  }
  EXPECT_TRUE(FilesIn(world_.root() / ".caip-tmp").empty());
}

TEST_F(DirectoryStoreTest, GivesEveryWriteALargerGeneration) {
  const ObjectInfo first = world_.Put("x", "1");
  const ObjectInfo second = world_.Put("x", "2");  // the clock stands still
  EXPECT_GT(second.generation, first.generation);
  ASSERT_TRUE(world_.Delete("x").ok());
  world_.Reopen();
  EXPECT_GT(world_.Put("x", "3").generation, second.generation);
}

// A caip without the counter wrote such a file.
TEST_F(DirectoryStoreTest, GivesALargerGenerationWhereOnlyTheObjectsHaveOne) {
  const ObjectInfo first = world_.Put("x", "1");
  const ObjectInfo second = world_.Put("y", "2");
  world_.Close();
  testing::RunSql(world_.side_file(), "DELETE FROM counters WHERE name = 'generation'");
  world_.Reopen();
  EXPECT_GT(world_.Put("z", "3").generation, std::max(first.generation, second.generation));
}

TEST_F(DirectoryStoreTest, RemembersWhatAFileCannotSayOverARestart) {
  ObjectInfo info;
  info.content_type = "text/csv";
  info.content_encoding = "gzip";
  info.cache_control = "no-store";
  info.metadata = {{"goog-reserved-file-mtime", "17"}, {"näme", "wért"}};
  const auto put = world_.TryPut("x", "1", {}, info);
  ASSERT_TRUE(put.ok());
  world_.Reopen();
  const auto got = world_->GetObject("bkt", "x");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->generation, put->generation);
  EXPECT_EQ(got->content_type, "text/csv");
  EXPECT_EQ(got->content_encoding, "gzip");
  EXPECT_EQ(got->cache_control, "no-store");
  EXPECT_EQ(got->metadata, info.metadata);
  EXPECT_EQ(got->md5, put->md5);
  EXPECT_EQ(got->time_created, put->time_created);
}

TEST_F(DirectoryStoreTest, TakesFilesDroppedByHandForObjects) {
  world_.DropByHand("new/dir/notes.txt", "hello");
  EXPECT_THAT(world_.Names(), ElementsAre("new/dir/notes.txt"));
  EXPECT_EQ(world_.Get("new/dir/notes.txt"), "hello");
  const auto info = world_->GetObject("bkt", "new/dir/notes.txt");
  EXPECT_EQ(Hex(info->md5), "5d41402abc4b2a76b9719d911017c592");
  EXPECT_EQ(info->generation, world_->GetObject("bkt", "new/dir/notes.txt")->generation);
}

TEST_F(DirectoryStoreTest, TakesADirectoryMadeByHandForABucket) {
  std::filesystem::create_directory(world_.root() / "by-hand");
  ASSERT_TRUE(world_->GetBucket("by-hand").ok());
  EXPECT_EQ(world_->ListBuckets()->size(), 2u);
  std::filesystem::create_directory(world_.root() / "Not A Bucket");
  EXPECT_EQ(world_->ListBuckets()->size(), 2u);
}

TEST_F(DirectoryStoreTest, SeesAFileEditedByHandAsANewGeneration) {
  const ObjectInfo before = world_.Put("x", "aaaa");
  std::ofstream(world_.File("x")) << "bbbb";  // same size, same inode
  struct timespec times[2] = {{1, 0}, {1'600'000'000, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, world_.File("x").c_str(), times, 0), 0);
  const auto after = world_->GetObject("bkt", "x");
  EXPECT_GT(after->generation, before.generation);
  EXPECT_NE(after->md5, before.md5);
  EXPECT_EQ(world_.Get("x"), "bbbb");
}

TEST_F(DirectoryStoreTest, ForgetsAFileRemovedByHand) {
  world_.Put("x", "1");
  std::filesystem::remove(world_.File("x"));
  EXPECT_FALSE(world_.Has("x"));
  EXPECT_THAT(world_.Names(), IsEmpty());
}

TEST_F(DirectoryStoreTest, WorksOnWithoutItsSideStore) {
  const ObjectInfo before = world_.Put("x", "1");
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(world_.side_file().string() + suffix);
  }
  world_.clock().Advance(std::chrono::seconds(1));
  world_.Reopen();
  EXPECT_EQ(world_.Get("x"), "1");
  EXPECT_NE(world_->GetObject("bkt", "x")->generation, before.generation);
}

TEST_F(DirectoryStoreTest, PutsABrokenSideStoreAside) {
  world_.Put("x", "1");
  world_.Close();
  std::filesystem::remove(world_.side_file().string() + "-wal");  // which would repair it
  std::ofstream(world_.side_file()) << std::string(8192, '?');
  world_.Reopen();
  EXPECT_EQ(world_.Get("x"), "1");
  EXPECT_TRUE(std::filesystem::exists(world_.side_file().string() + ".broken"));
}

TEST_F(DirectoryStoreTest, FollowsNoSymbolicLink) {
  std::filesystem::create_symlink("/etc/passwd", world_.File("link"));
  std::filesystem::create_directory_symlink("/etc", world_.File("dir"));
  ASSERT_EQ(::mkfifo(world_.File("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(world_.Has("link"));
  EXPECT_FALSE(world_.Has("dir/passwd"));
  EXPECT_FALSE(world_.Has("pipe"));
  EXPECT_THAT(world_.Names(), IsEmpty());
  const auto put = world_.TryPut("dir/new", "x");
  ASSERT_FALSE(put.ok());
  EXPECT_EQ(put.error().code, Code::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists("/etc/new"));
  EXPECT_FALSE(world_.Delete("dir/passwd").ok());
  EXPECT_EQ(world_->DeleteBucket("bkt").error().code, Code::kFailedPrecondition);
}

TEST_F(DirectoryStoreTest, HoldsAnObjectBesideADirectory) {
  world_.Put("a", "file");
  const ObjectInfo before = *world_->GetObject("bkt", "a");
  world_.Put("a/b", "below");
  EXPECT_EQ(world_.Get("a"), "file");
  EXPECT_EQ(world_.Get("a/b"), "below");
  EXPECT_EQ(world_->GetObject("bkt", "a")->generation, before.generation);
  EXPECT_EQ(*ReadFile(world_.File("a%~file")), "file");
  world_.Put("a", "again");
  EXPECT_EQ(world_.Get("a"), "again");
  EXPECT_THAT(world_.Names(), ElementsAre("a", "a/b"));
  ASSERT_TRUE(world_.Delete("a/b").ok());
  EXPECT_EQ(*ReadFile(world_.File("a")), "again");  // it steps back when the directory goes
  EXPECT_FALSE(std::filesystem::exists(world_.File("a%~file")));
  world_.Put("a/b", "below");
  ASSERT_TRUE(world_.Delete("a").ok());
  EXPECT_FALSE(world_.Has("a"));
  EXPECT_THAT(world_.Names(), ElementsAre("a/b"));
}

TEST_F(DirectoryStoreTest, HoldsNamesThatNoDirectoryCan) {
  const std::vector<std::string> names = {"a/..",
                                          "../../etc/passwd",
                                          "/",
                                          "//",
                                          "a//b",
                                          "a/",
                                          "/lead",
                                          "tab\t",
                                          "x%2Fy",
                                          "\x01",
                                          std::string("n\0n", 3),
                                          "😀/ü",
                                          std::string(1024, 'l'),
                                          std::string(300, 'm') + "/x",
                                          "a/b/c/",
                                          std::string(1024, '/')};
  for (const std::string& name : names) world_.Put(name, "is " + name);
  for (const std::string& name : names) EXPECT_EQ(world_.Get(name), "is " + name);
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(world_.Names(), sorted);
  for (const std::string& name : names) EXPECT_TRUE(world_.Delete(name).ok());
  EXPECT_TRUE(std::filesystem::is_empty(world_.root() / "bkt"));
}

TEST_F(DirectoryStoreTest, RefusesNamesThatTheServiceRefuses) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a\nb"),
        std::string("a\rb"), std::string(1025, 'x'), std::string("\xff"),
        std::string(".well-known/acme-challenge/x")}) {
    const auto put = world_.TryPut(name, "x");
    ASSERT_FALSE(put.ok()) << name;
    EXPECT_EQ(put.error().code, Code::kInvalidArgument) << name;
    EXPECT_EQ(world_->GetObject("bkt", name).error().code, Code::kInvalidArgument) << name;
  }
  for (const std::string& bucket :
       {std::string("ab"), std::string("Upper"), std::string("-a-"), std::string("a..b"),
        std::string("1.2.3.4"), std::string(64, 'x'), std::string("google-x"), std::string("../x"),
        std::string(".caip-tmp")}) {
    EXPECT_EQ(world_->CreateBucket(bucket).error().code, Code::kInvalidArgument) << bucket;
    EXPECT_FALSE(world_->GetBucket(bucket).ok()) << bucket;
  }
  for (const char* bucket : {"abc", "a.b-c_d", "0-9", "staging-bucket.example.com"}) {
    EXPECT_TRUE(world_->CreateBucket(bucket).ok()) << bucket;
  }
}

TEST_F(DirectoryStoreTest, ChecksPreconditions) {
  const ObjectInfo info = world_.Put("x", "1");
  const int64_t g = info.generation;
  struct Case {
    const char* what;
    Preconditions preconditions;
    bool live;  // for the object that is there; else for one that is not
    bool holds;
  };
  const Case cases[] = {
      {"generation is", {.if_generation_match = g}, true, true},
      {"generation is another", {.if_generation_match = g + 1}, true, false},
      {"must not exist but does", {.if_generation_match = 0}, true, false},
      {"must not exist", {.if_generation_match = 0}, false, true},
      {"generation of nothing", {.if_generation_match = g}, false, false},
      {"generation is not", {.if_generation_not_match = g}, true, false},
      {"generation is not another", {.if_generation_not_match = 5}, true, true},
      {"must exist", {.if_generation_not_match = 0}, true, true},
      {"must exist but does not", {.if_generation_not_match = 0}, false, false},
      {"metageneration is", {.if_metageneration_match = 1}, true, true},
      {"metageneration is another", {.if_metageneration_match = 2}, true, false},
      {"metageneration of nothing", {.if_metageneration_match = 1}, false, false},
      {"metageneration is not", {.if_metageneration_not_match = 1}, true, false},
      {"metageneration is not another", {.if_metageneration_not_match = 2}, true, true},
  };
  for (const Case& row : cases) {
    const Status status = CheckPreconditions(row.preconditions, row.live ? &info : nullptr);
    EXPECT_EQ(status.ok(), row.holds) << row.what;
    const Code code = status.ok() ? Code::kFailedPrecondition : status.error().code;
    EXPECT_EQ(code, Code::kFailedPrecondition) << row.what;
  }
}

TEST_F(DirectoryStoreTest, ChangesNothingWhenAPreconditionDoesNotHold) {
  const ObjectInfo info = world_.Put("x", "1");
  const Preconditions fails = {.if_generation_match = info.generation + 1};
  EXPECT_EQ(world_.TryPut("x", "2", fails).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(world_->DeleteObject("bkt", "x", fails).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(world_->UpdateObject(info, fails).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(world_.Get("x"), "1");
  EXPECT_EQ(world_->GetObject("bkt", "x")->metageneration, 1);
  EXPECT_EQ(world_.TryPut("y", "1", {.if_generation_match = 7}).error().code,
            Code::kFailedPrecondition);
  EXPECT_FALSE(world_.Has("y"));
}

TEST_F(DirectoryStoreTest, UpdatesMetadataWithoutANewGeneration) {
  ObjectInfo info = world_.Put("x", "1");
  info.metadata = {{"k", "v"}};
  info.content_type = "text/plain";
  const auto updated = world_->UpdateObject(info, {});
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(updated->generation, info.generation);
  EXPECT_EQ(updated->metageneration, 2);
  EXPECT_EQ(world_->GetObject("bkt", "x")->metadata.at("k"), "v");
  info.generation += 1;
  EXPECT_EQ(world_->UpdateObject(info, {}).error().code, Code::kNotFound);
}

TEST_F(DirectoryStoreTest, KeepsAReaderGoingWhenItsObjectIsOverwritten) {
  world_.Put("x", "old bytes");
  const auto reader = world_->OpenObject("bkt", "x");
  world_.Put("x", "new");
  ASSERT_TRUE(world_.Delete("x").ok());
  char buffer[16];
  EXPECT_EQ(*(*reader)->ReadAt(4, buffer, sizeof buffer), 5u);
  EXPECT_EQ(std::string(buffer, 5), "bytes");
  EXPECT_EQ(*(*reader)->ReadAt(9, buffer, sizeof buffer), 0u);
}

TEST_F(DirectoryStoreTest, DeletesOnlyEmptyBuckets) {
  world_.Put("a/b", "1");
  EXPECT_EQ(world_->DeleteBucket("bkt").error().code, Code::kFailedPrecondition);
  EXPECT_EQ(world_.Get("a/b"), "1");
  ASSERT_TRUE(world_.Delete("a/b").ok());
  std::filesystem::create_directories(world_.File("empty/by/hand"));
  EXPECT_TRUE(world_->DeleteBucket("bkt").ok());
  EXPECT_EQ(world_->GetBucket("bkt").error().code, Code::kNotFound);
  EXPECT_EQ(world_->DeleteBucket("bkt").error().code, Code::kNotFound);
}

TEST_F(DirectoryStoreTest, RefusesABucketMadeTwice) {
  EXPECT_EQ(world_->CreateBucket("bkt").error().code, Code::kAlreadyExists);
}

TEST_F(DirectoryStoreTest, NamesTheBucketThatIsMissing) {
  const auto writer = world_->NewObject("missing", "x");
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code, Code::kNotFound);
  EXPECT_THAT(writer.error().message, HasSubstr("missing"));
  EXPECT_EQ(world_->List("missing", {}).error().code, Code::kNotFound);
}

TEST_F(DirectoryStoreTest, MakesMissingBucketsWhereToldTo) {
  TemporaryDirectory directory;
  auto store = DirectoryStore::Open({.root = directory.path() / "buckets", .create_buckets = true},
                                    world_.clock());
  ASSERT_TRUE((*store)->NewObject("fresh-one", "x").ok());
  EXPECT_TRUE((*store)->GetBucket("fresh-one").ok());
}

TEST_F(DirectoryStoreTest, SaysWhereAnObjectIs) {
  EXPECT_EQ(world_->PathOf("bkt", "a/b"), world_.File("a/b"));
  EXPECT_EQ(world_->PathOf("bkt", "out/"), world_.File("out"));
  EXPECT_EQ(world_->PathOf("bkt", ""), world_.root() / "bkt");
  EXPECT_EQ(world_->PathOf("bkt", "../x"), world_.File("%2E%2E/x"));
}

TEST_F(DirectoryStoreTest, ClearsAwayWhatAnEarlierProcessLeftHalfWritten) {
  std::ofstream(world_.root() / ".caip-tmp" / "123-4") << "half";
  world_.Reopen();
  EXPECT_TRUE(FilesIn(world_.root() / ".caip-tmp").empty());
}

// The buckets are among the files of replicas (/gcs).
TEST_F(DirectoryStoreTest, FollowsNoLinkThatATrainerPutInThePlaceOfItsDirectories) {
  const TemporaryDirectory elsewhere;
  std::filesystem::create_directory(elsewhere.path() / "bkt");
  for (const char* file : {"a", "bkt/7"}) std::ofstream(elsewhere.path() / file) << "kept";
  for (const char* own : {".caip-tmp", ".caip-versions"}) {
    world_.Close();
    RemoveTree(world_.root() / own);
    std::filesystem::create_directory_symlink(elsewhere.path(), world_.root() / own);
    world_.Reopen();
    EXPECT_TRUE(
        std::filesystem::is_directory(std::filesystem::symlink_status(world_.root() / own)));
  }
  const Path versions = world_.root() / ".caip-versions" / "bkt";
  std::filesystem::create_directory_symlink(elsewhere.path() / "bkt", versions);
  Bucket bucket = *world_->GetBucket("bkt");
  bucket.settings = R"({"versioning": {"enabled": true}})";
  ASSERT_TRUE(world_->UpdateBucket(bucket).ok());
  world_.Put("a", "first");
  EXPECT_FALSE(world_.TryPut("a", "second").ok()) << "it can keep no version";
  world_.Reopen();
  world_.Put("a", "third");
  EXPECT_EQ(FilesIn(versions).size(), 1u);
  EXPECT_THAT(FilesIn(elsewhere.path()), ::testing::UnorderedElementsAre("a", "bkt/7"));
}

}  // namespace
}  // namespace caip::gcs
