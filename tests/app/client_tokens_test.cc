#include "emulator/app/client_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace caip::app {
namespace {

using ::testing::HasSubstr;

class Tokens : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = metadata::TokenMint::Open(directory_.path() / "keys", clock_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    mint_ = std::move(*opened);
  }
  void Put(const std::string& text, mode_t mode = 0600) {
    ASSERT_TRUE(WriteFile(file_, text).ok());
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }

  TemporaryDirectory directory_;
  VirtualClock clock_{Instant(std::chrono::seconds(1'700'000'000))};
  std::unique_ptr<metadata::TokenMint> mint_;
  Path file_ = directory_.path() / "token";
};

TEST_F(Tokens, AreMadeInAPrivateFileAndKept) {
  const auto first = ClientTokens::Open(file_, *mint_);
  ASSERT_TRUE(first.ok()) << first.error().message;
  struct stat facts = {};
  ASSERT_EQ(::stat(file_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_GE(first->ForClients().size(), 32u);
  EXPECT_EQ(ClientTokens::Open(file_, *mint_)->ForClients(), first->ForClients());
  EXPECT_NE(ClientTokens::Open(directory_.path() / "other", *mint_)->ForClients(),
            first->ForClients());
}

TEST_F(Tokens, AreNotKnownToAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  Put("0123456789abcdef\n");
  ASSERT_EQ(::chown(file_.c_str(), 1, 1), 0);
  const auto refused = ClientTokens::Open(file_, *mint_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("belongs to user 1, who knows the token"));
}

TEST_F(Tokens, AreThoseOfTheFileAndOfTheMint) {
  Put("0123456789abcdef\n");
  const auto tokens = ClientTokens::Open(file_, *mint_);
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  EXPECT_TRUE(tokens->IsValid("0123456789abcdef"));
  for (const char* other : {"", "0123456789abcdeg", "0123456789abcde", "0123456789abcdef0"}) {
    EXPECT_FALSE(tokens->IsValid(other)) << other;
  }
  const std::string access = mint_->Access({"me@example.com"}, {}).text;
  EXPECT_TRUE(tokens->IsValid(access));
  EXPECT_TRUE(tokens->IsValid(mint_->Lasting({"me@example.com"}, {})));
  std::string forged = access;
  forged[forged.size() / 2] ^= 1;
  EXPECT_FALSE(tokens->IsValid(forged));
  clock_.Advance(std::chrono::hours(2));
  EXPECT_FALSE(tokens->IsValid(access)) << "it has expired";
}

TEST_F(Tokens, ComeFromNoFileThatIsOpenOrHoldsNone) {
  Put("0123456789abcdef", 0640);
  EXPECT_THAT(ClientTokens::Open(file_, *mint_).error().message, HasSubstr("chmod 600"));
  for (const char* text : {"", "short", "has a blank in the middle", "line\nline\nline\nline"}) {
    Put(text);
    const auto none = ClientTokens::Open(file_, *mint_);
    ASSERT_FALSE(none.ok()) << text;
    EXPECT_THAT(none.error().message, HasSubstr("16 to 4096 characters")) << text;
  }
}

}  // namespace
}  // namespace caip::app
