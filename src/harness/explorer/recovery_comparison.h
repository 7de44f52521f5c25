#pragma once
// What is wrong with a recovery, without being told what the trainer is for: it is held against
// runs of the same job in peace.

#include <string>
#include <vector>

#include "harness/expectations/expectation.h"
#include "harness/explorer/baseline.h"
#include "harness/explorer/crash_point.h"

namespace caip::harness {

/// One thing that is wrong. Equal causes are one bug, most likely.
struct Flaw {
  std::string cause;  // numbers taken out: "objects are left over: job/out/tmp_ckpt_#"
  std::string expected;
  std::string found;
  std::string doubt = {};  // why nothing may be wrong with it; "" something is
};

/// `recovery`: the whole run, restart included.
std::vector<Flaw> JudgeRecovery(const Peace& peace, const CrashPoint& point,
                                const Evidence& recovery);

}  // namespace caip::harness
