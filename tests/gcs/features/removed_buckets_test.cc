// What the emulator keeps in memory of buckets that were deleted.
#include <malloc.h>

#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

constexpr int kBuckets = 1'500;
constexpr size_t kBytesOfABucket = 60;  // with a record of it, more than 300

class RemovedBucketsTest : public ApiTest {
 protected:
  // The least of some readings: the thread of the last connection may not have ended yet. 0 with a
  // sanitizer.
  size_t MemoryInUse() {
    size_t least = ::mallinfo2().uordblks;
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(Call("GET", "/storage/v1/b/bkt").status, 200);
      least = std::min<size_t>(least, ::mallinfo2().uordblks);
    }
    return least;
  }
  void MakeAndRemove(int first, int end) {
    for (int i = first; i < end; ++i) {
      const std::string name = "removed-" + std::to_string(i);
      ASSERT_EQ(Call("POST", "/storage/v1/b?project=p", R"({"name": ")" + name + "\"}").status,
                200);
      ASSERT_EQ(Call("GET", "/storage/v1/b/" + name).status, 200);
      ASSERT_EQ(Call("DELETE", "/storage/v1/b/" + name).status, 204);
    }
  }
};

TEST_F(RemovedBucketsTest, LeaveNothingInMemory) {
  MakeAndRemove(0, 300);
  const size_t before = MemoryInUse();
  MakeAndRemove(300, 300 + kBuckets);
  EXPECT_LT(MemoryInUse(), before + kBuckets * kBytesOfABucket);
  EXPECT_EQ(Call("GET", "/storage/v1/b/removed-300").status, 404);
}

TEST_F(RemovedBucketsTest, ComeBackWithoutTheirSettings) {
  const std::string with_label = R"({"name": "again", "labels": {"a": "b"}})";
  ASSERT_EQ(Call("POST", "/storage/v1/b?project=p", with_label).status, 200);
  ASSERT_EQ(Call("GET", "/storage/v1/b/again").json["labels"]["a"], "b");
  ASSERT_EQ(Call("DELETE", "/storage/v1/b/again").status, 204);
  ASSERT_EQ(Call("POST", "/storage/v1/b?project=p", R"({"name": "again"})").status, 200);
  EXPECT_FALSE(Call("GET", "/storage/v1/b/again").json.contains("labels"));
  Restart();
  EXPECT_FALSE(Call("GET", "/storage/v1/b/again").json.contains("labels"));
}

}  // namespace
}  // namespace caip::gcs
