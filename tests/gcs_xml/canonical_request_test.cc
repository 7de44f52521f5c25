// The canonical requests of Google's public conformance tests for V4 signed URLs: what is signed
// must have the sums that they expect.
#include "fakes/gcs/signing/canonical_request.h"

#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/text.h"
#include "fakes/gcs/signing/digest.h"

namespace caip::gcs {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Vector {
  const char* description;
  const char* method;
  const char* path;
  Pairs headers;
  std::string signed_headers;
  const char* date;
  const char* expires;
  const char* sum;  // the last line of the string to sign
};

http::Request RequestOf(const Vector& vector) {
  http::Request request;
  request.method = vector.method;
  request.path = vector.path;
  const std::string day(std::string(vector.date).substr(0, 8));
  request.query = {
      {"X-Goog-Signature", "left out"},
      {"X-Goog-SignedHeaders", vector.signed_headers},
      {"X-Goog-Expires", vector.expires},
      {"X-Goog-Algorithm", "GOOG4-RSA-SHA256"},
      {"X-Goog-Date", vector.date},
      {"X-Goog-Credential", "test-iam-credentials@dummy-project-id.iam.gserviceaccount.com/" + day +
                                "/auto/storage/goog4_request"}};
  for (const auto& [name, value] : vector.headers) request.headers.Add(name, value);
  return request;
}

TEST(CanonicalRequest, HasTheSumsOfThePublicConformanceTests) {
  const std::string feb = "20190201T090000Z";
  const Vector vectors[] = {
      {"Simple GET",
       "GET",
       "/test-bucket/test-object",
       {},
       "host",
       "20190201T090000Z",
       "10",
       "00e2fb794ea93d7adb703edaebdd509821fcc7d4f1a79ac5c8d2b394df109320"},
      {"Simple PUT",
       "PUT",
       "/test-bucket/test-object",
       {},
       "host",
       "20190201T090000Z",
       "10",
       "78742860705da91404222d5d66ff89850292471199c3c2808d116ad12e6177b4"},
      {"POST for resumable uploads",
       "POST",
       "/test-bucket/test-object",
       {{"X-Goog-Resumable", "start"}},
       "host;x-goog-resumable",
       "20190201T090000Z",
       "10",
       "877f8b40179d2753296f2fd6de815ab40503c7a3c446a7b44aa4e74422ff4daf"},
      {"Vary expiration and timestamp",
       "GET",
       "/test-bucket/test-object",
       {},
       "host",
       "20190301T090000Z",
       "20",
       "779f19fdb6fd381390e2d5af04947cf21750277ee3c20e0c97b7e46a1dff8907"},
      {"Vary bucket and object",
       "GET",
       "/test-bucket2/test-object2",
       {},
       "host",
       "20190201T090000Z",
       "10",
       "a139afbf35ac30e9864f63197f79609731ab1b0ca166e2a456dba156fcd3f9ce"},
      {"Slashes in object name should not be URL encoded",
       "GET",
       "/test-bucket/path/with/slashes/under_score/amper%26sand/file.ext",
       {{"header/name/with/slash", "should-be-encoded"}},
       "header/name/with/slash;host",
       "20190201T090000Z",
       "10",
       "f1d206dd8cbe1b892d4081ccddae0927d9f5fee5653fb2a2f43e7c20ed455cad"},
      {"Forward Slashes should not be stripped",
       "GET",
       "/test-bucket//path/with/slashes/under_score/amper%26sand/file.ext",
       {},
       "host",
       "20190201T090000Z",
       "10",
       "63c601ecd6ccfec84f1113fc906609cbdf7651395f4300cecd96ddd2c35164f8"},
      {"Simple headers",
       "GET",
       "/test-bucket/test-object",
       {{"BAR", "BAR-value"}, {"foo", "foo-value"}},
       "bar;foo;host",
       "20190201T090000Z",
       "10",
       "59c1ac1a6ee7d773d5c4487ecc861d60b71c4871dd18fc7d8485fac09df1d296"},
      {"Headers with colons",
       "GET",
       "/test-bucket/test-object",
       {{"BAR", "2023-02-10T03:"}, {"foo", "2023-02-10T02:00:00Z"}},
       "bar;foo;host",
       "20190201T090000Z",
       "10",
       "a2a6df7e6bd818894e1f60ac3c393901b512ca1cf1061ba602dace3fb38c19a6"},
  };
  for (const Vector& vector : vectors) {
    const std::string canonical =
        CanonicalRequest(RequestOf(vector), {"storage.googleapis.com", vector.path},
                         Split(vector.signed_headers, ';'), "UNSIGNED-PAYLOAD");
    EXPECT_EQ(Hex(Sha256(canonical)), vector.sum) << vector.description << "\n" << canonical;
  }
}

TEST(CanonicalRequest, TrimsAndFoldsHeaderValues) {
  http::Request request;
  request.method = "GET";
  request.headers.Add("Tabs", "\tabc\t\t\t\tdef\t");
  request.headers.Add("Collapsed", "abc    def");
  request.headers.Add("two", " a ");
  request.headers.Add("Two", "b");
  EXPECT_EQ(CanonicalRequest(request, {"h", "/"}, {"collapsed", "tabs", "two"}, "X"),
            "GET\n/\n\ncollapsed:abc def\ntabs:abc def\ntwo:a,b\n\ncollapsed;tabs;two\nX");
}

TEST(CanonicalRequest, SortsAndEncodesTheQuery) {
  http::Request request;
  request.method = "GET";
  request.query = {
      {"prefix", "/foo"}, {"souffl\xc3\xa9", "=%-_.~"}, {"X-Goog-Meta-Foo", "bar"}, {"acl", ""}};
  EXPECT_EQ(CanonicalRequest(request, {"h", "/b"}, {"host"}, "X"),
            "GET\n/b\nX-Goog-Meta-Foo=bar&acl=&prefix=%2Ffoo&souffl%C3%A9=%3D%25-_.~\nhost:h\n\n"
            "host\nX");
}

}  // namespace
}  // namespace caip::gcs
