// Long work for a client that has gone stops.

#include "base/abandoned_work.h"

#include <gtest/gtest.h>

#include <functional>

#include "fakes/gcs/service/storage_service.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

/// An operation that may take long. `run` returns its error, if any.
struct LongWork {
  const char* name;
  std::function<Status(StorageService&)> run;
};

template <typename T>
Status OutcomeOf(const Result<T>& result) {
  return result.ok() ? Status(Ok{}) : Status(result.error());
}

CopyRequest CopyToTarget() {
  CopyRequest copy;
  copy.source = {"bkt", "source"};
  copy.target = {"bkt", "target"};
  copy.change = [](ObjectInfo*) -> Status { return Ok{}; };
  return copy;
}

const LongWork kLongWorks[] = {
    {"get of a file without checksums",
     [](StorageService& service) {
       return OutcomeOf(service.GetObject({"bkt", "unhashed"}));
     }},
    {"list of a file without checksums",
     [](StorageService& service) { return OutcomeOf(service.ListObjects("bkt", {})); }},
    {"copy", [](StorageService& service) { return OutcomeOf(service.Copy(CopyToTarget())); }},
    {"rewrite",
     [](StorageService& service) { return OutcomeOf(service.Rewrite(CopyToTarget(), "", {})); }},
    {"compose",
     [](StorageService& service) {
       ComposeRequest compose;
       compose.target = {"bkt", "target"};
       compose.sources = {{"source"}, {"source"}};
       return OutcomeOf(service.Compose(std::move(compose)));
     }},
};

TEST(AbandonedWork, StopsWithoutAResult) {
  for (const LongWork& work : kLongWorks) {
    StoreWorld world;
    ASSERT_TRUE(world->CreateBucket("bkt").ok());
    world.Put("source", "bytes");
    world.DropByHand("unhashed", "more bytes");
    StorageService service(*world, 1, "1");
    {
      const AbandonableWork gone([] { return true; });
      const Status stopped = work.run(service);
      ASSERT_FALSE(stopped.ok()) << work.name;
      EXPECT_EQ(stopped.error().code, Code::kCancelled) << work.name;
    }
    EXPECT_FALSE(world.Has("target")) << work.name;
    EXPECT_TRUE(FilesIn(world.root() / ".caip-tmp").empty()) << work.name;
    const AbandonableWork waiting([] { return false; });
    const Status done = work.run(service);
    EXPECT_TRUE(done.ok()) << work.name << ": " << done.error().message;
  }
}

// Its client may have lost the connection, and asks for the session later.
TEST(AbandonedWork, TheEndOfAResumableUploadDoesNotStop) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  {
    auto writer = world->ResumeObject("bkt", "x", "abc");
    ASSERT_TRUE((*writer)->Append("received before").ok());
  }
  const AbandonableWork gone([] { return true; });
  auto writer = world->ResumeObject("bkt", "x", "abc");
  EXPECT_TRUE((*writer)->Commit({}, {}, std::nullopt, std::nullopt).ok());
}

}  // namespace
}  // namespace caip::gcs
