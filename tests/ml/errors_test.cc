#include "ml/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "google/errors.h"

namespace caip::ml {
namespace {

struct CodeRow {
  Code code;
  int http;
  const char* name;
};

TEST(Errors, HalfAMillionViolationsAreCountedAndNotListed) {
  std::vector<FieldViolation> violations(500'000, {"f", "is wrong"});
  const Error listed = google::errors::Violations(violations);
  EXPECT_EQ(listed.violations.size(), google::errors::kViolationsMax + 1);
  EXPECT_EQ(listed.violations.back().description, "And 499900 more.");
  const Error joined = google::errors::NotTheMessage(violations);
  EXPECT_EQ(joined.violations, listed.violations);
  EXPECT_LT(joined.message.size(), 2'000u);
}

TEST(Errors, ALongValueIsCutBetweenTwoCharacters) {
  std::string value = "a";
  for (int i = 0; i < 10'000; ++i) value += "ü";
  const std::string shown = google::errors::InvalidValue("job", "TYPE_INT32", value).description;
  EXPECT_LT(shown.size(), 1'200u);
  EXPECT_TRUE(IsUtf8(shown));
  EXPECT_TRUE(shown.ends_with("ü..."));
}

// https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
TEST(Errors, CodesHaveTheNamesAndHttpStatusOfGoogleRpc) {
  const CodeRow rows[] = {
      {Code::kOk, 200, "OK"},
      {Code::kCancelled, 499, "CANCELLED"},
      {Code::kUnknown, 500, "UNKNOWN"},
      {Code::kInvalidArgument, 400, "INVALID_ARGUMENT"},
      {Code::kDeadlineExceeded, 504, "DEADLINE_EXCEEDED"},
      {Code::kNotFound, 404, "NOT_FOUND"},
      {Code::kAlreadyExists, 409, "ALREADY_EXISTS"},
      {Code::kPermissionDenied, 403, "PERMISSION_DENIED"},
      {Code::kResourceExhausted, 429, "RESOURCE_EXHAUSTED"},
      {Code::kFailedPrecondition, 400, "FAILED_PRECONDITION"},
      {Code::kAborted, 409, "ABORTED"},
      {Code::kOutOfRange, 400, "OUT_OF_RANGE"},
      {Code::kUnimplemented, 501, "UNIMPLEMENTED"},
      {Code::kInternal, 500, "INTERNAL"},
      {Code::kUnavailable, 503, "UNAVAILABLE"},
      {Code::kDataLoss, 500, "DATA_LOSS"},
      {Code::kUnauthenticated, 401, "UNAUTHENTICATED"},
  };
  for (const CodeRow& row : rows) {
    EXPECT_EQ(google::HttpStatus(row.code), row.http) << row.name;
    EXPECT_EQ(google::StatusName(row.code), row.name);
  }
}

struct TextRow {
  Error error;
  Code code;
  const char* message;
};

// Texts that real users have seen.
TEST(Errors, AttestedTextsAreVerbatim) {
  const TextRow rows[] = {
      {errors::JobAlreadyExists(), Code::kAlreadyExists,
       "Field: job.job_id Error: A job with this id already exists."},
      {errors::PackagesUnreadable("sa@p.iam.gserviceaccount.com"), Code::kFailedPrecondition,
       "Field: package_uris Error: The provided GCS paths cannot be read by service account "
       "sa@p.iam.gserviceaccount.com. If you just enabled the API, please try again after a few "
       "minutes."},
      {errors::JobNotFound(), Code::kNotFound, "Field: name Error: The job could not be found."},
  };
  for (const TextRow& row : rows) {
    EXPECT_EQ(row.error.code, row.code);
    EXPECT_EQ(row.error.message, row.message);
    ASSERT_EQ(row.error.violations.size(), 1u);
    EXPECT_EQ("Field: " + row.error.violations[0].field +
                  " Error: " + row.error.violations[0].description,
              row.message);
  }
}

TEST(Errors, TheTranscoderJoinsItsFindingsByLines) {
  const Error error = google::errors::NotTheMessage(
      {google::errors::UnknownName("parameter_server_type", "job"),
       google::errors::InvalidValue("job.job_id", "TYPE_STRING", "5")});
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_EQ(error.message,
            "Invalid JSON payload received. Unknown name \"parameter_server_type\" at 'job': "
            "Cannot find field.\n"
            "Invalid value at 'job.job_id' (TYPE_STRING), 5");
  EXPECT_EQ(error.violations[0].field, "job");
  EXPECT_EQ(error.violations[1].field, "job.job_id");
}

}  // namespace
}  // namespace caip::ml
