// docs/service/vertex.md, section 10: the collections that are not served.
#include "emulator/api/vertex/vertex_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/ml_world.h"

namespace caip::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The routes of both APIs, as the emulator serves them.
struct BothApis : MlWorld {
  BothApis() { router.Add(VertexRoutes({jobs, operations, study_clock, {"us-central1"}})); }

  Answer AskBelow(const std::string& version, const std::string& method, const std::string& rest) {
    return Ask(method, "/" + version + "/projects/demo/locations/us-central1/" + rest, "{}");
  }

  std::unique_ptr<logging::LogBook> book =
      *logging::LogBook::Open(directory.path() / "logs.db", {"ml_job", "ml.googleapis.com"});
  VertexJobs jobs{{*world.engine, *book, policies, [](const auto&) {}}, {"123456789012", "demo"}};
  DeleteOperations operations{7};
};

TEST(VertexRoutes, NameTheCollectionsThatAreNotServed) {
  BothApis apis;
  for (const char* version : {"v1", "v1beta1"}) {
    for (const char* rest : {"models", "models/1", "models/1/versions/2", "models:upload"}) {
      const Answer answer = apis.AskBelow(version, "POST", rest);
      EXPECT_EQ(answer.status, 501) << version << rest << answer.text;
      EXPECT_THAT(answer.text, HasSubstr("'models'"));
    }
    EXPECT_EQ(apis.AskBelow(version, "GET", "trains").status, 404) << version;
  }
}

TEST(VertexRoutes, RefuseTheStudiesOfTheBetaVersion) {
  BothApis apis;
  for (const char* rest : {"studies", "studies/s", "studies/s/trials"}) {
    const Answer answer = apis.AskBelow("v1beta1", "GET", rest);
    EXPECT_EQ(answer.status, 501) << rest << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("'studies'"));
  }
  EXPECT_EQ(apis.AskBelow("v1beta1", "POST", "studies:lookup").status, 501);
}

TEST(VertexRoutes, LeaveTheStudiesOfV1ToTheOptimizer) {
  BothApis apis;
  const Answer list = apis.AskBelow("v1", "GET", "studies");
  EXPECT_EQ(list.status, 200) << list.text;
  EXPECT_EQ(list.json, Json::object());
  const Answer missing = apis.AskBelow("v1", "GET", "studies/s");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.text, Not(HasSubstr("Nothing is served")));
  EXPECT_EQ(apis.AskBelow("v1", "PATCH", "studies/s").status, 404) << "the optimizer has no patch";
}

}  // namespace
}  // namespace caip::api
