// Bodies that nobody thought of: a valid one, changed at random. Whatever comes, there is an answer
// with fields, and what is accepted survives the way to the store and back.

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"
#include "ml/filter/job_filter.h"
#include "ml/schema/job_json.h"
#include "tests/ml/a_job.h"

namespace caip::ml {
namespace {

// Values that are awkward somewhere.
Json AwkwardValue(Random& random) {
  switch (random.Below(16)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return -1;
    case 3:
      return 0;
    case 4:
      return 1.5;
    case 5:
      return INT64_MIN;
    case 6:
      return UINT64_MAX;
    case 7:
      return 1e308;
    case 8:
      return "";
    case 9:
      return "CUSTOM";
    case 10:
      return "cloud_tpu";
    case 11:
      return std::string("a\0b\n\xf0\x9f\x98\x80", 8);
    case 12:
      return Json::array();
    case 13:
      return Json::array({1, "x", nullptr});
    case 14:
      return Json::object();
    default:
      return Json{{"count", "3"}, {"type", 5}, {"imageUri", "i"}};
  }
}

// All values of a tree that could be changed.
void CollectValues(Json& value, std::vector<Json*>& found) {
  found.push_back(&value);
  if (!value.is_structured()) return;
  for (Json& below : value) CollectValues(below, found);
}

void Mutate(Json& body, Random& random) {
  std::vector<Json*> values;
  CollectValues(body, values);
  Json& value = *values[1 + random.Below(values.size() - 1)];
  if (value.is_object() && random.Below(3) == 0) {
    const char* names[] = {"workerCount", "masterType", "bogus",  "scaleTier",
                           "minValue",    "nasJobSpec", "labels", "imageUri"};
    value[names[random.Below(std::size(names))]] = AwkwardValue(random);
  } else if (value.is_array() && random.Below(2) == 0) {
    value.push_back(AwkwardValue(random));
  } else {
    value = AwkwardValue(random);
  }
}

void ExpectAnswer(const Json& body) {
  const auto job = ParseJob(body);
  if (!job.ok()) {
    ASSERT_FALSE(job.error().violations.empty());
    for (const FieldViolation& violation : job.error().violations) {
      EXPECT_TRUE(violation.field.starts_with("job")) << violation.field;
      EXPECT_FALSE(violation.description.empty());
    }
    return;
  }
  for (const FieldViolation& violation : Validate(*job)) {
    EXPECT_FALSE(violation.field.empty());
    EXPECT_FALSE(violation.description.empty());
  }
  const Json stored = ToStoredJson(*job);
  const auto back = FromStoredJson(stored);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(CompactJson(ToStoredJson(*back)), CompactJson(stored));
}

TEST(JobMutation, EveryBodyHasAnAnswerWithFields) {
  const Job seeds[] = {AJob(), ACustomJob(), AContainerJob(), ATpuJob(), ATuningJob()};
  int refused_at_once = 0;
  int accepted = 0;
  constexpr int kBodies = 2000;
  for (int i = 0; i < kBodies; ++i) {
    Random random(static_cast<uint64_t>(i));
    Json body = ToJson(seeds[random.Below(std::size(seeds))]);
    body["labels"] = {{"team", "x"}};
    const uint64_t changes = 1 + random.Below(4);
    for (uint64_t change = 0; change < changes; ++change) Mutate(body, random);
    SCOPED_TRACE("seed " + std::to_string(i) + ": " + CompactJson(body));
    ExpectAnswer(body);
    if (HasFatalFailure()) return;
    const auto job = ParseJob(body);
    if (!job.ok()) {
      ++refused_at_once;
    } else if (Validate(*job).empty()) {
      ++accepted;
    }
  }
  // All three answers occur, or the mutations are too tame or too wild to test anything.
  EXPECT_GT(refused_at_once, kBodies / 10);
  EXPECT_GT(accepted, kBodies / 100);
  EXPECT_LT(refused_at_once + accepted, kBodies * 95 / 100);
}

TEST(FilterMutation, EveryTextIsAFilterOrHasAViolation) {
  const char* words[] = {"jobId",      "state", "labels.a", ":",    "=",
                         "!=",         "<",     ">=",       "(",    ")",
                         "AND",        "OR",    "NOT",      "-",    "\"",
                         "FAILED",     "*",     "2017",     "x*",   "\\",
                         "createTime", " ",     "\t",       "\xff", "trainingInput.args",
                         "."};
  const Job job = ATuningJob();
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    Random random(static_cast<uint64_t>(i));
    std::string text;
    for (uint64_t n = random.Below(12); n > 0; --n) {
      text += words[random.Below(std::size(words))];
      if (random.Below(2) == 0) text += ' ';
    }
    SCOPED_TRACE("seed " + std::to_string(i) + ": " + text);
    const auto filter = JobFilter::Parse(text);
    if (filter.ok()) {
      ++parsed;
      EXPECT_NE(filter->Matches(job), JobFilter::Parse("NOT (" + text + " )").ok() &&
                                          JobFilter::Parse("NOT (" + text + " )")->Matches(job));
    } else {
      ASSERT_EQ(filter.error().violations.size(), 1u);
      EXPECT_EQ(filter.error().violations[0].field, "filter");
    }
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace caip::ml
