#include "fakes/gcs/signing/signature_check.h"

#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/json/json_api.h"
#include "fakes/gcs/signing/canonical_request.h"
#include "fakes/gcs/signing/digest.h"
#include "tests/gcs_xml/xml_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

constexpr char kAccount[] = "a@p.iam.gserviceaccount.com";

// Signs as clients do, over what a request of the XML API would be.
class SignedUrlTest : public XmlTest {
 protected:
  SignedUrlTest() { world_.Put("o b", "bytes"); }

  struct Plan {
    std::string method = "GET";
    std::string path = "/bkt/o%20b";
    std::string host = "127.0.0.1:2247";
    std::string algorithm = "GOOG4-RSA-SHA256";
    std::string id = kAccount;
    std::string secret = {};
    int seconds = 60;
    HeaderList headers = {};
  };
  std::string Timestamp() {
    std::string text = Rfc3339(world_.clock().Now());
    text = ReplaceAll(text, "-", "");
    return ReplaceAll(text, ":", "");
  }
  std::string Sign(const Plan& plan) {
    const bool amazon = plan.algorithm.starts_with("AWS4");
    const std::string prefix = amazon ? "X-Amz-" : "X-Goog-";
    const std::string date = Timestamp();
    const std::string scope =
        date.substr(0, 8) + (amazon ? "/auto/s3/aws4_request" : "/auto/storage/goog4_request");
    std::vector<std::string> names = {"host"};
    for (const auto& [name, value] : plan.headers) names.push_back(LowerCase(name));
    std::sort(names.begin(), names.end());
    http::Request request;
    request.method = plan.method;
    for (const auto& [name, value] : plan.headers) request.headers.Add(name, value);
    request.query = {{prefix + "Algorithm", plan.algorithm},
                     {prefix + "Credential", plan.id + "/" + scope},
                     {prefix + "Date", date},
                     {prefix + "Expires", std::to_string(plan.seconds)},
                     {prefix + "SignedHeaders", Join(names, ";")}};
    const std::string text =
        StringToSign(plan.algorithm, date, scope,
                     CanonicalRequest(request, {plan.host, plan.path}, names, "UNSIGNED-PAYLOAD"));
    std::string signature;
    if (plan.algorithm == "GOOG4-RSA-SHA256") {
      signature = keys_->SignAs(plan.id, text)->signature;
    } else {
      signature = HmacSha256(
          SigningKey(plan.algorithm.substr(0, plan.algorithm.find('-')), plan.secret, scope), text);
    }
    std::string query;
    for (const auto& [name, value] : request.query) {
      query += name + "=" + PercentEncoded(value) + "&";
    }
    return plan.path + "?" + query + prefix + "Signature=" + Hex(signature);
  }
};

TEST_F(SignedUrlTest, IsGoodForWhatItWasSignedFor) {
  const auto key = keys_->CreateHmac("p", kAccount);
  for (const char* algorithm : {"GOOG4-RSA-SHA256", "GOOG4-HMAC-SHA256", "AWS4-HMAC-SHA256"}) {
    Plan plan{.algorithm = algorithm};
    if (std::string_view(algorithm) != "GOOG4-RSA-SHA256") {
      plan.id = key->access_id;
      plan.secret = key->secret;
    }
    const std::string url = Sign(plan);
    const XmlAnswer got = Call("GET", url);
    EXPECT_EQ(got.status, 200) << algorithm << got.body;
    EXPECT_EQ(got.body, "bytes");
    const XmlAnswer other = Call("PUT", url, "x");
    EXPECT_EQ(other.status, 403) << algorithm;
    EXPECT_EQ(other.code(), "SignatureDoesNotMatch");
    EXPECT_THAT(other.xml.TextOf("CanonicalRequest"), HasSubstr("PUT\n/bkt/o%20b\n"));
    EXPECT_THAT(other.xml.TextOf("StringToSign"), HasSubstr(algorithm));
    EXPECT_EQ(Call("GET", ReplaceAll(url, "o%20b", "o%20c")).status, 403) << algorithm;
    EXPECT_EQ(Call("GET", url + "&generation=1").code(), "SignatureDoesNotMatch");
  }
}

TEST_F(SignedUrlTest, HoldsAtEveryAddressOfOurs) {
  Plan plan{.host = "storage.googleapis.com"};
  EXPECT_EQ(Call("GET", Sign(plan)).status, 200);
  plan = {.path = "/o%20b", .host = "bkt.storage.googleapis.com"};
  EXPECT_EQ(Call("GET", Sign(plan), "", {}, plan.host).status, 200);
  EXPECT_EQ(Call("GET", ReplaceAll(Sign(plan), "/o%20b", "/bkt/o%20b")).status, 200);
}

TEST_F(SignedUrlTest, IsRefusedAfterItsExpiry) {
  const std::string url = Sign({});
  world_.clock().Advance(std::chrono::seconds(60));
  EXPECT_EQ(Call("GET", url).status, 200);
  world_.clock().Advance(std::chrono::seconds(1));
  const XmlAnswer late = Call("GET", url);
  EXPECT_EQ(late.status, 400);
  EXPECT_EQ(late.code(), "ExpiredToken");
  EXPECT_THAT(late.xml.TextOf("Details"), HasSubstr("Request signature expired at: 20"));
}

TEST_F(SignedUrlTest, LivesSevenDaysAtMost) {
  EXPECT_EQ(Call("GET", Sign({.seconds = 604800})).status, 200);
  EXPECT_EQ(Call("GET", Sign({.seconds = 604801})).code(), "InvalidArgument");
  EXPECT_EQ(Call("GET", Sign({.seconds = 0})).code(), "InvalidArgument");
}

TEST_F(SignedUrlTest, MustComeWithTheHeadersThatWereSigned) {
  const Plan plan{.headers = {{"x-goog-meta-k", "v"}}};
  const std::string url = Sign(plan);
  EXPECT_EQ(Call("GET", url, "", plan.headers).status, 200);
  EXPECT_EQ(Call("GET", url).code(), "MalformedSecurityHeader");
  EXPECT_EQ(Call("GET", url, "", {{"x-goog-meta-k", "w"}}).code(), "SignatureDoesNotMatch");
}

TEST_F(SignedUrlTest, IsTakenByItsFormWhereTheKeyIsUnknown) {
  Plan plan{.algorithm = "GOOG4-HMAC-SHA256", .id = "GOOGUNKNOWN", .secret = "whatever"};
  const std::string url = Sign(plan);
  EXPECT_EQ(Call("GET", url).status, 200);
  EXPECT_EQ(Call("GET", ReplaceAll(url, "X-Goog-Expires=60", "X-Goog-Expires=x")).status, 400);
  EXPECT_EQ(Call("GET", ReplaceAll(url, "goog4_request", "other")).status, 400);
  EXPECT_EQ(Call("GET", ReplaceAll(url, "SignedHeaders=host", "SignedHeaders=date")).status, 400);
  EXPECT_EQ(Call("GET", url.substr(0, url.find("Signature=")) + "Signature=zz").status, 400);
  Serve({.strict = true});
  EXPECT_EQ(Call("GET", url).code(), "InvalidSecurity");
  EXPECT_EQ(Call("GET", "/bkt/o%20b").code(), "AuthenticationRequired");
}

TEST_F(SignedUrlTest, NeedsAnActiveKey) {
  const auto key = keys_->CreateHmac("p", kAccount);
  const std::string url =
      Sign({.algorithm = "GOOG4-HMAC-SHA256", .id = key->access_id, .secret = key->secret});
  EXPECT_EQ(Call("GET", url).status, 200);
  ASSERT_TRUE(keys_->UpdateHmac("p", key->access_id, "INACTIVE", "").ok());
  EXPECT_EQ(Call("GET", url).code(), "InvalidSecurity");
}

TEST_F(SignedUrlTest, MayBeOfVersionTwo) {
  const auto key = keys_->CreateHmac("p", kAccount);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(world_.clock().Now().time_since_epoch())
          .count();
  const auto url = [&](const std::string& verb, int64_t expires) {
    const std::string text = verb + "\n\n\n" + std::to_string(expires) + "\n/bkt/o%20b";
    return "/bkt/o%20b?GoogleAccessId=" + key->access_id + "&Expires=" + std::to_string(expires) +
           "&Signature=" + PercentEncoded(Base64(HmacSha1(key->secret, text)));
  };
  EXPECT_EQ(Call("GET", url("GET", seconds + 10)).body, "bytes");
  EXPECT_EQ(Call("GET", url("PUT", seconds + 10)).code(), "SignatureDoesNotMatch");
  EXPECT_EQ(Call("GET", url("GET", seconds - 1)).code(), "ExpiredToken");
  EXPECT_EQ(Call("GET", "/bkt/o%20b?GoogleAccessId=a&Expires=x&Signature=YQ==").status, 400);
}

TEST_F(SignedUrlTest, IsRefusedWithoutAllOfItsParts) {
  const HeaderList bearer = {{"Authorization", "Bearer ya29.any"}};
  Serve({.strict = true});
  for (const char* query : {"GoogleAccessId=a&Signature=YQ==", "Signature=YQ==&Expires=1",
                            "Signature=", "X-Goog-Signature=", "x-amz-signature=00",
                            "X-Goog-Algorithm=", "X-Amz-Algorithm=AWS4-HMAC-SHA256"}) {
    EXPECT_EQ(Call("GET", std::string("/bkt/o%20b?") + query, "", bearer).status, 400) << query;
  }
}

TEST_F(SignedUrlTest, IsNotNeededWhereAHeaderIsSigned) {
  const auto key = keys_->CreateHmac("p", kAccount);
  const std::string date = "Fri, 20 Dec 2019 00:00:00 GMT";
  const std::string text = "GET\n\n\n\nx-goog-date:" + date + "\n/bkt/o%20b";
  const std::string good = "GOOG1 " + key->access_id + ":" + Base64(HmacSha1(key->secret, text));
  EXPECT_EQ(Call("GET", "/bkt/o%20b", "", {{"Authorization", good}, {"x-goog-date", date}}).body,
            "bytes");
  const std::string bad = "GOOG1 " + key->access_id + ":" + Base64(HmacSha1("other", text));
  EXPECT_EQ(Call("GET", "/bkt/o%20b", "", {{"Authorization", bad}, {"x-goog-date", date}}).code(),
            "SignatureDoesNotMatch");
  EXPECT_EQ(Call("GET", "/bkt/o%20b", "", {{"Authorization", "GOOG1 dummy:c3Vt"}}).status, 200);
}

TEST_F(SignedUrlTest, AccountsMaySignWithKeysFromElsewhere) {
  EXPECT_FALSE(keys_->Register("b@p", "no key").ok());
  ASSERT_TRUE(keys_->Register("b@p", kAnotherPublicKey).ok());
  const std::string url = Sign({.id = "b@p"});  // signed with our own key, which is known as well
  EXPECT_EQ(Call("GET", url).status, 200);
  EXPECT_EQ(keys_->PublicKeysOf("b@p").size(), 2u);
}

TEST(ServiceKeys, AKeyThatCouldNotBeSavedIsNotKnown) {
  TemporaryDirectory directory;
  SystemClock clock;
  auto keys = ServiceKeys::Open(directory.path() / "keys", clock, Random(1), TestSigner);
  ASSERT_TRUE(keys.ok());
  std::filesystem::remove_all(directory.path() / "keys");
  EXPECT_FALSE((*keys)->Register("b@p", kAnotherPublicKey).ok());
  EXPECT_TRUE((*keys)->PublicKeysOf("b@p").empty());
  std::filesystem::create_directory(directory.path() / "keys");
  EXPECT_TRUE((*keys)->Register("b@p", kAnotherPublicKey).ok());
  EXPECT_EQ((*keys)->PublicKeysOf("b@p").size(), 1u);
}

TEST(ServiceKeys, OutliveARestart) {
  TemporaryDirectory directory;
  SystemClock clock;
  std::string id;
  std::string signature;
  {
    auto keys = ServiceKeys::Open(directory.path() / "keys", clock, Random(1), TestSigner);
    ASSERT_TRUE(keys.ok());
    id = (*keys)->CreateHmac("p", kAccount)->access_id;
    EXPECT_EQ(id.size(), 61u);
    EXPECT_TRUE(id.starts_with("GOOG1E"));
    const auto made = (*keys)->SignAs(kAccount, "text");
    EXPECT_EQ(made->key_id, "key-1");
    signature = made->signature;
  }
  auto keys = ServiceKeys::Open(directory.path() / "keys", clock, Random(1), TestSigner);
  ASSERT_TRUE(keys.ok());
  EXPECT_TRUE((*keys)->SecretOf(id)->active);
  ASSERT_EQ((*keys)->PublicKeysOf(kAccount).size(), 1u);
  EXPECT_TRUE(RsaVerifies((*keys)->PublicKeysOf(kAccount)[0], "text", signature));
  EXPECT_FALSE(RsaVerifies((*keys)->PublicKeysOf(kAccount)[0], "texts", signature));
  EXPECT_NE((*keys)->CreateHmac("p", kAccount)->access_id, id);  // though the seed is the same
}

// Routes of the JSON API, called without sockets.
class KeyApi {
 public:
  struct Answer {
    int status = 0;
    std::string body;
    Json json;
    bool ok() const { return status == 200; }
  };

  explicit KeyApi(const std::shared_ptr<ServiceKeys>& keys) {
    router_.Add(HmacKeyRoutes(keys));
    router_.Add(AccountKeyRoutes(keys));
  }
  Answer Call(const std::string& method, const std::string& path,
              std::vector<std::pair<std::string, std::string>> query = {},
              const Json& json = Json()) const {
    const std::string text = json.is_null() ? "" : CompactJson(json);
    http::TextBody body(text);
    http::Request request;
    request.method = method;
    request.path = path;
    request.query = std::move(query);
    request.host = "127.0.0.1";
    request.body = &body;
    const http::Response response = router_.Handle(request);
    const auto parsed = ParseJson(response.body);
    return {response.status, response.body, parsed.ok() ? *parsed : Json()};
  }

 private:
  http::Router router_{NoStorageRoute};
};

TEST(HmacKeyRoutes, CreateListUpdateAndDelete) {
  TemporaryDirectory directory;
  SystemClock clock;
  auto opened = ServiceKeys::Open(directory.path() / "keys", clock, Random(1), TestSigner);
  const std::shared_ptr<ServiceKeys> keys = std::move(*opened);
  const KeyApi api(keys);
  const std::string all = "/storage/v1/projects/p/hmacKeys";
  const KeyApi::Answer made = api.Call("POST", all, {{"serviceAccountEmail", kAccount}});
  ASSERT_TRUE(made.ok()) << made.body;
  EXPECT_EQ(made.json["secret"].get<std::string>().size(), 40u);
  const std::string one = all + "/" + made.json["metadata"]["accessId"].get<std::string>();
  EXPECT_EQ(api.Call("POST", all).status, 400);
  EXPECT_EQ(api.Call("GET", one).json["state"], "ACTIVE");
  EXPECT_EQ(api.Call("GET", all).json["items"].size(), 1u);
  EXPECT_EQ(api.Call("DELETE", one).status, 400);
  EXPECT_EQ(api.Call("PUT", one, {}, Json{{"state", "INACTIVE"}, {"etag", "old"}}).status, 412);
  for (const Json& wrong : {Json{{"state", 7}}, Json{{"state", "ASLEEP"}},
                            Json{{"state", "INACTIVE"}, {"etag", 7}}, Json{{"etag", "old"}}}) {
    EXPECT_EQ(api.Call("PUT", one, {}, wrong).status, 400) << wrong;
  }
  EXPECT_EQ(api.Call("GET", one).json["state"], "ACTIVE");
  EXPECT_EQ(api.Call("PUT", one, {}, Json{{"state", "INACTIVE"}}).json["state"], "INACTIVE");
  EXPECT_EQ(api.Call("DELETE", one).status, 204);
  EXPECT_FALSE(api.Call("GET", all).json.contains("items"));
  EXPECT_EQ(api.Call("GET", all, {{"showDeletedKeys", "true"}}).json["items"].size(), 1u);
  EXPECT_EQ(api.Call("GET", all + "/GOOGNOPE").status, 404);
  const KeyApi::Answer blob =
      api.Call("POST", std::string("/v1/projects/-/serviceAccounts/") + kAccount + ":signBlob", {},
               Json{{"payload", Base64("text")}});
  ASSERT_TRUE(blob.ok()) << blob.body;
  EXPECT_TRUE(RsaVerifies(keys->PublicKeysOf(kAccount)[0], "text",
                          *FromBase64(blob.json["signedBlob"].get<std::string>())));
}

}  // namespace
}  // namespace caip::gcs
