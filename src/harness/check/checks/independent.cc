// The service's machines have other names, homes and directories than the one that checks.

#include <unistd.h>

#include <cctype>
#include <set>

#include "harness/check/check.h"
#include "harness/check/evidence_lines.h"
#include "harness/check/file_places.h"

namespace caip::harness {
namespace {

constexpr size_t kNameMin = 5;  // a shorter name of a host may be anything

std::string NameOfThisHost() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::vector<std::string> ReadHere(const Course& course, const CourseRun& run) {
  const FilePlaces places(course, run);
  std::vector<std::string> lines;
  for (const TouchedFile& file : run.traces.files) {
    if (!file.read || !file.was_there || places.IsOnBootDisk(file)) continue;
    if (places.IsOfProgram(file) || places.IsByTheWay(file)) continue;
    lines.push_back(file.replica + " read " + file.path + " of " + places.OwnerOf(file.path));
  }
  return lines;
}

// TensorFlow's event files are called by the host, and that is as it should be.
std::vector<std::string> NamedAfter(const CourseRun& run, const std::string& word) {
  std::vector<std::string> lines;
  if (word.size() < kNameMin) return lines;
  for (const auto& [object, last] : run.evidence.objects) {
    const bool is_ours = object.find(word) != std::string::npos &&
                         object.find("tfevents") == std::string::npos &&
                         !run.evidence.objects_before.contains(object);
    if (is_ours) lines.push_back("gs://" + object + " is named after '" + word + "'");
  }
  return lines;
}

// Numbers and random names differ from run to run anyway.
std::string Shape(const std::string& object) {
  std::string shape;
  for (const char c : object) {
    const bool varies = std::isxdigit(static_cast<unsigned char>(c));
    if (!varies) shape += c;
    if (varies && !shape.ends_with('#')) shape += '#';
  }
  return shape;
}

std::vector<std::string> Missing(const CourseRun& from, const CourseRun& in,
                                 const std::string& how) {
  std::set<std::string> shapes;
  for (const auto& [object, last] : in.evidence.objects) shapes.insert(Shape(object));
  std::vector<std::string> lines;
  for (const auto& [object, last] : from.evidence.objects) {
    const bool is_event = object.find("tfevents") != std::string::npos;
    if (!is_event && !shapes.contains(Shape(object))) lines.push_back(how + " gs://" + object);
  }
  return lines;
}

Ruling JudgeMove(const Course& course) {
  const CourseRun& plain = course.Of("plain");
  const CourseRun& moved = course.Of("moved");
  if (!moved.succeeded()) {
    return FailOf(moved, "on a host of another name, with another HOME and directory",
                  "Take roles from TF_CONFIG, places from arguments, and nothing from the name or "
                  "the directories of the machine.");
  }
  std::vector<std::string> lines = NamedAfter(plain, NameOfThisHost());
  for (std::string& line : NamedAfter(moved, moved.launched.front().Variable("HOSTNAME"))) {
    lines.push_back(std::move(line));
  }
  if (!lines.empty()) {
    return {CheckVerdict::kFail, "objects are named after the machine", std::move(lines),
            "Name objects by role and step: another job that goes on from here runs on machines of "
            "other names, and finds nothing."};
  }
  lines = Missing(plain, moved, "not there:");
  for (std::string& line : Missing(moved, plain, "not there before:")) {
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return Pass("the same objects with another host name, HOME and directory");
  return {CheckVerdict::kWarn,
          "with another host name, HOME and current directory other objects were written",
          std::move(lines), "If they do not differ by chance, look for what depends on these."};
}

Ruling JudgeIndependent(const Course& course) {
  const CourseRun& plain = course.Of("plain");
  std::vector<std::string> lines = ReadHere(course, plain);
  if (lines.empty()) return JudgeMove(course);
  return {CheckVerdict::kFail, "files are read that no machine of the service has",
          std::move(lines),
          "Put data into a bucket and name it in an argument (here --bucket NAME=FOLDER), or list "
          "it as package_data, and read it beside its module."};
}

}  // namespace

CheckKind IndependentCheck() {
  return {"machine/independent",
          "The trainer leans on no file, directory or name of the machine.",
          "docs/service/replica-environment.md, sections 2 and 5: replicas have disks, homes and "
          "names of their own",
          {"plain", "moved"},
          JudgeIndependent};
}

}  // namespace caip::harness
