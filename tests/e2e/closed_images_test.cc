// Images whose user may not search a directory that leads to the state directory, as root's home
// directory in most images, on each engine that runs containers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/caip_command.h"
#include "tests/support/engine_on_trial.h"
#include "tests/support/oci_layout.h"

namespace caip::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kClosedImage[] = "gcr.io/demo/closed:v1";

class ClosedImages : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const TemporaryDirectory base("caip-layer-");
    WriteBusybox(base.path());
    for (const char* place : {"proc", "dev", "sys", "root"}) {
      ASSERT_TRUE(MakeDirectories(base.path() / place).ok());
    }
    engine_ = MakeTrial(GetParam());
    const std::string why_not = engine_->Start(base.path());
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    if (GetParam() == std::string("podman") && !engine_->HasOtherUsers()) {
      GTEST_SKIP() << "podman has no user 1000 here: /etc/subuid has no IDs for this user";
    }
    for (const auto& [name, value] : engine_->Environment()) caip_.Set(name, value);
    ASSERT_TRUE(MakeDirectories(base.path() / Closed()).ok());
    ASSERT_TRUE(WriteFile(base.path() / Closed() / "secret", "a secret of root\n").ok());
    Permit(base.path() / Closed(), 0700);
    Permit(base.path(), 0755);
    layout_.AddLayer(base.path());
  }
  void TearDown() override { (void)caip_.Run({"stop"}); }

  /// The first directory on the way to the state directory: "tmp".
  Path Closed() const { return *caip_.state().relative_path().begin(); }
  static void Permit(const Path& file, unsigned mode) {
    std::filesystem::permissions(file, std::filesystem::perms(mode));
  }

  /// Runs the script as the image's user, with the image's WorkingDir.
  Transcript Run(const std::string& script, const std::string& directory,
                 const std::vector<std::string>& more) {
    layout_.Finish({{"Entrypoint", {"/bin/sh", "-c", script, "sh"}},
                    {"Env", {"PATH=/bin"}},
                    {"WorkingDir", directory},
                    {"User", "1000"}});
    std::vector<std::string> words = {
        "jobs",
        "submit",
        "training",
        "closed",
        "--region",
        "us-central1",
        "--master-image-uri",
        kClosedImage,
        "--container-engine",
        GetParam(),
        "--map-image",
        std::string(kClosedImage) + "=oci:" + layout_.Directory().string(),
        "--stream-logs"};
    words.insert(words.end(), more.begin(), more.end());
    return caip_.Run(words);
  }

  std::unique_ptr<EngineOnTrial> engine_;  // ends after the emulator
  CaipCommand caip_;
  OciLayout layout_;
};

// Where a machine has a single user, all files of the image are that user's (docs/limitations.md).
TEST_P(ClosedImages, ShowTheirUserTheCertificates) {
  const Transcript run =
      Run("id -u; for name in CURL_CA_BUNDLE SSL_CERT_FILE REQUESTS_CA_BUNDLE HTTPLIB2_CA_CERTS "
          "AWS_CA_BUNDLE NODE_EXTRA_CA_CERTS GRPC_DEFAULT_SSL_ROOTS_FILE_PATH "
          "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE; do\n"
          "  eval file=\\$$name; grep -q 'BEGIN CERTIFICATE' \"$file\" && set -- \"$@\" $name\n"
          "done; echo \"$# variables name certificates\"; cat /" +
              Closed().string() + "/secret",
          "/", {});
  EXPECT_THAT(run.err, AllOf(HasSubstr("1000"), HasSubstr("8 variables name certificates")));
  const bool is_shown = run.err.find("a secret of root") != std::string::npos;
  EXPECT_EQ(is_shown, !engine_->HasOtherUsers()) << run.err;
}

TEST_P(ClosedImages, ShowTheirUserItsJobDirectory) {
  ASSERT_EQ(caip_.Run({"buckets", "create", "bkt-1"}).exit_code, 0);
  ASSERT_TRUE(MakeDirectories(caip_.BucketFile("bkt-1", "out")).ok());
  ASSERT_TRUE(WriteFile(caip_.BucketFile("bkt-1", "out/data"), "of the job\n").ok());
  (void)caip_.Run({"stop"});  // the next command starts it with another view
  const Transcript run = Run("echo \"found $(cat $2/data)\"", "/",
                             {"--storage-view", "path", "--job-dir", "gs://bkt-1/out"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("found of the job"));
}

TEST_P(ClosedImages, BeginInADirectoryThatTheyLack) {
  const Transcript run = Run("echo \"in $(pwd)\"", "/no/such/directory", {});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("in /no/such/directory"));
}

INSTANTIATE_TEST_SUITE_P(Each, ClosedImages, ::testing::Values("bundled", "podman", "docker"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace caip::testing
