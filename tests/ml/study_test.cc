#include "ml/study.h"

#include <gtest/gtest.h>

namespace caip::ml {
namespace {

TEST(Study, HasTheDocumentedDefaults) {
  const run::StudyProgress progress = ProgressAtTheStart({});
  EXPECT_EQ(progress.max_trials, 1);
  EXPECT_EQ(progress.max_parallel, 1);
  EXPECT_EQ(progress.max_failed, 0);
}

}  // namespace
}  // namespace caip::ml
