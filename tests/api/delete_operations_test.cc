#include "emulator/api/vertex/delete_operations.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace caip::api {
namespace {

constexpr char kNumber[] = "123456789012";
constexpr char kRegion[] = "us-central1";

class DeleteOperationsTest : public ::testing::Test {
 protected:
  // The id of a new one.
  std::string Add(const std::string& region = kRegion, const std::string& version = "v1") {
    const Json added = operations_.Add(kNumber, region, version, now_);
    now_ += std::chrono::seconds(1);
    const std::string name = added["name"];
    return name.substr(name.rfind('/') + 1);
  }

  Instant now_{};
  DeleteOperations operations_{7};
};

TEST_F(DeleteOperationsTest, AreFoundAsTheyWereAnswered) {
  const Json added = operations_.Add(kNumber, kRegion, "v1beta1", now_);
  const std::string name = added["name"];
  const std::string id = name.substr(name.rfind('/') + 1);
  EXPECT_EQ(name, "projects/123456789012/locations/us-central1/operations/" + id);
  EXPECT_EQ(added["metadata"]["@type"],
            "type.googleapis.com/google.cloud.aiplatform.v1beta1.DeleteOperationMetadata");
  EXPECT_EQ(added["metadata"]["genericMetadata"]["createTime"], "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(added["done"], true);
  EXPECT_EQ(operations_.Find(kRegion, id), added);
  EXPECT_EQ(operations_.Find("europe-west4", id), std::nullopt);
}

TEST_F(DeleteOperationsTest, AreListedByRegionTheNewestFirst) {
  const std::string first = Add();
  Add("europe-west4");
  const std::string second = Add();
  const auto listed = operations_.List(kRegion);
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0], *operations_.Find(kRegion, second));
  EXPECT_EQ(listed[1], *operations_.Find(kRegion, first));
}

TEST_F(DeleteOperationsTest, AreForgottenWhenThereAreTooMany) {
  const std::string first = Add();
  const std::string second = Add();
  for (size_t i = 1; i < DeleteOperations::kKeptMax; ++i) Add();
  EXPECT_EQ(operations_.Find(kRegion, first), std::nullopt);
  EXPECT_NE(operations_.Find(kRegion, second), std::nullopt);
  EXPECT_TRUE(operations_.Forget(kRegion, second));
  EXPECT_FALSE(operations_.Forget(kRegion, second));
  EXPECT_EQ(operations_.List(kRegion).size(), DeleteOperations::kKeptMax - 1);
}

}  // namespace
}  // namespace caip::api
