// The process is killed between the steps of a commit, at each step in turn. Afterwards the client
// repeats its last request.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <string>

#include "fakes/gcs/service/storage_service.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

constexpr uint64_t kSeed = 7;
constexpr int kStepsMax = 100;
constexpr char kContents[] = "first piece, last piece";
constexpr size_t kFirstBytes = 12;

class PieceBody final : public http::BodyReader {
 public:
  explicit PieceBody(std::string text) : text_(std::move(text)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = text_.copy(buffer, size, at_);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

UploadPlan PlanOfNewObject() {
  UploadPlan plan;
  plan.info.bucket = "bkt";
  plan.info.name = "made";
  plan.info.content_type = "text/made";
  plan.preconditions.if_generation_match = 0;
  return plan;
}

template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.ok() ? Status(Ok{}) : Status(result.error());
}

// A client of a resumable upload. Asks how far the upload is, and sends the rest.
Status SendRest(StorageService& service, const std::string& id) {
  PieceBody none("");
  const ContentRange query{std::nullopt, std::nullopt, std::nullopt};
  ASSIGN_OR_RETURN(const UploadProgress progress, service.ContinueUpload({id, query, {}}, none));
  if (progress.done) return Ok{};
  const std::string contents = kContents;
  PieceBody rest(contents.substr(progress.received));
  const ContentRange range{progress.received, contents.size() - 1, contents.size()};
  return StatusOf(service.ContinueUpload({id, range, {}}, rest));
}

/// A write in two requests. The last one is repeated after a kill, with what the first one
/// returned.
struct CrashedWrite {
  const char* name;
  std::function<Result<std::string>(StorageService&)> begin;
  std::function<Status(StorageService&, const std::string&)> finish;
  std::string contents = kContents;
};

Result<std::string> BeginSession(StorageService& service) {
  ASSIGN_OR_RETURN(const std::string id, service.StartUpload(PlanOfNewObject()));
  PieceBody first(std::string(kContents).substr(0, kFirstBytes));
  RETURN_IF_ERROR(
      service.ContinueUpload({id, ContentRange{0, kFirstBytes - 1, std::nullopt}, {}}, first));
  return id;
}

Status FinishEmpty(StorageService& service, const std::string& id) {
  PieceBody none("");
  const ContentRange whole{std::nullopt, std::nullopt, 0};
  return StatusOf(service.ContinueUpload({id, whole, {}}, none));
}

Status InsertKeyed(StorageService& service, const std::string& key) {
  PieceBody bytes(kContents);
  return StatusOf(service.InsertOnce(PlanOfNewObject(), bytes, key));
}

CopyRequest CopyOfSource() {
  CopyRequest copy;
  copy.source = {"bkt", "source"};
  copy.target = {"bkt", "made"};
  copy.of_target.if_generation_match = 0;
  copy.change = [](ObjectInfo* info) -> Status {
    info->content_type = "text/made";
    info->storage_class = "NEARLINE";
    return Ok{};
  };
  return copy;
}

Result<std::string> BeginRewrite(StorageService& service) {
  ASSIGN_OR_RETURN(const RewriteProgress progress, service.Rewrite(CopyOfSource(), "", 5));
  return progress.token;
}

Status FinishRewrite(StorageService& service, const std::string& token) {
  ASSIGN_OR_RETURN(const RewriteProgress progress, service.Rewrite(CopyOfSource(), token, {}));
  return progress.made ? Status(Ok{}) : Status(Error{Code::kInternal, "the rewrite is not done"});
}

const CrashedWrite kCrashedWrites[] = {
    {"resumable upload", BeginSession, SendRest},
    {"empty resumable upload",
     [](StorageService& service) { return service.StartUpload(PlanOfNewObject()); }, FinishEmpty,
     ""},
    {"completion of parts", [](StorageService&) { return Result<std::string>("abc123"); },
     InsertKeyed},
    {"rewrite in steps", BeginRewrite, FinishRewrite},
};

// More than the bytes of a small object.
const std::string kLargeOld(100'000, 'o');
const std::string kLargeNew(100'001, 'n');

/// A write in one request, over an object with other bytes and another type. "source" has the new
/// bytes and their type.
struct CrashedReplacement {
  const char* name;
  std::function<Status(StorageService&)> write;
  std::string before = kLargeOld;
  std::string after = kLargeNew;
  bool is_durable = true;
};

std::function<Status(StorageService&)> Insert(const std::string& contents) {
  return [contents](StorageService& service) {
    UploadPlan plan = PlanOfNewObject();
    plan.preconditions = {};
    PieceBody bytes(contents);
    return StatusOf(service.Insert(plan, bytes));
  };
}

Status MoveSource(StorageService& service) {
  return StatusOf(service.MoveObject({"bkt", "source"}, "made", {}, {}));
}

Status CopySource(StorageService& service) {
  CopyRequest copy = CopyOfSource();
  copy.of_target = {};
  return StatusOf(service.Copy(copy));
}

const CrashedReplacement kCrashedReplacements[] = {
    {"large upload", Insert(kLargeNew)},
    {"large upload over a small object", Insert(kLargeNew), "old"},
    {"large upload without syncs", Insert(kLargeNew), kLargeOld, kLargeNew, false},
    {"small upload", Insert("new"), "old", "new"},
    {"small upload over a large object", Insert("new"), kLargeOld, "new"},
    {"move", MoveSource},
    {"move over a small object", MoveSource, "old"},
    {"move of a small object", MoveSource, "old", "new"},
    {"copy", CopySource},
};

class CommitCrashTest : public ::testing::Test {
 protected:
  CommitCrashTest() : world_(true) {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    world_.Put("source", kContents);
    world_.Close();
  }

  // In a process of its own. True: it was killed before it could finish.
  bool RunUntilStep(const char* name, const std::function<Status(StorageService&)>& write, int step,
                    bool is_durable = true) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = DirectoryStore::Open({.root = world_.root(),
                                         .durable = is_durable,
                                         .between_steps =
                                             [&step] {
                                               if (step-- == 0) ::_exit(9);
                                             }},
                                        world_.clock());
      if (!store.ok()) ::_exit(1);
      StorageService service(**store, kSeed, "1");
      ::_exit(write(service).ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_NE(WEXITSTATUS(status), 1) << name << " fails without a kill";
    return WEXITSTATUS(status) == 9;
  }

  StoreWorld world_;
};

TEST_F(CommitCrashTest, TheClientThatRepeatsItsLastRequestGetsItsObject) {
  for (const CrashedWrite& write : kCrashedWrites) {
    for (int step = 0; step < kStepsMax; ++step) {
      world_.Reopen();
      (void)world_.Delete("made").ok();
      std::string begun;
      {
        StorageService service(*world_, kSeed, "1");
        const auto first = write.begin(service);
        ASSERT_TRUE(first.ok()) << first.error().message;
        begun = *first;
      }
      world_.Close();
      const auto finish = [&](StorageService& service) { return write.finish(service, begun); };
      const bool is_killed = RunUntilStep(write.name, finish, step);
      const std::string where = std::string(write.name) + ", step " + std::to_string(step);

      world_.Reopen();
      StorageService service(*world_, kSeed + 1, "1");
      const Status repeated = write.finish(service, begun);
      EXPECT_TRUE(repeated.ok()) << where << ": " << repeated.error().message;
      EXPECT_EQ(world_.Get("made"), write.contents) << where;
      const auto made = world_->GetObject("bkt", "made");
      ASSERT_TRUE(made.ok()) << where;
      EXPECT_EQ(made->content_type, "text/made") << where;
      if (!is_killed) break;
      ASSERT_LT(step + 1, kStepsMax) << "the commit has no end";
    }
  }
}

TEST_F(CommitCrashTest, AnObjectThatIsReplacedKeepsItsMetadataOrHasThatOfTheNewOne) {
  for (const CrashedReplacement& replacement : kCrashedReplacements) {
    std::set<std::string> seen;
    for (int step = 0; step < kStepsMax; ++step) {
      world_.Reopen();
      ObjectInfo info;
      info.content_type = "text/old";
      ASSERT_TRUE(world_.TryPut("made", replacement.before, {}, info).ok());
      info.content_type = "text/made";
      ASSERT_TRUE(world_.TryPut("source", replacement.after, {}, info).ok());
      world_.Close();
      const bool is_killed =
          RunUntilStep(replacement.name, replacement.write, step, replacement.is_durable);
      const std::string where = std::string(replacement.name) + ", step " + std::to_string(step);

      world_.Reopen();
      const auto made = world_->GetObject("bkt", "made");
      ASSERT_TRUE(made.ok()) << where;
      EXPECT_EQ(made->content_type,
                world_.Get("made") == replacement.after ? "text/made" : "text/old")
          << where;
      seen.insert(made->content_type);
      if (!is_killed) break;
      ASSERT_LT(step + 1, kStepsMax) << "the commit has no end";
    }
    EXPECT_EQ(seen.size(), 2u) << replacement.name;
  }
}

/// A change of the object "made", which has a file of its own, or of its bucket. Another client's
/// change is saved at a step of it. Then the power fails, before the directory has been synced.
struct UnsyncedReplacement {
  const char* name;
  std::function<Status(StorageService&)> write;
  int steps;  // before the directory is synced
};

Status DeleteMade(StorageService& service) { return service.DeleteObject({"bkt", "made"}, {}, {}); }

Status MoveMade(StorageService& service) {
  return StatusOf(service.MoveObject({"bkt", "made"}, "moved", {}, {}));
}

const UnsyncedReplacement kUnsyncedReplacements[] = {
    {"large upload", Insert(kLargeNew), 3},
    {"deletion", DeleteMade, 3},
    {"move away", MoveMade, 3},
    {"move over it", MoveSource, 2},
    {"copy over it", CopySource, 3},
};

class PowerFailureTest : public ::testing::Test {
 protected:
  PowerFailureTest() : world_(true) {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    EXPECT_TRUE(world_->CreateBucket("other").ok());
    std::filesystem::create_directory(Kept());
    for (const char* name : {"made", "source"}) {
      ObjectInfo info;
      info.content_type = std::string("text/") + name;
      const std::string& contents = name == std::string("made") ? kLargeOld : kLargeNew;
      EXPECT_TRUE(world_.TryPut(name, contents, {}, info).ok());
      std::filesystem::create_hard_link(world_.File(name), Kept() / name);
    }
    world_.Close();
  }
  Path Kept() const { return world_.root().parent_path() / "kept"; }

  // Another client changes the settings of another bucket.
  static void SaveAnotherChange(DirectoryStore& store) {
    auto bucket = store.GetBucket("other");
    if (!bucket.ok() || !store.UpdateBucket(*bucket).ok()) ::_exit(2);
  }

  // In a process of its own, which ends at that step, after another change has been saved.
  void SaveAtStep(const UnsyncedReplacement& change, int step) {
    const pid_t child = ::fork();
    if (child == 0) {
      DirectoryStore* opened = nullptr;
      const auto at_step = [&] {
        if (!opened || step-- != 0) return;
        SaveAnotherChange(*opened);
        ::_exit(9);
      };
      auto store =
          DirectoryStore::Open({.root = world_.root(), .between_steps = at_step}, world_.clock());
      if (!store.ok()) ::_exit(1);
      opened = store->get();
      StorageService service(*opened, kSeed, "1");
      ::_exit(change.write(service).ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 9) << change.name;
  }

  // The names of the bucket are as they were before the change, and the host has started again.
  void FailPower() {
    for (const char* name : {"made", "source", "moved"}) {
      std::filesystem::remove(world_.File(name));
      if (!std::filesystem::exists(Kept() / name)) continue;
      std::filesystem::create_hard_link(Kept() / name, world_.File(name));
    }
    world_.Open({.root = world_.root(), .boot = "another"});
  }

  StoreWorld world_;
};

TEST_F(PowerFailureTest, GivesAnObjectItsFileBackWithItsMetadata) {
  for (const UnsyncedReplacement& change : kUnsyncedReplacements) {
    for (int step = 0; step < change.steps; ++step) {
      const std::string where = std::string(change.name) + ", step " + std::to_string(step);
      SaveAtStep(change, step);
      FailPower();
      for (const std::string name : {"made", "source"}) {
        const auto found = world_->GetObject("bkt", name);
        ASSERT_TRUE(found.ok()) << where;
        EXPECT_EQ(found->content_type, "text/" + name) << where;
        EXPECT_EQ(world_.Get(name), name == "made" ? kLargeOld : kLargeNew) << where;
      }
      EXPECT_FALSE(world_.Has("moved")) << where;
      world_.Close();
    }
  }
}

}  // namespace
}  // namespace caip::gcs
