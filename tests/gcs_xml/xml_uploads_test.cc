// Multipart uploads and form uploads.
#include "base/encoding.h"
#include "base/text.h"
#include "base/time_text.h"
#include "fakes/gcs/signing/canonical_request.h"
#include "fakes/gcs/signing/digest.h"
#include "fakes/gcs/store/checksums.h"
#include "tests/gcs_xml/xml_world.h"

namespace caip::gcs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PartsTest : public XmlTest {
 protected:
  std::string Begin(const std::string& object = "big") {
    return Call("POST", "/bkt/" + object + "?uploads", "",
                {{"Content-Type", "text/big"}, {"x-goog-meta-k", "v"}})
        .xml.TextOf("UploadId");
  }
  std::string Put(const std::string& id, int number, const std::string& bytes) {
    const XmlAnswer answer =
        Call("PUT", "/bkt/big?partNumber=" + std::to_string(number) + "&uploadId=" + id, bytes);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Header(answer, "ETag");
  }
  static std::string Part(int number, const std::string& etag) {
    return "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>" +
           ReplaceAll(etag, "\"", "&quot;") + "</ETag></Part>";
  }
  XmlAnswer Complete(const std::string& id, const std::string& parts) {
    return Call("POST", "/bkt/big?uploadId=" + id,
                "<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>");
  }
  static std::string Md5Hex(const std::string& bytes) {
    Hasher hasher;
    hasher.Add(bytes);
    return Hex(hasher.Finish().md5);
  }
  const std::string five_ = std::string(5 << 20, 'a');
};

TEST_F(PartsTest, BecomeOneObjectAlsoAfterARestart) {
  const std::string id = Begin();
  ASSERT_EQ(id.size(), 32u);
  const std::string first = Put(id, 1, five_);
  Restart();
  const std::string old = Put(id, 7, "old");
  const std::string last = Put(id, 7, "end");
  const XmlAnswer parts = Call("GET", "/bkt/big?uploadId=" + id);
  EXPECT_THAT(KeysIn(parts, "Part", "PartNumber"), ElementsAre("1", "7"));
  EXPECT_THAT(KeysIn(parts, "Part", "Size"), ElementsAre("5242880", "3"));
  EXPECT_EQ(Call("GET", "/bkt/big").status, 404);
  EXPECT_EQ(Complete(id, Part(1, first) + Part(7, old)).code(), "InvalidPart");
  const XmlAnswer done = Complete(id, Part(1, first) + Part(7, last));
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(done.xml.TextOf("Key"), "big");
  const XmlAnswer got = Call("GET", "/bkt/big");
  EXPECT_EQ(got.body, five_ + "end");
  EXPECT_EQ(Header(got, "ETag"), done.xml.TextOf("ETag"));
  EXPECT_EQ(Header(got, "Content-Type"), "text/big");
  EXPECT_EQ(Header(got, "x-goog-meta-k"), "v");
  EXPECT_EQ(Complete(id, Part(1, first)).code(), "NoSuchUpload");
}

// A directory at the new part's path makes the rename fail, as a kill before it would.
TEST_F(PartsTest, AnUploadedPartIsKeptUntilTheNewOneIsInItsPlace) {
  const std::string id = Begin();
  const std::string old = Put(id, 1, "old");
  const Path parts = directory_.path() / "xml-uploads" / id;
  const Path in_the_way = parts / ("00001." + Md5Hex("new"));
  std::filesystem::create_directory(in_the_way);
  EXPECT_NE(Call("PUT", "/bkt/big?partNumber=1&uploadId=" + id, "new").status, 200);
  std::filesystem::remove(in_the_way);
  EXPECT_EQ(Complete(id, Part(1, old)).status, 200);
  EXPECT_EQ(Call("GET", "/bkt/big").body, "old");
}

// So a kill between the two steps of a replacement leaves it.
TEST_F(PartsTest, APartThatIsKeptTwiceIsShownOnceAndEitherCanBeChosen) {
  for (const std::string chosen : {"old", "new"}) {
    const std::string id = Begin();
    Put(id, 1, "old");
    const Path parts = directory_.path() / "xml-uploads" / id;
    ASSERT_TRUE(WriteFile(parts / ("00001." + Md5Hex("new")), "new").ok());
    const XmlAnswer listed = Call("GET", "/bkt/big?uploadId=" + id);
    EXPECT_THAT(KeysIn(listed, "Part", "PartNumber"), ElementsAre("1"));
    EXPECT_EQ(Complete(id, Part(1, '"' + Md5Hex(chosen) + '"')).status, 200);
    EXPECT_EQ(Call("GET", "/bkt/big").body, chosen);
  }
}

TEST_F(PartsTest, MustBeThereInOrderAndBigEnough) {
  const std::string id = Begin();
  const std::string small = Put(id, 1, "small");
  const std::string other = Put(id, 2, "other");
  EXPECT_EQ(Complete(id, Part(2, other) + Part(1, small)).code(), "InvalidPartOrder");
  EXPECT_EQ(Complete(id, Part(1, small) + Part(2, other)).code(), "EntityTooSmall");
  EXPECT_EQ(Complete(id, Part(3, small)).code(), "InvalidPart");
  EXPECT_EQ(Complete(id, "").code(), "MalformedXML");
  EXPECT_EQ(Complete(id, Part(1, small) + "<Foo/>").code(), "MalformedXML");
  EXPECT_EQ(Call("POST", "/bkt/big?uploadId=" + id, "<Foo>" + Part(1, small) + "</Foo>").code(),
            "MalformedXML");
  EXPECT_EQ(Call("PUT", "/bkt/big?partNumber=0&uploadId=" + id, "x").code(), "InvalidArgument");
  EXPECT_EQ(Call("PUT", "/bkt/big?partNumber=1&uploadId=../../x", "x").code(), "NoSuchUpload");
  EXPECT_EQ(Call("PUT", "/bkt/other?partNumber=1&uploadId=" + id, "x").code(), "NoSuchUpload");
  EXPECT_EQ(Call("PUT", "/bkt/big?partNumber=1&uploadId=" + id, "x",
                 {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}})
                .code(),
            "BadDigest");
  EXPECT_EQ(Complete(id, Part(1, small)).status, 200);
}

TEST_F(PartsTest, CanBeListedAndAborted) {
  const std::string id = Begin();
  Begin("other");
  Put(id, 1, "x");
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?uploads"), "Upload"), ElementsAre("big", "other"));
  const XmlAnswer page = Call("GET", "/bkt?uploads&max-uploads=1");
  EXPECT_THAT(KeysIn(page, "Upload"), ElementsAre("big"));
  EXPECT_EQ(page.xml.TextOf("IsTruncated"), "true");
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?uploads&max-uploads=1&key-marker=big"), "Upload"),
              ElementsAre("other"));
  EXPECT_EQ(Call("DELETE", "/bkt/big?uploadId=" + id).status, 204);
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?uploads"), "Upload"), ElementsAre("other"));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "xml-uploads" / id));
  EXPECT_EQ(Call("DELETE", "/bkt/big?uploadId=" + id).code(), "NoSuchUpload");
}

// Each process draws the same ids. An id that was used would stand for the first upload's object.
TEST_F(PartsTest, NeverGetTheIdOfAnUploadThatWasCompletedBeforeARestart) {
  const std::string first = Begin();
  EXPECT_EQ(Complete(first, Part(1, Put(first, 1, "one"))).status, 200);
  Restart();
  const std::string second = Begin();
  EXPECT_NE(second, first);
  EXPECT_EQ(Complete(second, Part(1, Put(second, 1, "two"))).status, 200);
  EXPECT_EQ(Call("GET", "/bkt/big").body, "two");
}

// A kill after the object was made leaves the upload, which the restored plan and part play.
TEST_F(PartsTest, TakeNoPartAfterTheirCompletionWhichCanBeRepeated) {
  const std::string id = Begin();
  const Path upload = directory_.path() / "xml-uploads" / id;
  const Path kept = directory_.path() / "kept";
  const std::string part = Part(1, Put(id, 1, five_));
  std::filesystem::copy(upload, kept);
  EXPECT_EQ(Complete(id, part).status, 200);
  std::filesystem::copy(kept, upload);
  EXPECT_EQ(Call("PUT", "/bkt/big?partNumber=2&uploadId=" + id, "more").code(), "NoSuchUpload");
  const XmlAnswer repeated = Complete(id, part);
  EXPECT_EQ(repeated.status, 200) << repeated.body;
  EXPECT_EQ(Call("GET", "/bkt/big").body, five_);
}

// The plan goes first. A kill after it leaves parts of an upload that does not exist.
TEST_F(PartsTest, WhatAKillLeavesOfAnUploadThatEndedIsRemovedAtTheNextStart) {
  const std::string id = Begin();
  const std::string other = Begin("other");
  Put(id, 1, "x");
  const Path uploads = directory_.path() / "xml-uploads";
  std::filesystem::remove(uploads / id / "upload.json");
  std::filesystem::create_directory(uploads / "not an id");
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?uploads"), "Upload"), ElementsAre("other"));
  Restart();
  EXPECT_FALSE(std::filesystem::exists(uploads / id));
  EXPECT_TRUE(std::filesystem::exists(uploads / other));
  EXPECT_TRUE(std::filesystem::exists(uploads / "not an id"));
}

// A client would learn it only after it has sent all parts.
TEST_F(PartsTest, AreRefusedAtTheBeginIfTheCompletionWouldRefuseThem) {
  const HeaderList cases = {
      {"x-goog-acl", "public-read-write"},  // only buckets have this list
      {"x-goog-acl", "nonsense"},
      {"x-amz-acl", "public-read-write"},
      {"x-goog-storage-class", "TEPID"},
      {"x-goog-custom-time", "yesterday"},
      {"x-goog-if-generation-match", "new"},
      {"x-goog-meta-k", std::string(9000, 'v')},
  };
  for (const auto& header : cases) {
    const XmlAnswer answer = Call("POST", "/bkt/big?uploads", "", {header});
    EXPECT_EQ(answer.status, 400) << header.first << ": " << header.second;
    const XmlAnswer put = Call("PUT", "/bkt/big", "bytes", {header});
    EXPECT_EQ(answer.body, put.body) << header.first << ": the words for a whole object";
  }
  EXPECT_EQ(Call("POST", "/bkt/" + std::string(1025, 'n') + "?uploads").status, 400);
  Bucket bucket = *world_->GetBucket("bkt");
  bucket.settings = R"({"iamConfiguration":{"publicAccessPrevention":"enforced"}})";
  ASSERT_TRUE(world_->UpdateBucket(bucket).ok());
  const HeaderList everyone = {{"x-goog-acl", "public-read"}};
  const XmlAnswer prevented = Call("POST", "/bkt/big?uploads", "", everyone);
  EXPECT_EQ(prevented.status, 412) << prevented.body;
  EXPECT_EQ(prevented.body, Call("PUT", "/bkt/big", "bytes", everyone).body);
  EXPECT_THAT(KeysIn(Call("GET", "/bkt?uploads"), "Upload"), ElementsAre());
  std::error_code missing;
  const std::filesystem::directory_iterator kept(directory_.path() / "xml-uploads", missing);
  EXPECT_EQ(kept, std::filesystem::directory_iterator());
}

TEST_F(PartsTest, OfAnEarlierVersionGetTheDefaultListInsteadOfOneThatObjectsCannotHave) {
  const std::string id = Begin();
  const std::string part = Part(1, Put(id, 1, "bytes"));
  const Path file = directory_.path() / "xml-uploads" / id / "upload.json";
  Json plan = *ParseJson(*ReadFile(file));
  plan["query"] = {{"predefinedAcl", "publicReadWrite"}};
  ASSERT_TRUE(WriteFile(file, CompactJson(plan)).ok());
  const XmlAnswer done = Complete(id, part);
  ASSERT_EQ(done.status, 200) << done.body;
  world_.Put("plain", "bytes");
  EXPECT_EQ(Call("GET", "/bkt/big?acl").body, Call("GET", "/bkt/plain?acl").body);
}

class FormTest : public XmlTest {
 protected:
  using Fields = std::vector<std::pair<std::string, std::string>>;
  XmlAnswer Post(const Fields& fields, const std::string& bytes,
                 const std::string& disposition = "form-data; name=\"file\"; filename=\"f.txt\"") {
    std::string body;
    for (const auto& [name, value] : fields) {
      body +=
          "--xyz\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }
    body += "--xyz\r\nContent-Disposition: " + disposition + "\r\nContent-Type: text/f\r\n\r\n" +
            bytes + "\r\n--xyz--\r\n";
    return Call("POST", "/bkt", body, {{"Content-Type", "multipart/form-data; boundary=xyz"}});
  }
  // The fields of a policy with these conditions, signed with an HMAC key of ours.
  Fields Signed(const std::string& conditions, Duration life = std::chrono::minutes(10)) {
    const auto key = keys_->CreateHmac("p", "a@p.iam.gserviceaccount.com");
    const std::string policy = Base64("{\"expiration\":\"" + Rfc3339(world_.clock().Now() + life) +
                                      "\",\"conditions\":[" + conditions +
                                      ",[\"starts-with\",\"$x-goog-credential\",\"\"],"
                                      "{\"x-goog-algorithm\":\"GOOG4-HMAC-SHA256\"}]}");
    const std::string scope = "20191220/auto/storage/goog4_request";
    const std::string sum = Hex(HmacSha256(SigningKey("GOOG4", key->secret, scope), policy));
    return {{"policy", policy},
            {"x-goog-algorithm", "GOOG4-HMAC-SHA256"},
            {"x-goog-credential", key->access_id + "/" + scope},
            {"x-goog-signature", sum}};
  }
  static Fields With(Fields fields, const Fields& more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }
};

TEST_F(FormTest, UploadsWithoutAPolicy) {
  const XmlAnswer made = Post({{"key", "up/${filename}"}, {"x-goog-meta-k", "v"}}, "bytes");
  EXPECT_EQ(made.status, 204) << made.body;
  const XmlAnswer got = Call("GET", "/bkt/up/f.txt");
  EXPECT_EQ(got.body, "bytes");
  EXPECT_EQ(Header(got, "Content-Type"), "text/f");
  EXPECT_EQ(Header(got, "x-goog-meta-k"), "v");
}

TEST_F(FormTest, ReadsNamesOfFilesInAndOutOfQuotes) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(form-data; name="file"; filename="a;b.txt")", "a;b.txt"},
      {R"(form-data; name="file"; filename="a\"b;\\c.txt")", R"(a"b;\c.txt)"},
      {R"(form-data; name="file"; filename="C:\a\b.txt")", R"(C:\a\b.txt)"},
      {R"(form-data; name="file"; filename=" a = b ")", " a = b "},
      {R"(form-data; filename="x; name=\"key\"; c" ; name="file")", R"(x; name="key"; c)"},
      {R"(form-data;name=file;filename=plain.txt;size=5)", "plain.txt"},
      {R"(form-data; name="file"; title="filename=no"; filename="")", ""},
      {R"(form-data; name="file")", ""},
      {R"(form-data; name="file"; filename="open;end)", "open;end"},
      {R"(form-data; name="file"; filename=)", ""},
      {R"(form-data; name="file"; filename="a%22b%20c.txt")", R"(a"b%20c.txt)"},
      {R"(form-data; name="file"; filename*=UTF-8''na%C3%AFve%20%22.txt)", "na\u00efve \".txt"},
      {R"(form-data; name="file"; filename*=utf-8'en'b.txt; filename="a.txt")", "b.txt"},
      {R"(form-data; name="file"; filename="a.txt"; filename*=ISO-8859-1''b%EF.txt)",
       "b\u00ef.txt"},
      {R"(form-data; name="file"; filename="a.txt"; filename*=UTF-8''%FF)", "a.txt"},
      {R"(form-data; name="file"; filename="a.txt"; filename*=KOI8-R''b.txt)", "a.txt"},
      {R"(form-data; name="file"; filename="a.txt"; filename*=b.txt)", "a.txt"},
  };
  for (const auto& [disposition, file_name] : cases) {
    const XmlAnswer made = Post({{"key", "up/${filename}"}}, disposition, disposition);
    EXPECT_EQ(made.status, 204) << disposition << ": " << made.body;
    EXPECT_EQ(world_.Get(std::string("up/") + file_name), disposition);
  }
}

TEST_F(FormTest, ReadsNamesOfFieldsWithQuotes) {
  const XmlAnswer made = Post({{"key", "a"}, {"x-goog-meta-%22k", "v"}}, "bytes");
  ASSERT_EQ(made.status, 204) << made.body;
  EXPECT_EQ(world_->GetObject("bkt", "a")->metadata.count("\"k"), 1u);
}

TEST_F(FormTest, AnswersAsTheFormWants) {
  const XmlAnswer created = Post({{"key", "a"}, {"success_action_status", "201"}}, "x");
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.xml.name, "PostResponse");
  EXPECT_EQ(created.xml.TextOf("Key"), "a");
  const XmlAnswer away =
      Post({{"key", "a"}, {"success_action_redirect", "http://127.0.0.1/done"}}, "x");
  EXPECT_EQ(away.status, 303);
  EXPECT_THAT(Header(away, "Location"),
              HasSubstr("http://127.0.0.1/done?bucket=bkt&key=a&etag=%22"));
  EXPECT_EQ(Post({}, "x").code(), "InvalidArgument");
  EXPECT_EQ(
      Call("POST", "/bkt", "--xyz--\r\n", {{"Content-Type", "multipart/form-data; boundary=xyz"}})
          .code(),
      "MalformedPOSTRequest");
}

TEST_F(FormTest, HoldsToThePolicy) {
  const std::string conditions =
      "[\"starts-with\",\"$key\",\"up/\"],{\"bucket\":\"bkt\"},[\"content-length-range\",2,4]";
  const auto post = [&](const Fields& more, const std::string& bytes) {
    return Post(With(Signed(conditions), more), bytes);
  };
  EXPECT_EQ(post({{"key", "up/a"}}, "123").status, 204);
  EXPECT_EQ(world_.Get("up/a"), "123");
  EXPECT_EQ(post({{"key", "down/a"}}, "123").code(), "InvalidPolicyDocument");
  EXPECT_EQ(post({{"key", "up/b"}, {"acl", "public-read"}}, "123").code(), "InvalidPolicyDocument");
  EXPECT_EQ(post({{"key", "up/b"}}, "12345").code(), "EntityTooLarge");
  EXPECT_EQ(post({{"key", "up/b"}}, "1").code(), "EntityTooSmall");
  EXPECT_FALSE(world_.Has("up/b"));
}

TEST_F(FormTest, ChecksThePolicysSignatureAndExpiry) {
  const std::string conditions = "[\"eq\",\"$key\",\"a\"]";
  Fields forged = With(Signed(conditions), {{"key", "a"}});
  forged[3].second[0] = forged[3].second[0] == '0' ? '1' : '0';
  EXPECT_EQ(Post(forged, "x").code(), "SignatureDoesNotMatch");
  Fields unsigned_form = {{"policy", forged[0].second}, {"key", "a"}};
  EXPECT_EQ(Post(unsigned_form, "x").status, 400);
  EXPECT_EQ(Post(With(Signed(conditions, -std::chrono::seconds(1)), {{"key", "a"}}), "x").code(),
            "ExpiredToken");
  EXPECT_EQ(Post({{"policy", "bm9uc2Vuc2U="}, {"key", "a"}}, "x").code(), "InvalidPolicyDocument");
  EXPECT_FALSE(world_.Has("a"));
}

}  // namespace
}  // namespace caip::gcs
