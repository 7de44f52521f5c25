// Where the images of jobs come from: what the settings map them to, and podman and docker, which
// are scripts here that answer as the real ones do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "host/images/engine_stores.h"
#include "host/images/kept_mappings.h"
#include "host/process/image_map.h"

namespace caip::host {
namespace {

using run::ContainerImage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST(ImageMap, NamesAnImageAfterEachWordOfAnImport) {
  for (const std::string word : {"oci:", "oci-archive:", "docker-archive:"}) {
    const ContainerImage image =
        Resolve({{{"gcr.io/p/i", {word + "/sp ace/i.tar:v2"}}}}, "gcr.io/p/i:1");
    EXPECT_THAT(image.entrypoint, IsEmpty()) << word;
    EXPECT_EQ(image.source, "/sp ace/i.tar:v2");
  }
  const ContainerImage command = Resolve({{{"gcr.io/p/i", {"oci"}}}}, "gcr.io/p/i:1");
  EXPECT_THAT(command.entrypoint, ElementsAre("oci"));
}

TEST(ImageMap, LeavesOtherImagesToTheirUris) {
  const ContainerImage image = Resolve({}, "gcr.io/p/i:1");
  EXPECT_THAT(image.entrypoint, IsEmpty());
  EXPECT_EQ(image.source, "");
}

TEST(ImageMap, ReplacesBuiltInImagesUnlessTheyAreMapped) {
  ImageRules rules{{{"gcr.io/algos/mapped", {"mine"}}}};
  rules.kept = [] { return Result<ImageMap>(ImageMap{{"gcr.io/algos/kept", {"kept"}}}); };
  rules.look_up = [](const std::string& uri, const std::string&) -> Status {
    return Error{Code::kFailedPrecondition, uri + " is not here."};
  };
  rules.built_in = [](const std::string& uri) -> Result<std::optional<std::vector<std::string>>> {
    if (uri.ends_with("broken")) return Error{Code::kUnavailable, "The disk is full."};
    if (!uri.starts_with("gcr.io/algos/")) return std::optional<std::vector<std::string>>();
    return std::optional(std::vector<std::string>{"python3", uri});
  };
  EXPECT_THAT(Resolve(rules, "gcr.io/algos/trees:latest").entrypoint,
              ElementsAre("python3", "gcr.io/algos/trees:latest"));
  EXPECT_THAT(Resolve(rules, "gcr.io/algos/mapped:latest").entrypoint, ElementsAre("mine"));
  EXPECT_THAT(Resolve(rules, "gcr.io/algos/kept:latest").entrypoint, ElementsAre("kept"));
  EXPECT_EQ(ResolveImage(rules, ContainerImage{"gcr.io/algos/broken"}).error().message,
            "The disk is full.");
  EXPECT_EQ(ResolveImage(rules, ContainerImage{"gcr.io/p/i"}).error().message,
            "gcr.io/p/i is not here.");
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

TEST(ImageMap, OfFlagsWinsOverWhatIsKept) {
  ImageRules rules{{{"gcr.io/p/a", {"flag"}}}};
  rules.kept = []() -> Result<ImageMap> {
    return ImageMap{{"gcr.io/p/a:1", {"kept"}}, {"gcr.io/p/b", {"oci:/b.tar"}}};
  };
  EXPECT_THAT(Resolve(rules, "gcr.io/p/a:1").entrypoint, ElementsAre("flag"));
  EXPECT_EQ(Resolve(rules, "gcr.io/p/b:2").source, "/b.tar");
  EXPECT_EQ(Resolve(rules, "gcr.io/p/c").source, "");
  ImageMap map = rules.map;
  AddKeptMappings(*rules.kept(), map);
  EXPECT_EQ(map, (ImageMap{{"gcr.io/p/a", {"flag"}}, {"gcr.io/p/b", {"oci:/b.tar"}}}));
}

TEST(KeptMappings, TakeEffectForOthersAtOnce) {
  const TemporaryDirectory store;
  const KeptMappings reader(store.path() / "images");
  EXPECT_TRUE(reader.Read()->empty());
  KeptMappings writer(store.path() / "images");
  ASSERT_TRUE(writer.Set("gcr.io/p/a", {"python3", "a b"}).ok());
  ASSERT_TRUE(writer.Set("gcr.io/p/b", {"oci:/b.tar"}).ok());
  ASSERT_TRUE(writer.Set("gcr.io/p/b", {"true"}).ok());
  EXPECT_EQ(*reader.Read(),
            (ImageMap{{"gcr.io/p/a", {"python3", "a b"}}, {"gcr.io/p/b", {"true"}}}));
  EXPECT_TRUE(*writer.Unset("gcr.io/p/a"));
  EXPECT_FALSE(*writer.Unset("gcr.io/p/a"));
  EXPECT_EQ(*reader.Read(), (ImageMap{{"gcr.io/p/b", {"true"}}}));
}

TEST(KeptMappings, ThatAreDamagedAreReported) {
  const TemporaryDirectory store;
  const KeptMappings kept(store.path());
  for (const char* text : {"", "[]", "{\"a\": []}", "{\"a\": \"b\"}", "{\"a\": [1]}", "{\"a\""}) {
    ASSERT_TRUE(WriteFile(store.path() / "map.json", text).ok());
    const auto read = kept.Read();
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().message, HasSubstr("map.json' are damaged. Remove the file")) << text;
  }
}

struct Engines : ::testing::Test {
  void Install(const std::string& engine, const std::string& script) {
    ASSERT_TRUE(WriteFile(bin.path() / engine, "#!/bin/sh\n" + script).ok());
    std::filesystem::permissions(bin.path() / engine, std::filesystem::perms(0755));
  }
  EngineStores Stores() const {
    return EngineStores({{"PATH", bin.path().string() + ":/usr/bin:/bin"}});
  }

  TemporaryDirectory bin{"caip-engines-"};
  const std::string id = std::string(64, 'a');
};

// With an own PATH only, because this host may have a real engine.
TEST_F(Engines, WithoutAProgramHaveNoImage) {
  const EngineStores stores({{"PATH", bin.path().string()}});
  EXPECT_FALSE(stores.Find("gcr.io/p/i:1", {}));
}

TEST_F(Engines, NameAnImageByItsId) {
  Install("podman", "[ \"$1 $2\" = 'image inspect' ] && [ \"$6\" = gcr.io/p/i:1 ] && echo " + id);
  const auto found = Stores().Find("gcr.io/p/i:1", {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "podman");
  EXPECT_EQ(found->id, id);
  Install("docker", "exit 1");
  EXPECT_FALSE(Stores().Find("gcr.io/p/other:1", {}));
}

TEST_F(Engines, AreAskedInTurn) {
  Install("podman", "echo 'no such image' >&2; exit 125");
  Install("docker", "echo sha256:" + id);
  const auto found = Stores().Find("gcr.io/p/i:1", {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "docker");
  EXPECT_EQ(found->id, id);
}

TEST_F(Engines, AreNotBelievedWhenTheyAnswerSomethingElse) {
  Install("podman", "echo hello");
  Install("docker", "echo 'sha256:../../etc/passwd'");
  EXPECT_FALSE(Stores().Find("gcr.io/p/i:1", {}));
}

TEST_F(Engines, MustKnowAnImageByTheDigestOfItsName) {
  const std::string digest = "sha256:" + std::string(64, 'b');
  Install("podman", "echo " + id + " gcr.io/p/i@sha256:" + std::string(64, 'c'));
  EXPECT_FALSE(Stores().Find("gcr.io/p/i@" + digest, {}, digest));
  Install("docker", "echo sha256:" + id + " gcr.io/p/o@sha256:1 gcr.io/p/i@" + digest);
  const auto found = Stores().Find("gcr.io/p/i@" + digest, {}, digest);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "docker");
  EXPECT_EQ(found->id, id);
}

TEST_F(Engines, SaveAnImageToAFile) {
  Install("podman", "[ \"$1 $2 $4\" = 'save --output " + id + "' ] && echo archive > \"$3\"");
  const Path file = bin.path() / "image.tar";
  ASSERT_TRUE(Stores().Save({"podman", id}, file, {}).ok());
  EXPECT_EQ(*ReadFile(file), "archive\n");
}

TEST_F(Engines, ReportWhyTheyCannotSave) {
  Install("docker", "echo 'the daemon is gone' >&2; exit 1");
  const Status saved = Stores().Save({"docker", id}, bin.path() / "image.tar", {});
  EXPECT_THAT(saved.error().message, HasSubstr("docker cannot save it: the daemon is gone"));
}

}  // namespace
}  // namespace caip::host
