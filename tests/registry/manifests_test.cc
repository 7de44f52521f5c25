// Manifests and indexes: pushed, read in their own type, tagged, listed and deleted.
#include "tests/registry/registry_world.h"

namespace caip::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(RegistryTest, ReturnsAManifestByteForByte) {
  PushBlob("{}");
  PushBlob("layer");
  const std::string manifest = PrettyJson(ImageManifest("{}", {"layer"})) + "\n \n";
  const Answer pushed = PushManifest(manifest, "latest");
  EXPECT_EQ(pushed.status, 201) << pushed.body;
  EXPECT_EQ(pushed.Header("Location"), "/v2/p/i/manifests/" + DigestOf(manifest));
  EXPECT_EQ(pushed.Header("Docker-Content-Digest"), DigestOf(manifest));
  for (const std::string& reference : {std::string("latest"), DigestOf(manifest)}) {
    const Answer read = GetManifest(reference);
    EXPECT_EQ(read.status, 200) << reference;
    EXPECT_EQ(read.body, manifest);
    EXPECT_EQ(read.Header("Content-Type"), kOciManifest);
    EXPECT_EQ(read.Header("Docker-Content-Digest"), DigestOf(manifest));
    const Answer head = Call("HEAD", "/v2/p/i/manifests/" + reference);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.Header("Content-Length"), std::to_string(manifest.size()));
    EXPECT_EQ(head.body, "");
  }
}

TEST_F(RegistryTest, KeepsTheTypeOfEachKindOfManifest) {
  const std::string image = PushImage("layer", "oci");
  Json docker = ImageManifest("{}", {"layer"});
  docker["mediaType"] = kDockerManifest;
  EXPECT_EQ(PushManifest(CompactJson(docker), "docker", "p/i", kDockerManifest).status, 201);
  EXPECT_EQ(PushManifest(CompactJson(IndexOf({image})), "index", "p/i", kOciIndex).status, 201);
  Json list = IndexOf({image, CompactJson(docker)});
  list["mediaType"] = kDockerList;
  EXPECT_EQ(PushManifest(CompactJson(list), "list", "p/i", kDockerList).status, 201);
  Json untyped = ImageManifest("{}", {"layer"});
  untyped.erase("mediaType");
  EXPECT_EQ(PushManifest(CompactJson(untyped), "untyped").status, 201);
  EXPECT_EQ(
      PushManifest(image, "parameter", "p/i", std::string(kOciManifest) + "; charset=utf-8").status,
      201);
  const std::pair<const char*, const char*> types[] = {
      {"oci", kOciManifest}, {"docker", kDockerManifest}, {"index", kOciIndex},
      {"list", kDockerList}, {"untyped", kOciManifest},   {"parameter", kOciManifest}};
  for (const auto& [tag, type] : types) {
    EXPECT_EQ(GetManifest(tag).Header("Content-Type"), type) << tag;
  }
}

TEST_F(RegistryTest, FindsAManifestOnlyForClientsThatAcceptItsType) {
  PushImage("layer", "latest");
  const struct {
    Fields fields;
    int status;
  } rows[] = {
      {{}, 200},
      {{{"Accept", "*/*"}}, 200},
      {{{"Accept", "application/*;q=0.5"}}, 200},
      {{{"Accept", kOciManifest}}, 200},
      {{{"Accept", std::string(kDockerManifest) + ", " + kOciManifest + ";q=0.2"}}, 200},
      {{{"Accept", kDockerManifest}, {"Accept", kOciManifest}}, 200},
      {{{"Accept", kDockerManifest}}, 404},
      {{{"Accept", "text/html"}}, 404},
  };
  for (const auto& row : rows) {
    const Answer answer = GetManifest("latest", "p/i", row.fields);
    EXPECT_EQ(answer.status, row.status) << (row.fields.empty() ? "" : row.fields[0].second);
    if (row.status != 404) continue;
    EXPECT_EQ(answer.code(), "MANIFEST_UNKNOWN");
    EXPECT_THAT(answer.body, HasSubstr(kOciManifest));
  }
}

TEST_F(RegistryTest, MovesATagToTheLastManifest) {
  const std::string first = PushImage("one", "latest");
  const std::string second = PushImage("two", "latest");
  EXPECT_EQ(GetManifest("latest").body, second);
  EXPECT_EQ(GetManifest(DigestOf(first)).body, first);
}

TEST_F(RegistryTest, GivesAManifestThatIsPushedByDigestTheTagsOfTheRequest) {
  const std::string manifest = PushImage("layer", "latest");
  const std::string path = DigestOf(manifest) + "?tag=a&tag=b";
  const Answer pushed = PushManifest(manifest, path);
  EXPECT_EQ(pushed.status, 201) << pushed.body;
  EXPECT_THAT(Call("GET", "/v2/p/i/tags/list").json()["tags"], ElementsAre("a", "b", "latest"));
  EXPECT_EQ(PushManifest(manifest, DigestOf(manifest) + "?tag=.b").code(), "MANIFEST_INVALID");
}

TEST_F(RegistryTest, RefusesAManifestWithAnotherDigest) {
  PushImage("layer", "latest");
  const std::string manifest = PrettyJson(ImageManifest("{}", {"layer"}));
  const Answer answer = PushManifest(manifest, DigestOf("other"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.code(), "DIGEST_INVALID");
  EXPECT_EQ(GetManifest(DigestOf(manifest)).status, 404);
}

TEST_F(RegistryTest, ReplacesADamagedManifestThatAClientSendsAgain) {
  const std::string manifest = PushImage("layer", "latest");
  const Path file = directory_.path() / "blobs/sha256" / images::Digest::Of(manifest).hex();
  ASSERT_TRUE(WriteFile(file, std::string(manifest.size(), 'x')).ok());
  EXPECT_EQ(PushManifest(manifest, "latest").status, 201);
  EXPECT_EQ(GetManifest("latest").body, manifest);
}

// A client that learns that the manifest exists does not send it again.
TEST_F(RegistryTest, DoesNotHaveAManifestWhoseBytesAreDamaged) {
  const std::string manifest = PushImage("layer", "latest");
  const Path file = directory_.path() / "blobs/sha256" / images::Digest::Of(manifest).hex();
  ASSERT_TRUE(WriteFile(file, std::string(manifest.size(), 'x')).ok());
  for (const bool exists : {true, false}) {
    if (!exists) {
      ASSERT_TRUE(std::filesystem::remove(file));
    }
    for (const std::string& reference : {std::string("latest"), DigestOf(manifest)}) {
      EXPECT_EQ(Call("HEAD", "/v2/p/i/manifests/" + reference).status, 404);
      EXPECT_EQ(GetManifest(reference).code(), "MANIFEST_UNKNOWN");
    }
  }
  EXPECT_EQ(PushManifest(manifest, "latest").status, 201);
  EXPECT_EQ(GetManifest("latest").body, manifest);
}

TEST_F(RegistryTest, KeepsAManifestWhoseTagIsPushedAgain) {
  const std::string first = PushImage("one", "latest");
  const std::string second = PushImage("two", "latest");
  EXPECT_EQ(GetManifest("latest").body, second);
  EXPECT_EQ(GetManifest(DigestOf(first)).body, first);
  const std::vector<images::ImageName> untagged = *names_->ListUntagged();
  ASSERT_EQ(untagged.size(), 1u);
  EXPECT_EQ(untagged.front().digest.text(), DigestOf(first));
}

TEST_F(RegistryTest, RefusesAManifestOfPartsThatAreNotInTheRepository) {
  PushBlob("{}");
  PushBlob("layer", "p/other");
  const std::string image = CompactJson(ImageManifest("{}", {"layer"}));
  for (const auto& [manifest, type] :
       {std::pair{image, kOciManifest}, std::pair{CompactJson(IndexOf({image})), kOciIndex}}) {
    const Answer answer = PushManifest(manifest, "latest", "p/i", type);
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.code(), "MANIFEST_BLOB_UNKNOWN");
  }
  EXPECT_EQ(GetManifest("latest").status, 404);
}

TEST_F(RegistryTest, DoesNotWantLayersThatAreElsewhere) {
  PushBlob("{}");
  Json with_urls = ImageManifest("{}", {"far"});
  with_urls["layers"][0]["urls"] = {"https://example.com/layer"};
  Json foreign = ImageManifest("{}", {"far"});
  foreign["layers"][0]["mediaType"] =
      "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip";
  EXPECT_EQ(PushManifest(CompactJson(with_urls), "a").status, 201);
  EXPECT_EQ(PushManifest(CompactJson(foreign), "b").status, 201);
  for (const char* type : {"", ".gzip", ".zstd"}) {
    foreign["layers"][0]["mediaType"] =
        std::string("application/vnd.docker.image.rootfs.foreign.diff.tar") + type;
    EXPECT_EQ(PushManifest(CompactJson(foreign), "c").status, 201) << type;
  }
}

TEST_F(RegistryTest, RefusesDocumentsThatAreNotManifests) {
  PushBlob("{}");
  PushBlob("layer");
  const auto changed = [](const std::string& pointer, const Json& value) {
    Json manifest = ImageManifest("{}", {"layer"});
    manifest[Json::json_pointer(pointer)] = value;
    return CompactJson(manifest);
  };
  const struct {
    std::string manifest;
    std::string type;
    const char* code;
    const char* words;
  } rows[] = {
      {"", kOciManifest, "MANIFEST_INVALID", ""},
      {"{", kOciManifest, "MANIFEST_INVALID", ""},
      {"[]", kOciManifest, "MANIFEST_INVALID", "JSON object"},
      {"\xff\xfe", kOciManifest, "MANIFEST_INVALID", ""},
      {std::string(200, '['), kOciManifest, "MANIFEST_INVALID", ""},
      {changed("/schemaVersion", 1), kOciManifest, "MANIFEST_INVALID", "schema 1"},
      {changed("/mediaType", kDockerManifest), kOciManifest, "MANIFEST_INVALID", kDockerManifest},
      {changed("/mediaType", 7), "text/plain", "MANIFEST_INVALID", "text/plain"},
      {changed("/config", nullptr), kOciManifest, "MANIFEST_INVALID", "config"},
      {changed("/config/size", -1), kOciManifest, "MANIFEST_INVALID", "size"},
      {changed("/config/size", 3), kOciManifest, "MANIFEST_INVALID", "states 3 bytes"},
      {changed("/config/size", "two"), kOciManifest, "MANIFEST_INVALID", "size"},
      {changed("/layers", "x"), kOciManifest, "MANIFEST_INVALID", "layers"},
      {changed("/layers/0", 5), kOciManifest, "MANIFEST_INVALID", "layers[0]"},
      {changed("/layers/0/digest", "sha256:../x"), kOciManifest, "MANIFEST_INVALID", "../x"},
      {changed("/subject", 5), kOciManifest, "MANIFEST_INVALID", "subject"},
      {changed("/mediaType", kOciIndex), kOciIndex, "MANIFEST_INVALID", "contents"},
  };
  for (const auto& row : rows) {
    const Answer answer = PushManifest(row.manifest, "bad", "p/i", row.type);
    EXPECT_EQ(answer.status, 400) << row.manifest;
    EXPECT_EQ(answer.code(), row.code) << row.manifest << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(row.words)) << row.manifest;
  }
  EXPECT_EQ(GetManifest("bad").status, 404);
}

TEST_F(RegistryTest, TakesManifestsOfFourMebibytesAndNoLarger) {
  PushBlob("{}");
  Json manifest = ImageManifest("{}", {});
  manifest["annotations"] = {{"fill", ""}};
  const size_t rest = images::kManifestBytesMax - CompactJson(manifest).size();
  manifest["annotations"]["fill"] = std::string(rest, 'x');
  EXPECT_EQ(PushManifest(CompactJson(manifest), "large").status, 201);
  manifest["annotations"]["fill"] = std::string(rest + 1, 'x');
  const Answer answer = PushManifest(CompactJson(manifest), "larger");
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.code(), "SIZE_INVALID");
  EXPECT_EQ(GetManifest("larger").status, 404);
}

TEST_F(RegistryTest, DeletesATagAndLeavesItsManifest) {
  const std::string manifest = PushImage("layer", "latest");
  EXPECT_EQ(Call("DELETE", "/v2/p/i/manifests/latest").status, 202);
  EXPECT_EQ(GetManifest("latest").code(), "MANIFEST_UNKNOWN");
  EXPECT_EQ(GetManifest(DigestOf(manifest)).status, 200);
  EXPECT_EQ(Call("DELETE", "/v2/p/i/manifests/latest").status, 404);
}

TEST_F(RegistryTest, DeletesAManifestWithItsTagsAndTakesItAgain) {
  const std::string manifest = PushImage("layer", "one");
  EXPECT_EQ(PushManifest(manifest, "two").status, 201);
  EXPECT_EQ(PushManifest(PushImage("layer", "one", "p/other"), "two", "p/other").status, 201);
  const std::string path = "/v2/p/i/manifests/" + DigestOf(manifest);
  EXPECT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(Call("DELETE", path).code(), "MANIFEST_UNKNOWN");
  for (const std::string& reference :
       {std::string("one"), std::string("two"), DigestOf(manifest)}) {
    EXPECT_EQ(GetManifest(reference).status, 404) << reference;
    EXPECT_EQ(GetManifest(reference, "p/other").status, 200) << reference;
  }
  EXPECT_EQ(PushManifest(manifest, "one").status, 201);
  EXPECT_EQ(GetManifest("one").body, manifest);
}

TEST_F(RegistryTest, KnowsWhatDoesNotExist) {
  PushImage("layer", "latest");
  const std::string long_tag(129, 'a');
  const struct {
    std::string path;
    int status;
    const char* code;
  } rows[] = {
      {"/v2/p/i/manifests/other", 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/j/manifests/latest", 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/" + DigestOf("x"), 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/.INVALID", 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/..", 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/%2e%2e", 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/a%2Fb", 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/" + long_tag, 404, "MANIFEST_UNKNOWN"},
      {"/v2/p/i/manifests/sha256:..", 400, "DIGEST_INVALID"},
      {"/v2/p/i/blobs/" + DigestOf("x"), 404, "BLOB_UNKNOWN"},
      {"/v2/p/j/tags/list", 404, "NAME_UNKNOWN"},
      {"/v2/p/i/blobs/uploads/x", 404, "BLOB_UPLOAD_UNKNOWN"},
      {"/v2/p/i/other/x", 404, "NAME_UNKNOWN"},
      {"/v2/p/i/tags/list?n=x", 400, "PAGINATION_NUMBER_INVALID"},
  };
  for (const auto& row : rows) {
    for (const char* method : {"GET", "HEAD"}) {
      const Answer answer = Call(method, row.path);
      EXPECT_EQ(answer.status, row.status) << method << " " << row.path;
      EXPECT_EQ(answer.code(), *method == 'G' ? row.code : "") << row.path;
    }
  }
  EXPECT_EQ(PushManifest("{}", long_tag).code(), "MANIFEST_INVALID");
  EXPECT_EQ(Call("PUT", "/v2/p/i/tags/list").code(), "UNSUPPORTED");
  EXPECT_EQ(Call("PUT", "/v2/p/i/tags/list").status, 405);
}

}  // namespace
}  // namespace caip::registry
