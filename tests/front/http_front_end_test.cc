#include "emulator/front/http_front_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/metadata/metadata_api.h"
#include "http/message.h"

namespace caip::front {
namespace {

using ::testing::HasSubstr;

constexpr char kTag[] = "p/census_1//worker-replica-1";

class NoBody final : public http::BodyReader {
  Result<size_t> Read(char*, size_t) override { return size_t{0}; }
};

struct FrontEndWorld {
  TemporaryDirectory directory;
  VirtualClock wall{*ParseRfc3339("2026-11-21T08:20:00Z")};
  std::unique_ptr<metadata::TokenMint> mint =
      *metadata::TokenMint::Open(directory.path() / "keys", wall);
  metadata::MachineTable book{Host()};
  std::unique_ptr<AccessLog> log =
      *AccessLog::Open(directory.path() / "access.log", AccessLog::kSizeMax, Duration(0));
  http::Handler inner = [](const http::Request& request) {
    http::Response response;
    response.body = "inner " + request.path;
    return response;
  };
  HttpFrontEnd front_end{{book,
                          *mint,
                          {"user@caip.example", "host-project"},
                          [this](const http::Request& request) { return inner(request); },
                          log.get(),
                          wall}};
  NoBody nothing;

  static metadata::Machine Host() {
    metadata::Machine host;
    host.project_id = "host-project";
    host.service_account = "host@x";
    return host;
  }
  FrontEndWorld() {
    metadata::Machine replica = Host();
    replica.project_id = "replica-project";
    replica.service_account = "trainer@x";
    replica.job = "census_1";
    replica.replica = "worker-replica-1";
    book.Put(kTag, replica);
  }
  http::Request A(const std::string& target, const std::string& listener = "",
                  const std::string& host = "127.0.0.1:2247") {
    http::Request request;
    const auto parsed = http::ParseTarget(target);
    request.method = "GET";
    request.path = parsed->path;
    request.query = parsed->query;
    request.host = host;
    request.listener = listener;
    request.body = &nothing;
    return request;
  }
  http::Request WithToken(const std::string& token) {
    http::Request request = A("/storage/v1/b");
    request.headers.Set("Authorization", "Bearer " + token);
    return request;
  }
  std::string Log() const { return *ReadFile(directory.path() / "access.log"); }
};

TEST(HttpFrontEnd, GivesEachReplicaItsOwnMetadata) {
  FrontEndWorld world;
  const auto project = [&](const std::string& listener) {
    http::Request request = world.A("/computeMetadata/v1/project/project-id", listener);
    request.headers.Set("Metadata-Flavor", "Google");
    return world.front_end.Handle(request).body;
  };
  EXPECT_EQ(project(""), "host-project");
  EXPECT_EQ(project(kTag), "replica-project");
}

TEST(HttpFrontEnd, AnswersAPingAtAReplicasListenerWithoutAFlavor) {
  FrontEndWorld world;
  EXPECT_EQ(world.front_end.Handle(world.A("/", kTag)).body, "computeMetadata/\n");
  EXPECT_EQ(world.front_end.Handle(world.A("/")).body, "inner /");
}

TEST(HttpFrontEnd, FindsTheReplicaAtASharedListenerForMetadataOnly) {
  FrontEndWorld world;
  int lookups = 0;
  world.book.PutShared("p/census_1//", [&](const std::string& peer) {
    ++lookups;
    return peer == "169.254.169.254:7" ? kTag : "";
  });
  http::Request request =
      world.A("/computeMetadata/v1/project/project-id", "p/census_1//", "metadata.google.internal");
  request.headers.Set("Metadata-Flavor", "Google");
  request.peer = "169.254.169.254:7";
  EXPECT_EQ(world.front_end.Handle(request).body, "replica-project");
  EXPECT_THAT(world.Log(), HasSubstr(" trainer@x census_1/worker-replica-1 GET /computeMetadata/"));
  EXPECT_EQ(lookups, 1);
  EXPECT_EQ(world.front_end.Handle(world.A("/", "p/census_1//", "169.254.169.254")).body,
            "computeMetadata/\n");
  EXPECT_EQ(lookups, 2);
  EXPECT_EQ(world.front_end.Handle(world.A("/", "p/census_1//", "storage.googleapis.com")).body,
            "inner /");
  EXPECT_EQ(lookups, 2);
}

TEST(HttpFrontEnd, PassesGooglesNamesAtAReplicasListenerToTheApis) {
  FrontEndWorld world;
  http::Request request = world.A("/", kTag, "storage.googleapis.com");
  request.scheme = "https";
  EXPECT_EQ(world.front_end.Handle(request).body, "inner /");
}

TEST(HttpFrontEnd, ServesTokensOnGooglesNamesAndBelowCaipsPrefix) {
  FrontEndWorld world;
  EXPECT_THAT(world.front_end.Handle(world.A("/oauth2/v3/certs", "", "www.googleapis.com")).body,
              HasSubstr("RS256"));
  EXPECT_THAT(world.front_end.Handle(world.A("/emulator/v1/oauth2/oauth2/v3/certs")).body,
              HasSubstr("RS256"));
  EXPECT_EQ(world.front_end.Handle(world.A("/oauth2/v3/certs")).body, "inner /oauth2/v3/certs");
  EXPECT_EQ(world.front_end.Handle(world.A("/emulator/v1/oauth2/nothing")).status, 404);
}

TEST(AccessLogOfTheFrontEnd, KnowsAJobByItsToken) {
  FrontEndWorld world;
  const metadata::Identity job{"trainer@x", "p", "census_1", "worker-replica-1"};
  world.front_end.Handle(world.WithToken(world.mint->Access(job, {}).text));
  world.wall.Advance(std::chrono::hours(48));  // a token that is over still says whose it was
  world.front_end.Handle(world.WithToken(world.mint->Lasting(job, {})));
  const std::string words = " trainer@x census_1/worker-replica-1 GET /storage/v1/b 200 19 ";
  EXPECT_THAT(world.Log(), HasSubstr("2026-11-21T08:20:00.000Z" + words));
  EXPECT_THAT(world.Log(), HasSubstr("2026-11-23T08:20:00.000Z" + words));
}

TEST(AccessLogOfTheFrontEnd, KnowsAJobByItsListener) {
  FrontEndWorld world;
  world.front_end.Handle(world.A("/bkt/object", kTag, "storage.googleapis.com"));
  EXPECT_THAT(world.Log(), HasSubstr(" trainer@x census_1/worker-replica-1 GET /bkt/object 200 "));
}

TEST(AccessLogOfTheFrontEnd, ServesForeignTokensWithoutAnIdentity) {
  FrontEndWorld world;
  EXPECT_EQ(world.front_end.Handle(world.WithToken("whatever")).status, 200);
  EXPECT_EQ(world.front_end.Handle(world.WithToken("ya29.caip.forged.forged")).status, 200);
  EXPECT_THAT(world.Log(), ::testing::Not(HasSubstr("@")));
}

TEST(AccessLogOfTheFrontEnd, CountsABodyThatIsWrittenInPieces) {
  FrontEndWorld world;
  world.inner = [](const http::Request&) {
    http::Response response;
    response.write_body = [](const http::Response::Sink& sink) {
      sink("four");
      sink("more");
    };
    return response;
  };
  {
    const http::Response response = world.front_end.Handle(world.A("/bkt/object"));
    EXPECT_EQ(world.Log(), "");  // the answer is not over
    std::string sent;
    response.write_body([&](std::string_view piece) {
      sent += piece;
      return true;
    });
    EXPECT_EQ(sent, "fourmore");
  }
  EXPECT_THAT(world.Log(), HasSubstr(" GET /bkt/object 200 8 "));
}

TEST(AccessLogOfTheFrontEnd, HasALineForARefusedRequest) {
  FrontEndWorld world;
  http::Response refusal;
  refusal.status = 403;
  refusal.body = "why";
  world.front_end.LogOwnAnswer(world.A("/bkt/object"), refusal);
  EXPECT_THAT(world.Log(), HasSubstr(" GET /bkt/object 403 3 "));
}

TEST(AccessLogOfTheFrontEnd, CountsNoBytesForAHeadRequest) {
  FrontEndWorld world;
  http::Request request = world.A("/bkt/object");
  request.method = "HEAD";
  world.front_end.Handle(request);
  EXPECT_THAT(world.Log(), HasSubstr(" HEAD /bkt/object 200 0 "));
}

}  // namespace
}  // namespace caip::front
