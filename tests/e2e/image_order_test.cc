// The places in which the image of a job is looked up, one after the other
// (docs/running-jobs.md#container-images).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "host/machine/machines.h"
#include "places.h"
#include "tests/support/caip_command.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kEngineId(64, 'a');

/// One image name, and an image for each place that says where it was found.
class ImageOrder : public ::testing::Test {
 protected:
  void SetUp() override {
    const TemporaryDirectory trial("caip-trial-");
    const auto why_not = host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path());
    if (why_not) GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    const TemporaryDirectory base("caip-layer-");
    WriteBusybox(base.path());
    for (OciLayout* layout : {&mapped_, &stored_, &of_engine_, &of_registry_}) {
      layout->AddLayer(base.path());
    }
    const auto finish = [](OciLayout& layout, const char* place) {
      layout.Finish(
          {{"Entrypoint", {"/bin/echo", std::string("found ") + place}}, {"Env", {"PATH=/bin"}}});
    };
    finish(mapped_, "in the mapped layout");
    finish(stored_, "in the image store");
    finish(of_engine_, "in the store of podman");
    finish(of_registry_, "in the other registry");
    bin_ = files_.path() / "bin";
    ASSERT_TRUE(MakeDirectories(bin_).ok());
    caip_.Set("PATH", bin_.string() + ":" + std::getenv("PATH"));
  }

  /// Imports an image under the name that the registry of another emulator gives it. Returns that
  /// name.
  std::string ServeFromOtherRegistry() {
    const Transcript imported = other_.Run({"images", "import", of_registry_.Directory().string(),
                                            "--name", "gcr.io/demo/ordered:v1"});
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    registry_.emplace(other_.Start({"serve", "--port", "0"}));
    EXPECT_TRUE(Eventually([&] { return registry_->err().find("Ctrl-C") != std::string::npos; }))
        << registry_->err();
    const std::string err = registry_->err();
    constexpr std::string_view kScheme = "http://";
    const size_t begin = err.find(kScheme) + kScheme.size();
    return err.substr(begin, err.find_first_of(" \n", begin) - begin) + "/demo/ordered:v1";
  }
  /// Puts a program named podman on PATH, whose store has the image.
  void InstallEngine(const std::string& image) {
    const Path archive = files_.path() / "saved.tar";
    const std::string tar =
        "tar -C '" + of_engine_.Directory().string() + "' -cf '" + archive.string() + "' .";
    ASSERT_EQ(std::system(tar.c_str()), 0);
    ASSERT_TRUE(WriteFile(bin_ / "podman",
                          "#!/bin/sh\ncase \"$1 $2\" in\n"
                          "'image inspect') [ \"$6\" = '" +
                              image + "' ] && echo " + kEngineId + ";;\n'save --output') cp '" +
                              archive.string() + "' \"$3\";;\n" + "*) exit 125;;\nesac\n")
                    .ok());
    std::filesystem::permissions(bin_ / "podman", std::filesystem::perms(0755));
  }
  /// The log of a job that runs the image, or the reason why it failed.
  std::string Outcome(const std::string& image, const std::vector<std::string>& flags = {}) {
    const std::string job = "ordered_" + std::to_string(++jobs_);
    std::vector<std::string> words = {"jobs",         "submit",      "training",           job,
                                      "--region",     "us-central1", "--master-image-uri", image,
                                      "--stream-logs"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Transcript run = caip_.Run(words);
    if (run.exit_code == 0) return caip_.LogOf(job);
    return run.err + StringOr(caip_.Describe(job), "errorMessage");
  }
  Transcript Images(std::vector<std::string> words) {
    words.insert(words.begin(), "images");
    return caip_.Run(words);
  }

  TemporaryDirectory files_;
  Path bin_;
  CaipCommand caip_;
  CaipCommand other_;
  std::optional<RunningCommand> registry_;
  OciLayout mapped_;
  OciLayout stored_;
  OciLayout of_engine_;
  OciLayout of_registry_;
  int jobs_ = 0;
};

TEST_F(ImageOrder, IsThatOfTheDocumentation) {
  const std::string image = ServeFromOtherRegistry();
  const std::string layout = "oci:" + mapped_.Directory().string();
  InstallEngine(image);
  ASSERT_EQ(Images({"import", stored_.Directory().string(), "--name", image}).exit_code, 0);
  ASSERT_EQ(Images({"map", image + "=" + layout}).exit_code, 0);

  const std::string command = image + "=/bin/echo found as a mapped command";
  EXPECT_THAT(Outcome(image, {"--map-image", command}), HasSubstr("found as a mapped command"));
  EXPECT_THAT(Outcome(image), HasSubstr("found in the mapped layout"));
  ASSERT_EQ(Images({"map", "--unset", image}).exit_code, 0);
  EXPECT_THAT(Outcome(image), HasSubstr("found in the image store"));
  const Transcript removed = Images({"remove", image});
  ASSERT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_THAT(Outcome(image), HasSubstr("found in the store of podman"));
  std::filesystem::remove(bin_ / "podman");
  EXPECT_THAT(Outcome(image), HasSubstr("found in the other registry"));
  registry_.reset();
  EXPECT_THAT(Outcome(image), AllOf(HasSubstr("The image '" + image + "' cannot run"),
                                    HasSubstr("does not serve it"), Not(HasSubstr("found "))));
}

// A mapping that names the image with its tag is meant for this image alone.
TEST_F(ImageOrder, OfTwoMappingsTakesTheOneWithTheTag) {
  const std::string layout = "oci:" + mapped_.Directory().string();
  const std::string tagged = "gcr.io/demo/ordered:v1";
  const std::vector<std::string> flags = {"--map-image", "gcr.io/demo/ordered=/bin/echo found any",
                                          "--map-image", tagged + "=" + layout};
  EXPECT_THAT(Outcome(tagged, flags), HasSubstr("found in the mapped layout"));
  EXPECT_THAT(Outcome("gcr.io/demo/ordered:v2", flags), HasSubstr("found any"));
}

}  // namespace
}  // namespace caip::testing
