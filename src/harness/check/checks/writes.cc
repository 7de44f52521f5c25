#include <set>

#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/file_places.h"
#include "harness/check/restart_point.h"

namespace caip::harness {
namespace {

constexpr char kWritesAdvice[] =
    "Write what is to stay below --job-dir: each machine has a disk of its own, which is gone with "
    "the machine. What is needed for a while only goes into the directory of tempfile, and is "
    "deleted before the end.";

// "job/out" of "gs://job/out": as objects are named.
std::string JobDirOf(const Course& course) {
  const Json& input = course.trainer.job.training_input;
  std::string uri = StringOr(input, "jobDir");
  if (uri.starts_with("gs://")) uri = uri.substr(5);
  while (uri.ends_with('/')) uri.pop_back();
  return uri;
}

// An argument says that objects are to be written there.
bool IsAskedFor(const std::string& object, const CourseRun& run) {
  for (const LaunchedReplica& launched : run.launched) {
    for (const std::string& word : launched.argv) {
      const size_t at = word.find("gs://");
      if (at != std::string::npos && object.starts_with(word.substr(at + 5))) return true;
    }
  }
  return false;
}

std::vector<std::string> ObjectsElsewhere(const Course& course, const CourseRun& run) {
  const std::string job_dir = JobDirOf(course);
  std::set<std::string> objects;
  for (const auto& [object, last] : run.evidence.objects) {
    const auto before = run.evidence.objects_before.find(object);
    const bool is_old =
        before != run.evidence.objects_before.end() && before->second.generation == last.generation;
    if (!is_old && !IsBelow(object, job_dir) && !IsAskedFor(object, run)) {
      objects.insert("gs://" + object);
    }
  }
  return {objects.begin(), objects.end()};
}

struct Left {
  std::vector<std::string> results;  // which nobody has read since
  size_t scratch = 0;                // what the trainer itself took up again
};

Left LeftBy(const Course& course, const CourseRun& run) {
  const FilePlaces places(course, run);
  Left left;
  for (const TouchedFile& file : run.traces.files) {
    if (!file.written || file.bytes == 0 || places.IsByTheWay(file)) continue;
    if (file.read_behind && places.IsOnBootDisk(file)) {
      ++left.scratch;
      continue;
    }
    left.results.push_back(places.Shown(file) + " (" + std::to_string(file.bytes) + " bytes, by " +
                           file.replica + ")");
  }
  return left;
}

Ruling JudgeWrites(const Course& course) {
  const CourseRun& run = course.Of("plain");
  if (!run.succeeded()) return Skip("the job does not succeed as it was given");
  Left left = LeftBy(course, run);
  if (!left.results.empty()) {
    const size_t count = left.results.size();
    return {CheckVerdict::kFail,
            std::to_string(count) + (count == 1 ? " file is" : " files are") +
                " written outside of job-dir, and lost with the machine",
            std::move(left.results), kWritesAdvice};
  }
  if (std::vector<std::string> objects = ObjectsElsewhere(course, run); !objects.empty()) {
    return {CheckVerdict::kWarn, "objects are written that are not below job-dir",
            std::move(objects),
            "Write below --job-dir, or name the other place in the trainer's arguments: then it "
            "is known to who runs the job."};
  }
  if (left.scratch == 0) return Pass("nothing stays outside of job-dir");
  return Pass(std::to_string(left.scratch) + (left.scratch == 1 ? " file stays" : " files stay") +
              " on the boot disk that the trainer itself has read again");
}

}  // namespace

CheckKind WritesCheck() {
  return {"machine/writes",
          "What is to stay is written below job-dir.",
          "docs/service/replica-environment.md, section 5: --job-dir is for outputs; the boot disk "
          "goes with the machine",
          {"plain"},
          JudgeWrites};
}

}  // namespace caip::harness
