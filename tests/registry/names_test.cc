// Names of repositories, tags, digests and ranges: tables, and texts made of random parts.
#include "fakes/registry/names.h"

#include "base/random.h"
#include "base/text.h"
#include "fakes/registry/ranges.h"
#include "tests/registry/registry_world.h"

namespace caip::registry {
namespace {

TEST(RegistryHost, IsOneOfGooglesRegistries) {
  for (const char* host : {"gcr.io", "GCR.IO", "gcr.io:443", "eu.gcr.io", "a.b.gcr.io",
                           "us-central1-docker.pkg.dev"}) {
    EXPECT_TRUE(IsRegistryHost(host)) << host;
  }
  for (const char* host :
       {"", "127.0.0.1:2247", "localhost", "xgcr.io", "gcr.io.evil.example", "pkg.dev", "docker.io",
        ".gcr.io", "a..gcr.io", "a b.gcr.io", "../x.gcr.io"}) {
    EXPECT_FALSE(IsRegistryHost(host)) << host;
  }
}

TEST(RepositoryName, IsCompletedByTheHost) {
  const struct {
    const char* host;
    const char* name;
    const char* stored;
  } rows[] = {
      {"gcr.io", "p/i", "gcr.io/p/i"},
      {"EU.gcr.io:443", "p/i", "eu.gcr.io/p/i"},
      {"us-docker.pkg.dev", "p/r/i", "us-docker.pkg.dev/p/r/i"},
      {"127.0.0.1:2247", "p/i", "gcr.io/p/i"},
      {"localhost", "i", "gcr.io/i"},
      {"[::1]:2247", "p/i", "gcr.io/p/i"},
      {"127.0.0.1", "gcr.io/p/i", "gcr.io/p/i"},
      {"127.0.0.1", "asia.gcr.io/p/i", "asia.gcr.io/p/i"},
      {"127.0.0.1", "gcr.io", "gcr.io/gcr.io"},
      {"gcr.io", "eu.gcr.io/p", "gcr.io/eu.gcr.io/p"},
      {"10.0.0.7:2247", "docker.io/library/x", "gcr.io/docker.io/library/x"},
  };
  for (const auto& row : rows) {
    const auto found = FindRepository(row.host, row.name);
    ASSERT_TRUE(found.ok()) << row.host << " " << row.name;
    EXPECT_EQ(found->stored, row.stored) << row.host << " " << row.name;
    EXPECT_EQ(found->shown, row.name);
    const auto shown = ShownName(row.host, found->stored);
    ASSERT_TRUE(shown) << row.stored;
    EXPECT_EQ(FindRepository(row.host, *shown)->stored, row.stored) << *shown;
  }
  EXPECT_EQ(ShownName("eu.gcr.io", "gcr.io/p/i"), std::nullopt);
  EXPECT_EQ(ShownName("127.0.0.1:2247", "localhost/mapped"), std::nullopt);
  EXPECT_EQ(ShownName("gcr.io", "localhost/mapped"), std::nullopt);
}

TEST(RepositoryName, FollowsTheRuleOfTheSpecification) {
  for (const char* name : {"a", "0", "a/b", "a.b", "a_b", "a__b", "a-b", "a---b", "a/b/c/d/e",
                           "example.com/project/image", "a1.b2-c3__d4"}) {
    EXPECT_TRUE(FindRepository("gcr.io", name).ok()) << name;
  }
  for (const char* name :
       {"",     "/",    "a/",     "/a",   "a//b", "A",   "a/B",      ".",   "..",
        "../a", "a/..", "a/../b", "a..b", "a.",   ".a",  "-a",       "a-",  "a___b",
        "a_-b", "a b",  "a%2fb",  "a\\b", "a:b",  "a@b", "\xc3\xa4", "a\nb"}) {
    const auto found = FindRepository("127.0.0.1", name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.error().reason, "nameInvalid");
  }
  EXPECT_FALSE(FindRepository("gcr.io", std::string("a\0b", 3)).ok());
}

TEST(RepositoryName, HasAtMost255CharactersWithItsHost) {
  EXPECT_TRUE(FindRepository("gcr.io", std::string(248, 'a')).ok());
  EXPECT_FALSE(FindRepository("gcr.io", std::string(249, 'a')).ok());
  EXPECT_FALSE(FindRepository("gcr.io", std::string(1 << 20, 'a')).ok());
}

TEST_F(RegistryTest, RefusesNamesThatTryToLeave) {
  const std::string long_name(300, 'n');
  for (const std::string& name :
       {std::string(".."), std::string("%2e%2e"), std::string("p/../../x"),
        std::string("p%2F..%2Fx"), std::string("Upper/case"), std::string("p//i"),
        std::string("p/%00"), long_name}) {
    for (const char* path :
         {"/manifests/latest", "/tags/list", "/referrers/sha256:x", "/blobs/uploads/x"}) {
      const Answer answer = Call("GET", "/v2/" + name + path);
      EXPECT_EQ(answer.status, 400) << name << path;
      EXPECT_EQ(answer.code(), "NAME_INVALID") << name << path;
    }
    EXPECT_EQ(Call("POST", "/v2/" + name + "/blobs/uploads/").code(), "NAME_INVALID") << name;
    EXPECT_EQ(PushManifest("{}", "latest", name).code(), "NAME_INVALID") << name;
  }
  EXPECT_TRUE(names_->Repositories()->empty());
  EXPECT_TRUE(blobs_->Uploads().empty());
}

TEST_F(RegistryTest, LeadsAllAddressesToTheSameImages) {
  const std::string manifest = PushImage("layer", "latest", "p/i");
  const Fields at_gcr = {{"Host", "gcr.io"}};
  EXPECT_EQ(GetManifest("latest", "p/i", at_gcr).body, manifest);
  EXPECT_EQ(GetManifest("latest", "gcr.io/p/i").body, manifest);
  EXPECT_EQ(GetBlob("layer", "p/i", at_gcr).body, "layer");
  EXPECT_EQ(GetManifest("latest", "p/i", {{"Host", "eu.gcr.io"}}).status, 404);
  EXPECT_EQ(names_->Find("gcr.io/p/i", "latest")->digest.text(), DigestOf(manifest));
}

TEST(ImageReference, IsATagOrADigest) {
  for (const char* tag : {"latest", "v1.0", "_x", "A-b_c.d", "1"}) {
    EXPECT_EQ(ParseReference(tag)->tag, tag);
  }
  EXPECT_TRUE(ParseReference(std::string(128, 'a')).ok());
  for (const std::string& tag :
       {std::string(), std::string("."), std::string(".."), std::string("-a"), std::string("a/b"),
        std::string("a b"), std::string("a\n"), std::string(129, 'a'), std::string("\xc3\xa4")}) {
    EXPECT_EQ(ParseReference(tag).error().reason, "tagInvalid") << tag;
  }
  EXPECT_EQ(ParseReference(DigestOf("x"))->digest->text(), DigestOf("x"));
  for (const char* digest : {":", "sha256:", "sha256:xyz", "latest:x", "md5:00"}) {
    EXPECT_EQ(ParseReference(digest).error().reason, "digestInvalid") << digest;
  }
}

// The rule as a state machine of its own: what was accepted last decides what may follow.
bool MatchesNameRule(std::string_view name) {
  const auto is_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string separator = "/";
  for (size_t i = 0; i < name.size(); ++i) {
    if (is_word(name[i])) {
      const bool dashes = separator.find_first_not_of('-') == separator.npos;
      const bool allowed =
          dashes || separator == "/" || separator == "." || separator == "_" || separator == "__";
      if (!allowed) return false;
      separator.clear();
    } else if (separator == "/") {
      return false;
    } else {
      separator += name[i];
    }
  }
  return separator.empty();
}

TEST(RepositoryName, AgreesWithAnotherReaderOnRandomTexts) {
  Random random(16);
  constexpr std::string_view kLetters = "aa0._-/A";
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string name;
    for (uint64_t left = random.Below(9); left > 0; --left) {
      name += kLetters[random.Below(kLetters.size())];
    }
    const bool is_valid = FindRepository("gcr.io", name).ok();
    ASSERT_EQ(is_valid, MatchesNameRule(name)) << name;
    accepted += is_valid;
  }
  EXPECT_GT(accepted, 10'000);
}

TEST(PieceRange, HasTwoNumbers) {
  const struct {
    const char* text;
    std::optional<ByteRange> range;
  } rows[] = {
      {"0-0", ByteRange{0, 0}},
      {"0-1023", ByteRange{0, 1023}},
      {"007-0008", ByteRange{7, 8}},
      {"999999999999999998-999999999999999999",
       ByteRange{999999999999999998u, 999999999999999999u}},
      {"0-1000000000000000000", std::nullopt},
      {"1-0", std::nullopt},
      {"", std::nullopt},
      {"-", std::nullopt},
      {"1-", std::nullopt},
      {"-1", std::nullopt},
      {"1--2", std::nullopt},
      {"+1-2", std::nullopt},
      {"0x1-2", std::nullopt},
      {" 1-2", std::nullopt},
      {"1-2 ", std::nullopt},
      {"bytes 1-2/3", std::nullopt},
      {"bytes=1-2", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(ParsePieceRange(row.text), row.range) << row.text;
}

TEST(BlobRange, StaysInsideItsBlobForRandomTexts) {
  Random random(17);
  constexpr std::string_view kParts[] = {"bytes", "=", "-", "0", "1", "9", "99", ",", " ", "x"};
  int parts = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text = random.Below(4) == 0 ? "" : "bytes=";
    for (uint64_t left = random.Below(7); left > 0; --left) text += kParts[random.Below(10)];
    const uint64_t size = random.Below(12);
    const BlobRange range = ParseBlobRange(text, size);
    if (range.kind != BlobRange::Kind::kPart) continue;
    ++parts;
    ASSERT_LE(range.bytes.first, range.bytes.last) << text;
    ASSERT_LT(range.bytes.last, size) << text;
  }
  EXPECT_GT(parts, 1'000);
}

}  // namespace
}  // namespace caip::registry
