// Uploads byte for byte as real clients send them.
#include "tests/gcs/api_world.h"

namespace caip::gcs {
namespace {

using ::testing::HasSubstr;

std::string Chunked(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    text += size + piece + "\r\n";
  }
  return text + "0\r\n\r\n";
}

struct MultipartCase {
  const char* client;
  std::string query;
  std::string content_type;
  std::string body;
  std::string name;
  std::string bytes;
  std::string stored_type;
};

TEST_F(ApiTest, TakesMultipartUploadsAsEachClientSendsThem) {
  const std::string quoted = "multipart/related; boundary='===============1=='";
  const MultipartCase cases[] = {
      {"gcloud: single quotes that are not part of it, bare LF, type on the second part only",
       "alt=json&name=job%2Fpkg.tar.gz&uploadType=multipart", quoted,
       "--===============1==\nContent-Type: application/json\nMIME-Version: 1.0\n\n"
       "{\"bucket\": \"bkt\", \"name\": \"job/pkg.tar.gz\", \"size\": \"660\"}\n"
       "--===============1==\ncontent-type: application/x-tar\nMIME-Version: 1.0\n"
       "Content-Transfer-Encoding: binary\n\nbytes\n\n\n--===============1==--",
       "job/pkg.tar.gz", "bytes\n\n", "application/x-tar"},
      {"rclone: CRLF, a part with no headers, name in the JSON only",
       "alt=json&uploadType=multipart", "multipart/related; boundary=abc123",
       "--abc123\r\nContent-Type: application/json\r\n\r\n"
       "{\"contentType\":\"text/x-r\",\"name\":\"r.txt\",\"metadata\":{\"mtime\":\"1\"}}\r\n"
       "--abc123\r\n\r\ndata\r\r\n--abc123--\r\n",
       "r.txt", "data\r", "text/x-r"},
      {"double quotes", "uploadType=multipart", "multipart/related; boundary=\"a b?=\"; x=y",
       "--a b?=\r\n\r\n{\"name\":\"q\"}\r\n--a b?=\r\nContent-Type: text/q\r\n\r\nQ\r\n--a b?=--",
       "q", "Q", "text/q"},
      {"quotes that do belong to it", "uploadType=multipart&name=own", quoted,
       "--'===============1=='\r\n\r\n{}\r\n--'===============1=='\r\n\r\nown\r\n"
       "--'===============1=='--",
       "own", "own", "application/octet-stream"},
      {"empty data", "uploadType=multipart&name=empty", quoted,
       "--===============1==\n\n{}\n--===============1==\n\n\n--===============1==--\n", "empty",
       "", "application/octet-stream"},
      {"empty data without its line end", "uploadType=multipart&name=empty2", quoted,
       "--===============1==\n\n{}\n--===============1==\n\n--===============1==--\n", "empty2", "",
       "application/octet-stream"},
      {"data that looks like a boundary", "uploadType=multipart&name=like",
       "multipart/related; boundary=b", "--b\r\n\r\n{}\r\n--b\r\n\r\n\r\n--bc\r\n-b\n--b\r\n--b--",
       "like", "\r\n--bc\r\n-b\n--b", "application/octet-stream"},
  };
  for (const MultipartCase& row : cases) {
    const Answer answer = RawUpload(row.query, row.content_type, row.body);
    ASSERT_EQ(answer.status, 200) << row.client << answer.body;
    EXPECT_EQ(answer.json["name"], row.name) << row.client;
    EXPECT_EQ(answer.json["size"], std::to_string(row.bytes.size())) << row.client;
    EXPECT_EQ(answer.json["contentType"], row.stored_type) << row.client;
    EXPECT_EQ(world_.Get(row.name), row.bytes) << row.client;
  }
}

TEST_F(ApiTest, TakesChunkedBodiesOfUnknownLength) {
  const std::string body = "--b\r\n\r\n{\"name\":\"c\"}\r\n--b\r\n\r\nchunked\r\n--b--\r\n";
  const Answer answer = Raw("POST /upload/storage/v1/b/bkt/o?uploadType=multipart",
                            "Content-Type: multipart/related; boundary=b\r\n"
                            "Transfer-Encoding: chunked\r\n",
                            Chunked({body.substr(0, 3), body.substr(3, 40), body.substr(43)}));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(world_.Get("c"), "chunked");
}

TEST_F(ApiTest, StoresNothingOfABrokenMultipartUpload) {
  const std::pair<const char*, std::string> bodies[] = {
      {"no last boundary", "--b\r\n\r\n{\"name\":\"x\"}\r\n--b\r\n\r\ndata"},
      {"one part only", "--b\r\n\r\n{\"name\":\"x\"}\r\n--b--"},
      {"three parts", "--b\r\n\r\n{\"name\":\"x\"}\r\n--b\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--"},
      {"another boundary", "--c\r\n\r\n{\"name\":\"x\"}\r\n--c\r\n\r\ndata\r\n--c--"},
      {"no JSON", "--b\r\n\r\n{\"name\":\r\n--b\r\n\r\ndata\r\n--b--"},
      {"no name", "--b\r\n\r\n{}\r\n--b\r\n\r\ndata\r\n--b--"},
      {"nothing", ""},
      {"a wrong md5",
       "--b\r\n\r\n{\"name\":\"x\",\"md5Hash\":\"1B2M2Y8AsgTpgAmY7PhCfg==\"}\r\n"
       "--b\r\n\r\ndata\r\n--b--"},
      {"a wrong crc32c",
       "--b\r\n\r\n{\"name\":\"x\",\"crc32c\":\"AAAAAA==\"}\r\n"
       "--b\r\n\r\ndata\r\n--b--"},
      {"no sum at all", "--b\r\n\r\n{\"name\":\"x\",\"crc32c\":\"!\"}\r\n--b\r\n\r\nd\r\n--b--"},
  };
  for (const auto& [what, body] : bodies) {
    const Answer answer = RawUpload("uploadType=multipart", "multipart/related; boundary=b", body);
    EXPECT_EQ(answer.status, 400) << what;
    const bool unnamed = std::string_view(what) == "no name";
    EXPECT_EQ(answer.reason(), unnamed ? "required" : "invalid") << what << answer.body;
  }
  EXPECT_TRUE(world_.Names().empty());
  EXPECT_TRUE(FilesIn(world_.root() / ".caip-tmp").empty());
}

TEST_F(ApiTest, AnswersAnUploadToAMissingBucketWith404AtOnce) {
  for (const char* target :
       {"/upload/storage/v1/b/missing/o?uploadType=media&name=x",
        "/upload/storage/v1/b/missing/o?uploadType=resumable&name=x",
        "/resumable/upload/storage/v1/b/missing/o?uploadType=resumable&name=x"}) {
    const Answer answer = Call("POST", target, "");
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_EQ(answer.reason(), "notFound");
    EXPECT_THAT(answer.body, HasSubstr("missing"));
  }
}

class ResumableTest : public ApiTest {
 protected:
  std::string Start(const std::string& prefix = "/upload", const std::string& more = "") {
    const Answer answer =
        Call("POST", prefix + "/storage/v1/b/bkt/o?uploadType=resumable&name=big" + more,
             "{\"contentType\":\"text/big\"}", {{"Content-Type", "application/json"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    const std::string target = TargetOf(answer);
    EXPECT_THAT(target, HasSubstr("upload_id="));
    EXPECT_LT(answer.headers.Get("X-GUploader-UploadID").size(), 100u);  // Node allows 16 KiB
    EXPECT_TRUE(target.starts_with(prefix + "/storage/v1/b/bkt/o?")) << target;
    return target;
  }
  Answer Piece(const std::string& target, const std::string& range, const std::string& bytes,
               const std::string& method = "PUT") {
    return Call(method, target, bytes, {{"Content-Range", range}});
  }
  // Where the session's bytes are kept.
  std::string KeyOf(const std::string& target) {
    return KeyOfUploadId(target.substr(target.find("upload_id=") + 10));
  }
};

TEST_F(ResumableTest, TakesOneChunk) {
  for (const char* prefix : {"/upload", "/resumable/upload"}) {
    const Answer answer = Piece(Start(prefix), "bytes 0-9/10", "0123456789");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.json["size"], "10");
    EXPECT_EQ(answer.json["contentType"], "text/big");
    EXPECT_EQ(world_.Get("big"), "0123456789");
  }
}

TEST_F(ResumableTest, TakesChunksWhoseTotalIsKnownAtTheEnd) {
  const std::string target = Start();
  Answer answer = Piece(target, "bytes 0-3/*", "0123");
  EXPECT_EQ(answer.status, 308);
  EXPECT_EQ(answer.headers.Get("Range"), "bytes=0-3");
  EXPECT_FALSE(world_.Has("big"));
  answer = Piece(target, "bytes 4-9/10", "456789");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(world_.Get("big"), "0123456789");
}

TEST_F(ResumableTest, TakesPostsAndHidesThe308ForRclone) {
  const std::string target = Start();
  Answer answer = Call("POST", target, "0123",
                       {{"Content-Range", "bytes 0-3/*"}, {"X-Guploader-No-308", "yes"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.Get("X-Http-Status-Code-Override"), "308");
  EXPECT_EQ(answer.headers.Get("Range"), "bytes=0-3");
  answer =
      Call("POST", target, "45", {{"Content-Range", "bytes 4-5/6"}, {"X-Guploader-No-308", "yes"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.headers.Has("X-Http-Status-Code-Override"));
  EXPECT_EQ(answer.json["size"], "6");
}

TEST_F(ResumableTest, TakesAnOpenEndAsNodeSendsIt) {
  const Answer answer =
      Raw("PUT " + Start(), "Content-Range: bytes 0-*/*\r\nTransfer-Encoding: chunked\r\n",
          Chunked({"abc", "def"}));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(world_.Get("big"), "abcdef");
}

// Chunks do not say how many bytes come.
TEST_F(ResumableTest, KeepsNothingBeyondTheRangeOfAPiece) {
  const std::string target = Start();
  const auto send = [&](const std::string& range, const std::string& bytes) {
    const std::string headers =
        "Content-Range: bytes " + range + "\r\nTransfer-Encoding: chunked\r\n";
    return Raw("PUT " + target, headers, Chunked({bytes})).status;
  };
  EXPECT_EQ(send("0-4/10", "abcdefgh"), 400);
  EXPECT_EQ(send("0-4/10", "01234"), 308);
  EXPECT_EQ(send("5-9/10", "56789abc"), 400);
  EXPECT_EQ(send("5-9/10", "56789"), 200);
  EXPECT_EQ(world_.Get("big"), "0123456789");
}

TEST_F(ResumableTest, TakesABodyWithoutContentRangeAsTheWhole) {
  EXPECT_EQ(Call("PUT", Start(), "whole").status, 200);
  EXPECT_EQ(world_.Get("big"), "whole");
  EXPECT_EQ(Piece(Start(), "bytes */0", "").status, 200);
  EXPECT_EQ(world_.Get("big"), "");
}

TEST_F(ResumableTest, TellsWhereItStands) {
  const std::string target = Start();
  for (const char* question : {"bytes */*", "bytes */10"}) {
    const Answer answer = Piece(target, question, "");
    EXPECT_EQ(answer.status, 308);
    EXPECT_FALSE(answer.headers.Has("Range"));
  }
  Piece(target, "bytes 0-4/10", "01234");
  EXPECT_EQ(Piece(target, "bytes */*", "").headers.Get("Range"), "bytes=0-4");
  // The end of an answered chunk was lost on its way: the client sends it once more.
  EXPECT_EQ(Piece(target, "bytes 0-9/10", "0123456789").status, 200);
  const Answer done = Piece(target, "bytes */10", "");
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.json["size"], "10");
  EXPECT_EQ(world_.Get("big"), "0123456789");
}

TEST_F(ResumableTest, HoldsTheSizeThatWasAnnouncedFirst) {
  std::string target = Start();
  EXPECT_EQ(Piece(target, "bytes 0-3/10", "0123").status, 308);
  const Answer other = Piece(target, "bytes 4-7/8", "4567");
  EXPECT_EQ(other.status, 400);
  EXPECT_THAT(other.body, HasSubstr("8 bytes, but 10 were announced"));
  EXPECT_EQ(Piece(target, "bytes 4-9/10", "456789").status, 200);
  target = TargetOf(Call("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=small", "{}",
                         {{"X-Upload-Content-Length", "5"}}));
  EXPECT_EQ(Piece(target, "bytes 0-5/6", "012345").status, 400);
  EXPECT_EQ(Piece(target, "bytes 0-5/*", "012345").status, 400);
  EXPECT_EQ(Piece(target, "bytes 0-4/5", "01234").status, 200);  // nothing of those was kept
  EXPECT_EQ(world_.Get("small"), "01234");
}

TEST_F(ResumableTest, GoesOnAfterABrokenConnection) {
  const std::string target = Start();
  {
    http::RawPeer peer(server_->port());
    peer.Send("PUT " + target +
              " HTTP/1.1\r\nHost: localhost\r\nContent-Range: bytes 0-9/10\r\n"
              "Content-Length: 10\r\n\r\n012345");
    peer.EndWrites();
    peer.ReadToEnd();
  }
  EXPECT_EQ(Piece(target, "bytes */10", "").headers.Get("Range"), "bytes=0-5");
  EXPECT_EQ(Piece(target, "bytes 6-9/10", "6789").status, 200);
  EXPECT_EQ(world_.Get("big"), "0123456789");
}

TEST_F(ResumableTest, LetsANewerRequestTakeOverFromOneThatHangs) {
  const std::string target = Start();
  http::RawPeer hangs(server_->port());
  hangs.Send("PUT " + target +
             " HTTP/1.1\r\nHost: localhost\r\nContent-Range: bytes 0-9/10\r\n"
             "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(hangs.ReadUntil("\r\n\r\n"), HasSubstr("100 Continue"));  // it is waiting for bytes
  EXPECT_EQ(Piece(target, "bytes 0-9/10", "0123456789").status, 200);
  hangs.Send("xxxxxxxxxx");
  EXPECT_THAT(hangs.ReadAnswer(), HasSubstr("taken over"));
  EXPECT_EQ(world_.Get("big"), "0123456789");
}

TEST_F(ResumableTest, GoesOnAfterARestartWhereItWas) {
  const std::string target = Start("/upload", "&ifGenerationMatch=0");
  EXPECT_EQ(Piece(target, "bytes 0-4/10", "01234").headers.Get("Range"), "bytes=0-4");
  Restart();
  const Answer here = Piece(target, "bytes */10", "");
  EXPECT_EQ(here.status, 308);
  EXPECT_EQ(here.headers.Get("Range"), "bytes=0-4");
  const Answer done = Piece(target, "bytes 3-9/10", "3456789");  // some of it once more
  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(done.json["contentType"], "text/big");
  EXPECT_EQ(done.json["md5Hash"], "eB5eJF1ptWaXm4bijSPyxw==");  // of all ten bytes
  EXPECT_EQ(world_.Get("big"), "0123456789");
  EXPECT_FALSE(std::filesystem::exists(world_.uploads() / KeyOf(target)));
}

TEST_F(ResumableTest, ChecksTheSumsOfBytesFromBeforeARestart) {
  const std::string target = Start();
  Piece(target, "bytes 0-4/10", "01234");
  Restart();
  const Answer refused =
      Call("PUT", target, "5678X",
           {{"Content-Range", "bytes 5-9/10"}, {"x-goog-hash", "md5=eB5eJF1ptWaXm4bijSPyxw=="}});
  EXPECT_EQ(refused.status, 400) << refused.body;
  EXPECT_FALSE(world_.Has("big"));
}

TEST_F(ResumableTest, TellsAfterARestartThatItIsDone) {
  const std::string target = Start();
  const Answer done = Piece(target, "bytes 0-4/5", "01234");
  Restart();
  const Answer again = Piece(target, "bytes */5", "");
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.json["generation"], done.json["generation"]);
  world_.Put("big", "another");
  Restart();
  EXPECT_EQ(Piece(target, "bytes */5", "").status, 410);  // what it made is no more
}

TEST_F(ResumableTest, RemembersACancellationOverARestart) {
  const std::string target = Start();
  Piece(target, "bytes 0-4/10", "01234");
  EXPECT_EQ(Call("DELETE", target).status, 499);
  Restart();
  EXPECT_EQ(Piece(target, "bytes */10", "").status, 410);
}

TEST_F(ResumableTest, AsksForAllBytesAgainWhenTheyAreLost) {
  const std::string target = Start();
  Piece(target, "bytes 0-4/10", "01234");
  std::filesystem::remove_all(world_.uploads());
  Restart();
  const Answer lost = Piece(target, "bytes */10", "");
  EXPECT_EQ(lost.status, 308);
  EXPECT_FALSE(lost.headers.Has("Range"));
  EXPECT_EQ(Piece(target, "bytes 5-9/10", "56789").status, 503);  // ask, then send again
  EXPECT_EQ(Piece(target, "bytes 0-9/10", "0123456789").status, 200);
}

TEST_F(ResumableTest, ForgetsAfterAWeekWhatNobodyFinished) {
  const std::string target = Start();
  Piece(target, "bytes 0-4/10", "01234");
  const Path file = world_.uploads() / KeyOf(target);
  const auto written = std::filesystem::last_write_time(file);
  std::filesystem::last_write_time(file, written - std::chrono::hours(7 * 24 - 1));
  Restart();
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::last_write_time(file, written - std::chrono::hours(7 * 24 + 1));
  Restart();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(ResumableTest, AnswersAnUnknownSessionWith410) {
  const std::string target = Start();
  for (const std::string& other :
       {std::string("/upload/storage/v1/b/bkt/o?uploadType=resumable&upload_id=nonsense"),
        std::string("/upload/storage/v1/b/bkt/o?uploadType=resumable&upload_id="),
        target.substr(0, target.size() - 1) + (target.back() == '0' ? "1" : "0")}) {
    EXPECT_EQ(Piece(other, "bytes */*", "").status, 410) << other;
  }
}

TEST_F(ResumableTest, ForgetsACancelledSession) {
  const std::string target = Start();
  Piece(target, "bytes 0-4/10", "01234");
  EXPECT_EQ(Call("DELETE", target).status, 499);
  EXPECT_EQ(Piece(target, "bytes */*", "").status, 410);
  EXPECT_FALSE(std::filesystem::exists(world_.uploads() / KeyOf(target)));
}

TEST_F(ResumableTest, RefusesRangesThatMakeNoSense) {
  const std::string target = Start();
  for (const char* range : {"bytes 5-9/10", "bytes 9-0/10", "bytes 0-10/10", "nonsense",
                            "bytes -1/2", "bytes 0-9/10, 1-2/3"}) {
    const Answer answer = Piece(target, range, "0123456789");
    EXPECT_EQ(answer.status, 400) << range;
    EXPECT_EQ(answer.reason(), "invalid");
  }
  EXPECT_EQ(Piece(target, "bytes 0-4/10", "0123456789").status, 400);
  EXPECT_EQ(Piece(target, "bytes */10", "").status, 308);
  EXPECT_FALSE(world_.Has("big"));
}

TEST_F(ResumableTest, ChecksLengthSumsAndPreconditionsAtTheEnd) {
  const Answer started =
      Call("POST", "/upload/storage/v1/b/bkt/o?uploadType=resumable&name=big", "",
           {{"X-Upload-Content-Length", "5"}, {"X-Upload-Content-Type", "text/five"}});
  EXPECT_EQ(Call("PUT", TargetOf(started), "four").status, 400);
  const Answer wrong_sum = Call("PUT", Start(), "data", {{"x-goog-hash", "crc32c=AAAAAA==,md5=x"}});
  EXPECT_EQ(wrong_sum.status, 400);
  EXPECT_FALSE(world_.Has("big"));
  world_.Put("big", "there");
  const Answer conflict = Call("PUT", Start("/upload", "&ifGenerationMatch=0"), "new");
  EXPECT_EQ(conflict.status, 412);
  EXPECT_EQ(conflict.reason(), "conditionNotMet");
  EXPECT_EQ(world_.Get("big"), "there");
}

TEST_F(ResumableTest, KeepsTheBytesOfMoreUploadsThanItHoldsOpen) {
  const std::string first = Start();
  Piece(first, "bytes 0-4/10", "01234");
  for (size_t i = 0; i < ResumableSessions::kSessionsMax; ++i) Start();
  EXPECT_EQ(Piece(first, "bytes */10", "").headers.Get("Range"), "bytes=0-4");
  EXPECT_EQ(Piece(first, "bytes 5-9/10", "56789").status, 200);
  EXPECT_EQ(world_.Get("big"), "0123456789");
}

}  // namespace
}  // namespace caip::gcs
