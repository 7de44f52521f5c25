// All methods except uploads, over real sockets.
#include "base/time_text.h"
#include "http/compression.h"
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> NamesIn(const Json& page, const char* list = "items") {
  std::vector<std::string> names;
  if (!page.contains(list)) return names;
  for (const Json& item : page[list]) {
    names.push_back(item.is_string() ? item.get<std::string>() : item["name"].get<std::string>());
  }
  return names;
}

TEST_F(ApiTest, ShowsAnObjectWithAllThatClientsNeed) {
  PutMedia("a%2Fb%20c%2B%23%3F%25.txt", "hello");
  const Answer answer = Call("GET", "/storage/v1/b/bkt/o/a%2Fb%20c%2B%23%3F%25.txt?alt=json");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json& json = answer.json;
  EXPECT_EQ(json["kind"], "storage#object");
  EXPECT_EQ(json["name"], "a/b c+#?%.txt");
  EXPECT_EQ(json["bucket"], "bkt");
  EXPECT_EQ(json["size"], "5");
  EXPECT_EQ(json["contentType"], "text/plain");
  EXPECT_EQ(json["md5Hash"], "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(json["crc32c"], "mnG7TA==");
  EXPECT_EQ(json["metageneration"], "1");
  EXPECT_EQ(json["storageClass"], "STANDARD");
  const std::string generation = json["generation"];
  EXPECT_EQ(json["id"], "bkt/a/b c+#?%.txt/" + generation);
  EXPECT_EQ(json["mediaLink"], base() + "/download/storage/v1/b/bkt/o/a%2Fb%20c%2B%23%3F%25.txt" +
                                   "?generation=" + generation + "&alt=media");
  EXPECT_TRUE(ParseRfc3339(json["timeCreated"].get<std::string>()));
  EXPECT_TRUE(json.contains("etag") && json.contains("updated") && json.contains("selfLink"));
  EXPECT_FALSE(json.contains("componentCount") || json.contains("metadata"));
}

TEST_F(ApiTest, BuildsLinksOnTheHostThatWasAsked) {
  const Answer answer = Raw("GET /storage/v1/b/bkt", "", "");
  EXPECT_THAT(answer.json["selfLink"].get<std::string>(), HasSubstr(base()));
}

TEST_F(ApiTest, AnswersErrorsInStoragesForm) {
  PutMedia("x", "1");
  struct Case {
    const char* method;
    const char* target;
    const char* body;
    int status;
    const char* reason;
  };
  const Case cases[] = {
      {"GET", "/storage/v1/b/bkt/o/missing", "", 404, "notFound"},
      {"GET", "/storage/v1/b/missing", "", 404, "notFound"},
      {"GET", "/storage/v1/b/missing/o", "", 404, "notFound"},
      {"DELETE", "/storage/v1/b/bkt/o/missing", "", 404, "notFound"},
      {"GET", "/storage/v1/b/bkt/o/x?alt=media&generation=7", "", 404, "notFound"},
      {"GET", "/storage/v1/b/bkt/o/x?generation=7", "", 404, "notFound"},
      {"DELETE", "/storage/v1/b/bkt/o/x?generation=7", "", 404, "notFound"},
      {"GET", "/storage/v1/b/bkt/o/x?ifGenerationMatch=7", "", 412, "conditionNotMet"},
      {"GET", "/storage/v1/b/bkt/o/x?ifGenerationMatch=abc", "", 400, "invalid"},
      {"DELETE", "/storage/v1/b/bkt/o/x?ifGenerationMatch=7", "", 412, "conditionNotMet"},
      {"PATCH", "/storage/v1/b/bkt/o/x?ifMetagenerationMatch=7", "{}", 412, "conditionNotMet"},
      {"POST", "/storage/v1/b?project=p", "{\"name\":\"bkt\"}", 409, "conflict"},
      {"POST", "/storage/v1/b?project=p", "{\"name\":\"No Good\"}", 400, "invalid"},
      {"POST", "/storage/v1/b?project=p", "{}", 400, "required"},
      {"POST", "/storage/v1/b?project=p", "{", 400, "invalid"},
      {"POST", "/storage/v1/b?project=p", "[1]", 400, "invalid"},
      {"POST", "/storage/v1/b", "{\"name\":\"new\"}", 400, "required"},
      {"GET", "/storage/v1/b", "", 400, "required"},
      {"DELETE", "/storage/v1/b/bkt", "", 409, "conflict"},
      {"GET", "/storage/v1/b/bkt/o?pageToken=!", "", 400, "invalid"},
      {"GET", "/storage/v1/b/bkt/o?maxResults=-1", "", 400, "invalid"},
      {"POST", "/storage/v1/b/bkt/o?name=x", "data", 400, "invalid"},
      {"POST", "/upload/storage/v1/b/bkt/o?name=x", "data", 400, "invalid"},
      {"POST", "/upload/storage/v1/b/bkt/o?uploadType=media", "data", 400, "required"},
      {"GET", "/storage/v1/b/bkt/o/a%0Ab", "", 400, "invalid"},
      {"GET", "/storage/v1/b/bkt/o/%2E%2E", "", 400, "invalid"},
      {"GET", "/storage/v1/b/bkt/o/%FF", "", 400, "invalid"},
      {"GET", "/storage/v1/b/..%2F..%2Fetc/o/passwd", "", 400, "invalid"},
      {"GET", "/storage/v1/nonsense", "", 404, "notFound"},
      {"GET", "/storage/v1/b/bkt/o/x/y", "", 404, "notFound"},
      {"PATCH", "/storage/v1/b", "{}", 405, "methodNotAllowed"},
      {"POST", "/storage/v1/b/bkt/relocate", "", 501, "notImplemented"},
      {"PATCH", "/storage/v1/b/bkt", "{\"ipFilter\":{\"mode\":\"Enabled\"}}", 501,
       "notImplemented"},
      {"GET", "/storage/v1/b/bkt/o?filter=contexts", "", 501, "notImplemented"},
      {"GET", "/storage/v1/b/bkt/o?matchGlob=%5B", "", 400, "invalid"},
      {"GET", "/storage/v1/b/bkt/folders", "", 409, "conflict"},
      {"POST", "/storage/v1/b/bkt/lockRetentionPolicy", "", 400, "required"},
      {"POST", "/storage/v1/b/bkt/o/x/restore", "", 400, "required"},
      {"POST", "/storage/v1/b/bkt/o/x/restore?generation=7", "", 404, "notFound"},
      {"POST", "/storage/v1/b/bkt/o/x/moveTo/o/x", "", 400, "invalid"},
      {"POST", "/storage/v1/b/bkt/o/x/moveTo/o/y?ifSourceGenerationMatch=7", "", 412,
       "conditionNotMet"},
      {"GET", "/storage/v1/b/bkt?ifMetagenerationMatch=7", "", 412, "conditionNotMet"},
      {"DELETE", "/storage/v1/b/bkt?ifMetagenerationMatch=7", "", 412, "conditionNotMet"},
  };
  for (const Case& row : cases) {
    const Answer answer = Call(row.method, row.target, row.body);
    EXPECT_EQ(answer.status, row.status) << row.method << " " << row.target << answer.body;
    EXPECT_EQ(answer.reason(), row.reason) << row.method << " " << row.target;
    EXPECT_EQ(answer.json["error"]["code"], row.status) << row.method << " " << row.target;
  }
  EXPECT_EQ(world_.Get("x"), "1");
}

TEST_F(ApiTest, MakesShowsListsAndDeletesBuckets) {
  for (const std::string prefix : {"/storage/v1", ""}) {  // the alias that Node uses
    const Answer made = Call("POST", prefix + "/b?project=p",
                             R"({"name":"new-bucket","location":"eu","labels":{"a":"b"},
                                 "iamConfiguration":{"publicAccessPrevention":"enforced"}})");
    ASSERT_EQ(made.status, 200) << made.body;
    EXPECT_EQ(made.json["location"], "EU");
    const Answer got = Call("GET", prefix + "/b/new-bucket");
    EXPECT_EQ(got.json["labels"]["a"], "b");
    EXPECT_EQ(got.json["kind"], "storage#bucket");
    EXPECT_EQ(got.json["id"], "new-bucket");
    EXPECT_THAT(NamesIn(Call("GET", prefix + "/b?project=p").json),
                ElementsAre("bkt", "new-bucket"));
    const Answer page = Call("GET", prefix + "/b?project=p&maxResults=1");
    EXPECT_THAT(NamesIn(page.json), ElementsAre("bkt"));
    const std::string token = page.json["nextPageToken"];
    const Answer rest = Call("GET", prefix + "/b?project=p&maxResults=1&pageToken=" + token);
    EXPECT_THAT(NamesIn(rest.json), ElementsAre("new-bucket"));
    EXPECT_FALSE(rest.json.contains("nextPageToken"));
    const Answer patched =
        Call("PATCH", prefix + "/b/new-bucket", R"({"labels":{"a":null,"c":"d"}})");
    EXPECT_EQ(patched.json["labels"], Json({{"c", "d"}}));
    EXPECT_EQ(Call("PATCH", prefix + "/b/new-bucket?ifMetagenerationMatch=1", "{}").status, 412);
    const Answer deleted = Call("DELETE", prefix + "/b/new-bucket");
    EXPECT_EQ(deleted.status, 204);
    EXPECT_EQ(deleted.body, "");
  }
  const Answer layout = Call("GET", "/storage/v1/b/bkt/storageLayout");
  EXPECT_EQ(layout.json["hierarchicalNamespace"]["enabled"], false);
  EXPECT_EQ(Call("GET", "/storage/v1/b/bkt/managedFolders").status, 200);
}

TEST_F(ApiTest, ListsWithPrefixesAndPages) {
  for (const std::string name : {"a", "dir/1", "dir/2", "dir/sub/3", "z"}) world_.Put(name, "");
  const Answer top = Call("GET", "/storage/v1/b/bkt/o?delimiter=/&prefix=");
  EXPECT_THAT(NamesIn(top.json), ElementsAre("a", "z"));
  EXPECT_THAT(NamesIn(top.json, "prefixes"), ElementsAre("dir/"));
  const Answer below = Call("GET", "/storage/v1/b/bkt/o?delimiter=%2F&prefix=dir%2F");
  EXPECT_THAT(NamesIn(below.json), ElementsAre("dir/1", "dir/2"));
  EXPECT_THAT(NamesIn(below.json, "prefixes"), ElementsAre("dir/sub/"));
  std::vector<std::string> all;
  for (std::string token;;) {
    const Answer page = Call("GET", "/storage/v1/b/bkt/o?maxResults=2&pageToken=" + token);
    for (const std::string& name : NamesIn(page.json)) all.push_back(name);
    if (!page.json.contains("nextPageToken")) break;
    token = page.json["nextPageToken"];
  }
  EXPECT_THAT(all, ElementsAre("a", "dir/1", "dir/2", "dir/sub/3", "z"));
  const Answer none = Call("GET", "/storage/v1/b/bkt/o?prefix=none");
  EXPECT_EQ(none.json, Json({{"kind", "storage#objects"}}));
}

TEST_F(ApiTest, SendsTheBytesThatARangeAsksFor) {
  PutMedia("x", "0123456789");
  struct Case {
    const char* range;
    int status;
    const char* body;
    const char* content_range;
  };
  const Case cases[] = {
      {"", 200, "0123456789", ""},
      {"bytes=0-9", 206, "0123456789", "bytes 0-9/10"},
      {"bytes=1-3", 206, "123", "bytes 1-3/10"},
      {"bytes=7-", 206, "789", "bytes 7-9/10"},
      {"bytes=-2", 206, "89", "bytes 8-9/10"},
      {"bytes=-99", 206, "0123456789", "bytes 0-9/10"},
      {"bytes=5-99", 206, "56789", "bytes 5-9/10"},
      {"bytes=8-99999999999999999999999", 206, "89", "bytes 8-9/10"},
      {"bytes=99999999999999999999999-", 416, nullptr, "bytes */10"},
      {"bytes=10-", 416, nullptr, "bytes */10"},
      {"bytes=99-100", 416, nullptr, "bytes */10"},
      {"bytes=-0", 416, nullptr, "bytes */10"},
      {"bytes=3-1", 200, "0123456789", ""},
      {"bytes=0-1,4-5", 200, "0123456789", ""},
      {"lines=1-2", 200, "0123456789", ""},
  };
  for (const std::string target : {"/download/storage/v1/b/bkt/o/x?alt=media",
                                   "/storage/v1/b/bkt/o/x?alt=media", "/b/bkt/o/x?alt=media"}) {
    for (const Case& row : cases) {
      std::vector<std::pair<std::string, std::string>> headers;
      if (*row.range) headers.emplace_back("Range", row.range);
      const Answer answer = Call("GET", target, "", headers);
      EXPECT_EQ(answer.status, row.status) << row.range;
      EXPECT_TRUE(!row.body || answer.body == row.body) << row.range << answer.body;
      EXPECT_EQ(answer.headers.Get("Content-Range"), row.content_range) << row.range;
    }
  }
}

TEST_F(ApiTest, DescribesTheBytesInHeaders) {
  const Answer put = PutMedia("x", "hello");
  const Answer answer = Call("HEAD", "/storage/v1/b/bkt/o/x?alt=media");
  EXPECT_EQ(answer.headers.Get("Content-Type"), "text/plain");
  EXPECT_EQ(answer.headers.Get("Content-Length"), "5");
  EXPECT_EQ(answer.headers.Get("Accept-Ranges"), "bytes");
  EXPECT_EQ(answer.headers.Get("x-goog-hash"), "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(answer.headers.Get("x-goog-generation"), put.json["generation"].get<std::string>());
  EXPECT_EQ(answer.headers.Get("x-goog-stored-content-length"), "5");
  EXPECT_EQ(answer.headers.Get("x-goog-stored-content-encoding"), "identity");
  EXPECT_THAT(std::string(answer.headers.Get("Last-Modified")),
              AllOf(HasSubstr("2019"), HasSubstr(" GMT")));
  EXPECT_EQ(answer.headers.Get("ETag"), put.json["etag"].get<std::string>());
}

TEST_F(ApiTest, AnswersNotModifiedWhereAReaderHasItAlready) {
  const std::string generation = PutMedia("x", "1").json["generation"];
  for (const std::string target : {"/storage/v1/b/bkt/o/x?", "/storage/v1/b/bkt/o/x?alt=media&"}) {
    EXPECT_EQ(Call("GET", target + "ifGenerationNotMatch=" + generation).status, 304);
    EXPECT_EQ(Call("GET", target + "ifMetagenerationNotMatch=1").status, 304);
    EXPECT_EQ(Call("GET", target + "ifGenerationNotMatch=5").status, 200);
  }
}

TEST_F(ApiTest, RefusesAnInsertWhoseGenerationIsWrong) {
  EXPECT_EQ(PutMedia("x", "1", "&ifGenerationMatch=0").status, 200);
  EXPECT_EQ(PutMedia("x", "2", "&ifGenerationMatch=0").status, 412);
  const std::string generation = Call("GET", "/storage/v1/b/bkt/o/x").json["generation"];
  EXPECT_EQ(PutMedia("x", "3", "&ifGenerationMatch=" + generation).status, 200);
  EXPECT_EQ(world_.Get("x"), "3");
}

TEST_F(ApiTest, PatchesWhatIsNamedAndIgnoresTheReadOnly) {
  PutMedia("x", "1");
  Json whole = Call("GET", "/storage/v1/b/bkt/o/x").json;
  whole["metadata"] = {{"k", "v"}, {"l", "w"}};
  whole["cacheControl"] = "no-cache";
  whole["md5Hash"] = "nonsense";
  whole["generation"] = "7";
  const Answer patched =
      Call("PATCH", "/storage/v1/b/bkt/o/x?ifMetagenerationMatch=1", CompactJson(whole));
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.json["metageneration"], "2");
  EXPECT_EQ(patched.json["contentType"], "text/plain");
  const Answer second =
      Call("PATCH", "/storage/v1/b/bkt/o/x", R"({"metadata":{"k":null},"cacheControl":null})");
  EXPECT_EQ(second.json["metadata"], Json({{"l", "w"}}));
  EXPECT_FALSE(second.json.contains("cacheControl"));
  const Answer put = Call("PUT", "/storage/v1/b/bkt/o/x", R"({"contentType":"a/b"})");
  EXPECT_EQ(put.json["contentType"], "a/b");
  EXPECT_FALSE(put.json.contains("metadata"));
  EXPECT_EQ(put.json["md5Hash"], Call("GET", "/storage/v1/b/bkt/o/x").json["md5Hash"]);
}

TEST_F(ApiTest, RewritesWithEveryBodyThatClientsSend) {
  const Answer source = PutMedia("from", "bytes");
  ASSERT_TRUE(world_->CreateBucket("other").ok());
  const std::string target = "/storage/v1/b/bkt/o/from/rewriteTo/b/other/o/to%2Fhere";
  for (const char* body : {"", "{}", "null", R"({"md5Hash":"AAAA","crc32c":"x"})"}) {
    const Answer answer = Call("POST", target, body);
    ASSERT_EQ(answer.status, 200) << body << answer.body;
    EXPECT_EQ(answer.json["done"], true);
    EXPECT_EQ(answer.json["totalBytesRewritten"], "5");
    EXPECT_EQ(answer.json["resource"]["contentType"], "text/plain");
    EXPECT_EQ(answer.json["resource"]["md5Hash"], source.json["md5Hash"]);
  }
  const Answer changed = Call("POST", target, R"({"contentType":"x/y","metadata":{"a":"b"}})");
  EXPECT_EQ(changed.json["resource"]["contentType"], "x/y");
  EXPECT_EQ(*ReadFile(world_.root() / "other" / "to" / "here"), "bytes");
  EXPECT_EQ(Call("POST", target + "?ifGenerationMatch=0").status, 412);
  EXPECT_EQ(Call("POST", target + "?ifSourceGenerationMatch=1").status, 412);
  EXPECT_EQ(Call("POST", target + "?sourceGeneration=1").status, 404);
  EXPECT_EQ(Call("POST", "/b/bkt/o/from/copyTo/b/bkt/o/copy", "").json["name"], "copy");
}

TEST_F(ApiTest, ComposesAndIgnoresTheFirstSourcesSums) {
  PutMedia("1", "one,");
  PutMedia("2", "two,");
  const std::string sources = R"("sourceObjects":[{"name":"1"},{"name":"2"}])";
  const Answer answer =
      Call("POST", "/storage/v1/b/bkt/o/all/compose",
           R"({"destination":{"contentType":"t/t","md5Hash":"AAAA","crc32c":"AAAAAA=="},)" +
               sources + "}");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(world_.Get("all"), "one,two,");
  EXPECT_EQ(answer.json["componentCount"], 2);
  EXPECT_FALSE(answer.json.contains("md5Hash"));
  EXPECT_EQ(answer.json["contentType"], "t/t");
  PutMedia("same", "one,two,");
  EXPECT_EQ(answer.json["crc32c"], Call("GET", "/storage/v1/b/bkt/o/same").json["crc32c"]);
  const Answer again = Call("POST", "/storage/v1/b/bkt/o/all/compose",
                            R"({"sourceObjects":[{"name":"all"},{"name":"1"}]})");
  EXPECT_EQ(again.json["componentCount"], 3);  // onto itself
  EXPECT_EQ(world_.Get("all"), "one,two,one,");
  const std::string target = "/storage/v1/b/bkt/o/all/compose";
  EXPECT_EQ(Call("POST", target, R"({"sourceObjects":[]})").status, 400);
  EXPECT_EQ(Call("POST", target, R"({"sourceObjects":[{"name":"none"}]})").status, 404);
  EXPECT_EQ(Call("POST", target, R"({"sourceObjects":[{"name":"1","generation":"7"}]})").status,
            404);
  std::string many;
  for (int i = 0; i < 33; ++i) many += R"({"name":"1"},)";
  many.pop_back();
  EXPECT_EQ(Call("POST", target, "{\"sourceObjects\":[" + many + "]}").status, 400);
}

TEST_F(ApiTest, ServesABatchAsPythonSendsIt) {
  PutMedia("1", "one");
  PutMedia("2", "two");
  const std::string body =
      "--===b==\nContent-Type: application/http\nContent-ID: <id+1>\n\n"
      "DELETE /storage/v1/b/bkt/o/1 HTTP/1.1\nAccept: application/json\n\n\n"
      "--===b==\nContent-Type: application/http\nContent-ID: <id+2>\n\n"
      "PATCH /storage/v1/b/bkt/o/2 HTTP/1.1\nContent-Type: application/json\n\n"
      "{\"metadata\":{\"k\":\"v\"}}\n"
      "--===b==\nContent-Type: application/http\nContent-ID: <id+3>\n\n"
      "GET /storage/v1/b/bkt/o/none HTTP/1.1\n\n\n"
      "--===b==--";
  const Answer answer = Call("POST", "/batch/storage/v1", body,
                             {{"Content-Type", "multipart/mixed; boundary=\"===b==\""}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, AllOf(HasSubstr("Content-ID: <response-id+1>\r\n\r\nHTTP/1.1 204"),
                                 HasSubstr("Content-ID: <response-id+2>\r\n\r\nHTTP/1.1 200"),
                                 HasSubstr("Content-ID: <response-id+3>\r\n\r\nHTTP/1.1 404")));
  EXPECT_FALSE(world_.Has("1"));
  EXPECT_EQ(world_->GetObject("bkt", "2")->metadata.at("k"), "v");
}

// As Python sends it with STORAGE_EMULATOR_HOST=http://HOST:PORT/
TEST_F(ApiTest, CallsOfABatchMayHaveMoreSlashes) {
  for (const std::string& start : {std::string("/"), base() + "/", base() + "//"}) {
    PutMedia("1", "one");
    const std::string body = "--b\nContent-Type: application/http\n\nDELETE " + start +
                             "/storage/v1/b/bkt/o/1 HTTP/1.1\n\n\n--b--";
    const Answer answer =
        Call("POST", "/batch/storage/v1", body, {{"Content-Type", "multipart/mixed; boundary=b"}});
    EXPECT_THAT(answer.body, HasSubstr("HTTP/1.1 204")) << start;
    EXPECT_FALSE(world_.Has("1")) << start;
  }
}

TEST_F(ApiTest, KeepsContentEncodingAndMetadata) {
  const Answer answer = RawUpload(
      "uploadType=multipart", "multipart/related; boundary=b",
      "--b\r\n\r\n{\"name\":\"z\",\"contentEncoding\":\"gzip\",\"contentLanguage\":\"de\","
      "\"contentDisposition\":\"inline\",\"customTime\":\"2020-01-01T00:00:00Z\"}\r\n"
      "--b\r\n\r\n\x1f\x8b\r\n--b--");
  ASSERT_EQ(answer.status, 200) << answer.body;
  for (const char* field : {"contentEncoding", "contentLanguage", "contentDisposition"}) {
    EXPECT_TRUE(answer.json.contains(field)) << field;
  }
  EXPECT_EQ(answer.json["customTime"], "2020-01-01T00:00:00Z");
  const Answer media = Call("GET", "/storage/v1/b/bkt/o/z?alt=media", "",
                            {{"Range", "bytes=0-1"}, {"Accept-Encoding", "gzip"}});
  EXPECT_EQ(media.status, 206);
  EXPECT_EQ(media.body, "\x1f\x8b");
  EXPECT_EQ(media.headers.Get("x-goog-stored-content-encoding"), "gzip");
}

// An object shares its origin with the APIs, so a browser must not run it as a page.
TEST_F(ApiTest, LetsNoObjectActAsAPage) {
  const std::string upload = "/upload/storage/v1/b/bkt/o?uploadType=media&name=";
  const std::string html = "<script></script>";
  const std::vector<std::pair<std::string, std::string>> type = {{"Content-Type", "text/html"}};
  ASSERT_EQ(Call("POST", upload + "page", html, type).status, 200);
  ASSERT_EQ(Call("POST", upload + "zip&contentEncoding=gzip", http::Gzip(html), type).status, 200);
  struct Row {
    const char* method;
    const char* object;
    std::vector<std::pair<std::string, std::string>> headers;
    int status;
  };
  const Row rows[] = {{"GET", "page", {}, 200},
                      {"HEAD", "page", {}, 200},
                      {"GET", "page", {{"Range", "bytes=1-3"}}, 206},
                      {"GET", "page", {{"Range", "bytes=99-"}}, 416},
                      {"GET", "zip", {}, 200},
                      {"GET", "zip", {{"Accept-Encoding", "gzip"}}, 200}};
  for (const char* start : {"/storage/v1", "", "/download/storage/v1"}) {
    for (const Row& row : rows) {
      const std::string target = std::string(start) + "/b/bkt/o/" + row.object + "?alt=media";
      const Answer answer = Call(row.method, target, "", row.headers);
      const std::string what = std::string(row.method) + " " + target;
      EXPECT_EQ(answer.status, row.status) << what;
      const bool has_bytes = answer.status < 400;
      EXPECT_EQ(answer.headers.Get("Content-Type") == "text/html", has_bytes) << what;
      EXPECT_EQ(answer.headers.Get("X-Content-Type-Options"), "nosniff") << what << answer.status;
      EXPECT_EQ(answer.headers.Get("Content-Security-Policy"), "sandbox") << what << answer.status;
    }
  }
}

TEST_F(ApiTest, MovesGigabytesInConstantMemory) {
  constexpr uint64_t kSize = 300 << 20;
  class Bytes final : public http::BodyReader {
   public:
    Result<size_t> Read(char* buffer, size_t size) override {
      std::fill_n(buffer, size, 'x');
      return size;
    }
  } bytes;
  const auto resident = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    }
    return 0L;
  };
  const long before = resident();
  http::Client client(base());
  const auto put = client.Send({.method = "POST",
                                .target = "/upload/storage/v1/b/bkt/o?uploadType=media&name=huge",
                                .body_reader = &bytes,
                                .body_size = kSize});
  ASSERT_TRUE(put.ok()) << put.error().message;
  EXPECT_EQ(put->status, 200);
  uint64_t got = 0;
  const auto read = client.Send({.target = "/storage/v1/b/bkt/o/huge?alt=media"},
                                [&](std::string_view piece) { return (got += piece.size()) > 0; });
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(got, kSize);
  EXPECT_LT(resident() - before, 32 << 10) << "KiB more at the peak";
}

TEST_F(ApiTest, ListsItsRoutesWithTheServicesNames) {
  int named = 0;
  for (const http::Route& route : router_->routes()) {
    EXPECT_TRUE(route.id.starts_with("storage.")) << route.pattern;
    EXPECT_TRUE(IsStoragePath(route.pattern)) << route.pattern;
    ++named;
  }
  EXPECT_GT(named, 40);
}

}  // namespace
}  // namespace caip::gcs
