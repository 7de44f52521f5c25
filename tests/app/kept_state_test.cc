#include "emulator/app/kept_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fakes/metadata/service_account_key.h"
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

}  // namespace
}  // namespace caip::app
