#include "harness/check/check.h"

namespace caip::harness {
namespace {

Ruling JudgeProcesses(const Course& course) {
  const CourseRun& run = course.Of("plain");
  if (!run.succeeded()) return Skip("the job does not succeed as it was given");
  const std::vector<LeftProcess>& left = run.traces.left_running;
  if (left.empty()) return Pass("none outlived its replica's main process");
  Ruling ruling{CheckVerdict::kFail, "processes outlive the main process, and had to be killed"};
  for (const LeftProcess& process : left) {
    ruling.evidence.push_back(process.replica + " left process " + process.command);
  }
  ruling.advice =
      "Wait for what you start, and end it (terminate and join of multiprocessing, wait of "
      "subprocess, a with statement for pools): what such a process writes behind the end is lost, "
      "and one that holds a container open is paid for.";
  return ruling;
}

}  // namespace

CheckKind ProcessesCheck() {
  return {"machine/processes",
          "No process outlives the trainer's main process.",
          "docs/service/replica-environment.md, section 7: the main process's exit is the "
          "replica's end",
          {"plain"},
          JudgeProcesses};
}

}  // namespace caip::harness
