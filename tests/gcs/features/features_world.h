#pragma once
// What tests of the JSON API's features share: calls on one bucket and its objects.

#include <string>
#include <vector>

#include "tests/gcs/api_world.h"

namespace caip::gcs {

/// The API with calls on that bucket.
class FeaturesTest : public ApiTest {
 protected:
  static constexpr const char* kBucket = "/storage/v1/b/bkt";

  Answer Patch(const std::string& body, const std::string& query = "") {
    return Call("PATCH", kBucket + query, body);
  }
  // The path of the bucket's managed folders, which need uniform bucket-level access.
  std::string UniformFolders() {
    const Answer set =
        Patch(R"({"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}})");
    EXPECT_EQ(set.status, 200) << set.body;
    return std::string(kBucket) + "/managedFolders";
  }
  std::string Object(const std::string& name, const std::string& query = "") {
    return std::string(kBucket) + "/o/" + name + query;
  }
  static std::vector<std::string> Generations(const Json& page) {
    std::vector<std::string> all;
    if (!page.contains("items")) return all;
    for (const Json& item : page["items"]) all.push_back(item["generation"]);
    return all;
  }
};

}  // namespace caip::gcs
