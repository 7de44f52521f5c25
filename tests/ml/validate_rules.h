#pragma once
// Running tables of rules.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "tests/ml/a_job.h"

namespace caip::ml {

/// Each row breaks exactly one rule, and exactly that one is reported.
inline void ExpectEachReported(const Job& valid, std::span<const BrokenRule> rows,
                               const ValidationOptions& options = {}) {
  ASSERT_THAT(Told(Validate(valid, options)), ::testing::IsEmpty()) << "the job to begin with";
  for (const BrokenRule& row : rows) {
    SCOPED_TRACE(row.rule);
    Job job = valid;
    row.change(*job.training_input);
    EXPECT_THAT(
        Told(Validate(job, options)),
        ::testing::ElementsAre(::testing::AllOf(
            ::testing::StartsWith(std::string(row.field) + ": "), ::testing::HasSubstr(row.told))));
  }
}

inline void ExpectEachAllowed(const Job& valid, std::span<const AllowedUse> rows,
                              const ValidationOptions& options = {}) {
  for (const AllowedUse& row : rows) {
    SCOPED_TRACE(row.rule);
    Job job = valid;
    row.change(*job.training_input);
    EXPECT_THAT(Told(Validate(job, options)), ::testing::IsEmpty());
  }
}

}  // namespace caip::ml
