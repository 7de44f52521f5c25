#pragma once
// `caip conform`: the judge is a program of its own, which shares no code with this one.

namespace caip::cli {

/// Replaces this process by the judge. Returns only if it cannot be run: the exit code, after a
/// message on standard error. The judge does not read argv[0], the word `conform`.
int ExecuteJudge(char** argv);

}  // namespace caip::cli
