// Objects through the XML API.
#include "base/encoding.h"
#include "fakes/gcs/signing/digest.h"
#include "fakes/gcs/wire/request_headers.h"
#include "fakes/gcs/xml/object_headers.h"
#include "tests/gcs_xml/xml_world.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The JSON API takes any text as a key. Not all are names of header fields.
TEST_F(XmlTest, LeavesOutMetadataThatNoHeaderCanHold) {
  ASSERT_EQ(Call("PUT", "/bkt/x", "hi").status, 200);
  auto info = world_->GetObject("bkt", "x");
  ASSERT_TRUE(info.ok());
  info->metadata = {{"a: b", "1"}, {"k\r\nX-Evil: 4", "2"}, {"", "3"}, {"good", "4"}};
  ASSERT_TRUE(world_->UpdateObject(*info, {}).ok());
  const XmlAnswer got = Call("GET", "/bkt/x");
  int shown = 0;
  for (const auto& [name, value] : got.headers.all()) shown += name.starts_with("x-goog-meta-");
  EXPECT_EQ(shown, 1);
  EXPECT_EQ(Header(got, "x-goog-meta-good"), "4");
}

TEST_F(XmlTest, StoresAnObjectAndTellsAllOfIt) {
  const XmlAnswer put = Call("PUT", "/bkt/a/b%20c.txt", "hello",
                             {{"Content-Type", "text/x-a"},
                              {"Content-Language", "en"},
                              {"Cache-Control", "no-store"},
                              {"x-goog-meta-color", "red"},
                              {"X-Amz-Meta-Size", "big"},
                              {"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}});
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(Header(put, "ETag"), "\"5d41402abc4b2a76b9719d911017c592\"");
  EXPECT_EQ(Header(put, "x-goog-hash"), "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==");
  for (const char* method : {"GET", "HEAD"}) {
    const XmlAnswer got = Call(method, "/bkt/a/b%20c.txt");
    ASSERT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(got.body, method == std::string("GET") ? "hello" : "");
    EXPECT_EQ(Header(got, "Content-Type"), "text/x-a");
    EXPECT_EQ(Header(got, "Content-Language"), "en");
    EXPECT_EQ(Header(got, "Cache-Control"), "no-store");
    EXPECT_EQ(Header(got, "x-goog-meta-color"), "red");
    EXPECT_EQ(Header(got, "x-goog-meta-size"), "big");
    EXPECT_EQ(Header(got, "x-goog-generation"), Header(put, "x-goog-generation"));
    EXPECT_EQ(Header(got, "x-goog-metageneration"), "1");
    EXPECT_EQ(Header(got, "x-goog-stored-content-length"), "5");
    EXPECT_EQ(Header(got, "x-goog-stored-content-encoding"), "identity");
    EXPECT_EQ(Header(got, "x-goog-storage-class"), "STANDARD");
    EXPECT_EQ(Header(got, "ETag"), Header(put, "ETag"));
    EXPECT_TRUE(ParseHttpDate(Header(got, "Last-Modified")));
  }
}

TEST_F(XmlTest, ShowsChecksumsOfAnObjectWithACustomersKeyToThoseWhoSendIt) {
  const std::vector<std::pair<std::string, std::string>> key = {
      {"x-goog-encryption-algorithm", "AES256"},
      {"x-goog-encryption-key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}};
  ASSERT_EQ(Call("PUT", "/bkt/sealed", "hello", key).status, 200);
  const XmlAnswer without = Call("HEAD", "/bkt/sealed");
  EXPECT_EQ(without.status, 200);
  EXPECT_EQ(Header(without, "x-goog-stored-content-length"), "5");
  EXPECT_EQ(Header(without, "x-goog-hash"), "");
  const XmlAnswer with = Call("HEAD", "/bkt/sealed", "", key);
  EXPECT_THAT(Header(with, "x-goog-hash"), HasSubstr("crc32c=mnG7TA=="));
  auto other = key;
  other[1].second[0] = 'B';
  EXPECT_EQ(Header(Call("HEAD", "/bkt/sealed", "", other), "x-goog-hash"), "");
}

TEST_F(XmlTest, ReadsRangesAsTensorFlowDoes) {
  world_.Put("o", "0123456789");
  const std::string host = "storage.googleapis.com";
  const XmlAnswer part = Call("GET", "/bkt/o", "", {{"Range", "bytes=2-4"}}, host);
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(Header(part, "Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(Call("GET", "/bkt/o", "", {{"Range", "bytes=8-99"}}, host).body, "89");
  const XmlAnswer past = Call("GET", "/bkt/o", "", {{"Range", "bytes=10-19"}}, host);
  EXPECT_EQ(past.status, 416);
  EXPECT_EQ(past.code(), "InvalidRange");
  EXPECT_EQ(Header(past, "Content-Range"), "bytes */10");
  EXPECT_EQ(Call("GET", "/o", "", {}, "bkt.storage.googleapis.com").body, "0123456789");
  EXPECT_EQ(Call("GET", "/xmlapi/bkt/o").body, "0123456789");
}

TEST_F(XmlTest, SaysWhatIsMissing) {
  EXPECT_EQ(Call("GET", "/bkt/missing").code(), "NoSuchKey");
  EXPECT_EQ(Call("GET", "/missing/o").code(), "NoSuchBucket");
  EXPECT_EQ(Call("GET", "/missing/o").status, 404);
  EXPECT_EQ(Call("PUT", "/missing/o", "x").code(), "NoSuchBucket");
  EXPECT_EQ(Call("DELETE", "/bkt/missing").status, 404);
  EXPECT_EQ(Call("PUT", "/bkt/o", "x", {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}}).code(),
            "BadDigest");
  EXPECT_FALSE(world_.Has("o"));
  EXPECT_EQ(Call("PUT", "/bkt/o?tagging", "<Tagging/>").status, 501);
  EXPECT_EQ(Call("PATCH", "/bkt/o").code(), "MethodNotAllowed");
}

TEST_F(XmlTest, HonoursPreconditions) {
  const std::string generation = Header(Call("PUT", "/bkt/o", "1"), "x-goog-generation");
  const std::string etag = Header(Call("HEAD", "/bkt/o"), "ETag");
  const std::string date = Header(Call("HEAD", "/bkt/o"), "Last-Modified");
  struct Case {
    const char* method;
    const char* header;
    std::string value;
    int status;
  };
  const Case cases[] = {
      {"GET", "If-Match", etag, 200},
      {"GET", "If-Match", "\"other\"", 412},
      {"GET", "If-None-Match", etag, 304},
      {"GET", "If-None-Match", "\"other\"", 200},
      {"GET", "If-Modified-Since", date, 304},
      {"GET", "If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT", 200},
      {"GET", "If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT", 412},
      {"GET", "x-goog-if-generation-match", generation, 200},
      {"GET", "x-goog-if-generation-match", "1", 412},
      {"GET", "x-goog-if-metageneration-match", "9", 412},
      {"PUT", "x-goog-if-generation-match", "0", 412},
      {"PUT", "If-None-Match", "*", 412},
      {"PUT", "If-Match", "\"other\"", 412},
      {"DELETE", "x-goog-if-generation-match", "1", 412},
  };
  for (const Case& c : cases) {
    const XmlAnswer answer = Call(c.method, "/bkt/o", "2", {{c.header, c.value}});
    EXPECT_EQ(answer.status, c.status) << c.method << " " << c.header << ": " << c.value;
    EXPECT_EQ(answer.code(), c.status == 412 ? "PreconditionFailed" : "");
  }
  EXPECT_EQ(world_.Get("o"), "1");
  EXPECT_EQ(Call("PUT", "/bkt/o", "2", {{"If-Match", etag}}).status, 200);
  EXPECT_EQ(Call("GET", "/bkt/o?generation=" + generation).code(), "NoSuchKey");
  EXPECT_EQ(Call("PUT", "/bkt/new", "3", {{"x-goog-if-generation-match", "0"}}).status, 200);
}

TEST_F(XmlTest, UnpacksGzipForClientsThatDoNotTakeIt) {
  const std::string packed =
      *FromHex("1f8b08000000000002ffcb48cdc9c9070086a6103605000000");  // hello
  Call("PUT", "/bkt/z", packed, {{"Content-Encoding", "gzip"}, {"Content-Type", "text/plain"}});
  const XmlAnswer stored = Call("GET", "/bkt/z", "", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(stored.body, packed);
  EXPECT_EQ(Header(stored, "Content-Encoding"), "gzip");
  const XmlAnswer unpacked = Call("GET", "/bkt/z");
  EXPECT_EQ(unpacked.body, "hello");
  EXPECT_FALSE(unpacked.headers.Has("Content-Encoding"));
  EXPECT_EQ(Header(unpacked, "x-goog-stored-content-encoding"), "gzip");
}

TEST_F(XmlTest, LetsTheUrlChooseResponseHeaders) {
  world_.Put("o", "x");
  const XmlAnswer got =
      Call("GET",
           "/bkt/o?response-content-type=text/csv&response-content-disposition=attachment%3B%20a");
  EXPECT_EQ(Header(got, "Content-Type"), "text/csv");
  EXPECT_EQ(Header(got, "Content-Disposition"), "attachment; a");
}

// An object shares its origin with the APIs, so a browser must not run it as a page.
TEST_F(XmlTest, LetsNoObjectActAsAPage) {
  const std::string packed =
      *FromHex("1f8b08000000000002ffcb48cdc9c9070086a6103605000000");  // hello
  world_.Put("plain", "<script></script>");
  Call("PUT", "/bkt/page", "<script></script>", {{"Content-Type", "text/html"}});
  Call("PUT", "/bkt/zip", packed, {{"Content-Encoding", "gzip"}, {"Content-Type", "text/html"}});
  struct Row {
    const char* target;
    HeaderList headers;
    int status;
  };
  const HeaderList part = {{"Range", "bytes=1-3"}};
  const HeaderList past = {{"Range", "bytes=99-"}};
  const Row rows[] = {{"/bkt/page", {}, 200},
                      {"/bkt/page", part, 206},
                      {"/bkt/page", past, 416},
                      {"/bkt/zip", {}, 200},
                      {"/bkt/zip", {{"Accept-Encoding", "gzip"}}, 200},
                      {"/bkt/plain?response-content-type=text/html", {}, 200},
                      {"/bkt/plain?response-content-type=text/html", part, 206},
                      {"/bkt/plain?response-content-type=text/html", past, 416}};
  for (const Row& row : rows) {
    const XmlAnswer answer = Call("GET", row.target, "", row.headers);
    EXPECT_EQ(answer.status, row.status) << row.target;
    EXPECT_EQ(Header(answer, "Content-Type") == "text/html", row.status < 400) << row.target;
    EXPECT_EQ(Header(answer, "X-Content-Type-Options"), "nosniff") << row.target << row.status;
    EXPECT_EQ(Header(answer, "Content-Security-Policy"), "sandbox") << row.target << row.status;
  }
}

TEST_F(XmlTest, CopiesWithOrWithoutTheMetadata) {
  Call("PUT", "/bkt/a%25b", "bytes", {{"Content-Type", "text/a"}, {"x-goog-meta-k", "v"}});
  const XmlAnswer kept = Call("PUT", "/bkt/b", "", {{"x-goog-copy-source", "/bkt/a%25b"}});
  ASSERT_EQ(kept.status, 200) << kept.body;
  EXPECT_EQ(kept.xml.name, "CopyObjectResult");
  EXPECT_EQ(Header(Call("HEAD", "/bkt/b"), "x-goog-meta-k"), "v");
  const XmlAnswer replaced = Call("PUT", "/bkt/c", "",
                                  {{"x-goog-copy-source", "bkt/a%25b"},
                                   {"x-goog-metadata-directive", "REPLACE"},
                                   {"Content-Type", "text/c"},
                                   {"x-goog-meta-other", "w"}});
  ASSERT_EQ(replaced.status, 200) << replaced.body;
  const XmlAnswer c = Call("GET", "/bkt/c");
  EXPECT_EQ(c.body, "bytes");
  EXPECT_EQ(Header(c, "Content-Type"), "text/c");
  EXPECT_EQ(Header(c, "x-goog-meta-other"), "w");
  EXPECT_FALSE(c.headers.Has("x-goog-meta-k"));
  EXPECT_EQ(Call("PUT", "/bkt/d", "", {{"x-goog-copy-source", "/bkt/missing"}}).code(),
            "NoSuchKey");
  EXPECT_EQ(Call("PUT", "/bkt/d", "", {{"x-goog-copy-source", "nowhere"}}).status, 400);
  EXPECT_EQ(Call("PUT", "/bkt/d", "",
                 {{"x-goog-copy-source", "/bkt/c"}, {"x-goog-copy-source-if-none-match", "*"}})
                .status,
            412);
  EXPECT_EQ(
      Call("PUT", "/bkt/d", "",
           {{"x-goog-copy-source", "/bkt/c"}, {"x-goog-copy-source-if-generation-match", "1"}})
          .status,
      412);
}

TEST_F(XmlTest, ComposesObjects) {
  world_.Put("a", "1");
  world_.Put("b", "2");
  const XmlAnswer made = Call("PUT", "/bkt/ab?compose",
                              "<ComposeRequest><Component><Name>a</Name></Component>"
                              "<Component><Name>b</Name></Component></ComposeRequest>",
                              {{"Content-Type", "text/ab"}});
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(Header(made, "x-goog-component-count"), "2");
  const XmlAnswer got = Call("GET", "/bkt/ab");
  EXPECT_EQ(got.body, "12");
  EXPECT_EQ(Header(got, "Content-Type"), "text/ab");
  EXPECT_TRUE(Header(got, "ETag").starts_with("\"-")) << Header(got, "ETag");
  EXPECT_EQ(Call("PUT", "/bkt/x?compose", "<ComposeRequest><Component>").code(), "MalformedXML");
}

TEST_F(XmlTest, ComposesObjectsWhoseNamesHaveOuterBlanks) {
  world_.Put("a", "1");
  const std::string generation = std::to_string(world_.Put(" a ", "2").generation);
  const XmlAnswer made =
      Call("PUT", "/bkt/made?compose",
           "<ComposeRequest>\n <Component>\n <Name> a </Name>\n <Generation> " + generation +
               "\n</Generation>\n <IfGenerationMatch> " + generation +
               " </IfGenerationMatch>\n </Component>\n</ComposeRequest>\n");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(world_.Get("made"), "2");
}

TEST_F(XmlTest, ShowsCustomTimesInUtc) {
  const std::pair<const char*, const char*> cases[] = {
      {"2024-05-05t02:00:00+02:00", "2024-05-05T00:00:00Z"},
      {"9999-12-31T23:59:59.5Z", "9999-12-31T23:59:59.500Z"},
  };
  for (const auto& [given, shown] : cases) {
    EXPECT_EQ(Call("PUT", "/bkt/o", "x", {{"x-goog-custom-time", given}}).status, 200) << given;
    EXPECT_EQ(Header(Call("GET", "/bkt/o"), "x-goog-custom-time"), shown);
    EXPECT_EQ(world_->GetObject("bkt", "o")->custom_time, shown);
  }
}

TEST_F(XmlTest, TakesResumableUploadsUpAgain) {
  const XmlAnswer started =
      Call("POST", "/bkt/a%20b", "",
           {{"x-goog-resumable", "start"}, {"Content-Type", "text/r"}, {"x-goog-meta-k", "v"}});
  ASSERT_EQ(started.status, 201) << started.body;
  const std::string location = Header(started, "Location");
  const std::string base = "http://127.0.0.1:2247";
  ASSERT_TRUE(location.starts_with(base + "/bkt/a%20b?upload_id=")) << location;
  const std::string target = location.substr(base.size());
  const XmlAnswer piece = Call("PUT", target, "01234", {{"Content-Range", "bytes 0-4/10"}});
  EXPECT_EQ(piece.status, 308);
  EXPECT_EQ(Header(piece, "Range"), "bytes=0-4");
  EXPECT_EQ(Call("PUT", target, "", {{"Content-Range", "bytes */10"}}).status, 308);
  const XmlAnswer done = Call("PUT", target, "56789", {{"Content-Range", "bytes 5-9/10"}});
  EXPECT_EQ(done.status, 200);
  EXPECT_FALSE(Header(done, "x-goog-generation").empty());
  const XmlAnswer got = Call("GET", "/bkt/a%20b");
  EXPECT_EQ(got.body, "0123456789");
  EXPECT_EQ(Header(got, "Content-Type"), "text/r");
  EXPECT_EQ(Header(got, "x-goog-meta-k"), "v");
  EXPECT_EQ(Call("PUT", "/bkt/o?upload_id=nonsense", "x").status, 410);
}

TEST_F(XmlTest, DeletesOneOrMany) {
  for (const char* name : {"a", "b", "c"}) world_.Put(name, "x");
  EXPECT_EQ(Call("DELETE", "/bkt/a").status, 204);
  const XmlAnswer many = Call("POST", "/bkt?delete",
                              "<Delete><Object><Key>b</Key></Object><Object><Key>nope</Key>"
                              "</Object></Delete>");
  EXPECT_EQ(many.status, 200);
  EXPECT_THAT(KeysIn(many, "Deleted"), ElementsAre("b", "nope"));
  EXPECT_THAT(world_.Names(), ElementsAre("c"));
  EXPECT_THAT(Call("POST", "/bkt?delete",
                   "<Delete><Quiet>true</Quiet><Object><Key>c</Key>"
                   "</Object></Delete>")
                  .xml.children,
              IsEmpty());
  EXPECT_THAT(world_.Names(), IsEmpty());
}

TEST_F(XmlTest, AnEmptyQuietListsTheDeletions) {
  for (const std::string quiet : {"<Quiet/>", "<Quiet></Quiet>", "<Quiet>\n </Quiet>"}) {
    world_.Put("a", "x");
    const XmlAnswer many =
        Call("POST", "/bkt?delete", "<Delete>" + quiet + "<Object><Key>a</Key></Object></Delete>");
    EXPECT_EQ(many.status, 200) << quiet << many.body;
    EXPECT_THAT(KeysIn(many, "Deleted"), ElementsAre("a")) << quiet;
    EXPECT_THAT(world_.Names(), IsEmpty()) << quiet;
  }
}

TEST_F(XmlTest, DeletesTheObjectWhoseNameHasTheSameBlanks) {
  const std::string generation = std::to_string(world_.Put("d", "x").generation);
  for (const char* name : {"a", "a ", "\tb", "b", "c"}) world_.Put(name, "x");
  const XmlAnswer many =
      Call("POST", "/bkt?delete",
           "<Delete>\n <Object>\n <Key>a </Key>\n </Object>\n <Object><Key>\tb</Key></Object>\n "
           "<Object><Key> c</Key></Object>\n <Object><Key>d</Key><VersionId> " +
               generation + "\n</VersionId></Object>\n</Delete>\n");
  EXPECT_EQ(many.status, 200) << many.body;
  EXPECT_THAT(KeysIn(many, "Deleted"), ElementsAre("a ", "\tb", " c", "d"));
  EXPECT_THAT(world_.Names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Call("POST", "/bkt?delete",
                   "<Delete><Quiet> true\n</Quiet><Object><Key>a</Key></Object></Delete>")
                  .xml.children,
              IsEmpty());
}

// The header of a signed URL limits what its holder can upload. These bodies have no
// Content-Length.
TEST_F(XmlTest, StoresNoUploadOfASizeOutsideTheRangeInItsHeader) {
  world_.Put("old", "kept");
  struct Case {
    const char* object;
    const char* range;
    std::string bytes;
    const char* code;
  };
  const Case cases[] = {
      {"least", "2,4", "12", ""},
      {"most", "2,4", "1234", ""},
      {"spaced", " 2 , 4 ", "123", ""},
      {"exact", "3,3", "123", ""},
      {"empty", "0,0", "", ""},
      {"old", "2,4", "1", "EntityTooSmall"},
      {"old", "2,4", "", "EntityTooSmall"},
      {"old", "2,4", "12345", "EntityTooLarge"},
      {"new", "0,0", "1", "EntityTooLarge"},
      {"new", "2,1048576", std::string((1 << 20) + 1, 'x'), "EntityTooLarge"},
      {"new", "4,2", "123", "InvalidArgument"},
      {"new", "2", "123", "InvalidArgument"},
      {"new", "2,", "123", "InvalidArgument"},
      {"new", ",4", "123", "InvalidArgument"},
      {"new", "", "123", "InvalidArgument"},
      {"new", "-2,4", "123", "InvalidArgument"},
      {"new", "2,4,6", "123", "InvalidArgument"},
      {"new", "2,18446744073709551616", "123", "InvalidArgument"},
  };
  for (const Case& c : cases) {
    const XmlAnswer answer = Call("PUT", std::string("/bkt/") + c.object, c.bytes,
                                  {{"x-goog-content-length-range", c.range}});
    const bool is_stored = c.code == std::string();
    EXPECT_EQ(answer.code(), c.code) << c.range << ": " << c.bytes.size() << " bytes";
    EXPECT_EQ(answer.status, is_stored ? 200 : 400) << c.range;
    if (is_stored) {
      EXPECT_EQ(world_.Get(c.object), c.bytes) << c.range;
    }
  }
  EXPECT_EQ(world_.Get("old"), "kept");
  EXPECT_FALSE(world_.Has("new"));
}

TEST_F(XmlTest, ReadsTheRangeOfSizesForUploadsOfObjectsOnly) {
  const HeaderList range = {{"x-goog-content-length-range", "9,9"}};
  world_.Put("a", "1");
  EXPECT_EQ(Call("PUT", "/bkt/made?compose",
                 "<ComposeRequest><Component><Name>a</Name></Component></ComposeRequest>", range)
                .status,
            200);
  HeaderList copy = range;
  copy.emplace_back("x-goog-copy-source", "/bkt/a");
  EXPECT_EQ(Call("PUT", "/bkt/copy", "", copy).status, 200);
  EXPECT_EQ(Call("GET", "/bkt/a", "", range).status, 200);
}

TEST_F(XmlTest, RefusesBodiesThatAreSignedChunkByChunk) {
  const XmlAnswer refused =
      Call("PUT", "/bkt/o", "x", {{"x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}});
  EXPECT_EQ(refused.status, 501);
  EXPECT_THAT(refused.body, HasSubstr("aws-chunked"));
  EXPECT_FALSE(world_.Has("o"));
}

}  // namespace
}  // namespace caip::gcs
