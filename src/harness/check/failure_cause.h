#pragma once
// Why a job does not succeed by itself, as far as its words tell: so that one check says it.

#include <string>

#include "harness/check/check_run.h"

namespace caip::harness {

enum class FailureCause {
  kNone,        // it succeeds
  kJobDirFlag,  // it does not take --job-dir
  kPackage,     // something is not in the package that is in the source tree, or is not installed
  kOther,
};

FailureCause CauseOf(const Course& course);
/// The line that tells, of kJobDirFlag and kPackage.
std::string TellingLine(const Course& course);

}  // namespace caip::harness
