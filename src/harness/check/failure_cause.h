#pragma once
// Why a job fails without any fault, as far as its output tells. So one check reports it, and not
// several.

#include <string>

#include "harness/check/check_run.h"

namespace caip::harness {

enum class FailureCause {
  kNone,        // it succeeds
  kJobDirFlag,  // it refuses --job-dir
  kPackage,     // something is not in the package that is in the source tree, or is not installed
  kOther,
};

FailureCause FindFailureCause(const CheckSession& session);
/// The line of the output that shows kJobDirFlag or kPackage; else "".
std::string FindFailureLine(const CheckSession& session);

}  // namespace caip::harness
