// Images that come from another registry of this host, and from places that must have a certain
// digest. The registry is the emulator's own, over another store and on another port.

#include "host/images/loopback_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "fakes/registry/registry_api.h"
#include "host/images/local_images.h"
#include "http/router.h"
#include "http/server.h"
#include "images/image_store.h"
#include "tests/images/image_maker.h"

namespace caip::host {
namespace {

using images::Digest;
using images::ImageReference;
using images::ImageStore;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

images::ImagePlan PlanOf(const std::string& contents) {
  return {{{{"program", contents}}}, "", "gzip", images::HostPlatform(), {{"Cmd", {"/program"}}}};
}

http::Response Reply(int status, const std::string& body = "") {
  http::Response response;
  response.status = status;
  response.body = body;
  return response;
}

/// A registry on a free port of 127.0.0.1. Tests may answer a request in its place.
class OtherRegistry {
 public:
  using Interception = std::function<std::optional<http::Response>(const http::Request&)>;

  OtherRegistry() {
    store_ = *ImageStore::Open(directory_.path());
    registry_ = std::make_unique<registry::Registry>(
        store_->blobs(), store_->names(), [this] { return store_->LockForAdding(); }, Random(1));
    router_.Add(
        registry::RegistryRoutes([this] { return Result<registry::Registry*>(registry_.get()); }));
    server_ = *http::Server::Start({}, [this](const http::Request& request) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request.method + " " + request.path);
      if (auto own = interception_ ? interception_(request) : std::nullopt) return *std::move(own);
      return router_.Handle(request);
    });
  }
  /// Adds the images as one index if there are several. Returns the digest that the tag then means.
  Digest Add(const std::vector<images::ImagePlan>& plans, const std::string& tag = "v1") {
    images::ImageFiles files = images::MakeLayout(plans);
    if (plans.size() > 1) {
      const std::string index = files["index.json"];
      const Digest digest = images::AddBlob(files, index);
      files["index.json"] = images::IndexOf({{digest, images::kOciIndex, index.size()}});
    }
    const TemporaryDirectory layout;
    images::WriteFiles(layout.path(), files);
    const auto imported =
        store_->Import({layout.path()}, *ImageReference::Parse("gcr.io/team/trainer:" + tag));
    EXPECT_TRUE(imported.ok()) << imported.error().message;
    return imported->front().digest;
  }
  /// A client gives another image the tag. An import would remove the image that it replaces.
  void PushTag(const std::string& tag, const Digest& manifest) {
    const images::ManifestRecord record{manifest, images::kOciManifest};
    EXPECT_TRUE(store_->names().AddManifest("gcr.io/team/trainer", record, {tag}).ok());
  }
  void Intercept(Interception interception) {
    const std::lock_guard lock(mutex_);
    interception_ = std::move(interception);
  }
  std::vector<std::string> TakeRequests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }
  std::string Address() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  std::string Name(const std::string& rest = ":v1") const {
    return Address() + "/team/trainer" + rest;
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<ImageStore> store_;
  std::unique_ptr<registry::Registry> registry_;
  http::Router router_{registry::NoRegistryRoute};
  std::mutex mutex_;
  Interception interception_;             // guarded by mutex_
  std::vector<std::string> requests_;     // guarded by mutex_
  std::unique_ptr<http::Server> server_;  // last, because it uses the other members
};

std::optional<http::Response> Redirection(int status) {
  http::Response response = Reply(status);
  response.headers.Set("Location", "http://example.com/blob");
  return response;
}

bool IsFor(const http::Request& request, const std::string& kind) {
  return request.path.find("/" + kind + "/") != std::string::npos;
}

struct LoopbackRegistries : ::testing::Test {
  Status LookUp(const std::string& uri, const std::string& source = "") {
    LocalImages images({.state = own.path(),
                        .store = own.path() / "images",
                        .own_environment = {{"PATH", "/none"}}});
    return images.LookUp(uri, source);
  }
  /// The bytes of the image's only file.
  std::string Program(const std::string& uri) {
    LocalImages images({.state = own.path(),
                        .store = own.path() / "images",
                        .own_environment = {{"PATH", "/none"}}});
    const auto image = images.Provide(uri, "", [](engine::Severity, const std::string&) {}, {});
    EXPECT_TRUE(image.ok()) << image.error().message;
    return image.ok() ? *ReadFile(Path(image->layers.front()) / "program") : "";
  }
  std::string Refusal(const std::string& uri, const std::string& source = "") {
    const Status status = LookUp(uri, source);
    EXPECT_FALSE(status.ok());
    return status.ok() ? "" : status.error().message;
  }

  TemporaryDirectory own;
  OtherRegistry other;
};

TEST(LoopbackRegistry, IsNamedByALoopbackAddressWithAPort) {
  const std::map<std::string, std::string> kCases = {{"localhost:5000/p/i:1", "127.0.0.1:5000"},
                                                     {"127.0.0.1:5000/i", "127.0.0.1:5000"},
                                                     {"127.1.2.3:80/p/i", "127.1.2.3:80"},
                                                     {"localhost/p/i", ""},
                                                     {"127.0.0.1/p/i", ""},
                                                     {"gcr.io/p/i", ""},
                                                     {"10.0.0.1:5000/p/i", ""},
                                                     {"example.com:5000/p/i", ""},
                                                     {"localhost.example.com:5000/p/i", ""},
                                                     {"127.0.0.1.example.com:5000/p/i", ""},
                                                     {"[::1]:5000/p/i", ""},
                                                     {"busybox", ""}};
  for (const auto& [name, registry] : kCases) {
    EXPECT_EQ(LoopbackRegistryOf(*ImageReference::Parse(name)).value_or(""), registry) << name;
  }
}

TEST_F(LoopbackRegistries, ServeTheImagesThatNameThem) {
  other.Add({PlanOf("one")});
  EXPECT_EQ(Program(other.Name()), "one");
  const std::string port = other.Address().substr(other.Address().rfind(':'));
  EXPECT_EQ(Program("localhost" + port + "/team/trainer:v1"), "one");
}

TEST_F(LoopbackRegistries, AreAskedForATagEachTimeAndForEachBlobOnce) {
  other.Add({PlanOf("one")});
  EXPECT_EQ(Program(other.Name()), "one");
  other.TakeRequests();
  EXPECT_EQ(Program(other.Name()), "one");
  EXPECT_THAT(other.TakeRequests(), Each(HasSubstr("/manifests/v1")));
  other.Add({PlanOf("two")});
  EXPECT_EQ(Program(other.Name()), "two");
}

TEST_F(LoopbackRegistries, GiveTheImageForThisHost) {
  images::ImagePlan foreign = PlanOf("foreign");
  foreign.platform = {"linux", "riscv64"};
  other.Add({foreign, PlanOf("own")});
  EXPECT_EQ(Program(other.Name()), "own");
}

TEST_F(LoopbackRegistries, WithoutAnImageForThisHostAreRefused) {
  images::ImagePlan riscv = PlanOf("foreign");
  riscv.platform = {"linux", "riscv64"};
  images::ImagePlan s390 = riscv;
  s390.platform = {"linux", "s390x"};
  const images::ImageFiles files = images::MakeLayout({riscv, s390});
  other.Intercept([index = files.at("index.json")](const http::Request&) {
    return http::JsonResponse(200, index);
  });
  EXPECT_THAT(Refusal(other.Name()),
              AllOf(HasSubstr("built for linux/riscv64, linux/s390x"), HasSubstr("this host")));
}

TEST_F(LoopbackRegistries, GiveExactlyTheDigestOfTheName) {
  const Digest first = other.Add({PlanOf("one")});
  other.PushTag("v1", other.Add({PlanOf("two")}, "v2"));
  EXPECT_EQ(Program(other.Name("@" + first.text())), "one");
  EXPECT_EQ(Program(other.Name(":v1@" + first.text())), "one") << "the tag means another by now";
}

TEST_F(LoopbackRegistries, ThatSendAnotherManifestAreNotBelieved) {
  other.Add({PlanOf("one")});
  const Digest wanted = Digest::Of("another");
  const std::string manifest = images::MakeManifest({Digest::Of("{}"), images::kOciConfig, 2}, {});
  other.Intercept([&](const http::Request&) { return http::JsonResponse(200, manifest); });
  EXPECT_THAT(Refusal(other.Name("@" + wanted.text())),
              AllOf(HasSubstr("sent a manifest with the digest " + Digest::Of(manifest).text()),
                    HasSubstr("instead of " + wanted.text())));
  other.Intercept([&](const http::Request&) {
    http::Response response = http::JsonResponse(200, manifest);
    response.headers.Set("Docker-Content-Digest", wanted.text());
    return response;
  });
  EXPECT_THAT(Refusal(other.Name()), HasSubstr("instead of " + wanted.text()));
}

TEST_F(LoopbackRegistries, ThatSendDamagedBlobsAreNotBelieved) {
  other.Add({PlanOf("one")});
  for (const char* bytes : {"", "x"}) {
    other.Intercept([&](const http::Request& request) -> std::optional<http::Response> {
      if (!IsFor(request, "blobs")) return std::nullopt;
      return Reply(200, bytes);
    });
    EXPECT_THAT(Refusal(other.Name()), HasSubstr("are damaged: their digest is")) << bytes;
  }
  other.Intercept([&](const http::Request& request) -> std::optional<http::Response> {
    if (!IsFor(request, "blobs")) return std::nullopt;
    return Reply(200, std::string(1 << 20, 'x'));
  });
  EXPECT_THAT(Refusal(other.Name()), HasSubstr("sent more than the"));
  other.Intercept(nullptr);
  EXPECT_EQ(Program(other.Name()), "one") << "nothing damaged was kept";
}

// Each file of the image in the own store, with other bytes of the same size. A second pull repairs
// it, also the manifest of a member of an index.
TEST_F(LoopbackRegistries, ReplaceDamagedBlobsOfTheOwnStore) {
  images::ImagePlan foreign = PlanOf("foreign");
  foreign.platform = {"linux", "riscv64"};
  other.Add({foreign, PlanOf("one")});
  ASSERT_TRUE(LookUp(other.Name()).ok());
  const Path blobs = own.path() / "images/blobs/sha256";
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(blobs)) {
    files.push_back(entry.path());
  }
  EXPECT_EQ(files.size(), 4u) << "an index, a manifest, a configuration, a layer";
  for (const Path& file : files) {
    const std::string intact = *ReadFile(file);
    ASSERT_TRUE(WriteFile(file, std::string(intact.size(), 'x')).ok());
    const Status found = LookUp(other.Name());
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(*ReadFile(file), intact);
  }
  EXPECT_EQ(Program(other.Name()), "one");
}

TEST_F(LoopbackRegistries, ThatEndInTheMiddleOfABlobAreReported) {
  other.Add({PlanOf("one")});
  other.Intercept([&](const http::Request& request) -> std::optional<http::Response> {
    if (!IsFor(request, "blobs")) return std::nullopt;
    http::Response response;
    response.content_length = 100;
    response.write_body = [](const http::Response::Sink& sink) { sink("half"); };
    return response;
  });
  EXPECT_THAT(Refusal(other.Name()), HasSubstr("does not serve it"));
}

TEST_F(LoopbackRegistries, AreReportedWithWhatTheyAnswer) {
  const std::map<int, std::string> kCases = {
      {401, "wants a login"},
      {403, "wants a login"},
      {404, "It does not have team/trainer/manifests/v1. Push the image to it."},
      {307, "follows no redirects"},
      {500, "answered with status 500"}};
  for (const auto& [status, text] : kCases) {
    other.Intercept([status = status](const http::Request&) { return Redirection(status); });
    EXPECT_THAT(Refusal(other.Name()),
                AllOf(StartsWith("The image '" + other.Name() + "' cannot run: The registry at " +
                                 other.Address()),
                      HasSubstr(text)))
        << status;
  }
}

TEST_F(LoopbackRegistries, AreNotFollowedToOtherPlacesOfBlobs) {
  other.Add({PlanOf("one")});
  other.Intercept([](const http::Request& request) -> std::optional<http::Response> {
    return IsFor(request, "blobs") ? Redirection(302) : std::nullopt;
  });
  EXPECT_THAT(Refusal(other.Name()), HasSubstr("follows no redirects"));
}

TEST_F(LoopbackRegistries, WithHugeManifestsAreRefused) {
  other.Intercept([](const http::Request&) {
    return http::JsonResponse(200, std::string(images::kManifestBytesMax + 1, ' '));
  });
  EXPECT_THAT(Refusal(other.Name()), HasSubstr("at most 4194304 are read"));
}

TEST_F(LoopbackRegistries, ThatDoNotListenAreReported) {
  EXPECT_THAT(Refusal("127.0.0.1:1/team/trainer:v1"),
              AllOf(HasSubstr("The registry at 127.0.0.1:1 does not serve it"),
                    HasSubstr("Start the registry")));
}

TEST_F(LoopbackRegistries, AreNotReachedByAPortThatIsTooLarge) {
  other.Add({PlanOf("one")});
  const std::string address = other.Address();
  const size_t port = address.rfind(':') + 1;
  const std::string far =
      address.substr(0, port) + std::to_string(65536 + std::stoi(address.substr(port)));
  EXPECT_THAT(Refusal(far + "/team/trainer:v1"), HasSubstr("with a port from 1 to 65535"));
  EXPECT_TRUE(other.TakeRequests().empty());
}

TEST_F(LoopbackRegistries, AreAskedAfterTheOwnStore) {
  const TemporaryDirectory layout;
  images::WriteFiles(layout.path(), images::MakeLayout({PlanOf("stored")}));
  const auto store = ImageStore::Open(own.path() / "images");
  ASSERT_TRUE((*store)->Import({layout.path()}, *ImageReference::Parse(other.Name())).ok());
  EXPECT_EQ(Program(other.Name()), "stored");
  EXPECT_TRUE(other.TakeRequests().empty());
}

struct PinnedImages : LoopbackRegistries {
  Digest WriteLayout(const std::vector<images::ImagePlan>& plans) {
    const images::ImageFiles files = images::MakeLayout(plans);
    images::WriteFiles(layout.path(), files);
    images::ImageFiles again;
    return images::AddImage(again, plans.back()).digest;
  }
  const std::string other_digest = "sha256:" + std::string(64, '0');
  TemporaryDirectory layout;
};

TEST_F(PinnedImages, AreFoundInTheStoreByTheirDigestOnly) {
  const Digest digest = WriteLayout({PlanOf("one")});
  const auto store = ImageStore::Open(own.path() / "images");
  ASSERT_TRUE((*store)->Import({layout.path()}, *ImageReference::Parse("gcr.io/p/i:v1")).ok());
  EXPECT_EQ(Program("gcr.io/p/i@" + digest.text()), "one");
  EXPECT_EQ(Program("gcr.io/p/i:other@" + digest.text()), "one");
  EXPECT_THAT(Refusal("gcr.io/p/i@" + other_digest),
              AllOf(HasSubstr("is not on this host"),
                    HasSubstr("An image of that name with another digest is not used.")));
}

TEST_F(PinnedImages, AreFoundInAMappedLayoutByTheirDigestOnly) {
  const Digest digest = WriteLayout({PlanOf("one")});
  EXPECT_TRUE(LookUp("gcr.io/p/i@" + digest.text(), layout.path()).ok());
  EXPECT_TRUE(LookUp("gcr.io/p/i:v1", layout.path()).ok());
  EXPECT_THAT(Refusal("gcr.io/p/i@" + other_digest, layout.path()),
              AllOf(HasSubstr("which has the image " + digest.text() + " instead of"),
                    HasSubstr(other_digest)));
}

}  // namespace
}  // namespace caip::host
