// Small rules of what may be a name: ids, labels, places, other services' resources.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/gcs_uri.h"
#include "google/labels.h"
#include "google/resource_names.h"
#include "ml/job_id.h"

namespace caip::ml {
namespace {

using ::testing::HasSubstr;

struct NameRow {
  std::string text;
  bool legal;
};

TEST(JobId, BeginsWithALetterAndHasLettersDigitsAndUnderscores) {
  const NameRow rows[] = {
      {"a", true},    {"Z", true},    {"a_1", true},  {std::string(128, 'x'), true},
      {"", false},    {"_a", false},  {"1a", false},  {std::string(129, 'x'), false},
      {"a-b", false}, {"a b", false}, {"a.b", false}, {"\xc3\xa9t\xc3\xa9", false},
      {"a/b", false}, {"a\n", false},
  };
  for (const NameRow& row : rows) EXPECT_EQ(IsJobId(row.text), row.legal) << row.text;
}

TEST(LabelKey, BeginsWithASmallLetterOfAnyScript) {
  const NameRow rows[] = {
      {"team", true},
      {"t-1_x", true},
      {"\xc3\xa4rger", true},              // small a with diaeresis
      {"\xe6\x9d\xb1\xe4\xba\xac", true},  // a script without capitals
      {"\xce\xb1\xce\xb2", true},          // Greek small letters
      {"t\xd9\xa3", true},                 // an Arabic digit after a letter
      {std::string(63, 'a'), true},
      {"", false},
      {"Team", false},
      {"tEam", false},
      {"1team", false},
      {"-team", false},
      {"_team", false},
      {"\xc3\x84rger", false},  // capital A with diaeresis
      {"\xce\x91", false},      // Greek capital alpha
      {"a b", false},
      {"a.b", false},
      {"a\xcc\x88", false},  // a combining mark is not a letter
      {"\xf0\x9f\x98\x80", false},
      {"a\xff", false},  // no UTF-8
      {std::string(64, 'a'), false},
  };
  for (const NameRow& row : rows) EXPECT_EQ(google::IsLabelKey(row.text), row.legal) << row.text;
}

TEST(LabelKey, Has63CharactersNotBytes) {
  std::string key;
  for (int i = 0; i < 63; ++i) key += "\xc3\xa4";
  EXPECT_TRUE(google::IsLabelKey(key));
  EXPECT_FALSE(google::IsLabelKey(key + "\xc3\xa4"));
}

TEST(LabelValue, MayBeEmptyAndBeginWithAnything) {
  for (const char* value : {"", "1", "-", "_x", "a", "2024-01-01"}) {
    EXPECT_TRUE(google::IsLabelValue(value)) << value;
  }
  for (const char* value : {"A", "a.b", "a b", "a/b", "\n"}) {
    EXPECT_FALSE(google::IsLabelValue(value)) << value;
  }
  EXPECT_TRUE(google::IsLabelValue(std::string(63, '9')));
  EXPECT_FALSE(google::IsLabelValue(std::string(64, '9')));
}

TEST(Letters, EverySecondCharacterOfCasePairsIsSmall) {
  for (char32_t c = 0x100; c < 0x130; c += 2) {
    EXPECT_FALSE(google::IsLowerOrCaselessLetter(c)) << uint32_t{c};
    EXPECT_TRUE(google::IsLowerOrCaselessLetter(c + 1)) << uint32_t{c};
  }
  EXPECT_FALSE(google::IsLowerOrCaselessLetter(0xd7)) << "the multiplication sign";
  EXPECT_TRUE(google::IsNumber(0xbd)) << "one half";
  EXPECT_FALSE(google::IsNumber('a'));
}

TEST(BucketName, FollowsTheRulesOfCloudStorage) {
  const NameRow rows[] = {
      {"bkt", true},
      {"my-bucket_1.example.com", true},
      {"0a0", true},
      {std::string(63, 'a'), true},
      {"1.2.3", true},
      {"ab", false},
      {std::string(64, 'a'), false},
      {std::string(64, 'a') + ".com", false},
      {"My-bucket", false},
      {"-bkt", false},
      {"bkt-", false},
      {".bkt", false},
      {"b..kt", false},
      {"b kt", false},
      {"b\xc3\xa4t", false},
      {"192.168.5.4", false},
  };
  for (const NameRow& row : rows) EXPECT_EQ(google::IsBucketName(row.text), row.legal) << row.text;
  std::string longest = std::string(63, 'a');
  for (int i = 0; i < 2; ++i) longest += "." + std::string(63, 'a');
  longest += "." + std::string(222 - longest.size() - 1, 'a');
  EXPECT_EQ(longest.size(), 222u);
  EXPECT_TRUE(google::IsBucketName(longest));
  EXPECT_FALSE(google::IsBucketName(longest + "a"));
}

TEST(GcsUri, IsBucketAndObject) {
  const std::pair<const char*, google::GcsUri> rows[] = {
      {"gs://bkt", {"bkt", ""}},
      {"gs://bkt/", {"bkt", ""}},
      {"gs://bkt/a/b.tar.gz", {"bkt", "a/b.tar.gz"}},
      {"gs://bkt/a/", {"bkt", "a/"}},
      {"gs://bkt//a", {"bkt", "/a"}},
      {"gs://bkt/a b?#%2F", {"bkt", "a b?#%2F"}},
  };
  for (const auto& [text, uri] : rows) {
    const auto parsed = google::ParseGcsUri(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, uri) << text;
  }
  EXPECT_EQ(Text(google::GcsUri{"bkt", "a/b"}), "gs://bkt/a/b");
  EXPECT_EQ(Text(google::GcsUri{"bkt", ""}), "gs://bkt");
}

TEST(GcsUri, FaultsSayWhichRuleIsBroken) {
  const std::pair<std::string, const char*> rows[] = {
      {"", "gs://BUCKET/OBJECT"},
      {"/bkt/a", "gs://BUCKET/OBJECT"},
      {"s3://bkt/a", "gs://BUCKET/OBJECT"},
      {"GS://bkt/a", "gs://BUCKET/OBJECT"},
      {"gs:///a", "'' is not a valid bucket name"},
      {"gs://Bkt/a", "'Bkt' is not a valid bucket name"},
      {"gs://bkt/a\rb", "no line breaks"},
      {std::string("gs://bkt/a\0b", 12), "NUL"},
      {"gs://bkt/\xff", "UTF-8"},
      {"gs://bkt/" + std::string(1025, 'a'), "at most 1024 bytes"},
  };
  for (const auto& [text, why] : rows) {
    const auto parsed = google::ParseGcsUri(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
    EXPECT_THAT(parsed.error().message, HasSubstr(why)) << text;
  }
  EXPECT_TRUE(google::ParseGcsUri("gs://bkt/" + std::string(1024, 'a')).ok());
}

TEST(ImageUri, IsWhatContainerToolsTake) {
  const NameRow rows[] = {
      {"gcr.io/p/trainer", true},
      {"gcr.io/p/trainer:v1.2_x", true},
      {"localhost:5000/a/b/c:latest", true},
      {"us-docker.pkg.dev/p/repo/img@sha256:" + std::string(64, '0'), true},
      {"tensorflow/tensorflow:2.4.1-gpu", true},
      {"ubuntu", true},
      {"", false},
      {"gcr.io/P/Trainer", false},
      {"gcr.io/p/", false},
      {"gcr.io//p", false},
      {"gcr.io/p/i:", false},
      {"gcr.io/p/i@sha256:xyz", false},
      {"https://gcr.io/p/i", false},
      {"gcr.io/p/i v1", false},
      {std::string(100000, 'a'), false},
  };
  for (const NameRow& row : rows) {
    EXPECT_EQ(google::IsImageUri(row.text), row.legal) << row.text.substr(0, 80);
  }
}

TEST(PythonModule, IsNamesJoinedByDots) {
  for (const char* text : {"trainer.task", "task", "a.b.c", "my-pkg.task", "_x", "\xc3\xa4.b"}) {
    EXPECT_TRUE(google::IsPythonModule(text)) << text;
  }
  for (const char* text : {"", ".", "a.", ".a", "a..b", "a/b", "a b", "-m", "a.-b", "a\n"}) {
    EXPECT_FALSE(google::IsPythonModule(text)) << text;
  }
}

TEST(KmsKey, TellsItsLocation) {
  EXPECT_EQ(google::LocationOfKmsKey("projects/p/locations/us-east1/keyRings/r_1/cryptoKeys/K-2"),
            "us-east1");
  for (const char* text :
       {"", "k", "projects/p/locations/us-east1/keyRings/r/cryptoKeys/",
        "projects/p/locations/us-east1/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1",
        "projects/p/locations/US/keyRings/r/cryptoKeys/k"}) {
    EXPECT_EQ(google::LocationOfKmsKey(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace caip::ml
