// Lists of tags, repositories and referrers.
#include <set>

#include "tests/registry/registry_world.h"

namespace caip::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string NextOf(const Answer& answer) {
  const std::string link = answer.Header("Link");
  if (link.empty()) return "";
  EXPECT_TRUE(link.starts_with("<") && link.ends_with(">; rel=\"next\"")) << link;
  return link.substr(1, link.find('>') - 1);
}

TEST_F(RegistryTest, ListsTagsInTheOrderOfTheSpecification) {
  const std::string manifest = PushImage("layer", "latest");
  for (const char* tag : {"v2", "V10", "v10", "_x", "1.0"}) PushManifest(manifest, tag);
  const Answer answer = Call("GET", "/v2/p/i/tags/list");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json()["name"], "p/i");
  EXPECT_THAT(answer.json()["tags"], ElementsAre("1.0", "_x", "latest", "V10", "v10", "v2"));
  EXPECT_EQ(answer.Header("Link"), "");
}

TEST_F(RegistryTest, ListsTagsInPages) {
  const std::string manifest = PushImage("layer", "a");
  for (const char* tag : {"b", "C", "d", "e"}) PushManifest(manifest, tag);
  const Answer first = Call("GET", "/v2/p/i/tags/list?n=2");
  EXPECT_THAT(first.json()["tags"], ElementsAre("a", "b"));
  const Answer second = Call("GET", NextOf(first));
  EXPECT_THAT(second.json()["tags"], ElementsAre("C", "d"));
  const Answer third = Call("GET", NextOf(second));
  EXPECT_THAT(third.json()["tags"], ElementsAre("e"));
  EXPECT_EQ(NextOf(third), "");
  EXPECT_THAT(Call("GET", "/v2/p/i/tags/list?last=c").json()["tags"], ElementsAre("d", "e"));
  EXPECT_THAT(Call("GET", "/v2/p/i/tags/list?n=2&last=bb").json()["tags"], ElementsAre("C", "d"));
  EXPECT_THAT(Call("GET", "/v2/p/i/tags/list?last=z").json()["tags"], IsEmpty());
  const Answer all = Call("GET", "/v2/p/i/tags/list?n=100");
  EXPECT_EQ(all.json()["tags"].size(), 5u);
  EXPECT_EQ(NextOf(all), "");
  const Answer none = Call("GET", "/v2/p/i/tags/list?n=0");
  EXPECT_THAT(none.json()["tags"], IsEmpty());
  EXPECT_EQ(NextOf(none), "");
  for (const char* count : {"-1", "x", "", "1x", "99999999999999999999999"}) {
    EXPECT_EQ(Call("GET", std::string("/v2/p/i/tags/list?n=") + count).status, 400) << count;
  }
}

TEST_F(RegistryTest, KnowsARepositoryWithoutTags) {
  const std::string manifest = PushImage("layer", "latest");
  Call("DELETE", "/v2/p/i/manifests/latest");
  const Answer answer = Call("GET", "/v2/p/i/tags/list");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.json()["tags"], IsEmpty());
}

TEST_F(RegistryTest, ListsRepositoriesByTheNamesThatTheClientCanUse) {
  PushImage("a", "latest", "p/a");
  PushImage("b", "latest", "eu.gcr.io/p/b");
  PushImage("c", "latest", "gcr.io/p/c");
  PushImage("d", "latest", "us-docker.pkg.dev/p/r/d");
  const Answer answer = Call("GET", "/v2/_catalog");
  EXPECT_THAT(answer.json()["repositories"],
              ElementsAre("eu.gcr.io/p/b", "p/a", "p/c", "us-docker.pkg.dev/p/r/d"));
  const Answer at_host = Call("GET", "/v2/_catalog", "", {{"Host", "eu.gcr.io"}});
  EXPECT_THAT(at_host.json()["repositories"], ElementsAre("p/b"));
  const Answer first = Call("GET", "/v2/_catalog?n=3");
  EXPECT_EQ(first.json()["repositories"].size(), 3u);
  EXPECT_THAT(Call("GET", NextOf(first)).json()["repositories"],
              ElementsAre("us-docker.pkg.dev/p/r/d"));
}

// The image store is that of jobs, too. No client can name those images.
TEST_F(RegistryTest, ListsNoRepositoryOfTheEmulatorItself) {
  PushImage("a", "latest", "p/a");
  const auto pushed = names_->Find("gcr.io/p/a", "latest");
  ASSERT_TRUE(pushed.ok());
  const images::ManifestRecord manifest{pushed->digest, kOciManifest};
  for (const char* own : {"localhost/mapped", "localhost/podman", "docker.io/library/busybox"}) {
    ASSERT_TRUE(names_->Set(own, "latest", manifest).ok());
    EXPECT_EQ(GetManifest("latest", own).status, 404) << own;
  }
  const Answer answer = Call("GET", "/v2/_catalog");
  EXPECT_THAT(answer.json()["repositories"], ElementsAre("p/a"));
}

class ReferrersTest : public RegistryTest {
 protected:
  // Pushes an image manifest that describes `subject`.
  Answer Attach(const std::string& subject, Json members, const std::string& tag = "x") {
    PushBlob("{}");
    Json manifest = ImageManifest("{}", {});
    manifest["subject"] = DescriptorOf(subject, kOciManifest);
    manifest.update(members);
    last_ = CompactJson(manifest);
    return PushManifest(last_, tag == "x" ? DigestOf(last_) : tag);
  }
  Answer Referrers(const std::string& subject, const std::string& query = "") {
    return Call("GET", "/v2/p/i/referrers/" + DigestOf(subject) + query);
  }

  std::string last_;  // the manifest pushed last
};

TEST_F(ReferrersTest, ListsManifestsThatNameASubject) {
  const std::string image = PushImage("layer", "latest");
  const Answer pushed =
      Attach(image, {{"artifactType", "text/sbom"}, {"annotations", {{"by", "me"}}}});
  EXPECT_EQ(pushed.status, 201) << pushed.body;
  EXPECT_EQ(pushed.Header("OCI-Subject"), DigestOf(image));
  const Answer answer = Referrers(image);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("Content-Type"), kOciIndex);
  EXPECT_EQ(answer.Header("OCI-Filters-Applied"), "");
  const Json expected = {{"mediaType", kOciManifest},
                         {"size", last_.size()},
                         {"digest", DigestOf(last_)},
                         {"artifactType", "text/sbom"},
                         {"annotations", {{"by", "me"}}}};
  EXPECT_EQ(answer.json()["mediaType"], kOciIndex);
  EXPECT_EQ(answer.json()["schemaVersion"], 2);
  EXPECT_EQ(answer.json()["manifests"], Json::array({expected}));
}

TEST_F(ReferrersTest, TakesTheTypeOfTheConfigurationWhereTheManifestHasNone) {
  Attach("image", Json::object());
  EXPECT_EQ(Referrers("image").json()["manifests"][0]["artifactType"], kOciConfig);
}

TEST_F(ReferrersTest, LeavesOutTheTypeOfAnIndexThatHasNone) {
  Json index = IndexOf({});
  index["subject"] = DescriptorOf("image", kOciManifest);
  const Answer pushed = PushManifest(CompactJson(index), "x", "p/i", kOciIndex);
  EXPECT_EQ(pushed.Header("OCI-Subject"), DigestOf("image"));
  const Json listed = Referrers("image").json()["manifests"][0];
  EXPECT_EQ(listed["mediaType"], kOciIndex);
  EXPECT_FALSE(listed.contains("artifactType"));
}

TEST_F(ReferrersTest, FiltersByType) {
  Attach("image", {{"artifactType", "text/a"}});
  Attach("image", {{"artifactType", "text/b"}});
  EXPECT_EQ(Referrers("image").json()["manifests"].size(), 2u);
  const Answer filtered = Referrers("image", "?artifactType=text%2Fb");
  EXPECT_EQ(filtered.Header("OCI-Filters-Applied"), "artifactType");
  EXPECT_EQ(filtered.json()["manifests"].size(), 1u);
  EXPECT_EQ(filtered.json()["manifests"][0]["digest"], DigestOf(last_));
  EXPECT_THAT(Referrers("image", "?artifactType=text/c").json()["manifests"], IsEmpty());
}

// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#listing-referrers: a list
// that is too large for one manifest has a link to the next part.
TEST_F(ReferrersTest, ListsLargeManifestsInPages) {
  for (const char letter : {'x', 'y', 'z'}) {
    const Answer pushed = Attach("image", {{"artifactType", "text/a"},
                                           {"annotations", {{"a", std::string(3 << 20, letter)}}}});
    ASSERT_EQ(pushed.status, 201) << pushed.body.substr(0, 200);
  }
  for (const char* query : {"", "?artifactType=text%2Fa"}) {
    std::set<std::string> digests;
    std::string target = "/v2/p/i/referrers/" + DigestOf("image") + query;
    int pages = 0;
    for (; !target.empty() && pages < 4; ++pages) {
      const Answer page = Call("GET", target);
      EXPECT_EQ(page.status, 200);
      EXPECT_EQ(page.Header("OCI-Filters-Applied"), *query == '\0' ? "" : "artifactType");
      ASSERT_EQ(page.json()["manifests"].size(), 1u);
      digests.insert(StringOr(page.json()["manifests"][0], "digest"));
      target = NextOf(page);
    }
    EXPECT_EQ(pages, 3);
    EXPECT_EQ(digests.size(), 3u);
  }
  EXPECT_EQ(Referrers("image", "?last=x").status, 400);
}

TEST_F(ReferrersTest, NeedsNeitherTheSubjectNorTheRepository) {
  EXPECT_EQ(Attach("missing", Json::object()).status, 201);
  EXPECT_EQ(Referrers("missing").json()["manifests"].size(), 1u);
  const Answer unknown = Call("GET", "/v2/no/where/referrers/" + DigestOf("x"));
  EXPECT_EQ(unknown.status, 200);
  EXPECT_THAT(unknown.json()["manifests"], IsEmpty());
  EXPECT_EQ(Call("GET", "/v2/p/i/referrers/sha256:xyz").status, 400);
}

TEST_F(ReferrersTest, LeavesOutADamagedReferrer) {
  Attach("image", {{"artifactType", "text/a"}});
  const Path damaged = directory_.path() / "blobs/sha256" / images::Digest::Of(last_).hex();
  Attach("image", {{"artifactType", "text/b"}});
  ASSERT_TRUE(WriteFile(damaged, "x").ok());
  const Answer answer = Referrers("image");
  EXPECT_EQ(answer.status, 200) << answer.body;
  ASSERT_EQ(answer.json()["manifests"].size(), 1u);
  EXPECT_EQ(answer.json()["manifests"][0]["digest"], DigestOf(last_));
}

TEST_F(ReferrersTest, ForgetsADeletedReferrer) {
  Attach("image", Json::object(), "signature");
  EXPECT_EQ(Call("DELETE", "/v2/p/i/manifests/" + DigestOf(last_)).status, 202);
  EXPECT_THAT(Referrers("image").json()["manifests"], IsEmpty());
}

}  // namespace
}  // namespace caip::registry
