// Every error that a client of the XML API can cause: status, code, message and details.
#include "base/text.h"
#include "tests/gcs_xml/xml_world.h"
#include "tests/support/golden.h"

namespace caip::gcs {
namespace {

class XmlErrorsTest : public XmlTest {
 protected:
  void Expect(const std::string& method, const std::string& target, const std::string& body = "",
              const HeaderList& headers = {}) {
    const bool local = !target.starts_with("/goog");  // a name that no bucket of ours has
    const XmlAnswer answer =
        Call(method, target, body, headers, local ? "127.0.0.1:2247" : "storage.googleapis.com");
    text_ += method + " " + target.substr(0, 60);
    for (const auto& [name, value] : headers)
      text_ += " [" + name + ": " + value.substr(0, 60) + "]";
    if (!body.empty()) text_ += " " + body.substr(0, 60);
    text_ += "\n  " + std::to_string(answer.status) + " " + answer.code() + "\n";
    for (const char* element : {"Message", "Details"}) {
      const std::string words = answer.xml.TextOf(element);
      if (!words.empty()) text_ += "  " + words + "\n";
    }
  }
  // Its generations are numbers of the clock.
  std::string Put(const std::string& target, const HeaderList& headers = {}) {
    return Header(Call("PUT", target, "bytes", headers), "x-goog-generation");
  }
  void SetBucket(const std::string& settings) {
    auto bucket = world_->GetBucket("bkt");
    bucket->settings = settings;
    ++bucket->metageneration;
    EXPECT_TRUE(world_->UpdateBucket(*bucket).ok());
  }

  std::string text_;
};

const std::string kKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const std::string kOtherKey = "ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

TEST_F(XmlErrorsTest, OfBuckets) {
  Expect("GET", "/missing");
  Expect("HEAD", "/missing");
  Expect("DELETE", "/missing");
  Expect("GET", "/missing?max-keys=0");
  Expect("GET", "/missing?cors");
  Expect("GET", "/missing?acl");
  Expect("GET", "/missing?uploads");
  Expect("GET", "/bkt?max-keys=-1");
  Expect("GET", "/bkt?list-type=2&continuation-token=nonsense");
  Expect("PUT", "/bkt");
  Expect("PUT", "/goog-bucket");
  Expect("PUT", "/new-bucket", "<CreateBucketConfiguration>");
  Expect("PUT", "/new-bucket", "", {{"x-goog-acl", "nonsense"}});
  Expect("POST", "/bkt");
  Expect("PATCH", "/bkt");
  Expect("PUT", "/", "", {{"Authorization", "GOOG1 a:YQ=="}});
  Expect("GET", "/bkt/%zz");
  Put("/bkt/o");
  Expect("DELETE", "/bkt");
  world_.DropByHand("o", "");
  EXPECT_TRUE(world_.Delete("o").ok());
  std::filesystem::create_symlink("nowhere", world_.File("link"));
  Expect("DELETE", "/bkt");
  testing::ExpectGolden("xml_errors/buckets.txt", text_);
}

TEST_F(XmlErrorsTest, OfSettings) {
  Expect("GET", "/bkt?policy");
  Expect("PUT", "/bkt?location", "<LocationConstraint>EU</LocationConstraint>");
  Expect("POST", "/bkt?cors");
  Expect("PUT", "/bkt?cors", "<CorsConfig>");
  Expect("PUT", "/bkt?cors", "<CorsConfig><Cors><MaxAgeSec>x</MaxAgeSec></Cors></CorsConfig>");
  Expect("PUT", "/bkt?versioning", "<VersioningConfiguration/>");
  Expect("PUT", "/bkt?storageClass", "<StorageClass/>");
  Expect("PUT", "/bkt?tagging", "<Tagging><TagSet><Tag/></TagSet></Tagging>");
  const auto lifecycle = [&](const std::string& rule) {
    Expect("PUT", "/bkt?lifecycle",
           "<LifecycleConfiguration><Rule>" + rule + "</Rule></LifecycleConfiguration>");
  };
  lifecycle("");
  lifecycle("<Action/><Condition/>");
  lifecycle("<Action><Fly/></Action><Condition/>");
  lifecycle("<Action><Delete/></Action><Condition><Moon/></Condition>");
  lifecycle("<Action><Delete/></Action><Condition><Age>x</Age></Condition>");
  Expect("DELETE", "/bkt?acl");
  Expect("PUT", "/bkt?acl", "<Nonsense/>");
  const auto list = [&](const std::string& entry) {
    Expect(
        "PUT", "/bkt?acl",
        "<AccessControlList><Entries><Entry>" + entry + "</Entry></Entries></AccessControlList>");
  };
  list("");
  list("<Scope type='Moon'/><Permission>READ</Permission>");
  list("<Scope type='AllUsers'/><Permission>FLY</Permission>");
  Expect("PUT", "/bkt?acl", "", {{"x-goog-acl", "nonsense"}});
  Expect("PUT", "/bkt?acl", "<AccessControlList/>", {{"x-goog-if-metageneration-match", "99"}});
  testing::ExpectGolden("xml_errors/settings.txt", text_);
}

TEST_F(XmlErrorsTest, OfReads) {
  Put("/bkt/o");
  Put("/bkt/sealed", {{"x-goog-encryption-algorithm", "AES256"}, {"x-goog-encryption-key", kKey}});
  for (const char* method : {"GET", "HEAD", "DELETE"}) {
    Expect(method, "/bkt/nothing");
    Expect(method, "/missing/o");
    Expect(method, "/bkt/o?generation=1");
    Expect(method, "/bkt/o?generation=x");
    Expect(method, "/bkt/o?generation=-1");
    Expect(method, "/bkt/o", "", {{"x-goog-if-generation-match", "1"}});
    Expect(method, "/bkt/o", "", {{"x-goog-if-metageneration-match", "x"}});
  }
  Expect("GET", "/bkt/o", "", {{"If-Match", "\"other\""}});
  Expect("GET", "/bkt/o", "", {{"If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"}});
  Expect("GET", "/bkt/o", "", {{"Range", "bytes=5-9"}});
  Expect("GET", "/bkt/sealed");
  Expect("GET", "/bkt/sealed", "",
         {{"x-goog-encryption-algorithm", "AES256"}, {"x-goog-encryption-key", kOtherKey}});
  Expect("GET", "/bkt/o", "",
         {{"x-goog-encryption-algorithm", "AES256"}, {"x-goog-encryption-key", kKey}});
  Expect("GET", "/bkt/o", "", {{"x-goog-encryption-algorithm", "ROT13"}});
  Expect("GET", "/bkt/o?torrent");
  Expect("GET", "/bkt/o?acl&generation=1");
  Expect("PATCH", "/bkt/o");
  testing::ExpectGolden("xml_errors/reads.txt", text_);
}

TEST_F(XmlErrorsTest, OfWrites) {
  Put("/bkt/o");
  const auto put = [&](const HeaderList& headers) { Expect("PUT", "/bkt/o", "x", headers); };
  Expect("PUT", "/missing/o", "x");
  Expect("PUT", "/bkt/.well-known%2Facme-challenge%2Fx", "x");
  put({{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}});
  put({{"Content-MD5", "nonsense"}});
  put({{"x-goog-hash", "crc32c=mnG7TA=="}});
  put({{"x-goog-hash", "crc32c=m"}});
  put({{"x-goog-if-generation-match", "0"}});
  put({{"x-goog-if-generation-match", "x"}});
  put({{"If-None-Match", "*"}});
  put({{"If-Match", "\"other\""}});
  Expect("PUT", "/bkt/new", "x", {{"If-Match", "\"other\""}});
  put({{"x-goog-acl", "nonsense"}});
  put({{"x-goog-custom-time", "tomorrow"}});
  put({{"x-goog-content-length-range", "4,2"}});
  put({{"x-goog-content-length-range", "2,4"}});
  put({{"x-goog-content-length-range", "0,0"}});
  put({{"x-goog-meta-long", std::string(9000, 'm')}});
  put({{"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}});
  put({{"x-goog-copy-source", "nowhere"}});
  put({{"x-goog-copy-source", "/bkt/nothing"}});
  put({{"x-goog-copy-source", "/missing/o"}});
  put({{"x-goog-copy-source", "/bkt/o"}, {"x-goog-copy-source-if-none-match", "*"}});
  put({{"x-goog-copy-source", "/bkt/o"}, {"x-goog-copy-source-if-generation-match", "1"}});
  put({{"x-goog-copy-source", "/bkt/o"}, {"x-goog-if-generation-match", "1"}});
  Expect("PUT", "/missing/o", "", {{"x-goog-copy-source", "/bkt/o"}});
  const auto compose = [&](const std::string& components, const HeaderList& headers = {}) {
    Expect("PUT", "/bkt/made?compose", "<ComposeRequest>" + components + "</ComposeRequest>",
           headers);
  };
  compose("");
  compose("<Component>");
  compose("<Component/>");
  compose("<Component><Name>nothing</Name></Component>");
  compose("<Component><Name>o</Name><Generation>1</Generation></Component>");
  compose("<Component><Name>o</Name><IfGenerationMatch>1</IfGenerationMatch></Component>");
  compose("<Component><Name>o</Name></Component>", {{"x-goog-if-generation-match", "1"}});
  Expect("PUT", "/bkt/o?acl", "<Nonsense/>");
  Expect("PUT", "/bkt/nothing?acl", "<AccessControlList/>");
  Expect("POST", "/bkt/o");
  Expect("POST", "/bkt?delete", "<Delete/>");
  Expect("POST", "/bkt?delete", "<Delete>");
  SetBucket(
      R"({"retentionPolicy":{"retentionPeriod":"100","effectiveTime":"2020-01-01T00:00:00Z"}})");
  put({});
  Expect("DELETE", "/bkt/o");
  auto info = world_->GetObject("bkt", "o");
  info->temporary_hold = true;
  EXPECT_TRUE(world_->UpdateObject(*info, {}).ok());
  put({});
  testing::ExpectGolden("xml_errors/writes.txt", text_);
}

TEST_F(XmlErrorsTest, OfDeletionsAmongMany) {
  Put("/bkt/held");
  auto info = world_->GetObject("bkt", "held");
  info->event_based_hold = true;
  EXPECT_TRUE(world_->UpdateObject(*info, {}).ok());
  const XmlAnswer answer =
      Call("POST", "/bkt?delete",
           "<Delete><Object><Key>held</Key></Object><Object><Key>nothing</Key></Object>"
           "<Object><Key>held</Key><VersionId>x</VersionId></Object></Delete>");
  EXPECT_EQ(KeysIn(answer, "Deleted"), std::vector<std::string>{"nothing"});
  EXPECT_EQ(KeysIn(answer, "Error", "Code"),
            (std::vector<std::string>{"AccessDenied", "InvalidArgument"}));
  EXPECT_THAT(KeysIn(answer, "Error", "Message")[0], ::testing::HasSubstr("active hold"));
  const XmlAnswer missing =
      Call("POST", "/missing?delete", "<Delete><Object><Key>a</Key></Object></Delete>");
  EXPECT_EQ(KeysIn(missing, "Deleted"), std::vector<std::string>{"a"});
}

TEST_F(XmlErrorsTest, OfUploads) {
  Expect("POST", "/missing/o", "", {{"x-goog-resumable", "start"}});
  Expect("POST", "/bkt/o", "", {{"x-goog-resumable", "start"}, {"x-goog-acl", "nonsense"}});
  Expect("PUT", "/bkt/o?upload_id=nonsense", "x");
  Expect("DELETE", "/bkt/o?upload_id=nonsense");
  const auto session = [&](const HeaderList& more) {
    HeaderList headers = {{"x-goog-resumable", "start"}};
    headers.insert(headers.end(), more.begin(), more.end());
    const std::string location = Header(Call("POST", "/bkt/o", "", headers), "Location");
    return location.substr(location.find("/bkt"));
  };
  const auto put = [&](const std::string& target, const HeaderList& headers) {
    Expect("PUT", target.substr(0, target.find('=') + 1) + target.substr(target.find('=') + 1),
           "01234", headers);
  };
  const std::string target = session({});
  const size_t before = text_.size();
  put(target, {{"Content-Range", "nonsense"}});
  put(target, {{"Content-Range", "bytes 5-9/10"}});
  put(target, {{"Content-Range", "bytes 0-4/5"}, {"Content-Length", "4"}});
  put(target, {{"Content-Range", "bytes 0-4/5"}, {"x-goog-hash", "md5=XUFAKrxLKna5cZ2REBfFkg=="}});
  text_ =
      text_.substr(0, before) + ReplaceAll(text_.substr(before), target.substr(0, 60), "SESSION");
  testing::ExpectGolden("xml_errors/uploads.txt", text_);
}

TEST_F(XmlErrorsTest, OfParts) {
  Expect("POST", "/missing/o?uploads");
  const std::string id = Call("POST", "/bkt/big?uploads").xml.TextOf("UploadId");
  const std::string target = "/bkt/big?uploadId=" + id;
  Expect("PUT", target + "&partNumber=0", "x");
  Expect("PUT", target + "&partNumber=1", "x", {{"Content-MD5", "nonsense"}});
  Expect("PUT", target + "&partNumber=1", "x", {{"Content-MD5", "XUFAKrxLKna5cZ2REBfFkg=="}});
  Expect("PUT", target + "&partNumber=1", "", {{"x-goog-copy-source", "/bkt/o"}});
  Expect("PUT", "/bkt/big?partNumber=1&uploadId=nonsense", "x");
  Expect("GET", "/bkt/big?uploadId=nonsense");
  Expect("DELETE", "/bkt/big?uploadId=nonsense");
  Expect("POST", "/bkt/big?uploadId=nonsense", "<CompleteMultipartUpload/>");
  EXPECT_EQ(Call("PUT", target + "&partNumber=1", "a").status, 200);
  EXPECT_EQ(Call("PUT", target + "&partNumber=2", "b").status, 200);
  const auto complete = [&](const std::string& parts, const HeaderList& headers = {}) {
    Expect("POST", target, "<CompleteMultipartUpload>" + parts + "</CompleteMultipartUpload>",
           headers);
  };
  const std::string one =
      "<Part><PartNumber>1</PartNumber><ETag>0cc175b9c0f1b6a831c399e269772661</ETag></Part>";
  const std::string two =
      "<Part><PartNumber>2</PartNumber><ETag>92eb5ffee6ae2fec3ad71c777531578f</ETag></Part>";
  complete("");
  complete("<Part>");
  complete("<Part><PartNumber>x</PartNumber></Part>");
  complete("<Part><PartNumber>1</PartNumber><ETag>other</ETag></Part>");
  complete("<Part><PartNumber>3</PartNumber></Part>");
  complete(two + one);
  complete(one + two);
  complete(one, {{"x-goog-if-generation-match", "1"}});
  text_ = ReplaceAll(text_, id, "UPLOAD");
  testing::ExpectGolden("xml_errors/parts.txt", text_);
}

TEST_F(XmlErrorsTest, OfForms) {
  const auto post = [&](const std::string& fields, const std::string& file) {
    std::string body = fields;
    if (!file.empty()) {
      body += "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n" + file + "\r\n";
    }
    const XmlAnswer answer = Call("POST", "/bkt", body + "--x--\r\n",
                                  {{"Content-Type", "multipart/form-data; boundary=x"}});
    text_ += ReplaceAll(fields, "\r\n", "|") + file.substr(0, 20) + "\n  " +
             std::to_string(answer.status) + " " + answer.code() + "\n  " +
             answer.xml.TextOf("Message") + "\n  " + answer.xml.TextOf("Details") + "\n";
  };
  const auto field = [](const std::string& name, const std::string& value) {
    return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
  };
  Expect("POST", "/bkt", "x", {{"Content-Type", "multipart/form-data"}});
  post("", "");
  post(field("key", "a"), "");
  post(field("other", "a"), "bytes");
  post(field("key", "a") + field("acl", "nonsense"), "bytes");
  post(field("key", "a") + field("content-md5", "XUFAKrxLKna5cZ2REBfFkg=="), "bytes");
  post(field("key", "a") + field("policy", "bm9uc2Vuc2U="), "bytes");
  post(field("key", "."), "bytes");
  testing::ExpectGolden("xml_errors/forms.txt", text_);
}

}  // namespace
}  // namespace caip::gcs
