#include "emulator/cli/job_table.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/json.h"

namespace caip::cli {
namespace {

TEST(JobTable, IsAsWideAsItsWidestJob) {
  ::setenv("TZ", "UTC", 1);
  const Json first = {
      {"jobId", "j1"}, {"state", "SUCCEEDED"}, {"createTime", "2026-11-21T05:00:00Z"}};
  const Json second = {
      {"jobId", "another_job"}, {"state", "RUNNING"}, {"createTime", "2026-11-21T05:00:00Z"}};
  EXPECT_EQ(JobTable({first, second}),
            "JOB_ID       STATUS     CREATED\n"
            "j1           SUCCEEDED  2026-11-21T05:00:00\n"
            "another_job  RUNNING    2026-11-21T05:00:00\n");
}

}  // namespace
}  // namespace caip::cli
