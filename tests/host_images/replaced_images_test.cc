// An image that an import replaces, and removes, while a job looks for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/images/local_images.h"
#include "images/image_reference.h"
#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::host {
namespace {

using ::testing::HasSubstr;

constexpr char kReplacedName[] = "gcr.io/p/replaced:v1";

class ReplacedImages : public testing::Test {
 protected:
  void Import(const std::string& program) {
    const TemporaryDirectory layout;
    images::WriteFiles(layout.path(), images::MakeLayout({{{{{"program", program}}}, "v1"}}));
    const auto imported =
        store_->Import({layout.path()}, *images::ImageReference::Parse(kReplacedName));
    ASSERT_TRUE(imported.ok()) << imported.error().message;
  }
  // The program of the image, if `times` imports come after the image was found.
  std::string ProgramAfter(int times) {
    LocalImages images({.state = state_.path(),
                        .store = state_.path() / "images",
                        .own_environment = {{"PATH", "/none"}},
                        .after_finding = [&] {
                          if (times-- > 0) Import("new " + std::to_string(times));
                        }});
    const auto image = images.Provide(kReplacedName, "", [](auto, const auto&) {}, {});
    if (!image.ok()) return image.error().message;
    return *ReadFile(Path(image->layers.front()) / "program");
  }

  TemporaryDirectory state_;
  std::unique_ptr<images::ImageStore> store_ = *images::ImageStore::Open(state_.path() / "images");
};

TEST_F(ReplacedImages, AreLookedForAgain) {
  Import("old");
  EXPECT_EQ(ProgramAfter(0), "old");
  Import("older");
  EXPECT_EQ(ProgramAfter(1), "new 0");
  Import("oldest");
  EXPECT_EQ(ProgramAfter(2), "new 0");
}

TEST_F(ReplacedImages, AreNotLookedForWithoutEnd) {
  Import("old");
  EXPECT_THAT(ProgramAfter(100), HasSubstr("The image store has no blob"));
}

}  // namespace
}  // namespace caip::host
