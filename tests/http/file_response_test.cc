#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/files.h"
#include "http/client.h"
#include "http/transport/socket.h"
#include "tests/http/served.h"

namespace caip::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FileResponse : public ::testing::Test {
 protected:
  // Answers with `length` bytes from `offset` of a file that holds `bytes`.
  Handler Slice(const std::string& bytes, uint64_t offset, uint64_t length) {
    const Path path = directory_.path() / "file";
    EXPECT_TRUE(WriteFile(path, bytes).ok());
    auto slice = std::make_shared<FileSlice>();
    slice->descriptor = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    slice->offset = offset;
    slice->length = length;
    return [file = std::shared_ptr<const FileSlice>(slice)](const Request&) {
      Response response;
      response.file = file;
      return response;
    };
  }
  TemporaryDirectory directory_;
};

TEST_F(FileResponse, SendsThePartAndKeepsTheConnection) {
  const Served served(Slice("0123456789", 2, 5));
  const std::string answers = served.Ask(GetRequest("/1") + LastGetRequest("/2"));
  EXPECT_THAT(answers, AllOf(HasSubstr("Content-Length: 5\r\n\r\n23456HTTP/1.1 200 OK"),
                             EndsWith("\r\n\r\n23456")));
}

TEST_F(FileResponse, SendsNoBytesToHead) {
  const Served served(Slice("0123456789", 0, 10));
  EXPECT_THAT(
      served.Ask("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
      AllOf(HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n"), Not(HasSubstr("0123"))));
}

TEST_F(FileResponse, ClosesWhenTheFileIsShorterThanPromised) {
  const Served served(Slice("0123", 0, 10));
  EXPECT_THAT(served.Ask(GetRequest("/")), EndsWith("Content-Length: 10\r\n\r\n0123"));
}

TEST_F(FileResponse, SendsMoreThanASocketHolds) {
  std::string bytes(20 << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 4096);
  const Served served(Slice(bytes, 1, bytes.size() - 1));
  Client client("http://127.0.0.1:" + std::to_string(served->port()));
  const auto response = client.Send({.target = "/"});
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->body == bytes.substr(1));
}

TEST_F(FileResponse, SurvivesAPeerThatLeavesInTheMiddle) {
  const Served served(Slice(std::string(20 << 20, 'x'), 0, 20 << 20));
  for (int i = 0; i < 5; ++i) {
    RawPeer peer(served->port());
    peer.Send(GetRequest("/"));
    peer.ReadUntil("xxxx");
  }
  const std::string head = "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_THAT(served.Ask(head), StartsWith("HTTP/1.1 200"));
}

TEST_F(FileResponse, MayBeEmpty) {
  const Served served(Slice("", 0, 0));
  EXPECT_THAT(served.Ask(LastGetRequest("/")), HasSubstr("Content-Length: 0\r\n"));
}

// Two ends of one TCP connection: only there the kernel may hold bytes back.
std::pair<Fd, Fd> TcpPair() {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.get(), any, size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
  Fd near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(near.get(), any, size), 0);
  return {std::move(near), Fd(::accept(listener.get(), nullptr, nullptr))};
}

TEST_F(FileResponse, SendsTheHeadOfAnEmptyOneAtOnce) {
  const auto [near, far] = TcpPair();
  const Path path = directory_.path() / "empty";
  ASSERT_TRUE(WriteFile(path, "").ok());
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(SendFileOn(near.get(), "HTTP/1.1 200 OK\r\n\r\n", file.get(), 0, 0), Flow::kData);
  int held_back = -1;
  ASSERT_EQ(::ioctl(near.get(), SIOCOUTQNSD, &held_back), 0);
  EXPECT_EQ(held_back, 0);
}

}  // namespace
}  // namespace caip::http
