#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"

namespace caip::harness {
namespace {

Ruling JudgeWithoutTfConfig(const Course& course) {
  const CourseRun& run = course.Of("without-tf-config");
  if (run.succeeded()) return Pass("SUCCEEDED without the variable");
  return FailOf(run, "without TF_CONFIG",
                "Read it as json.loads(os.environ.get('TF_CONFIG') or '{}'), and take a missing "
                "task for the only one: so the trainer runs on a laptop and in tests, too.");
}

}  // namespace

CheckKind WithoutTfConfigCheck() {
  return {"roles/without-tf-config",
          "The trainer runs without TF_CONFIG.",
          "docs/service/replica-environment.md, section 2; a run by hand has none",
          {"without-tf-config"},
          JudgeWithoutTfConfig};
}

}  // namespace caip::harness
