// Objects that are large enough for their sums to be computed beside their writing.
#include <gtest/gtest.h>

#include "fakes/gcs/store/checksums.h"
#include "tests/gcs/store_world.h"

namespace caip::gcs {
namespace {

constexpr size_t kPiece = 1 << 20;
constexpr size_t kBytes = 19 * kPiece + 12'345;

std::string SomeBytes() {
  std::string bytes(kBytes, '\0');
  uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1'664'525 + 1'013'904'223;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

class LargeUpload : public ::testing::TestWithParam<bool> {
 protected:
  LargeUpload() : world_(GetParam()), bytes_(SomeBytes()) {
    EXPECT_TRUE(world_->CreateBucket("bkt").ok());
    Hasher hasher;
    hasher.Add(bytes_);
    hashes_ = hasher.Finish();
  }
  std::unique_ptr<ObjectWriter> Written(const std::string& name) {
    auto writer = world_->NewObject("bkt", name);
    EXPECT_TRUE(writer.ok());
    for (size_t at = 0; at < bytes_.size(); at += kPiece) {
      EXPECT_TRUE((*writer)->Append(std::string_view(bytes_).substr(at, kPiece)).ok());
    }
    return std::move(*writer);
  }

  StoreWorld world_;
  std::string bytes_;
  Hashes hashes_;
};

TEST_P(LargeUpload, HasTheSumsOfItsBytes) {
  const auto info = Written("large")->Commit({}, {}, hashes_.md5, hashes_.crc32c);
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->md5, hashes_.md5);
  EXPECT_EQ(info->crc32c, hashes_.crc32c);
  EXPECT_EQ(world_.Get("large"), bytes_);
}

TEST_P(LargeUpload, IsRefusedWhereTheSumsAreOthers) {
  const auto info = Written("large")->Commit({}, {}, std::string(16, 'x'), std::nullopt);
  EXPECT_EQ(info.error().code, Code::kInvalidArgument);
  EXPECT_FALSE(world_.Has("large"));
}

TEST_P(LargeUpload, HasTheRightSumsWithAnotherObjectBehindItsBytes) {
  world_.Put("small", "tail");
  auto writer = Written("large");
  auto reader = world_->OpenObject("bkt", "small");
  ASSERT_TRUE(writer->AppendFrom(**reader, 0, 4).ok());
  ASSERT_TRUE(writer->Append("end").ok());
  const auto info = writer->Commit({}, {}, std::nullopt, std::nullopt);
  ASSERT_TRUE(info.ok()) << info.error().message;
  Hasher hasher;
  hasher.Add(bytes_ + "tailend");
  EXPECT_EQ(info->md5, hasher.Finish().md5);
}

TEST_P(LargeUpload, CanBeGivenUp) {
  Written("large").reset();
  EXPECT_FALSE(world_.Has("large"));
}

INSTANTIATE_TEST_SUITE_P(Durability, LargeUpload, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Full" : "Relaxed"; });

}  // namespace
}  // namespace caip::gcs
