#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/encoding.h"
#include "fakes/metadata/errors.h"
#include "fakes/metadata/jwt.h"
#include "fakes/metadata/oauth_api.h"
#include "tests/metadata/metadata_world.h"

namespace caip::metadata {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kAccount[] = "instance/service-accounts/default/";
constexpr char kEmail[] = "trainer@demo-project.iam.gserviceaccount.com";
const Identity kUser{"user@caip.example", "host-project"};

TEST(AccessToken, TellsWhoseItIs) {
  MetadataWorld world;
  const Json answer = world.Parsed(std::string(kAccount) + "token");
  EXPECT_EQ(answer["token_type"], "Bearer");
  const std::string token = answer["access_token"];
  EXPECT_THAT(token, StartsWith("ya29.caip."));
  const auto facts = world.mint->Read(token);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->identity, (Identity{kEmail, "demo-project", "census_1", "worker-replica-1"}));
  EXPECT_EQ(*facts->expires - MetadataWorld::kNow, answer["expires_in"].get<int64_t>());
}

TEST(AccessToken, IsTheSameUntilFiveMinutesBeforeItsEnd) {
  MetadataWorld world;
  const std::vector<std::string> scopes = {kCloudPlatformScope};
  const auto first = world.mint->Access(kUser, scopes);
  world.wall.Advance(std::chrono::seconds(first.expires_in - 301));
  const auto late = world.mint->Access(kUser, scopes);
  EXPECT_EQ(late.text, first.text);
  EXPECT_EQ(late.expires_in, 301);
  world.wall.Advance(std::chrono::seconds(1));
  const auto next = world.mint->Access(kUser, scopes);
  EXPECT_NE(next.text, first.text);
  EXPECT_EQ(next.expires_in, 3600);
}

TEST(AccessToken, HasTheScopesItIsAskedFor) {
  MetadataWorld world;
  const Json answer = world.Parsed(std::string(kAccount) + "token?scopes=a,b");
  EXPECT_THAT(world.mint->Read(answer["access_token"].get<std::string>())->scopes,
              ::testing::ElementsAre("a", "b"));
}

TEST(AccessToken, IsKnownToTheNextMintOfTheSameKeys) {
  MetadataWorld world;
  const std::string token = world.mint->Lasting(kUser, {});
  const auto next = *TokenMint::Open(world.directory.path() / "keys", world.wall);
  EXPECT_EQ(next->Read(token)->identity, kUser);
  EXPECT_EQ(next->Lasting(kUser, {}), token);
}

TEST(AccessToken, MintsThatStartAtTheSameTimeShareOneSecretThatOnlyTheUserReads) {
  for (int round = 0; round < 20; ++round) {
    MetadataWorld world;
    const Path keys = world.directory.path() / ("keys" + std::to_string(round));
    std::vector<std::string> tokens(8);
    std::vector<std::thread> threads;
    for (std::string& token : tokens) {
      threads.emplace_back(
          [&] { token = (*TokenMint::Open(keys, world.wall))->Lasting(kUser, {}); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& token : tokens) ASSERT_EQ(token, tokens.front());
    const auto mode = std::filesystem::status(keys / "tokens.key").permissions();
    ASSERT_EQ(mode, std::filesystem::perms(0600));
  }
}

TEST(AccessToken, ThatSomebodyElseMadeOrChangedSaysNothing) {
  MetadataWorld world;
  std::string token = world.mint->Lasting(kUser, {});
  EXPECT_TRUE(world.mint->Read(token));
  token[token.size() - 3] = token[token.size() - 3] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(world.mint->Read(token));
  for (const char* other : {"", "emulator", "ya29.caip.", "ya29.caip.e30.AAAA", "ya29.a0Af"}) {
    EXPECT_FALSE(world.mint->Read(other)) << other;
  }
}

TEST(IdentityToken, IsSignedByTheKeyThatTheCertificateNames) {
  MetadataWorld world;
  const std::string text = world.Text(std::string(kAccount) + "identity?audience=https://me");
  const auto jwt = ParseJwt(text);
  ASSERT_TRUE(jwt.ok()) << text;
  EXPECT_EQ(jwt->header["alg"], "RS256");
  EXPECT_EQ(jwt->header["kid"], (*world.mint->key())->id());
  EXPECT_TRUE((*world.mint->key())->Verifies(jwt->signed_part, jwt->signature));
  EXPECT_FALSE((*world.mint->key())->Verifies(jwt->signed_part + "x", jwt->signature));
  EXPECT_EQ(jwt->claims["aud"], "https://me");
  EXPECT_EQ(jwt->claims["email"], kEmail);
  EXPECT_EQ(jwt->claims["iat"], MetadataWorld::kNow);
  EXPECT_EQ(jwt->claims["exp"], MetadataWorld::kNow + 3600);
  EXPECT_FALSE(jwt->claims.contains("google"));
}

TEST(IdentityToken, DescribesTheMachineInFull) {
  MetadataWorld world;
  const auto claims = [&](const std::string& more) {
    return ParseJwt(world.Text(std::string(kAccount) + "identity?audience=a&format=full" + more))
        ->claims["google"]["compute_engine"];
  };
  EXPECT_EQ(claims("")["instance_name"], "cmle-training-worker-e118e0f997-1");
  EXPECT_EQ(claims("")["project_number"], 123456789012);
  EXPECT_FALSE(claims("").contains("license_id"));
  EXPECT_TRUE(claims("&licenses=TRUE")["license_id"].is_array());
}

TEST(IdentityToken, NeedsAnAudience) {
  MetadataWorld world;
  const std::string path = std::string("/computeMetadata/v1/") + kAccount + "identity";
  EXPECT_EQ(world.Get(path).status, 400);
  EXPECT_THAT(world.Get(path).body, HasSubstr("audience"));
  EXPECT_EQ(world.Get(path + "?audience=a&format=tiny").status, 400);
}

TEST(ServiceAccountKey, IsMadeOnceAndThenRead) {
  TemporaryDirectory directory;
  const Instant now{std::chrono::seconds(MetadataWorld::kNow)};
  const auto first = ServiceAccountKey::Open(directory.path() / "keys", now);
  const auto second = ServiceAccountKey::Open(directory.path() / "keys", now);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->id(), second->id());
  EXPECT_TRUE(second->Verifies("text", first->Sign("text")));
  EXPECT_THAT(first->private_key_pem(), StartsWith("-----BEGIN PRIVATE KEY-----"));
  EXPECT_THAT(first->certificate_pem(), StartsWith("-----BEGIN CERTIFICATE-----"));
  EXPECT_EQ(first->Modulus().size(), 256u);
}

TEST(ServiceAccountKey, GivesAKeyThatHasNoneACertificate) {
  TemporaryDirectory directory;
  PutTestKey(directory.path());
  const Instant now{std::chrono::seconds(MetadataWorld::kNow)};
  const auto first = ServiceAccountKey::Open(directory.path(), now);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(first->certificate_pem(), StartsWith("-----BEGIN CERTIFICATE-----"));
  const auto second = ServiceAccountKey::Open(directory.path(), now + std::chrono::hours(1));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->certificate_pem(), first->certificate_pem());
  EXPECT_EQ(second->id(), first->id());
}

TEST(ServiceAccountKey, RefusesAFileThatHoldsNone) {
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFile(directory.path() / "service-account.pem", "nonsense").ok());
  const auto key = ServiceAccountKey::Open(directory.path(), Instant{});
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().code, Code::kDataLoss);
}

// The token endpoints, on Google's names.
struct OAuthWorld : MetadataWorld {
  http::Router router{[](int status, const http::Request&, const std::string&) {
    http::Response response;
    response.status = status;
    return response;
  }};
  OAuthWorld() { router.Add(OAuthRoutes(*mint, kUser, "")); }

  http::Response Post(const std::string& target, const std::string& body,
                      const std::string& type = "application/x-www-form-urlencoded") {
    http::TextBody reader(body);
    http::Request request = ARequest(body.empty() ? "GET" : "POST", target, &reader);
    request.headers.Set("Content-Type", type);
    return router.Handle(request);
  }
  Json Answer(const std::string& target, const std::string& body) {
    return *ParseJson(Post(target, body).body);
  }
};

TEST(TokenEndpoint, TakesTheAssertionOfAKeyFile) {
  OAuthWorld world;
  const Json file = *ParseJson(ServiceAccountFile(
      **world.mint->key(), {"sa@demo-project.iam.gserviceaccount.com", "demo-project"},
      "http://127.0.0.1:2247"));
  EXPECT_EQ(file["type"], "service_account");
  EXPECT_EQ(file["token_uri"], "http://127.0.0.1:2247/emulator/v1/oauth2/token");
  const std::string assertion =
      MakeJwt({{"iss", file["client_email"]}, {"scope", "s1 s2"}}, **world.mint->key());
  const std::string grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
  const Json token = world.Answer("/token", grant + "&assertion=" + assertion);
  const auto facts = world.mint->Read(token["access_token"].get<std::string>());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->identity.account, "sa@demo-project.iam.gserviceaccount.com");
  EXPECT_THAT(facts->scopes, ::testing::ElementsAre("s1", "s2"));

  const std::string request =
      MakeJwt({{"iss", "sa@x"}, {"target_audience", "https://me"}}, **world.mint->key());
  const Json identity = world.Answer("/token", grant + "&assertion=" + request);
  EXPECT_EQ(ParseJwt(identity["id_token"].get<std::string>())->claims["aud"], "https://me");
}

TEST(TokenEndpoint, HandsOutKeyFiles) {
  OAuthWorld world;
  const Json named = world.Answer("/keyFile?account=sa@x&project=p", "");
  EXPECT_EQ(named["client_email"], "sa@x");
  EXPECT_EQ(named["project_id"], "p");
  EXPECT_EQ(named["token_uri"], "http://127.0.0.1:2247/emulator/v1/oauth2/token");
  EXPECT_EQ(world.Answer("/keyFile", "")["client_email"], kUser.account);
}

TEST(TokenEndpoint, TakesARefreshToken) {
  OAuthWorld world;
  const Json token =
      world.Answer("/token", "grant_type=refresh_token&refresh_token=1%2F%2Fabc&client_id=me");
  EXPECT_EQ(world.mint->Read(token["access_token"].get<std::string>())->identity, kUser);
  EXPECT_EQ(ParseJwt(token["id_token"].get<std::string>())->claims["aud"], "me");
}

TEST(TokenEndpoint, SaysWhatIsWrongInOAuthsForm) {
  OAuthWorld world;
  const std::string grant = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=";
  const std::pair<std::string, const char*> rows[] = {
      {"grant_type=password", "unsupported_grant_type"},
      {grant + "nonsense", "invalid_grant"},
      {grant + "e30.e30.AAAA", "invalid_grant"},
      {"grant_type=refresh_token", "invalid_request"},
  };
  for (const auto& [body, error] : rows) {
    const auto answer = world.Post("/token", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ((*ParseJson(answer.body))["error"], error) << body;
  }
}

TEST(TokenEndpoint, DescribesTokensUntilTheyAreOver) {
  OAuthWorld world;
  const auto access = world.mint->Access(kUser, {"s1", "s2"});
  const Json info = world.Answer("/tokeninfo?access_token=" + access.text, "");
  EXPECT_EQ(info["email"], kUser.account);
  EXPECT_EQ(info["scope"], "s1 s2");
  EXPECT_EQ(info["expires_in"], std::to_string(access.expires_in));
  const std::string jwt = world.Text(std::string(kAccount) + "identity?audience=a");
  EXPECT_EQ(world.Answer("/tokeninfo?id_token=" + jwt, "")["email"], kEmail);
  world.wall.Advance(std::chrono::hours(1));
  EXPECT_EQ(world.Post("/tokeninfo?access_token=" + access.text, "").status, 400);
  EXPECT_EQ(world.Post("/tokeninfo?id_token=" + jwt, "").status, 400);
  EXPECT_EQ(world.Post("/tokeninfo?access_token=foreign", "").status, 400);
}

TEST(TokenEndpoint, PublishesItsKeyInBothForms) {
  OAuthWorld world;
  const auto& key = **world.mint->key();
  EXPECT_EQ(world.Answer("/oauth2/v1/certs", "")[key.id()], key.certificate_pem());
  const Json jwk = world.Answer("/oauth2/v3/certs", "")["keys"][0];
  EXPECT_EQ(jwk["kid"], key.id());
  EXPECT_EQ(jwk["e"], "AQAB");
  EXPECT_EQ(FromBase64Url(jwk["n"].get<std::string>()), key.Modulus());
}

TEST(TokenEndpoint, IsMeantByGooglesNamesOnly) {
  http::TextBody nothing("");
  const auto meant = [&](const std::string& host, const std::string& path) {
    http::Request request = ARequest("POST", path, &nothing);
    request.host = host;
    return IsOAuthRequest(request);
  };
  EXPECT_TRUE(meant("oauth2.googleapis.com", "/token"));
  EXPECT_TRUE(meant("www.googleapis.com:443", "/oauth2/v1/certs"));
  EXPECT_FALSE(meant("www.googleapis.com", "/storage/v1/b"));
  EXPECT_FALSE(meant("127.0.0.1:2247", "/token"));
}

}  // namespace
}  // namespace caip::metadata
