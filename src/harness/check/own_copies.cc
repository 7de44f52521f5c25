#include "harness/check/own_copies.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "harness/explorer/baseline.h"
#include "harness/scenario/job_kind.h"

namespace caip::harness {
namespace {

std::string FileNameOf(const std::string& object) { return object.substr(object.rfind('/') + 1); }

// Whether each replica may have such a file of its own: records of its progress, temporary files
// ("workertemp_1" is TensorFlow's name of the directory of a worker), and parts of divided data.
bool IsOfEachReplica(const std::string& object) {
  static const RE2 words(
      R"re((?i)(?:^|[^a-z])(?:logs?|metrics?|history|summar(?:y|ies)|profile|te?mp|workertemp)re"
      R"re(|shards?|parts?|partitions?|splits?)(?:$|[^a-z]))re");
  const std::string in_bucket = object.substr(std::min(object.find('/'), object.size()));
  return RE2::PartialMatch(in_bucket, words);
}

// Whether the file alone is a whole model, whatever its name is: the formats of Keras, TensorFlow
// Lite and ONNX.
bool IsWholeModel(const std::string& object) {
  static const RE2 suffix(R"re((?i)\.(?:keras|h5|hdf5|tflite|onnx)$)re");
  return RE2::PartialMatch(object, suffix);
}

// The objects at the end of the run that the write left: one, or those of a renamed directory.
std::vector<std::string> LeftBy(const CheckRun& run, const ReplicaWrite& write) {
  const bool is_renamed = FindOperation(*write.event)->op == "rename";
  const std::string& name = write.object;
  const auto& objects = run.evidence.objects;
  std::vector<std::string> left;
  for (auto at = objects.lower_bound(name); at != objects.end(); ++at) {
    const std::string& object = at->first;
    if (!object.starts_with(name)) break;
    if (object == name || (is_renamed && object[name.size()] == '/')) left.push_back(object);
  }
  return left;
}

// The names of files that the master left, by the names of the objects without a replica.
std::map<std::string, std::set<std::string>> FilesOfMaster(const CheckRun& run) {
  std::map<std::string, std::set<std::string>> files;
  for (const ReplicaWrite& write : WritesOf(run, MasterOf(run))) {
    for (const std::string& object : LeftBy(run, write)) {
      files[NameWithoutReplica(object)].insert(FileNameOf(object));
    }
  }
  return files;
}

}  // namespace

std::string NameWithoutReplica(const std::string& object) {
  static const RE2 replica(
      R"re((?i)(?:^|[-_.])(?:chief|master|worker|workerpool|ps|evaluator|task|replica|rank))re"
      R"re((?:[-_.]?[0-9]+)*([-_.]|$))re");
  std::vector<std::string> parts;
  for (std::string part : Split(object, '/')) {
    RE2::GlobalReplace(&part, replica, R"(\1)");
    if (!part.empty()) parts.push_back(WithoutNumbers(part));
  }
  return Join(parts, "/");
}

// Files whose own names differ are parts of divided data, as "part-1" and "rank-1.pt", except whole
// models. Directories may be named after times, as TensorFlow's exporters do.
std::vector<ReplicaWrite> FindOwnCopies(const CheckRun& run, const std::string& role) {
  const auto of_master = FilesOfMaster(run);
  std::set<std::string> found;
  std::vector<ReplicaWrite> copies;
  for (const ReplicaWrite& write : WritesOf(run, "")) {
    if (RoleOf(write.event->replica) != role) continue;
    for (const std::string& object : LeftBy(run, write)) {
      const auto like = of_master.find(NameWithoutReplica(object));
      if (like == of_master.end() || IsOfEachReplica(object)) continue;
      if (!like->second.contains(FileNameOf(object)) && !IsWholeModel(object)) continue;
      if (found.insert(object).second) copies.push_back(write);
    }
  }
  return copies;
}

}  // namespace caip::harness
