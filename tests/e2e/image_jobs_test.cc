// Jobs that run from container images, from the command line to the outcome.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

constexpr char kOwnImage[] = "gcr.io/demo/trainer:v1";
#ifdef __SANITIZE_THREAD__
constexpr bool kHasSanitizerThread = true;
#else
constexpr bool kHasSanitizerThread = false;
#endif
constexpr char kNoShell[] = "a process with a second thread cannot enter a user namespace";

class ImageJobs : public ::testing::Test {
 protected:
  void SetUp() override {
    const TemporaryDirectory trial("caip-trial-");
    const auto why_not = host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path());
    if (why_not) GTEST_SKIP() << "replicas cannot have machines here: " << *why_not;
    const TemporaryDirectory base("caip-layer-");
    WriteBusybox(base.path());
    layout_.AddLayer(base.path());
  }
  /// Completes the image with a program that is a shell script.
  void MakeImage(const std::string& script, Json config = Json::object()) {
    const TemporaryDirectory app("caip-layer-");
    ASSERT_TRUE(MakeDirectories(app.path() / "app").ok());
    ASSERT_TRUE(WriteFile(app.path() / "app/train", "#!/bin/sh\n" + script + "\n").ok());
    std::filesystem::permissions(app.path() / "app/train", std::filesystem::perms(0755));
    layout_.AddLayer(app.path());
    if (!config.contains("Entrypoint")) config["Entrypoint"] = {"/app/train"};
    config["Env"] = {"PATH=/bin", "FROM_IMAGE=yes"};
    config["WorkingDir"] = "/app";
    layout_.Finish(config);
  }
  Transcript Submit(const std::string& job, std::vector<std::string> more = {},
                    const std::string& location = "") {
    const std::string place = location.empty() ? "oci:" + layout_.Directory().string() : location;
    std::vector<std::string> words = {"jobs",
                                      "submit",
                                      "training",
                                      job,
                                      "--region",
                                      "us-central1",
                                      "--master-image-uri",
                                      kOwnImage,
                                      "--map-image",
                                      std::string(kOwnImage) + "=" + place,
                                      "--stream-logs"};
    words.insert(words.end(), more.begin(), more.end());
    return caip_.Run(words);
  }

  CaipCommand caip_;
  OciLayout layout_;
};

TEST_F(ImageJobs, RunTheProgramOfTheImageOnItsOwnFiles) {
  MakeImage(
      "echo \"in $(pwd) of $CLOUD_ML_JOB_ID, $FROM_IMAGE, $#: $*\"; ls /usr 2>&1\n"
      "hostname");
  const Transcript run = Submit("own_files", {"--", "--epochs", "2"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("in /app of own_files, yes, 2: --epochs 2"),
                    HasSubstr("ls: /usr: No such file or directory"),
                    HasSubstr("cmle-training-master-"), HasSubstr("Job completed successfully.")));
}

TEST_F(ImageJobs, EndWithTheExitCodeOfTheContainer) {
  MakeImage("kill -9 $$");
  EXPECT_EQ(Submit("killed").exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("killed"), "errorMessage"),
              HasSubstr("exited with a non-zero status of 137"));
}

TEST_F(ImageJobs, ReachCloudStorageOfTheEmulator) {
  ASSERT_EQ(caip_.Run({"buckets", "create", "bkt-1"}).exit_code, 0);
  ASSERT_TRUE(WriteFile(caip_.BucketFile("bkt-1", "data.txt"), "the data\n").ok());
  MakeImage(
      "wget -q -O - \"$STORAGE_EMULATOR_HOST/storage/v1/b/bkt-1/o/data.txt?alt=media\"\n"
      "wget -q -O - --header 'Metadata-Flavor: Google' "
      "http://metadata.google.internal/computeMetadata/v1/project/project-id");
  const Transcript run = Submit("storage");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("the data"), HasSubstr("demo")));
}

TEST_F(ImageJobs, RunAClusterWhoseReplicasFindEachOther) {
  MakeImage(
      "echo \"$CLUSTER_SPEC\" | grep -o 'cmle-training-worker-[0-9a-f]*-0' > /tmp/worker\n"
      "grep -q \"$(cat /tmp/worker)\" /etc/hosts && echo found it\n"
      "case $(hostname) in *worker*) sleep 100;; esac");
  const Transcript run =
      Submit("cluster", {"--scale-tier", "custom", "--master-machine-type", "n1-standard-4",
                         "--worker-machine-type", "n1-standard-4", "--worker-count", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("found it"));
}

TEST_F(ImageJobs, RunAsTheUserThatTheImageNames) {
  MakeImage("id; echo data > /tmp/mine && echo written", {{"User", "user"}});
  const Transcript run = Submit("user");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("written"), HasSubstr("uid=1000(user) gid=1000")));
}

// The owners of files are kept if root unpacks them.
TEST_F(ImageJobs, LetTheUserOfTheImageWriteItsOwnFilesOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root keeps the owners of an image's files";
  const TemporaryDirectory files;
  ASSERT_TRUE(MakeDirectories(files.path() / "data").ok());
  const std::pair<std::string, std::string> owners[] = {
      {"user", "1000"}, {"root", "0"}, {"other", "1001"}};
  for (const auto& [owner, id] : owners) {
    ASSERT_TRUE(WriteFile(files.path() / "data" / owner, "old\n").ok());
    const Path archive = files.path() / (owner + ".tar");
    const std::string tar = "tar -C '" + files.path().string() + "' --owner=" + id +
                            " --group=" + id + " --mode=0600 -cf '" + archive.string() + "' data/" +
                            owner;
    ASSERT_EQ(std::system(tar.c_str()), 0);
    layout_.AddArchive(archive);
  }
  MakeImage(
      "for owner in user root other; do\n"
      "  echo new >> /data/$owner && echo \"wrote $owner: $(wc -l < /data/$owner) lines\"\n"
      "  stat -c 'file of %u, mode %a' /data/$owner\ndone; id -u",
      {{"User", "user"}});
  const Transcript run = Submit("own_only");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("wrote user: 2 lines"), HasSubstr("file of 1000, mode 600"),
                             HasSubstr("file of 1001, mode 600"), HasSubstr("\t1000\n"),
                             Not(HasSubstr("wrote root")), Not(HasSubstr("wrote other"))));
}

TEST_F(ImageJobs, HaveShellsWithTheirUserFilesAndDirectory) {
  if (kHasSanitizerThread) GTEST_SKIP() << kNoShell;
  MakeImage("sleep 600", {{"User", "user"}});
  const std::string mapping = std::string(kOwnImage) + "=oci:" + layout_.Directory().string();
  ASSERT_EQ(caip_
                .Run({"jobs", "submit", "training", "shell", "--region", "us-central1",
                      "--master-image-uri", kOwnImage, "--map-image", mapping})
                .exit_code,
            0);
  Transcript shell;
  EXPECT_TRUE(Eventually([&] {
    shell = caip_.Run({"jobs", "shell", "shell", "--", "sh", "-c",
                       "id -u; grep CapEff /proc/self/status; pwd; echo $FROM_IMAGE; exit 5"});
    return shell.exit_code == 5;
  })) << "awaited a shell in the replica: "
      << shell.err;
  EXPECT_EQ(shell.out, "1000\nCapEff:\t0000000000000000\n/app\nyes\n");
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "shell"}).exit_code, 0);
}

TEST_F(ImageJobs, AreCheckedOnTheirOwnFiles) {
  MakeImage("cat /app/train > /dev/null; echo done");
  const std::string mapping = std::string(kOwnImage) + "=oci:" + layout_.Directory().string();
  const Transcript run =
      caip_.Run({"check", "--master-image-uri", kOwnImage, "--map-image", mapping, "--region",
                 "us-central1", "--filter", "start/succeeds", "--filter", "machine/independent"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("PASS     start/succeeds"),
                             HasSubstr("PASS     machine/independent")));
}

TEST_F(ImageJobs, ThatAreNowhereFailWithWhatToDo) {
  const Transcript run =
      caip_.Run({"jobs", "submit", "training", "nowhere", "--region", "us-central1",
                 "--master-image-uri", "gcr.io/demo/other:v1", "--stream-logs"});
  EXPECT_EQ(run.exit_code, 1);
  const Json job = caip_.Describe("nowhere");
  EXPECT_EQ(StringOr(job, "state"), "FAILED");
  EXPECT_THAT(StringOr(job, "errorMessage"),
              AllOf(HasSubstr("The image 'gcr.io/demo/other:v1' is not on this host"),
                    HasSubstr("caip images import"), HasSubstr("--map-image")));
}

TEST_F(ImageJobs, ThatAreNowhereAreRefusedOnRequest) {
  const Transcript run =
      caip_.Run({"jobs", "submit", "training", "nowhere", "--region", "us-central1",
                 "--master-image-uri", "gcr.io/demo/other:v1", "--strict-images", "--stream-logs"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("The image 'gcr.io/demo/other:v1' is not on this host"));
  EXPECT_TRUE(caip_.Describe("nowhere").is_null()) << "nothing was stored";
}

TEST_F(ImageJobs, OnProcessesFailWithWhatToDo) {
  MakeImage("true");
  EXPECT_EQ(Submit("process", {"--isolation", "process"}).exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("process"), "errorMessage"),
              AllOf(HasSubstr("cannot run, because replicas are processes of this host"),
                    HasSubstr("--isolation machine")));
}

TEST_F(ImageJobs, OfAnotherArchitectureFailWithItsName) {
  layout_.Finish({{"Entrypoint", {"/bin/true"}}}, "riscv64");
  EXPECT_EQ(Submit("riscv").exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("riscv"), "errorMessage"), HasSubstr("riscv64"));
}

TEST_F(ImageJobs, WithoutThatProgramFailWithItsName) {
  MakeImage("true", {{"Entrypoint", {"/bin/missing"}}});
  EXPECT_EQ(Submit("missing").exit_code, 1);
  EXPECT_THAT(caip_.LogOf("missing"), HasSubstr("/bin/missing"));
}

TEST_F(ImageJobs, WhoseArchiveIsMissingFailWithItsPath) {
  EXPECT_EQ(Submit("no_archive", {}, "oci:/nowhere/image.tar").exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("no_archive"), "errorMessage"),
              HasSubstr("/nowhere/image.tar"));
}

TEST_F(ImageJobs, FollowAKeptMappingWhileTheEmulatorRuns) {
  MakeImage("echo from the image");
  const RunningCommand server = caip_.Start({"serve", "--port", "0"});
  EXPECT_TRUE(Eventually([&] { return server.err().find("serves AI") != std::string::npos; }))
      << server.err();
  const auto submit = [this](const std::string& job) {
    return caip_.Run({"jobs", "submit", "training", job, "--region", "us-central1",
                      "--master-image-uri", kOwnImage, "--stream-logs"});
  };
  EXPECT_EQ(submit("before").exit_code, 1);
  const std::string mapping = std::string(kOwnImage) + "=oci:" + layout_.Directory().string();
  EXPECT_EQ(caip_.Run({"images", "map", mapping}).exit_code, 0);
  const Transcript run = submit("mapped");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("from the image"));
  EXPECT_EQ(caip_.Run({"images", "map", "--unset", kOwnImage}).exit_code, 0);
  EXPECT_EQ(submit("after").exit_code, 1);
}

// The other registry is that of another emulator, whose store has the image as gcr.io/demo/trainer.
TEST_F(ImageJobs, RunImagesOfAnotherRegistryOfThisHost) {
  MakeImage("echo from the other registry");
  const CaipCommand other;
  const Transcript imported = other.Run(
      {"images", "import", layout_.Directory().string(), "--name", "gcr.io/demo/trainer:v1"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const RunningCommand server = other.Start({"serve", "--port", "0"});
  constexpr std::string_view kScheme = "http://";
  ASSERT_TRUE(Eventually([&] { return server.err().find("Ctrl-C") != std::string::npos; }))
      << server.err();
  const size_t begin = server.err().find(kScheme) + kScheme.size();
  const std::string place =
      server.err().substr(begin, server.err().find_first_of(" \n", begin) - begin);
  const std::string repository = place + "/demo/trainer";
  const auto submit = [&](const std::string& job, const std::string& image) {
    return caip_.Run({"jobs", "submit", "training", job, "--region", "us-central1",
                      "--master-image-uri", image, "--stream-logs"});
  };
  const Transcript run = submit("pulled", repository + ":v1");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("from the other registry"));
  const std::string digest = StringOr(
      (*ParseJson(*ReadFile(layout_.Directory() / "index.json")))["manifests"][0], "digest");
  EXPECT_EQ(submit("pinned", repository + "@" + digest).exit_code, 0);
  EXPECT_EQ(submit("other_digest", repository + "@sha256:" + std::string(64, '0')).exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("other_digest"), "errorMessage"),
              HasSubstr("It does not have demo/trainer/manifests/sha256:000"));
}

TEST_F(ImageJobs, ThatAreTruncatedFailWithTheReason) {
  MakeImage("true");
  const TemporaryDirectory files;
  const Path archive = files.path() / "image.tar";
  const std::string tar =
      "tar -C '" + layout_.Directory().string() + "' -cf '" + archive.string() + "' .";
  ASSERT_EQ(std::system(tar.c_str()), 0);
  std::filesystem::resize_file(archive, std::filesystem::file_size(archive) / 2);
  EXPECT_EQ(Submit("truncated", {}, "oci:" + archive.string()).exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("truncated"), "errorMessage"),
              AllOf(HasSubstr("The archive is damaged"), HasSubstr("'" + std::string(kOwnImage))));
}

TEST_F(ImageJobs, WithAnotherDigestThanTheirBytesFailWithBoth) {
  MakeImage("true");
  for (const auto& blob :
       std::filesystem::directory_iterator(layout_.Directory() / "blobs/sha256")) {
    if (std::filesystem::file_size(blob) > 100'000) {
      ASSERT_TRUE(WriteFile(blob.path(), "others").ok());
    }
  }
  EXPECT_EQ(Submit("digest").exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("digest"), "errorMessage"),
              HasSubstr("are damaged: their digest is sha256:"));
}

TEST_F(ImageJobs, WhoseLayersLeadOutFailAndWriteNothing) {
  const TemporaryDirectory files;
  ASSERT_TRUE(WriteFile(files.path() / "evil", "evil").ok());
  const Path archive = files.path() / "layer.tar";
  const std::string name = "caip-escaped-" + files.path().filename().string();
  const std::string up = "../../../../../../../../../../tmp/" + name;
  const std::string tar = "tar -P -C '" + files.path().string() + "' --transform 's,^evil$," + up +
                          ",' -cf '" + archive.string() + "' evil";
  ASSERT_EQ(std::system(tar.c_str()), 0);
  layout_.AddArchive(archive);
  MakeImage("true");
  EXPECT_EQ(Submit("escapes").exit_code, 1);
  EXPECT_THAT(StringOr(caip_.Describe("escapes"), "errorMessage"),
              AllOf(HasSubstr(name), HasSubstr("leads out of the image")));
  EXPECT_FALSE(std::filesystem::exists("/tmp/" + name));
}

TEST_F(ImageJobs, WithoutAShellRunTheirProgramAndHaveNoShell) {
  if (kHasSanitizerThread) GTEST_SKIP() << kNoShell;
  const TemporaryDirectory base("caip-layer-");
  std::filesystem::copy_file("/bin/busybox", base.path() / "sleep");
  OciLayout bare;
  bare.AddLayer(base.path());
  bare.Finish({{"Entrypoint", {"/sleep"}}, {"Cmd", {"600"}}});
  const std::string mapping = std::string(kOwnImage) + "=oci:" + bare.Directory().string();
  ASSERT_EQ(caip_
                .Run({"jobs", "submit", "training", "bare", "--region", "us-central1",
                      "--master-image-uri", kOwnImage, "--map-image", mapping})
                .exit_code,
            0);
  EXPECT_TRUE(Eventually([&] { return caip_.StateOf("bare") == "RUNNING"; }, 60));
  Transcript shell;
  EXPECT_TRUE(Eventually([&] {
    shell = caip_.Run({"jobs", "shell", "bare", "--", "sh"});
    return shell.err.find("cannot run") != std::string::npos;
  })) << "waited for a refusal of the shell: "
      << shell.err;
  EXPECT_EQ(caip_.Run({"jobs", "cancel", "bare"}).exit_code, 0);
}

}  // namespace
}  // namespace caip::testing
