// The readMask of a list of Vertex AI.

#include "emulator/api/vertex/read_mask.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace caip::api {
namespace {

std::string Selected(std::string_view mask) {
  const auto message = ParseJson(R"({
    "name": "n", "displayName": "census", "labels": {"a": "b"},
    "jobSpec": {"scheduling": {"timeout": "1s"},
                "workerPoolSpecs": [{"replicaCount": "1", "containerSpec": {"args": ["x", "y"]}},
                                    {"replicaCount": "2"}]}})");
  const auto parsed = ReadMask::Parse(mask);
  return parsed.ok() ? CompactJson(parsed->Of(*message)) : parsed.error().message;
}

TEST(ReadMask, SelectsFieldsInEitherSpelling) {
  EXPECT_EQ(Selected("name, display_name"), R"({"name":"n","displayName":"census"})");
  EXPECT_EQ(Selected("jobSpec.scheduling"), R"({"jobSpec":{"scheduling":{"timeout":"1s"}}})");
  EXPECT_EQ(Selected("labels.a,labels"), R"({"labels":{"a":"b"}})");
}

TEST(ReadMask, SelectsAFieldOfEachElementOfAList) {
  EXPECT_EQ(Selected("job_spec.worker_pool_specs.replica_count"),
            R"({"jobSpec":{"workerPoolSpecs":[{"replicaCount":"1"},{"replicaCount":"2"}]}})");
  EXPECT_EQ(Selected("job_spec.worker_pool_specs.container_spec"),
            R"({"jobSpec":{"workerPoolSpecs":[{"containerSpec":{"args":["x","y"]}},{}]}})");
}

TEST(ReadMask, SelectsNothingByAPathThatNoFieldHas) {
  for (const char* mask :
       {"nonsense", "jobSpec.nonsense", "displayName.x", "labels.a.b",
        "jobSpec.workerPoolSpecs.nonsense", "jobSpec.workerPoolSpecs.containerSpec.args.x"}) {
    EXPECT_EQ(Selected(mask), "{}") << mask;
  }
  EXPECT_EQ(Selected("name,displayName.x"), R"({"name":"n"})");
}

}  // namespace
}  // namespace caip::api
