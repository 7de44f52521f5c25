// Blobs: pushed whole or in pieces, mounted, read and deleted.
#include <sys/inotify.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/registry/registry_world.h"

namespace caip::registry {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kNowhere =
    "sha256:0000000000000000000000000000000000000000000000000000000000000000";

TEST_F(RegistryTest, AnswersTheVersionCheckInTheFormOfDockersRegistry) {
  for (const char* path : {"/v2/", "/v2"}) {
    const Answer answer = Call("GET", path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.Header("Docker-Distribution-Api-Version"), "registry/2.0");
    EXPECT_EQ(answer.body, "{}");
  }
}

TEST_F(RegistryTest, GivesAClientTheTokenOfItsOwnCredentials) {
  const std::string path = "/v2/token?service=gcr.io&scope=repository:p/i:push,pull";
  const std::string basic = "Basic b2F1dGgyYWNjZXNzdG9rZW46eWEyOS54";  // oauth2accesstoken:ya29.x
  for (const char* method : {"GET", "POST"}) {
    const Answer answer = Call(method, path, "", {{"Authorization", basic}});
    EXPECT_EQ(answer.status, 200) << method;
    EXPECT_EQ(answer.json()["token"], "ya29.x");
    EXPECT_EQ(answer.json()["access_token"], "ya29.x");
  }
  EXPECT_EQ(Call("GET", path).json()["token"], "anonymous");
}

TEST_F(RegistryTest, StoresABlobThatOnePostHas) {
  const Answer pushed = Call("POST", "/v2/p/i/blobs/uploads/?digest=" + DigestOf("layer"), "layer");
  EXPECT_EQ(pushed.status, 201) << pushed.body;
  EXPECT_EQ(pushed.Header("Location"), "/v2/p/i/blobs/" + DigestOf("layer"));
  EXPECT_EQ(pushed.Header("Docker-Content-Digest"), DigestOf("layer"));
  const Answer read = Call("GET", pushed.Header("Location"));
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, "layer");
  EXPECT_EQ(read.Header("Docker-Content-Digest"), DigestOf("layer"));
  EXPECT_EQ(read.Header("Content-Type"), "application/octet-stream");
}

TEST_F(RegistryTest, StoresABlobThatComesAfterThePost) {
  const std::string location = Start();
  EXPECT_THAT(location, StartsWith("/v2/p/i/blobs/uploads/"));
  EXPECT_EQ(Finish(location, DigestOf("layer"), "layer").status, 201);
  EXPECT_EQ(GetBlob("layer").body, "layer");
  EXPECT_EQ(Call("GET", location).code(), "BLOB_UPLOAD_UNKNOWN");
}

TEST_F(RegistryTest, StoresTheEmptyBlob) {
  EXPECT_EQ(Finish(Start(), DigestOf("")).status, 201);
  const Answer read = GetBlob("");
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.Header("Content-Length"), "0");
}

TEST_F(RegistryTest, AnswersHeadWithTheSizeAndWithoutABody) {
  PushBlob("layer");
  const Answer answer = Call("HEAD", "/v2/p/i/blobs/" + DigestOf("layer"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("Content-Length"), "5");
  EXPECT_EQ(answer.Header("Docker-Content-Digest"), DigestOf("layer"));
  EXPECT_EQ(answer.body, "");
}

TEST_F(RegistryTest, ShowsABlobOnlyInItsRepository) {
  PushBlob("layer");
  for (const char* name : {"p/other", "p", "p/i/i"}) {
    EXPECT_EQ(GetBlob("layer", name).code(), "BLOB_UNKNOWN") << name;
  }
}

struct RangeRow {
  const char* range;
  int status;
  const char* content_range;
  const char* body;  // nullptr: not compared
};

TEST_F(RegistryTest, ReadsRangesOfABlob) {
  PushBlob("0123456789");
  const RangeRow rows[] = {
      {"bytes=2-4", 206, "bytes 2-4/10", "234"},
      {"bytes=7-", 206, "bytes 7-9/10", "789"},
      {"bytes=-3", 206, "bytes 7-9/10", "789"},
      {"bytes=-30", 206, "bytes 0-9/10", "0123456789"},
      {"bytes=8-100", 206, "bytes 8-9/10", "89"},
      {"bytes=0-99999999999999999999999999", 206, "bytes 0-9/10", "0123456789"},
      {"bytes=10-", 416, "bytes */10", nullptr},
      {"bytes=5-2", 416, "bytes */10", nullptr},
      {"bytes=-0", 416, "bytes */10", nullptr},
      {"bytes=0-1,4-5", 200, "", "0123456789"},
      {"lines=1-2", 200, "", "0123456789"},
      {"bytes=a-b", 200, "", "0123456789"},
  };
  for (const RangeRow& row : rows) {
    const Answer answer = GetBlob("0123456789", "p/i", {{"Range", row.range}});
    EXPECT_EQ(answer.status, row.status) << row.range;
    EXPECT_EQ(answer.Header("Content-Range"), row.content_range) << row.range;
    EXPECT_EQ(answer.code(), row.status == 416 ? "RANGE_INVALID" : "") << row.range;
    if (row.body == nullptr) continue;
    EXPECT_EQ(answer.body, row.body) << row.range;
  }
}

TEST_F(RegistryTest, SendsNoBytesToAClientThatHasTheBlob) {
  PushBlob("layer");
  const std::string tag = GetBlob("layer").Header("ETag");
  const Answer answer = GetBlob("layer", "p/i", {{"If-None-Match", tag}});
  EXPECT_EQ(answer.status, 304);
  EXPECT_EQ(answer.body, "");
}

// Blobs and manifests share their origin with the APIs, so a browser must not run them as pages.
TEST_F(RegistryTest, LetsNoBlobAndNoManifestActAsAPage) {
  const std::string page = "<script></script>";
  PushImage(page, "latest");
  const std::string blob = "/v2/p/i/blobs/" + DigestOf(page);
  struct Row {
    const char* method;
    std::string target;
    Fields fields;
    int status;
  };
  const Row rows[] = {
      {"GET", blob, {}, 200},
      {"HEAD", blob, {}, 200},
      {"GET", blob, {{"Range", "bytes=1-3"}}, 206},
      {"GET", blob, {{"Range", "bytes=99-"}}, 416},
      {"GET", "/v2/p/i/manifests/latest", {}, 200},
  };
  for (const Row& row : rows) {
    const Answer answer = Call(row.method, row.target, "", row.fields);
    const std::string what = std::string(row.method) + " " + row.target;
    EXPECT_EQ(answer.status, row.status) << what;
    EXPECT_EQ(answer.Header("X-Content-Type-Options"), "nosniff") << what << answer.status;
    EXPECT_EQ(answer.Header("Content-Security-Policy"), "sandbox") << what << answer.status;
  }
}

TEST_F(RegistryTest, DeletesABlobFromOneRepositoryAndTakesItAgain) {
  PushBlob("layer");
  PushBlob("layer", "p/other");
  const std::string path = "/v2/p/i/blobs/" + DigestOf("layer");
  EXPECT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(Call("DELETE", path).code(), "BLOB_UNKNOWN");
  EXPECT_EQ(GetBlob("layer").status, 404);
  EXPECT_EQ(GetBlob("layer", "p/other").body, "layer");
  PushBlob("layer");
  EXPECT_EQ(GetBlob("layer").body, "layer");
}

TEST_F(RegistryTest, RefusesBytesWithAnotherDigest) {
  const std::string location = Start();
  const Answer put = Finish(location, DigestOf("layer"), "other");
  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.code(), "DIGEST_INVALID");
  const Answer post = Call("POST", "/v2/p/i/blobs/uploads/?digest=" + DigestOf("layer"), "other");
  EXPECT_EQ(post.code(), "DIGEST_INVALID");
  EXPECT_EQ(GetBlob("layer").status, 404);
  EXPECT_EQ(GetBlob("other").status, 404);
  EXPECT_TRUE(blobs_->List()->empty());
  EXPECT_TRUE(blobs_->Uploads().empty());
}

TEST_F(RegistryTest, RefusesTextsThatAreNotDigests) {
  for (const std::string text :
       {"", "sha256:", "sha256:12", "md5:d41d8cd98f00b204e9800998ecf8427e", "..", "sha256:../../x",
        "SHA256:0000000000000000000000000000000000000000000000000000000000000000",
        "sha256:A000000000000000000000000000000000000000000000000000000000000000", "sha512:00"}) {
    const std::string location = Start();
    EXPECT_EQ(Finish(location, text, "x").code(), "DIGEST_INVALID") << text;
    EXPECT_EQ(Call("GET", location).status, 204) << "the upload can continue after " << text;
    if (text.empty() || text == "..") continue;
    EXPECT_EQ(Call("GET", "/v2/p/i/blobs/" + text.substr(0, text.find('/'))).code(),
              "DIGEST_INVALID");
  }
  EXPECT_EQ(Call("PUT", Start(), "x").code(), "DIGEST_INVALID");
}

TEST_F(RegistryTest, MountsABlobOfAnotherRepository) {
  PushBlob("layer");
  const std::string mount = "/v2/q/j/blobs/uploads/?mount=" + DigestOf("layer");
  const Answer mounted = Call("POST", mount + "&from=p/i");
  EXPECT_EQ(mounted.status, 201);
  EXPECT_EQ(mounted.Header("Location"), "/v2/q/j/blobs/" + DigestOf("layer"));
  EXPECT_EQ(GetBlob("layer", "q/j").body, "layer");
  EXPECT_EQ(Call("POST", "/v2/q/k/blobs/uploads/?mount=" + DigestOf("layer")).status, 201);
}

TEST_F(RegistryTest, StartsAnUploadWhereNothingCanBeMounted) {
  PushBlob("layer");
  const std::string uploads = "/v2/q/j/blobs/uploads/";
  for (const std::string& query : std::vector<std::string>{
           "?mount=" + DigestOf("layer") + "&from=p/empty",
           "?mount=" + std::string(kNowhere) + "&from=p/i", "?mount=" + std::string(kNowhere)}) {
    const Answer answer = Call("POST", uploads + query);
    EXPECT_EQ(answer.status, 202) << query;
    EXPECT_THAT(answer.Header("Location"), StartsWith(uploads)) << query;
    EXPECT_EQ(Finish(answer.Header("Location"), DigestOf("own"), "own").status, 201) << query;
  }
  EXPECT_EQ(Call("POST", uploads + "?mount=x&from=p/i").code(), "DIGEST_INVALID");
  EXPECT_EQ(Call("POST", uploads + "?mount=" + DigestOf("layer") + "&from=../p").code(),
            "NAME_INVALID");
}

// As after a kill between the two steps of a push.
TEST_F(RegistryTest, TakesABlobThatIsStoredButInNoRepository) {
  ASSERT_TRUE(blobs_->Put("layer").ok());
  EXPECT_EQ(GetBlob("layer").status, 404);
  PushBlob("layer");
  EXPECT_EQ(GetBlob("layer").body, "layer");
}

TEST_F(RegistryTest, ReplacesADamagedBlobThatAClientSendsAgain) {
  PushBlob("layer");
  const Path file = directory_.path() / "blobs/sha256" / images::Digest::Of("layer").hex();
  for (const char* damaged : {"lawyer", "LAYER"}) {
    ASSERT_TRUE(WriteFile(file, damaged).ok());
    PushBlob("layer");
    EXPECT_EQ(GetBlob("layer").body, "layer");
    EXPECT_EQ(*ReadFile(file), "layer");
  }
}

TEST_F(RegistryTest, LocksTheStoreWhileABlobBelongsToNoRepository) {
  const std::string location = Start();
  Call("PATCH", location, "lay");
  EXPECT_EQ(locks_, 0) << "an upload may take hours";
  Finish(location, DigestOf("layer"), "er");
  EXPECT_EQ(locks_, 1);
  Call("POST", "/v2/p/i/blobs/uploads/?digest=" + DigestOf("{}"), "{}");
  EXPECT_EQ(locks_, 2);
  Call("POST", "/v2/q/j/blobs/uploads/?mount=" + DigestOf("layer"));
  EXPECT_EQ(locks_, 3);
  PushManifest(CompactJson(ImageManifest("{}", {"layer"})), "latest");
  EXPECT_EQ(locks_, 4);
}

// Reading 10 GiB would keep a removal of images waiting. The kernel reports each file that is
// opened.
class LockedRegistryTest : public RegistryTest {
 protected:
  // The blobs that the request opens from the moment on when it has the lock.
  std::string OpenedBy(const std::function<void()>& request) {
    const Fd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    when_locked_ = [&] {
      const Path blobs = directory_.path() / "blobs/sha256";
      EXPECT_GE(::inotify_add_watch(watch.get(), blobs.c_str(), IN_OPEN), 0);
    };
    request();
    when_locked_ = nullptr;
    std::string opened;
    alignas(inotify_event) char events[4096];
    for (ssize_t size = 0; (size = ::read(watch.get(), events, sizeof events)) > 0;) {
      for (const char* at = events; at < events + size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        if (event->len > 0) opened += std::string(event->name) + " ";
        at += sizeof(inotify_event) + event->len;
      }
    }
    return opened;
  }
};

TEST_F(LockedRegistryTest, ReadsNoStoredBlobOfAnUpload) {
  PushBlob("layer");
  const auto push = [&] {
    EXPECT_EQ(Finish(Start("p/other"), DigestOf("layer"), "layer").status, 201);
  };
  EXPECT_EQ(OpenedBy(push), "");
  EXPECT_EQ(locks_, 2);
  EXPECT_EQ(GetBlob("layer", "p/other").body, "layer");
}

TEST_F(LockedRegistryTest, ReadsNoMountedBlob) {
  PushBlob("layer");
  Restart();  // forgets that the blob is intact
  const std::string mount = "/v2/q/j/blobs/uploads/?from=p/i&mount=" + DigestOf("layer");
  EXPECT_EQ(OpenedBy([&] { EXPECT_EQ(Call("POST", mount).status, 201); }), "");
  EXPECT_EQ(locks_, 2);
}

TEST_F(LockedRegistryTest, ReadsNoPartOfAManifest) {
  PushBlob("{}");
  PushBlob("layer");
  Restart();  // forgets that the blobs are intact
  Json manifest = ImageManifest("{}", {"layer"});
  const auto push = [&] { EXPECT_EQ(PushManifest(CompactJson(manifest), "latest").status, 201); };
  EXPECT_EQ(OpenedBy(push), "");
  EXPECT_EQ(locks_, 3);
  Restart();
  manifest["layers"][0]["size"] = 7;
  const auto refuse = [&] { EXPECT_EQ(PushManifest(CompactJson(manifest), "b").status, 400); };
  EXPECT_EQ(OpenedBy(refuse), "");
}

// A client does not send a blob that the repository has.
TEST_F(RegistryTest, WantsABlobAgainThatHasAnotherSizeThanItsManifestStates) {
  PushBlob("{}");
  PushBlob("layer");
  const Path file = directory_.path() / "blobs/sha256" / images::Digest::Of("layer").hex();
  ASSERT_TRUE(WriteFile(file, "lay").ok());
  const std::string manifest = CompactJson(ImageManifest("{}", {"layer"}));
  EXPECT_EQ(PushManifest(manifest, "latest").code(), "MANIFEST_BLOB_UNKNOWN");
  EXPECT_EQ(Call("HEAD", "/v2/p/i/blobs/" + DigestOf("layer")).status, 404);
  PushBlob("layer");
  EXPECT_EQ(PushManifest(manifest, "latest").status, 201);
  EXPECT_EQ(GetBlob("layer").body, "layer");
}

// A client mounts a blob of another repository in place of sending it.
TEST_F(RegistryTest, WantsABlobAgainThatHasAnotherSizeAndThatAnotherRepositoryHas) {
  const std::string small = "layer";
  const std::string large(images::kManifestBytesMax + 2, 'l');
  for (const std::string& layer : {small, large}) {
    const std::string manifest = PushImage(layer, "latest");
    PushBlob("{}", "p/other");
    const images::Digest digest = images::Digest::Of(layer);
    const Path file = directory_.path() / "blobs/sha256" / digest.hex();
    ASSERT_TRUE(WriteFile(file, layer.substr(0, layer.size() - 1)).ok());
    const std::string mount = "/v2/p/other/blobs/uploads/?from=p/i&mount=" + digest.text();
    if (layer == large) {
      EXPECT_EQ(Call("POST", mount).status, 201) << "a client would wait while it is read";
      EXPECT_EQ(PushManifest(manifest, "latest", "p/other").code(), "MANIFEST_BLOB_UNKNOWN");
    }
    const Answer again = Call("POST", mount);
    EXPECT_EQ(again.status, 202);
    for (const std::string name : {"p/i", "p/other"}) {
      EXPECT_EQ(Call("HEAD", "/v2/" + name + "/blobs/" + digest.text()).status, 404) << name;
    }
    EXPECT_EQ(Finish(again.Header("Location"), digest.text(), layer).status, 201);
    EXPECT_EQ(PushManifest(manifest, "latest", "p/other").status, 201);
    for (const char* name : {"p/i", "p/other"}) {
      EXPECT_TRUE(GetBlob(layer, name).body == layer) << name;
    }
  }
}

TEST_F(RegistryTest, WantsADamagedConfigurationAgain) {
  const std::string manifest = PushImage("layer", "latest");
  const Path file = directory_.path() / "blobs/sha256" / images::Digest::Of("{}").hex();
  for (const bool is_read : {true, false}) {
    ASSERT_TRUE(WriteFile(file, "[]").ok());
    if (is_read) {
      EXPECT_EQ(Call("HEAD", "/v2/p/i/blobs/" + DigestOf("{}")).status, 404);
      EXPECT_EQ(GetBlob("{}").code(), "BLOB_UNKNOWN");
    }
    EXPECT_EQ(PushManifest(manifest, "latest").code(), "MANIFEST_BLOB_UNKNOWN");
    PushBlob("{}");
    EXPECT_EQ(PushManifest(manifest, "latest").status, 201);
    EXPECT_EQ(GetBlob("{}").body, "{}");
  }
}

TEST_F(RegistryTest, KeepsABlobOfManyPushersOnce) {
  const std::string bytes(3 << 20, 'b');
  std::vector<std::thread> pushers;
  std::atomic<int> stored{0};
  for (int i = 0; i < 8; ++i) {
    pushers.emplace_back([&, name = "p/i" + std::to_string(i % 3)] {
      if (Finish(Start(name), DigestOf(bytes), bytes).status == 201) ++stored;
    });
  }
  for (std::thread& pusher : pushers) pusher.join();
  EXPECT_EQ(stored, 8);
  EXPECT_EQ(blobs_->List()->size(), 1u);
  EXPECT_TRUE(blobs_->Uploads().empty());
  for (const char* name : {"p/i0", "p/i1", "p/i2"}) {
    EXPECT_EQ(GetBlob(bytes, name).body.size(), bytes.size()) << name;
  }
}

}  // namespace
}  // namespace caip::registry
