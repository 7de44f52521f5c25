// Uploads in pieces: continued, repeated, cancelled, and continued after a kill of the emulator.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/registry/registry_world.h"

namespace caip::registry {
namespace {

using ::testing::HasSubstr;

class UploadTest : public RegistryTest {
 protected:
  Answer Patch(const std::string& location, const std::string& bytes,
               const std::string& range = "") {
    Fields fields = {{"Content-Type", "application/octet-stream"}};
    if (!range.empty()) fields.emplace_back("Content-Range", range);
    return Call("PATCH", location, bytes, fields);
  }
  std::string Received(const std::string& location) {
    return Call("GET", location).Header("Range");
  }

  // Sends the beginning of a body that never ends, and waits until the upload has it.
  void SendHalf(const std::string& location, const std::string& bytes) {
    http::RawPeer peer(port_);
    peer.Send(Head("PATCH " + location, "Content-Length: 1000000\r\n\r\n") + bytes);
    peer.EndWrites();
    peer.ReadToEnd();
  }
};

TEST_F(UploadTest, StoresABlobInPieces) {
  const std::string location = Start();
  EXPECT_EQ(Received(location), "0-0");
  const Answer first = Patch(location, "0123", "0-3");
  EXPECT_EQ(first.status, 202) << first.body;
  EXPECT_EQ(first.Header("Range"), "0-3");
  EXPECT_EQ(first.Header("Location"), location);
  EXPECT_FALSE(first.Header("Docker-Upload-UUID").empty());
  EXPECT_EQ(Patch(location, "45", "4-5").Header("Range"), "0-5");
  EXPECT_EQ(Patch(location, "67").Header("Range"), "0-7");
  EXPECT_EQ(Call("GET", location).status, 204);
  EXPECT_EQ(
      Call("PUT", location + "?digest=" + DigestOf("0123456789"), "89", {{"Content-Range", "8-9"}})
          .status,
      201);
  EXPECT_EQ(GetBlob("0123456789").body, "0123456789");
}

TEST_F(UploadTest, TakesAPieceOfUnknownLength) {
  const std::string location = Start();
  http::RawPeer peer(port_);
  peer.Send(Head("PATCH " + location, "Transfer-Encoding: chunked\r\n\r\n") +
            "3\r\n012\r\n4\r\n3456\r\n0\r\n\r\n");
  EXPECT_THAT(peer.ReadToEnd(), HasSubstr("Range: 0-6"));
  EXPECT_EQ(Finish(location, DigestOf("0123456")).status, 201);
}

TEST_F(UploadTest, RefusesAPieceAtAnotherPlaceAndTellsTheRightOne) {
  const std::string location = Start();
  EXPECT_EQ(Patch(location, "0123", "1-4").status, 416);
  EXPECT_EQ(Patch(location, "0123", "0-3").status, 202);
  for (const char* range : {"0-3", "3-6", "5-8"}) {
    const Answer answer = Patch(location, "4567", range);
    EXPECT_EQ(answer.status, 416) << range;
    EXPECT_EQ(answer.code(), "RANGE_INVALID");
    EXPECT_EQ(answer.Header("Range"), "0-3");
    EXPECT_EQ(answer.Header("Location"), location);
  }
  const Answer put =
      Call("PUT", location + "?digest=" + DigestOf("0123"), "4567", {{"Content-Range", "5-8"}});
  EXPECT_EQ(put.status, 416);
  EXPECT_EQ(Finish(location, DigestOf("01234567"), "4567").status, 201);
}

TEST_F(UploadTest, RefusesAPieceOfAnotherSizeThanItsRange) {
  const std::string location = Start();
  const Answer shorter = Patch(location, "012", "0-3");
  EXPECT_EQ(shorter.status, 400);
  EXPECT_EQ(shorter.code(), "SIZE_INVALID");
  EXPECT_EQ(Patch(location, "01234", "0-3").code(), "SIZE_INVALID");
  EXPECT_EQ(Received(location), "0-0");
  http::RawPeer peer(port_);
  peer.Send(Head("PATCH " + location, "Content-Range: 0-3\r\nTransfer-Encoding: chunked\r\n\r\n") +
            "6\r\n012345\r\n0\r\n\r\n");
  const std::string answer = peer.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("SIZE_INVALID"));
  EXPECT_THAT(answer, HasSubstr("Range: 0-3\r\n")) << "the bytes beyond the range are dropped";
}

TEST_F(UploadTest, RefusesRangesThatCannotBeRead) {
  const std::string location = Start();
  for (const char* range : {"bytes 0-3/4", "0", "-3", "3-0", "a-b", "0-3-4", " 0-3 x",
                            "0-99999999999999999999999999"}) {
    const Answer answer = Patch(location, "0123", range);
    EXPECT_EQ(answer.status, 400) << range;
    EXPECT_EQ(answer.code(), "RANGE_INVALID") << range;
  }
  EXPECT_EQ(Received(location), "0-0");
}

TEST_F(UploadTest, CancelsAnUpload) {
  const std::string location = Start();
  Patch(location, "0123");
  EXPECT_EQ(Call("DELETE", location).status, 204);
  EXPECT_TRUE(blobs_->Uploads().empty());
  for (const char* method : {"GET", "PATCH", "DELETE"}) {
    EXPECT_EQ(Call(method, location).status, 404) << method;
  }
  EXPECT_EQ(Finish(location, DigestOf("0123")).code(), "BLOB_UPLOAD_UNKNOWN");
}

TEST_F(UploadTest, BelongsToItsRepository) {
  const std::string location = Start("p/i");
  const std::string id = location.substr(location.rfind('/') + 1);
  const std::string other = "/v2/p/other/blobs/uploads/" + id;
  for (const char* method : {"GET", "PATCH", "DELETE"}) {
    EXPECT_EQ(Call(method, other).status, 404) << method;
  }
  EXPECT_EQ(Finish(other, DigestOf("x"), "x").code(), "BLOB_UPLOAD_UNKNOWN");
  EXPECT_EQ(Call("GET", location).status, 204);
}

TEST_F(UploadTest, RefusesIdsThatTryToLeave) {
  for (const char* id : {"..", "%2e%2e", "..%2Fblobs", "a%00b", "%2Fetc%2Fpasswd", "x%20y"}) {
    EXPECT_EQ(Call("GET", std::string("/v2/p/i/blobs/uploads/") + id).code(), "BLOB_UPLOAD_UNKNOWN")
        << id;
  }
}

TEST_F(UploadTest, ContinuesAfterABrokenConnection) {
  const std::string location = Start();
  SendHalf(location, "01234");
  EXPECT_EQ(Received(location), "0-4");
  EXPECT_EQ(Patch(location, "56", "5-6").status, 202);
  EXPECT_EQ(Finish(location, DigestOf("0123456")).status, 201);
}

TEST_F(UploadTest, ContinuesAfterARestart) {
  const std::string location = Start();
  EXPECT_EQ(Patch(location, "0123", "0-3").status, 202);
  Restart();
  EXPECT_NE(Start(), location) << "ids are unique even if the seed is the same";
  EXPECT_EQ(Received(location), "0-3");
  EXPECT_EQ(Patch(location, "45", "4-5").status, 202);
  Restart();
  EXPECT_EQ(Finish(location, DigestOf("01234567"), "67").status, 201);
  Restart();
  EXPECT_EQ(GetBlob("01234567").body, "01234567");
}

TEST_F(UploadTest, LeavesNothingOfAWholeBlobThatBreaksOff) {
  http::RawPeer peer(port_);
  peer.Send(Head("POST /v2/p/i/blobs/uploads/?digest=" + DigestOf("0123456789"),
                 "Content-Length: 10\r\n\r\n") +
            "0123");
  peer.EndWrites();
  peer.ReadToEnd();
  EXPECT_TRUE(blobs_->Uploads().empty());
  EXPECT_TRUE(blobs_->List()->empty());
}

/// The bytes of a request.
class WholeBody final : public http::BodyReader {
 public:
  explicit WholeBody(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t count = bytes_.copy(buffer, size);
    bytes_.erase(0, count);
    return count;
  }

 private:
  std::string bytes_;
};

// The client of a whole blob does not know the upload's id, so it cannot continue or cancel it.
TEST_F(UploadTest, LeavesNothingOfAWholeBlobThatCannotBeStored) {
  const Repository to = *FindRepository("gcr.io", "p/i");
  const images::Digest digest = images::Digest::Of("layer");
  const auto push = [&](Registry& registry) {
    WholeBody body("layer");
    return registry.PutBlob(to, digest, body);
  };
  const auto no_lock = [] { return Result<Fd>(Error{Code::kUnavailable, "no lock"}); };
  Registry unlocked(*blobs_, *names_, no_lock, Random(2));
  const Status without_lock = push(unlocked);
  ASSERT_FALSE(without_lock.ok());
  EXPECT_EQ(without_lock.error().code, Code::kUnavailable);
  EXPECT_TRUE(blobs_->Uploads().empty());
  const Path file = directory_.path() / "blobs/sha256" / digest.hex();
  std::filesystem::create_directory(file);  // nothing can be renamed to it
  EXPECT_FALSE(push(*registry_).ok());
  EXPECT_TRUE(blobs_->Uploads().empty());
  std::filesystem::remove(file);
  EXPECT_TRUE(push(*registry_).ok());
  EXPECT_TRUE(blobs_->Uploads().empty());
  EXPECT_EQ(GetBlob("layer").body, "layer");
}

// A body that kills the process that reads it, after some pieces.
class FatalBody final : public http::BodyReader {
 public:
  FatalBody(std::string bytes, int after_reads) : bytes_(std::move(bytes)), left_(after_reads) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    if (left_-- == 0) ::raise(SIGKILL);
    const size_t count = std::min<size_t>({size, bytes_.size() - at_, kPiece});
    bytes_.copy(buffer, count, at_);
    at_ += count;
    return count;
  }

 private:
  static constexpr size_t kPiece = 3;
  std::string bytes_;
  size_t at_ = 0;
  int left_;
};

// Runs `work` on a registry in a process of its own, which dies by SIGKILL inside it.
void KillInside(const Path& directory, const std::function<void(Registry&)>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto blobs = *images::BlobStore::Open(directory);
    const auto names = *images::ImageNames::Open(directory / "names.db");
    Registry registry(
        *blobs, *names, [] { return Result<Fd>(Fd()); }, Random(1));
    work(registry);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(KilledRegistry, KeepsWhatAnUploadHad) {
  const std::string bytes = "0123456789";
  const Repository to = *FindRepository("gcr.io", "p/i");
  for (int reads = 0; reads <= 4; ++reads) {
    const TemporaryDirectory directory;
    KillInside(directory.path(), [&](Registry& registry) {
      FatalBody body(bytes, reads);
      (void)registry.AddToUpload(to, *registry.StartUpload(to), {body});
    });
    const auto blobs = *images::BlobStore::Open(directory.path());
    const auto names = *images::ImageNames::Open(directory.path() / "names.db");
    Registry registry(
        *blobs, *names, [] { return Result<Fd>(Fd()); }, Random(1));
    ASSERT_EQ(blobs->Uploads().size(), 1u);
    const std::string id = blobs->Uploads()[0];
    const uint64_t offset = *registry.UploadOffset(to, id);
    EXPECT_EQ(offset, std::min<size_t>(static_cast<size_t>(reads) * 3, bytes.size()));
    FatalBody rest(bytes.substr(offset), -1);
    EXPECT_TRUE(registry.FinishUpload(to, id, {rest}, images::Digest::Of(bytes)).ok());
    EXPECT_TRUE(registry.Open(to, images::Digest::Of(bytes)).ok());
  }
}

}  // namespace
}  // namespace caip::registry
