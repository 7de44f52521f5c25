// The chapter machine: files, names and processes. The machines of the service have other names,
// homes and directories than the one that runs the checks.

#include <unistd.h>

#include <cctype>
#include <set>

#include "base/text.h"
#include "google/gcs_uri.h"
#include "harness/check/check.h"
#include "harness/check/file_places.h"
#include "harness/check/restart_point.h"
#include "harness/check/run_evidence.h"

namespace caip::harness {
namespace {

// "job/out" for "gs://job/out", in the form of object names.
std::string JobDirOf(const CheckSession& session) {
  const Scenario& job = session.trainer.job;
  std::string uri = ObjectGlob(job.kind->OutputDirectoryOf(job.document));
  while (uri.ends_with('/')) uri.pop_back();
  return uri;
}

// Whether an argument of the trainer names the place of the object.
bool IsNamedByArgument(const std::string& object, const CheckRun& run) {
  for (const LaunchedReplica& launched : run.launched) {
    for (const std::string& word : launched.argv) {
      const size_t at = word.find(google::kGcsScheme);
      if (at == std::string::npos) continue;
      if (object.starts_with(word.substr(at + google::kGcsScheme.size()))) return true;
    }
  }
  return false;
}

std::vector<std::string> FindObjectsElsewhere(const CheckSession& session, const CheckRun& run) {
  const std::string job_dir = JobDirOf(session);
  std::set<std::string> objects;
  for (const auto& [object, last] : run.evidence.objects) {
    const auto before = run.evidence.objects_before.find(object);
    const bool is_old =
        before != run.evidence.objects_before.end() && before->second.generation == last.generation;
    if (!is_old && !IsBelow(object, job_dir) && !IsNamedByArgument(object, run)) {
      objects.insert("gs://" + object);
    }
  }
  return {objects.begin(), objects.end()};
}

struct LeftFiles {
  std::vector<std::string> results;  // files that nothing has read since
  size_t scratch = 0;                // files that the trainer itself has read again
};

LeftFiles FindLeftFiles(const CheckSession& session, const CheckRun& run) {
  const FilePlaces places(session, run);
  LeftFiles left;
  for (const TouchedFile& file : run.traces.files) {
    if (!file.written || file.bytes == 0 || places.IsIncidental(file)) continue;
    if (file.read_again && places.IsOnBootDisk(file)) {
      ++left.scratch;
      continue;
    }
    left.results.push_back(places.Shown(file) + " (" + std::to_string(file.bytes) + " bytes, by " +
                           file.replica + ")");
  }
  return left;
}

CheckResult CheckWrites(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  if (!run.succeeded()) return Skip("the job does not succeed as given");
  LeftFiles left = FindLeftFiles(session, run);
  const JobKind& kind = *session.trainer.job.kind;
  const std::string outside = "outside " + std::string(kind.output_name());
  if (!left.results.empty()) {
    const size_t count = left.results.size();
    return {CheckVerdict::kFail,
            std::to_string(count) + (count == 1 ? " file is" : " files are") + " written " +
                outside + " and lost with the machine",
            std::move(left.results),
            "Write results below " + std::string(kind.output_source()) +
                ": each machine has a disk of its own, which is deleted with the machine. Write "
                "temporary files to the directory of tempfile and delete them before the end."};
  }
  if (std::vector<std::string> objects = FindObjectsElsewhere(session, run); !objects.empty()) {
    return {
        CheckVerdict::kWarn, "objects are written " + outside, std::move(objects),
        "Write below " + std::string(kind.output_source()) +
            ", or name the other place in the trainer's arguments, so that the person who runs the "
            "job knows it."};
  }
  if (left.scratch == 0) return Pass("no files are left " + outside);
  return Pass(std::to_string(left.scratch) + (left.scratch == 1 ? " file stays" : " files stay") +
              " on the boot disk, which the trainer itself has read again");
}

std::string NameOfThisHost() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// TensorFlow names its event files after the host, which is correct.
bool IsEventFile(const std::string& object) { return object.find("tfevents") != std::string::npos; }

std::vector<std::string> FindObjectsNamedAfter(const CheckRun& run, const std::string& word) {
  constexpr size_t kNameMin = 5;  // a shorter name of a host may be any word
  std::vector<std::string> lines;
  if (word.size() < kNameMin) return lines;
  for (const auto& [object, last] : run.evidence.objects) {
    const bool is_named = object.find(word) != std::string::npos && !IsEventFile(object) &&
                          !run.evidence.objects_before.contains(object);
    if (is_named) lines.push_back("gs://" + object + " is named after '" + word + "'");
  }
  return lines;
}

// The name without numbers and random letters, which differ between runs anyway.
std::string ShapeOf(const std::string& object) {
  std::string shape;
  for (const char c : object) {
    const bool varies = std::isxdigit(static_cast<unsigned char>(c));
    if (!varies) shape += c;
    if (varies && !shape.ends_with('#')) shape += '#';
  }
  return shape;
}

// The objects of one run that have no counterpart in the other.
std::vector<std::string> FindUnmatchedObjects(const CheckRun& from, const CheckRun& in,
                                              const std::string& how) {
  std::set<std::string> shapes;
  for (const auto& [object, last] : in.evidence.objects) shapes.insert(ShapeOf(object));
  std::vector<std::string> lines;
  for (const auto& [object, last] : from.evidence.objects) {
    if (IsEventFile(object) || shapes.contains(ShapeOf(object))) continue;
    lines.push_back(how + " gs://" + object);
  }
  return lines;
}

void AppendLines(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

// Python's class of a name that has no address. A process of this host cannot give its own new name
// one, as machines do.
bool LacksOwnAddress(const CheckRun& run) {
  const auto failure = FirstFailure(run);
  return failure && !RanOnMachine(run) &&
         FinalLineOf(run, failure->replica).starts_with("socket.gaierror: ");
}

CheckResult CompareMovedRun(const CheckSession& session) {
  const CheckRun& plain = session.Run("plain");
  const CheckRun& moved = session.Run("moved");
  if (!moved.succeeded() && LacksOwnAddress(moved)) {
    return Skip(
        "the trainer looks up a name, and the new name of a process of this host has no "
        "address: use a host that allows machines");
  }
  if (!moved.succeeded()) {
    return FailOf(moved, "on a host of another name, with another HOME and current directory",
                  "Take roles from TF_CONFIG and places from arguments. Do not use the name or the "
                  "directories of the machine.");
  }
  std::vector<std::string> lines = FindObjectsNamedAfter(plain, NameOfThisHost());
  AppendLines(lines, FindObjectsNamedAfter(moved, moved.launched.front().Variable("HOSTNAME")));
  if (!lines.empty()) {
    return {CheckVerdict::kFail, "objects are named after the machine", std::move(lines),
            "Name objects by role and step. Another job that continues from here runs on machines "
            "of other names and would find nothing."};
  }
  lines = FindUnmatchedObjects(plain, moved, "missing:");
  AppendLines(lines, FindUnmatchedObjects(moved, plain, "new:"));
  if (lines.empty()) return Pass("the same objects with another host name, HOME and directory");
  return {CheckVerdict::kWarn,
          "with another host name, HOME and current directory the trainer wrote other objects",
          std::move(lines),
          "If the objects do not differ by chance, look for code that uses the host name, HOME or "
          "the current directory."};
}

constexpr char kHostAdvice[] =
    "The job succeeds as a process of this host and fails on a machine. Look for something that "
    "only this host has: a server on localhost, a file, a device or a user. Put data into a "
    "bucket, and name servers in arguments. The other runs are processes of this host.";

CheckResult CheckIndependence(const CheckSession& session) {
  const auto machine = session.runs.find(kRunOnMachine);
  const bool is_made = machine != session.runs.end() && machine->second.skipped.empty();
  if (is_made && !machine->second.succeeded()) {
    return FailOf(machine->second, "without any fault, on a machine of its own", kHostAdvice);
  }
  std::vector<std::string> lines;
  if (!session.trainer.has_own_files) lines = FindFilesOfThisHost(session, session.Run("plain"));
  if (lines.empty()) return CompareMovedRun(session);
  return {CheckVerdict::kFail, "the trainer reads files that no machine of the service has",
          std::move(lines),
          "Put data into a bucket and name it in an argument (here --bucket NAME=FOLDER), or list "
          "it as package_data and read it beside its module."};
}

CheckResult CheckProcesses(const CheckSession& session) {
  const CheckRun& run = session.Run("plain");
  if (!run.succeeded()) return Skip("the job does not succeed as given");
  const std::vector<LeftProcess>& left = run.traces.left_running;
  if (left.empty()) return Pass("no process outlived the main process of its replica");
  CheckResult result{CheckVerdict::kFail,
                     "processes outlive the main process and had to be killed"};
  for (const LeftProcess& process : left) {
    result.evidence.push_back(process.replica + " left process " + process.command);
  }
  result.advice =
      "Wait for the processes that you start, and end them (terminate and join of multiprocessing, "
      "wait of subprocess, a with statement for pools). Anything that such a process writes "
      "afterwards is lost, and a process that keeps a container open costs money.";
  return result;
}

}  // namespace

std::vector<CheckKind> MachineChecks() {
  return {
      {"machine/writes",
       "Everything that must outlive the machine is written below job-dir.",
       "docs/service/replica-environment.md, section 5: --job-dir is for outputs; the boot disk is "
       "deleted with the machine",
       {"plain"},
       CheckWrites},
      {"machine/independent",
       "The trainer depends on no file, directory or name of the machine.",
       "docs/service/replica-environment.md, sections 2 and 5: replicas have disks, homes and "
       "names of their own",
       {"plain", "moved"},
       CheckIndependence},
      {"machine/processes",
       "No process outlives the trainer's main process.",
       "docs/service/replica-environment.md, section 7: the main process's exit is the replica's "
       "end",
       {"plain"},
       CheckProcesses,
       CheckScope::kAnyTrainer},
  };
}

}  // namespace caip::harness
