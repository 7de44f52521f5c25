#include "emulator/app/kept_state.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/metadata/service_account_key.h"
#include "tests/api/router_client.h"
#include "tests/support/a_signing_key.h"

namespace caip::app {
namespace {

class KeyHome : public ::testing::Test {
 protected:
  // As version 0.1 left it.
  void PutOld(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeDirectories(state_.path() / "storage-keys").ok());
    ASSERT_TRUE(WriteFile(state_.path() / "storage-keys" / name, text).ok());
  }
  std::string Kept(const std::string& name) const {
    const auto text = ReadFile(state_.path() / "keys" / name);
    return text.ok() ? *text : "";
  }
  bool OldIsThere() const { return std::filesystem::exists(state_.path() / "storage-keys"); }

  TemporaryDirectory state_;
};

TEST_F(KeyHome, IsMadeForNobodyElse) {
  const auto keys = OpenKeyHome(state_.path());
  ASSERT_TRUE(keys.ok());
  struct stat facts;
  ASSERT_EQ(::stat(keys->c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(KeyHome, TakesOverTheKeysOfOldStateDirectories) {
  PutOld("hmac_keys.json", "[]");
  PutOld("public_keys.json", "{}");
  PutOld("signer.pem", kTestPrivateKey);
  const auto keys = OpenKeyHome(state_.path());
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(Kept("hmac_keys.json"), "[]");
  EXPECT_EQ(Kept("public_keys.json"), "{}");
  EXPECT_FALSE(OldIsThere());
  const auto key = metadata::ServiceAccountKey::Open(*keys, Instant(std::chrono::seconds(1)));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key->private_key_pem(), std::string(kTestPrivateKey).substr(1));
  EXPECT_FALSE(key->certificate_pem().empty());
}

TEST_F(KeyHome, KeepsTheKeyThatSignedTokens) {
  PutTestKey(state_.path() / "keys");
  PutOld("signer.pem", "another");
  PutOld("public_keys.json", "{}");
  ASSERT_TRUE(OpenKeyHome(state_.path()).ok());
  EXPECT_EQ(Kept("service-account.pem"), kTestPrivateKey);
  EXPECT_EQ(Kept("public_keys.json"), "{}");
  EXPECT_FALSE(OldIsThere());
}

TEST_F(KeyHome, LeavesWhatItDoesNotKnow) {
  PutOld("notes.txt", "mine");
  ASSERT_TRUE(OpenKeyHome(state_.path()).ok());
  EXPECT_TRUE(std::filesystem::exists(state_.path() / "storage-keys/notes.txt"));
}

/// A terminal that is the standard error of this process until it ends.
class ErrorTerminal {
 public:
  ErrorTerminal() : reader_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(reader_.get()), 0);
    EXPECT_EQ(::unlockpt(reader_.get()), 0);
    const Fd terminal(::open(::ptsname(reader_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_EQ(::dup2(terminal.get(), STDERR_FILENO), STDERR_FILENO);
  }
  ErrorTerminal(const ErrorTerminal&) = delete;
  ~ErrorTerminal() { ::dup2(before_.get(), STDERR_FILENO); }

  /// Ends it, and returns all that it received.
  std::string End() {
    ::dup2(before_.get(), STDERR_FILENO);
    std::string text;
    char piece[256];
    ssize_t count = 0;
    while ((count = ::read(reader_.get(), piece, sizeof piece)) > 0) {
      text.append(piece, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  const Fd before_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)};
  const Fd reader_;
};

TEST(KeptStateWarning, HasNoControlSequencesOnATerminal) {
  const TemporaryDirectory directory;
  SystemClock clock;
  EmulatorOptions options;
  options.state = directory.path() / "state";
  const auto state = OpenState(options, clock, clock, nullptr);
  ASSERT_TRUE(state.ok()) << state.error().message;
  gcs::Bucket bucket;
  bucket.name = "old-bucket";
  bucket.settings = R"({"\u001b]0;owned\u0007":true})";
  ASSERT_TRUE(state->buckets->CreateBucket(bucket).ok());
  http::Router router([](int status, const http::Request&, const std::string&) {
    http::Response response;
    response.status = status;
    return response;
  });
  router.Add(state->apis->JsonRoutes());
  ErrorTerminal terminal;
  EXPECT_EQ(api::AskRouter(router, "GET", "/storage/v1/b/old-bucket").status, 200);
  const std::string shown = terminal.End();
  EXPECT_THAT(shown, ::testing::HasSubstr("not valid: \\x1b]0;owned\\x07. Clients"));
  EXPECT_THAT(shown, ::testing::Not(::testing::HasSubstr("\x1b")));
}

}  // namespace
}  // namespace caip::app
