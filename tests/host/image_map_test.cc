#include "host/process/image_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caip::host {
namespace {

using run::ContainerImage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ContainerImage Resolve(const ImageRules& rules, const std::string& uri) {
  const auto program = ResolveImage(rules, ContainerImage{uri});
  EXPECT_TRUE(program.ok()) << program.error().message;
  return std::get<ContainerImage>(*program);
}

TEST(ImageMap, NamesACommandWithOrWithoutATag) {
  const ImageRules rules{{{"gcr.io/p/i", {"python3", "t.py"}}, {"gcr.io/p/i:2", {"two"}}}};
  EXPECT_THAT(Resolve(rules, "gcr.io/p/i:1").entrypoint, ElementsAre("python3", "t.py"));
  EXPECT_THAT(Resolve(rules, "gcr.io/p/i@sha256:00").entrypoint, ElementsAre("python3", "t.py"));
  EXPECT_THAT(Resolve(rules, "gcr.io/p/i:2").entrypoint, ElementsAre("two"));
}

TEST(ImageMap, NamesAnImageInAFile) {
  const ContainerImage image =
      Resolve({{{"gcr.io/p/i:1", {"oci:/images/i.tar:latest"}}}}, "gcr.io/p/i:1");
  EXPECT_THAT(image.entrypoint, IsEmpty());
  EXPECT_EQ(image.source, "/images/i.tar:latest");
}

TEST(ImageMap, LeavesOtherImagesToTheirUris) {
  const ContainerImage image = Resolve({}, "gcr.io/p/i:1");
  EXPECT_THAT(image.entrypoint, IsEmpty());
  EXPECT_EQ(image.source, "");
}

TEST(ImageMap, AsksForImagesThatMustBeHere) {
  std::vector<std::string> asked;
  ImageRules rules{{{"gcr.io/p/mapped", {"true"}}, {"gcr.io/p/file", {"oci:/i.tar"}}}};
  rules.look_up = [&](const std::string& uri, const std::string& source) -> Status {
    asked.push_back(uri + " " + source);
    if (uri == "gcr.io/p/none") return Error{Code::kFailedPrecondition, "It is not here."};
    return Ok{};
  };
  Resolve(rules, "gcr.io/p/mapped");
  Resolve(rules, "gcr.io/p/file");
  EXPECT_EQ(ResolveImage(rules, ContainerImage{"gcr.io/p/none"}).error().message,
            "It is not here.");
  EXPECT_THAT(asked, ElementsAre("gcr.io/p/file /i.tar", "gcr.io/p/none "));
}

}  // namespace
}  // namespace caip::host
