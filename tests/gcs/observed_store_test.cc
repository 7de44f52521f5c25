#include "fakes/gcs/observed_store.h"

#include <gmock/gmock.h>

#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;

// Writes down what it is told, and stops the change whose number it was given.
class Diary final : public MutationListener {
 public:
  Status Before(const Mutation& mutation) override {
    if (static_cast<int>(entries.size()) == stop_at) {
      return Error{Code::kUnavailable, "stopped here"};
    }
    entries.push_back("+" + Name(mutation));
    return Ok{};
  }
  void After(const Mutation& mutation, bool worked) override {
    entries.push_back((worked ? "=" : "!") + Name(mutation));
  }
  static std::string Name(const Mutation& mutation) {
    return std::to_string(static_cast<int>(mutation.kind)) + mutation.bucket + "/" +
           mutation.object;
  }
  std::vector<std::string> entries;
  int stop_at = -1;
};

TEST(ObservedStore, TellsOfEachChangeBeforeAndAfter) {
  StoreWorld world;
  Diary diary;
  const auto store = Observed(*world, diary);
  ASSERT_TRUE(store->CreateBucket("bkt").ok());
  auto writer = store->NewObject("bkt", "x");
  ASSERT_TRUE((*writer)->Append("1").ok());
  ASSERT_TRUE((*writer)->Commit({}, {}, std::nullopt, std::nullopt).ok());
  ASSERT_TRUE(store->UpdateObject(*store->GetObject("bkt", "x"), {}).ok());
  ASSERT_FALSE(store->DeleteObject("bkt", "y", {}).ok());
  ASSERT_TRUE(store->DeleteObject("bkt", "x", {}).ok());
  ASSERT_TRUE(store->DeleteBucket("bkt").ok());
  EXPECT_THAT(diary.entries,
              ElementsAre("+0bkt/", "=0bkt/", "+3bkt/x", "=3bkt/x", "+5bkt/x", "=5bkt/x", "+4bkt/y",
                          "!4bkt/y", "+4bkt/x", "=4bkt/x", "+2bkt/", "=2bkt/"));
}

TEST(ObservedStore, LetsTheListenerStopAChange) {
  StoreWorld world;
  ASSERT_TRUE(world->CreateBucket("bkt").ok());
  Diary diary;
  diary.stop_at = 0;
  const auto store = Observed(*world, diary);
  auto writer = store->NewObject("bkt", "x");
  const auto info = (*writer)->Commit({}, {}, std::nullopt, std::nullopt);
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().message, "stopped here");
  EXPECT_FALSE(world.Has("x"));
}

}  // namespace
}  // namespace caip::gcs
