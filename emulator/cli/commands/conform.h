#pragma once
// `caip conform`: hands everything to caip-conform, the judge, which lies beside us and shares no
// code with us.

namespace caip::cli {

/// Becomes the judge with the words behind `conform`. Comes back only where it is not there, with
/// an exit code, after saying so.
int BecomeJudge(char** argv);

}  // namespace caip::cli
