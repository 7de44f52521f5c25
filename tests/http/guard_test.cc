#include "http/connection/guard.h"

#include <gtest/gtest.h>

namespace caip::http {
namespace {

TEST(MatchesName, TakesANameOrAnythingBeforeAnEnding) {
  struct Case {
    const char* name;
    const char* pattern;
    bool fits;
  };
  const Case cases[] = {
      {"storage.googleapis.com", "storage.googleapis.com", true},
      {"storage.googleapis.com", "Storage.GoogleAPIs.com", true},
      {"b.storage.googleapis.com", "storage.googleapis.com", false},
      {"b.storage.googleapis.com", "*.storage.googleapis.com", true},
      {"a.b.storage.googleapis.com", "*.storage.googleapis.com", true},
      {"a.b.storage.googleapis.com", ".storage.googleapis.com", true},
      {"storage.googleapis.com", "*.storage.googleapis.com", false},
      {".storage.googleapis.com", "*.storage.googleapis.com", false},
      {"evilstorage.googleapis.com", "*.storage.googleapis.com", false},
      {"storage.googleapis.com.evil.example", "*.storage.googleapis.com", false},
      {"us-central1-ml.googleapis.com", "*-ml.googleapis.com", true},
      {"ml.googleapis.com", "*-ml.googleapis.com", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(MatchesName(c.name, c.pattern), c.fits) << c.name << " as " << c.pattern;
  }
}

TEST(IsHostAllowed, TakesServedPatternsInAnyCaseWithAnyPort) {
  EXPECT_TRUE(IsHostAllowed("Bucket.Storage.googleapis.com:2247", "127.0.0.1",
                            {"*.storage.googleapis.com"}));
  EXPECT_FALSE(IsHostAllowed("storage.example", "127.0.0.1", {"*.storage.googleapis.com"}));
}

}  // namespace
}  // namespace caip::http
