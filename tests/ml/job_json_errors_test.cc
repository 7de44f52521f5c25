// What the gateway between JSON and messages refuses, in its words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "google/message_schema.h"
#include "ml/schema/job_json.h"
#include "ml/schema/job_schema.h"
#include "tests/ml/a_job.h"
#include "tests/support/large_bodies.h"

namespace caip::ml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error RefusalOf(const std::string& text) {
  const auto document = ParseJson(text);
  EXPECT_TRUE(document.ok()) << text;
  const auto job = ParseJob(*document);
  EXPECT_FALSE(job.ok()) << text;
  return job.ok() ? Error{} : job.error();
}

struct RefusalRow {
  const char* rule;
  const char* body;
  const char* field;
  const char* description;
};

constexpr char kNotRepeating[] = "Proto field is not repeating, cannot start list.";

const RefusalRow kRefusals[] = {
    {"unknown at the top", R"({"parameter_server_type": "x"})", "job",
     "Invalid JSON payload received. Unknown name \"parameter_server_type\" at 'job': Cannot find "
     "field."},
    {"unknown below", R"({"trainingInput": {"scaleTeir": "BASIC"}})", "job.training_input",
     "Invalid JSON payload received. Unknown name \"scaleTeir\" at 'job.training_input': Cannot "
     "find field."},
    {"unknown in a list",
     R"({"trainingInput": {"hyperparameters": {"params": [{}, {"nmae": 1}]}}})",
     "job.training_input.hyperparameters.params[1]",
     "Invalid JSON payload received. Unknown name \"nmae\" at "
     "'job.training_input.hyperparameters.params[1]': Cannot find field."},
    {"unknown though null", R"({"bogus": null})", "job",
     "Invalid JSON payload received. Unknown name \"bogus\" at 'job': Cannot find field."},
    {"unknown in an output", R"({"trainingOutput": {"bogus": 1}})", "job.training_output",
     "Invalid JSON payload received. Unknown name \"bogus\" at 'job.training_output': Cannot find "
     "field."},
    {"enum", R"({"trainingInput": {"scaleTier": "FOO"}})", "job.training_input.scale_tier",
     "Invalid value at 'job.training_input.scale_tier' "
     "(type.googleapis.com/google.cloud.ml.v1.TrainingInput.ScaleTier), \"FOO\""},
    {"enum in small letters", R"({"training_input": {"scale_tier": "basic"}})",
     "job.training_input.scale_tier",
     "Invalid value at 'job.training_input.scale_tier' "
     "(type.googleapis.com/google.cloud.ml.v1.TrainingInput.ScaleTier), \"basic\""},
    {"enum's number", R"({"trainingInput": {"scaleTier": 6}})", "job.training_input.scale_tier",
     "Invalid value at 'job.training_input.scale_tier' "
     "(type.googleapis.com/google.cloud.ml.v1.TrainingInput.ScaleTier), 6"},
    {"enum's negative number", R"({"trainingInput": {"scaleTier": -1}})",
     "job.training_input.scale_tier",
     "Invalid value at 'job.training_input.scale_tier' "
     "(type.googleapis.com/google.cloud.ml.v1.TrainingInput.ScaleTier), -1"},
    {"number for a text", R"({"jobId": 5})", "job.job_id",
     "Invalid value at 'job.job_id' (TYPE_STRING), 5"},
    {"runtime version as a number", R"({"trainingInput": {"runtimeVersion": 2.4}})",
     "job.training_input.runtime_version",
     "Invalid value at 'job.training_input.runtime_version' (TYPE_STRING), 2.4"},
    {"object for a text", R"({"jobId": {}})", "job.job_id",
     "Invalid value at 'job.job_id' (TYPE_STRING), {}"},
    {"text for a boolean", R"({"trainingInput": {"enableWebAccess": "true"}})",
     "job.training_input.enable_web_access",
     "Invalid value at 'job.training_input.enable_web_access' (TYPE_BOOL), \"true\""},
    {"words for int64", R"({"trainingInput": {"workerCount": "two"}})",
     "job.training_input.worker_count",
     "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), \"two\""},
    {"a fraction for int64", R"({"trainingInput": {"workerCount": 1.5}})",
     "job.training_input.worker_count",
     "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), 1.5"},
    {"int64 too large", R"({"trainingInput": {"workerCount": "9223372036854775808"}})",
     "job.training_input.worker_count",
     "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), \"9223372036854775808\""},
    {"int64 too large as a number", R"({"trainingInput": {"workerCount": 9223372036854775808}})",
     "job.training_input.worker_count",
     "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), 9223372036854775808"},
    {"int64 with blanks", R"({"trainingInput": {"workerCount": " 2"}})",
     "job.training_input.worker_count",
     "Invalid value at 'job.training_input.worker_count' (TYPE_INT64), \" 2\""},
    {"int32 too large", R"({"trainingInput": {"scheduling": {"priority": 2147483648}}})",
     "job.training_input.scheduling.priority",
     "Invalid value at 'job.training_input.scheduling.priority' (TYPE_INT32), 2147483648"},
    {"double", R"({"trainingInput": {"hyperparameters": {"params": [{"minValue": "low"}]}}})",
     "job.training_input.hyperparameters.params[0].min_value",
     "Invalid value at 'job.training_input.hyperparameters.params[0].min_value' (TYPE_DOUBLE), "
     "\"low\""},
    {"element of a list", R"({"trainingInput": {"args": ["--epochs", 2]}})",
     "job.training_input.args[1]",
     "Invalid value at 'job.training_input.args[1]' (TYPE_STRING), 2"},
    {"null in a list", R"({"trainingInput": {"args": [null]}})", "job.training_input.args[0]",
     "Invalid value at 'job.training_input.args[0]' (TYPE_STRING), null"},
    {"text for a message", R"({"trainingInput": "x"})", "job.training_input",
     "Invalid value at 'job.training_input' "
     "(type.googleapis.com/google.cloud.ml.v1.TrainingInput), \"x\""},
    {"list for a message", R"({"trainingInput": []})", "job",
     "Invalid JSON payload received. Unknown name \"trainingInput\" at 'job': Proto field is not "
     "repeating, cannot start list."},
    {"text for a list", R"({"trainingInput": {"args": "--x"}})", "job.training_input",
     "Invalid JSON payload received. Unknown name \"args\" at 'job.training_input': Proto field is "
     "repeating, a list is expected."},
    {"label's value", R"({"labels": {"a": "b", "ok": true}})", "job.labels[1].value",
     "Invalid value at 'job.labels[1].value' (TYPE_STRING), true"},
    {"labels as a list", R"({"labels": ["a"]})", "job",
     "Invalid JSON payload received. Unknown name \"labels\" at 'job': Proto field is not "
     "repeating, cannot start list."},
    {"labels as a text", R"({"labels": "a=b"})", "job.labels",
     "Invalid value at 'job.labels' (map<string, string>), \"a=b\""},
    {"duration without s", R"({"trainingInput": {"scheduling": {"maxWaitTime": "1h"}}})",
     "job.training_input.scheduling.max_wait_time",
     "Invalid value at 'job.training_input.scheduling.max_wait_time' "
     "(type.googleapis.com/google.protobuf.Duration), Field 'maxWaitTime', Illegal duration "
     "format; duration must end with 's'"},
    {"duration as a number", R"({"trainingInput": {"scheduling": {"maxWaitTime": 3600}}})",
     "job.training_input.scheduling.max_wait_time",
     "Invalid value at 'job.training_input.scheduling.max_wait_time' "
     "(type.googleapis.com/google.protobuf.Duration), 3600"},
    {"duration of no number", R"({"trainingInput": {"scheduling": {"max_running_time": "as"}}})",
     "job.training_input.scheduling.max_running_time",
     "Invalid value at 'job.training_input.scheduling.max_running_time' "
     "(type.googleapis.com/google.protobuf.Duration), Field 'max_running_time', Invalid duration "
     "format, failed to parse seconds: \"as\""},
    {"duration of ten digits", R"({"trainingInput": {"scheduling":
      {"maxRunningTime": "1.0123456789s"}}})",
     "job.training_input.scheduling.max_running_time",
     "Invalid value at 'job.training_input.scheduling.max_running_time' "
     "(type.googleapis.com/google.protobuf.Duration), Field 'maxRunningTime', Invalid duration "
     "format, failed to parse seconds: \"1.0123456789s\""},
    {"time", R"({"createTime": "yesterday"})", "job.create_time",
     "Invalid value at 'job.create_time' (type.googleapis.com/google.protobuf.Timestamp), Field "
     "'createTime', Invalid time format: yesterday"},
    {"time beyond all clocks", R"({"createTime": "9999-12-31T23:59:59Z"})", "job.create_time",
     "Invalid value at 'job.create_time' (type.googleapis.com/google.protobuf.Timestamp), Field "
     "'createTime', Invalid time format: 9999-12-31T23:59:59Z"},
    {"bytes", R"({"etag": "!!"})", "job.etag",
     "Invalid value at 'job.etag' (TYPE_BYTES), Base64 decoding failed for \"!!\""},
    {"opaque", R"({"predictionInput": 1})", "job.prediction_input",
     "Invalid value at 'job.prediction_input' (TYPE_MESSAGE), 1"},
    {"twice", R"({"jobId": "a", "job_id": "b"})", "job",
     "Invalid JSON payload received. Unknown name \"job_id\" at 'job': The field is set twice, "
     "under its two spellings."},
};

TEST(ParseJobErrors, AreWordedAsTheGatewayDoes) {
  for (const RefusalRow& row : kRefusals) {
    SCOPED_TRACE(row.rule);
    const Error error = RefusalOf(row.body);
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_EQ(error.message, row.description) << "no 'Field:' before it";
    EXPECT_THAT(error.violations, ElementsAre(FieldViolation{row.field, row.description}));
  }
}

TEST(ParseJobErrors, AreAllCollectedInTheOrderOfTheBody) {
  const Error error = RefusalOf(R"({"bogus": 1, "trainingInput": {"scaleTier": "FOO",
      "args": [1], "region": ["a"]}, "labels": {"a": 1}})");
  EXPECT_THAT(Told(error.violations),
              ElementsAre(HasSubstr("\"bogus\""), HasSubstr("\"FOO\""), HasSubstr("args[0]"),
                          HasSubstr(kNotRepeating), HasSubstr("labels[0].value")));
  EXPECT_EQ(std::count(error.message.begin(), error.message.end(), '\n'), 4);
}

TEST(ParseJobErrors, ListTheFirstHundredOfHalfAMillionWrongValues) {
  const Error error = RefusalOf(R"({"trainingInput":{"args":)" + ListText(500'000, "5") + "}}");
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  ASSERT_EQ(error.violations.size(), 101u);
  EXPECT_EQ(error.violations[99].field, "job.training_input.args[99]");
  EXPECT_EQ(error.violations.back().description, "And 499900 more.");
  EXPECT_LT(error.message.size(), 20'000u);
}

// Validation counts the labels after the whole body is read.
TEST(ParseJob, ReadsManyKeysInLinearTime) {
  const auto body = [](int keys) { return "{\"labels\":" + ObjectText(keys) + "}"; };
  ExpectLinearTime(25'000, body, [](const std::string& text) {
    const auto document = ParseJson(text);
    ASSERT_TRUE(document.ok());
    const auto job = ParseJob(*document);
    ASSERT_TRUE(job.ok());
    EXPECT_THAT(Told(ValidateLabels(job->labels)), ElementsAre(HasSubstr("labels")));
  });
}

TEST(ParseJob, RefusesManyUnknownKeysInLinearTime) {
  const auto body = [](int keys) { return ObjectText(keys); };
  ExpectLinearTime(25'000, body, [](const std::string& text) {
    EXPECT_EQ(RefusalOf(text).violations.size(), 101u);
  });
}

TEST(ParseJobErrors, ABodyIsAnObject) {
  for (const char* body : {"[]", "null", "\"x\"", "1"}) {
    EXPECT_THAT(RefusalOf(body).message, HasSubstr("must be one JSON object")) << body;
  }
}

TEST(StoredJob, ThatCannotBeReadIsLostData) {
  const auto job = FromStoredJson(*ParseJson(R"({"jobId": "j", "state": "ASLEEP"})"));
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, Code::kDataLoss);
  EXPECT_THAT(job.error().message, HasSubstr("ASLEEP"));
}

// camelCase and snake_case say the same in every table.
void ExpectSpellingsAgree(const google::MessageSchema& schema) {
  for (const google::FieldSchema& field : schema.fields) {
    std::string joined;
    std::string lower;
    for (const char c : field.proto_name) {
      if (c != '_') joined += c;
    }
    for (const char c : field.name) lower += static_cast<char>(std::tolower(c));
    EXPECT_EQ(joined, lower) << schema.type;
    EXPECT_EQ(field.kind == google::FieldKind::kMessage, field.message != nullptr) << field.name;
    EXPECT_EQ(field.kind == google::FieldKind::kEnum, field.enumeration != nullptr) << field.name;
    if (field.message != nullptr) ExpectSpellingsAgree(*field.message);
  }
}

TEST(MessageSchema, SpellsEachFieldTheSameInBothCases) { ExpectSpellingsAgree(JobSchema()); }

TEST(MessageSchema, EnumsOfAcceleratorsAndTiersAreThoseOfTheCatalog) {
  const google::FieldSchema* tier = TrainingInputSchema().Find("scaleTier");
  ASSERT_EQ(tier->enumeration->names.size(), DefaultCatalog().tiers().size());
  for (size_t i = 0; i < tier->enumeration->names.size(); ++i) {
    EXPECT_EQ(tier->enumeration->names[i], DefaultCatalog().tiers()[i].name);
  }
  const google::MessageSchema* config = TrainingInputSchema().Find("masterConfig")->message;
  const google::EnumSchema* types =
      config->Find("acceleratorConfig")->message->Find("type")->enumeration;
  for (const MachineType& machine : DefaultCatalog().machines()) {
    for (const auto& [type, counts] : machine.accelerator_counts) {
      EXPECT_TRUE(types->Has(type)) << type;
    }
    EXPECT_TRUE(machine.gpu_type.empty() || types->Has(machine.gpu_type)) << machine.name;
  }
  for (const auto& [type, counts] : DefaultCatalog().tpu().counts) EXPECT_TRUE(types->Has(type));
  for (const std::string& type : DefaultCatalog().tpu().pod_types) EXPECT_TRUE(types->Has(type));
  for (const Region& region : DefaultCatalog().regions()) {
    for (const std::string& type : region.accelerators) EXPECT_TRUE(types->Has(type)) << type;
  }
}

}  // namespace
}  // namespace caip::ml
