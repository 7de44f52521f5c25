// docs/service/vertex.md, sections 1 and 5: names and ids.

#include <set>

#include "tests/vertex/a_custom_job.h"
#include "vertex/cluster.h"
#include "vertex/errors.h"
#include "vertex/resource_names.h"

namespace caip::vertex {
namespace {

TEST(ResourceName, IsWrittenWithItsCollection) {
  EXPECT_EQ(Text({"p", "us-east1", "customJobs", "4711"}),
            "projects/p/locations/us-east1/customJobs/4711");
}

TEST(JobId, HasAtMost19Digits) {
  for (const char* id : {"1", "8501620632646057984"}) EXPECT_TRUE(IsJobId(id)) << id;
  for (const char* id : {"", "0", "01", "a1", "-1", "18501620632646057984"}) {
    EXPECT_FALSE(IsJobId(id)) << id;
  }
}

TEST(JobId, IsMadeFromChanceAlone) {
  Random random(1);
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = NewJobId(random);
    EXPECT_TRUE(IsJobId(id)) << id;
    EXPECT_LT(id, "9223372036854775808") << "it is a positive int64";
    EXPECT_TRUE(ids.insert(id).second);
  }
}

TEST(TuningJobId, LeavesRoomForTheIdsOfItsTrials) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::string id = NewTuningJobId(random);
    EXPECT_TRUE(IsJobId(id)) << id;
    EXPECT_FALSE(ParseTrialJobId(id)) << id;
    const std::string last = TrialJobId(id, "100000");
    EXPECT_LT(last, "9223372036854775808");
    const auto trial = ParseTrialJobId(last);
    ASSERT_TRUE(trial);
    EXPECT_EQ(trial->tuning_job_id, id);
    EXPECT_EQ(trial->trial, "100000");
    EXPECT_FALSE(ParseTrialJobId(NewJobId(random))) << "no custom job has such an id";
  }
  for (const char* id : {"", "x", "8999999999999999999", "99999999999999999999"}) {
    EXPECT_FALSE(ParseTrialJobId(id)) << id;
  }
}

// docs/service/vertex.md, section 3: at most 128 characters.
TEST(BackingDisplayName, CutsTheNameAndKeepsTheSuffix) {
  EXPECT_EQ(BackingDisplayName("census", "-trial-1"), "census-trial-1");
  EXPECT_EQ(BackingDisplayName(std::string(120, 'n'), "-trial-1"),
            std::string(120, 'n') + "-trial-1");
  EXPECT_EQ(BackingDisplayName(std::string(121, 'n'), "-trial-1"),
            std::string(120, 'n') + "-trial-1");
  std::string long_name;
  for (int i = 0; i < 128; ++i) long_name += "é";
  EXPECT_EQ(BackingDisplayName(long_name, "-trial-12").size(), 119 * 2 + 9u);
}

TEST(Cluster, NamesReplicasByTheirPool) {
  const run::ReplicaId replica{PoolRole(2), 11};
  EXPECT_EQ(PoolOf(replica), 2u);
  EXPECT_EQ(ReplicaName(replica), "workerpool2-11");
  EXPECT_EQ(HostName(replica, "4c1d6d97d0"), "cmle-training-workerpool2-4c1d6d97d0-11");
  EXPECT_EQ(TaskType(2), "ps");
}

TEST(Errors, ListAtMostAHundredViolations) {
  std::vector<FieldViolation> many(150, {"f", "m"});
  const Error error = errors::ListOfErrors(many);
  EXPECT_EQ(error.violations.size(), 101u) << "the last one counts the rest";
  EXPECT_NE(error.message.find("\t100.Field: f; Message: m\t"), std::string::npos);
  EXPECT_EQ(error.message.find("\t101."), std::string::npos);
}

TEST(Errors, NameWhatIsNotServed) {
  const Error error = errors::NotServed("projects.locations.models.create");
  EXPECT_EQ(error.code, Code::kUnimplemented);
  EXPECT_NE(error.message.find("'projects.locations.models.create'"), std::string::npos);
}

}  // namespace
}  // namespace caip::vertex
