#include "images/image_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace caip::images {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kA = "sha256:" + std::string(64, 'a');
const std::string kB = "sha256:" + std::string(64, 'b');

std::string DescriptorText(const std::string& type, const std::string& digest = kA,
                           const std::string& more = "") {
  return R"({"mediaType":")" + type + R"(","digest":")" + digest + R"(","size":7)" + more + "}";
}

std::string ManifestText(const std::string& type, const std::string& config_type,
                         const std::string& layer_type) {
  return R"({"schemaVersion":2,"mediaType":")" + type + R"(","config":)" +
         DescriptorText(config_type) + R"(,"layers":[)" + DescriptorText(layer_type, kB) + "]}";
}

std::string IndexText(const std::vector<std::string>& platforms,
                      const std::string& type = kOciIndex) {
  std::vector<std::string> members;
  for (size_t i = 0; i < platforms.size(); ++i) {
    const auto parts = Split(platforms[i] + "/", '/');
    const std::string digest = "sha256:" + std::string(64, static_cast<char>('a' + i));
    members.push_back(DescriptorText(type == kOciIndex ? kOciManifest : kDockerManifest, digest,
                                     R"(,"platform":{"os":")" + parts[0] + R"(","architecture":")" +
                                         parts[1] + R"(","variant":")" + parts[2] + R"("})"));
  }
  return R"({"schemaVersion":2,"mediaType":")" + type + R"(","manifests":[)" + Join(members, ",") +
         "]}";
}

TEST(ImageManifest, IsReadInOcisFormAndInDockers) {
  const struct {
    const char* type;
    const char* config;
    const char* layer;
  } cases[] = {
      {kOciManifest, kOciConfig, "application/vnd.oci.image.layer.v1.tar+gzip"},
      {kOciManifest, kOciConfig, "application/vnd.oci.image.layer.v1.tar+zstd"},
      {kDockerManifest, kDockerConfig, "application/vnd.docker.image.rootfs.diff.tar.gzip"},
  };
  for (const auto& [type, config, layer] : cases) {
    const auto manifest = ParseManifest(ManifestText(type, config, layer), type);
    ASSERT_TRUE(manifest.ok()) << manifest.error().message;
    EXPECT_FALSE(manifest->IsIndex());
    EXPECT_EQ(manifest->media_type, type);
    EXPECT_EQ(manifest->config->digest.text(), kA);
    EXPECT_EQ(manifest->config->size, 7u);
    ASSERT_EQ(manifest->layers.size(), 1u);
    EXPECT_EQ(manifest->layers[0].digest.text(), kB);
    EXPECT_EQ(manifest->layers[0].media_type, layer);
    EXPECT_TRUE(CheckIsImage(*manifest).ok());
  }
}

TEST(ImageManifest, MayHaveNoMediaTypeOfItsOwn) {
  const std::string text = R"({"schemaVersion":2,"config":)" + DescriptorText(kOciConfig) + "}";
  EXPECT_EQ(ParseManifest(text)->media_type, kOciManifest);
  EXPECT_EQ(ParseManifest(text, kDockerManifest)->media_type, kDockerManifest);
  EXPECT_EQ(ParseManifest(R"({"schemaVersion":2,"manifests":[]})")->media_type, kOciIndex);
}

TEST(ImageManifest, MayDescribeAnother) {
  const std::string text = R"({"schemaVersion":2,"config":)" + DescriptorText(kOciConfig) +
                           R"(,"subject":)" + DescriptorText(kOciManifest, kB) + "}";
  EXPECT_EQ(ParseManifest(text)->subject->text(), kB);
}

TEST(ImageManifest, IsRefusedInWords) {
  const std::string good = ManifestText(kOciManifest, kOciConfig, kOciLayer);
  const struct {
    std::string text;
    std::string type;
    std::string why;
  } cases[] = {
      {"", "", "The manifest of the image is not valid: "},
      {"[]", "", "it is not a JSON object"},
      {"{}", "", "its schemaVersion is not 2"},
      {R"({"schemaVersion":1,"fsLayers":[]})", "", "Docker's schema 1, which is not supported"},
      {R"({"schemaVersion":2})", "", "config is missing"},
      {R"({"schemaVersion":2,"config":{},"manifests":[]})", "", "both manifests and layers"},
      {R"({"schemaVersion":2,"config":7})", "", "config is not an object"},
      {R"({"schemaVersion":2,"config":{}})", "", "config.digest '' is not a sha256 digest."},
      {R"({"schemaVersion":2,"config":{"digest":")" + kA + R"("}})", "", "config.size"},
      {R"({"schemaVersion":2,"config":{"digest":")" + kA + R"(","size":-1}})", "", "config.size"},
      {R"({"schemaVersion":2,"config":)" + DescriptorText("x") + R"(,"layers":7})", "",
       "layers is not a list"},
      {R"({"schemaVersion":2,"config":)" + DescriptorText("x") + R"(,"layers":[{}]})", "",
       "layers[0].digest"},
      {good, kDockerManifest, "but it is named as application/vnd.docker.distribution.manifest"},
      {good, kOciIndex, "but it is named as"},
      {R"({"schemaVersion":2,"config":{}})", kOciIndex, "do not fit its media type"},
      {R"({"schemaVersion":2,"manifests":[]})", kOciManifest, "do not fit its media type"},
      {R"({"schemaVersion":2,"config":{}})", "text/html", "'text/html' is neither OCI's nor"},
      {std::string(kManifestBytesMax + 1, ' '), "", "it has 4194305 bytes"},
  };
  for (const auto& [text, type, why] : cases) {
    const auto manifest = ParseManifest(text, type);
    ASSERT_FALSE(manifest.ok()) << text.substr(0, 200);
    EXPECT_THAT(manifest.error().message, HasSubstr(why));
    EXPECT_EQ(manifest.error().reason, "manifestInvalid");
  }
}

TEST(ImageManifest, MayBeOfOtherThingsThanImages) {
  const auto chart = ParseManifest(ManifestText(kOciManifest, "application/vnd.cncf.helm", "x"));
  ASSERT_TRUE(chart.ok());
  EXPECT_THAT(CheckIsImage(*chart).error().message,
              HasSubstr("its configuration has the media type application/vnd.cncf.helm"));
  const auto layer = ParseManifest(ManifestText(kOciManifest, kOciConfig, "text/plain"));
  EXPECT_THAT(CheckIsImage(*layer).error().message,
              HasSubstr("a layer has the media type text/plain"));
  EXPECT_EQ(CheckIsImage(*layer).error().reason, "notAnImage");
}

// containerd, images/mediatypes.go; BuildKit, util/compression.
TEST(ImageManifest, MayHaveLayersOfEveryTypeThatDockerAndContainerdWrite) {
  for (const char* type : {"diff.tar", "diff.tar.gzip", "diff.tar.zstd", "foreign.diff.tar",
                           "foreign.diff.tar.gzip", "foreign.diff.tar.zstd"}) {
    const auto manifest =
        ParseManifest(ManifestText(kDockerManifest, kDockerConfig,
                                   std::string("application/vnd.docker.image.rootfs.") + type));
    ASSERT_TRUE(manifest.ok()) << type;
    const Status image = CheckIsImage(*manifest);
    EXPECT_TRUE(image.ok()) << type << ": " << image.error().message;
  }
}

TEST(ImageManifest, WithTenThousandLayersIsReadButDoesNotRun) {
  std::vector<std::string> layers(10'000, DescriptorText(kOciLayer, kB));
  const std::string text = R"({"schemaVersion":2,"config":)" + DescriptorText(kOciConfig) +
                           R"(,"layers":[)" + Join(layers, ",") + "]}";
  const auto manifest = ParseManifest(text);
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(CheckIsImage(*manifest).error().message,
            "The image has 10000 layers. At most 127 are supported. Build it with --squash, or in "
            "fewer steps.");
}

TEST(ChooseManifest, TakesTheOneForThisHost) {
  const struct {
    std::vector<std::string> platforms;
    Platform host;
    char chosen;
  } cases[] = {
      {{"linux/arm64", "linux/amd64"}, {"linux", "amd64"}, 'b'},
      {{"windows/amd64", "linux/amd64"}, {"linux", "amd64"}, 'b'},
      {{"linux/amd64/v3", "linux/amd64", "linux/amd64"}, {"linux", "amd64"}, 'b'},
      {{"linux/arm/v6", "linux/arm/v7"}, {"linux", "arm", "v7"}, 'b'},
      {{"linux/arm64"}, {"linux", "arm64", "v8"}, 'a'},
      {{"unknown/unknown", "linux/amd64"}, {"linux", "amd64"}, 'b'},
  };
  for (const auto& [platforms, host, chosen] : cases) {
    for (const char* type : {kOciIndex, kDockerList}) {
      const auto index = ParseManifest(IndexText(platforms, type));
      ASSERT_TRUE(index.ok()) << index.error().message;
      ASSERT_TRUE(index->IsIndex());
      EXPECT_EQ(ChooseManifest(*index, host)->digest.hex(), std::string(64, chosen));
    }
  }
}

TEST(ChooseManifest, NamesThePlatformsThatTheImageHas) {
  const auto index =
      ParseManifest(IndexText({"linux/ppc64le", "linux/arm64/v8", "unknown/unknown"}));
  const auto chosen = ChooseManifest(*index, {"linux", "amd64"});
  ASSERT_FALSE(chosen.ok());
  EXPECT_EQ(chosen.error().reason, "otherPlatform");
  EXPECT_EQ(chosen.error().message,
            "The image is built for linux/arm64/v8, linux/ppc64le, but this host is linux/amd64. "
            "Build it with --platform=linux/amd64.");
}

TEST(HostPlatform, HasTheNamesOfImages) {
  EXPECT_EQ(PlatformOfMachine("x86_64").text(), "linux/amd64");
  EXPECT_EQ(PlatformOfMachine("aarch64").text(), "linux/arm64/v8");
  EXPECT_EQ(PlatformOfMachine("sparc64").text(), "linux/sparc64");
  EXPECT_THAT(HostPlatform().text(), StartsWith("linux/"));
}

TEST(ImageConfig, HasWhatARunNeeds) {
  const auto config = ParseImageConfig(R"({"architecture":"arm64","os":"linux","variant":"v8",
      "config":{"Entrypoint":["/bin/sh","-c"],"Cmd":["echo hi"],"Env":["PATH=/bin","A=b=c","E="],
                "WorkingDir":"/work","User":"1000:100","Labels":{"a":"b"}},
      "rootfs":{"type":"layers","diff_ids":[")" +
                                       kA + R"(",")" + kB + R"("]},
      "history":[{"created":"2024-01-01T00:00:00Z"}]})");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->platform.text(), "linux/arm64/v8");
  EXPECT_THAT(config->entrypoint, ElementsAre("/bin/sh", "-c"));
  EXPECT_THAT(config->command, ElementsAre("echo hi"));
  EXPECT_THAT(config->environment, ElementsAre("PATH=/bin", "A=b=c", "E="));
  EXPECT_EQ(config->working_directory, "/work");
  EXPECT_EQ(config->user, "1000:100");
  ASSERT_EQ(config->diff_ids.size(), 2u);
  EXPECT_EQ(config->diff_ids[1].text(), kB);
}

TEST(ImageConfig, MayLeaveOutEverythingButTheLayers) {
  for (const char* run : {"", R"("config":null,)", R"("config":{},)",
                          R"("config":{"Entrypoint":null,"Cmd":null,"Env":null,"User":null},)"}) {
    const auto config =
        ParseImageConfig(std::string("{") + run + R"("rootfs":{"type":"layers","diff_ids":[]}})");
    ASSERT_TRUE(config.ok()) << config.error().message;
    EXPECT_TRUE(config->entrypoint.empty());
    EXPECT_TRUE(config->environment.empty());
  }
}

TEST(ImageConfig, IsRefusedInWords) {
  const std::string rootfs = R"(,"rootfs":{"diff_ids":[]}})";
  const struct {
    std::string text;
    std::string why;
  } cases[] = {
      {"", "The configuration of the image is not valid: "},
      {"7", "it is not a JSON object"},
      {"{}", "rootfs is missing"},
      {R"({"rootfs":{"diff_ids":7}})", "diff_ids is not a list"},
      {R"({"rootfs":{"diff_ids":["x"]}})", "rootfs.diff_ids: 'x' is not a sha256 digest."},
      {R"({"config":7)" + rootfs, "config is not an object"},
      {R"({"config":{"Cmd":"x"})" + rootfs, "Cmd is not a list"},
      {R"({"config":{"Cmd":[7]})" + rootfs, "Cmd has a member that is not a text"},
      {R"({"config":{"Cmd":["a\u0000b"]})" + rootfs, "Cmd has a text with a zero byte"},
      {R"({"config":{"Env":["PATH"]})" + rootfs, "not NAME=value"},
      {R"({"config":{"Env":["=x"]})" + rootfs, "not NAME=value"},
      {R"({"config":{"User":7})" + rootfs, "User is not a text"},
      {R"({"config":{"WorkingDir":"/a\u0000"})" + rootfs, "WorkingDir has a zero byte"},
  };
  for (const auto& [text, why] : cases) {
    const auto config = ParseImageConfig(text);
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(config.error().message, HasSubstr(why)) << text;
  }
}

TEST(MakeManifest, GivesAManifestThatIsRead) {
  const Descriptor config{*Digest::Parse(kA), kOciConfig, 12};
  const Descriptor layer{*Digest::Parse(kB), kOciLayer, 34};
  const auto manifest = ParseManifest(MakeManifest(config, {layer, layer}), kOciManifest);
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  EXPECT_EQ(manifest->config->digest, config.digest);
  ASSERT_EQ(manifest->layers.size(), 2u);
  EXPECT_EQ(manifest->layers[1].size, 34u);
  EXPECT_TRUE(CheckIsImage(*manifest).ok());
}

}  // namespace
}  // namespace caip::images
