#include "http/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace caip::http {
namespace {

using ::testing::HasSubstr;

class Pieces final : public BodyReader {
 public:
  Pieces(std::string bytes, size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, std::min(size, piece_), at_);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  size_t piece_;
  size_t at_ = 0;
};

Response Echo(const Request& request) {
  auto body = request.ReadBody(64 << 20);
  if (!body.ok()) return JsonResponse(400, body.error().message);
  EXPECT_FALSE(request.headers.Has("Content-Encoding"));
  return JsonResponse(200, *body);
}

Response Send(const std::string& packed, size_t piece, const std::string& accept = "") {
  Pieces body(packed, piece);
  Request request;
  request.headers.Add("Content-Encoding", "gzip");
  if (!accept.empty()) request.headers.Add("Accept-Encoding", accept);
  request.body = &body;
  return WithCompression(Echo)(request);
}

std::string Noise(size_t size) {
  Random random(size);
  std::string bytes(size, ' ');
  for (char& c : bytes) c = static_cast<char>('a' + random.Below(20));
  return bytes;
}

TEST(Compression, UnpacksRequestsWhateverTheirPieces) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100'000}}) {
    const std::string bytes = Noise(size);
    for (const size_t piece : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
      EXPECT_EQ(Send(Gzip(bytes), piece).body, bytes) << size << " in pieces of " << piece;
    }
  }
}

TEST(Compression, UnpacksSeveralMembersAndAnEmptyBody) {
  EXPECT_EQ(Send(Gzip("one") + Gzip("two"), 7).body, "onetwo");
  EXPECT_EQ(Send("", 7).body, "");
}

TEST(Compression, SaysWhatIsWrongWithABrokenBody) {
  const std::string packed = Gzip(Noise(5000));
  EXPECT_THAT(Send(packed.substr(0, 100), 50).body, HasSubstr("ends early"));
  EXPECT_THAT(Send("no gzip at all", 50).body, HasSubstr("not valid gzip data"));
  std::string wrong = packed;
  wrong[wrong.size() - 6] ^= 1;  // its CRC
  EXPECT_EQ(Send(wrong, 50).status, 400);
}

TEST(Compression, PacksLargeTextForThoseWhoAcceptIt) {
  const std::string text = Noise(20'000);
  struct Case {
    const char* accept;
    bool packed;
  };
  for (const Case& row : {Case{"gzip, deflate", true}, Case{"GZIP;q=0.5", true}, Case{"*", true},
                          Case{"", false}, Case{"deflate, br", false}, Case{"gzip;q=0", false},
                          Case{"gzip; Q=0.000", false}, Case{"*;q=0, gzip", true},
                          Case{"gzip;q=0, *", false}, Case{"*", true}, Case{"gzip;q=0.01", true}}) {
    const Response response = Send(Gzip(text), 1 << 20, row.accept);
    EXPECT_EQ(response.headers.Get("Content-Encoding") == "gzip", row.packed) << row.accept;
    EXPECT_EQ(response.headers.Get("Vary"), "Accept-Encoding");
    if (row.packed) {
      EXPECT_EQ(Send(response.body, 1 << 20).body, text);
    }
  }
  EXPECT_FALSE(Send(Gzip("short"), 100, "gzip").headers.Has("Content-Encoding"));
}

TEST(Compression, LeavesABodyThatIsToStayAsItCame) {
  const std::string packed = Gzip("stored as it is");
  Pieces body(packed, 100);
  Request request;
  request.path = "/upload/x";
  request.headers.Add("Content-Encoding", "gzip");
  request.body = &body;
  const Handler handler = WithCompression(
      [](const Request& inner) {
        EXPECT_EQ(inner.headers.Get("Content-Encoding"), "gzip");
        return JsonResponse(200, *inner.ReadBody(1 << 20));
      },
      [](const Request& asked) { return asked.path.starts_with("/upload/"); });
  EXPECT_EQ(handler(request).body, packed);
}

TEST(Compression, LeavesAnswersThatStandForStoredBytes) {
  const std::pair<const char*, const char*> fields[] = {
      {"ETag", "\"abc\""},
      {"Content-Range", "bytes 0-9999/20000"},
      {"Content-Encoding", "br"},
      {"Accept-Ranges", "bytes"},
      {"Cache-Control", "private, No-Transform"},
  };
  for (const auto& [name, value] : fields) {
    Request request;
    request.headers.Add("Accept-Encoding", "gzip");
    const Response response = WithCompression([&](const Request&) {
      Response made = JsonResponse(200, std::string(20'000, 'x'));
      made.headers.Add(name, value);
      return made;
    })(request);
    EXPECT_EQ(response.body.size(), 20'000u) << name;
    EXPECT_EQ(response.headers.Get(name), value);
  }
}

}  // namespace
}  // namespace caip::http
