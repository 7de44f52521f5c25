#include "harness/scenario/trainer_reader.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/scenario/scenario_texts.h"

namespace caip::harness {
namespace {

constexpr int kRanksMax = 64;
constexpr size_t kHostNameMax = 63;

// A label of RFC 1123.
bool IsHostName(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && name.size() <= kHostNameMax && name.front() != '-' &&
         name.back() != '-' && std::ranges::all_of(name, is_allowed);
}

Path FolderFrom(const Path& folder, const Cursor& cursor) {
  std::error_code error;
  const Path path = std::filesystem::absolute(folder / cursor.Text(), error).lexically_normal();
  return path.has_filename() ? path : path.parent_path();  // "out/"
}

// The first of the words is the default.
bool IsFirst(const Cursor& trainer, const char* key, const std::vector<std::string>& words) {
  if (!trainer.Has(key)) return true;
  const std::string word = trainer.At(key).Text();
  if (std::ranges::find(words, word) == words.end()) trainer.At(key).Wrong(texts::NotOneOf(words));
  return word == words.front();
}

ClusterMember ReadMember(const Cursor& element) {
  if (!element.MustBeMap()) return {};
  element.OnlyKeys({"name", "command"});
  ClusterMember member{
      element.Has("name") ? element.At("name").Text() : "",
      element.Has("command") ? element.At("command").Texts() : std::vector<std::string>{}};
  if (!IsHostName(member.name)) element.Wrong(texts::MemberNameNotValid(member.name));
  if (member.command.empty()) element.Wrong(texts::CommandMissing());
  return member;
}

// The first command is that of the machine whose end is the end of the job.
void ReadCluster(const Cursor& cluster, Scenario& scenario) {
  std::set<std::string> names;
  for (const Cursor& element : cluster.Elements()) {
    scenario.members.push_back(ReadMember(element));
    const std::string& name = scenario.members.back().name;
    if (!names.insert(name).second) element.Wrong(texts::MemberNameTaken(name));
  }
  if (scenario.members.empty() || scenario.members.size() > kRanksMax) {
    return cluster.Wrong(texts::ClusterOfOtherSize(kRanksMax));
  }
  scenario.command = scenario.members.front().command;
  scenario.ranks = static_cast<int>(scenario.members.size());
}

// What runs: `command`, also on several machines, or `cluster`.
void ReadPrograms(const Cursor& trainer, Scenario& scenario) {
  const bool has_cluster = trainer.Has("cluster");
  if (has_cluster) ReadCluster(trainer.At("cluster"), scenario);
  for (const char* key : {"command", "ranks", "args"}) {
    if (has_cluster && trainer.Has(key)) trainer.At(key).WrongKey(texts::BesideCluster());
  }
  if (!has_cluster && trainer.Has("command")) {
    scenario.command = trainer.At("command").Texts();
  }
  if (!has_cluster && scenario.command.empty()) trainer.Wrong(texts::CommandMissing());
  if (!has_cluster && trainer.Has("ranks")) {
    scenario.ranks = static_cast<int>(trainer.At("ranks").Integer(1, kRanksMax));
  }
  scenario.restarts_together = !has_cluster;
  if (!trainer.Has("restart")) return;
  if (scenario.ranks < 2) trainer.At("restart").WrongKey(texts::RestartOfOne());
  scenario.restarts_together = !IsFirst(trainer, "restart", {"one", "all"});
}

}  // namespace

void ReadTrainer(const Cursor& trainer, Scenario& scenario) {
  trainer.OnlyKeys({"command", "args", "working_directory", "volumes", "job_dir", "environment",
                    "ranks", "cluster", "restart"});
  ReadPrograms(trainer, scenario);
  if (trainer.Has("args")) scenario.arguments = trainer.At("args").Texts();
  if (trainer.Has("working_directory")) {
    const Cursor cursor = trainer.At("working_directory");
    scenario.working_directory = FolderFrom(scenario.trainer_folder, cursor);
    std::error_code error;
    const bool there = std::filesystem::is_directory(scenario.working_directory, error);
    if (!there) cursor.Wrong(texts::NotADirectory(scenario.working_directory.string()));
  }
  const Cursor volumes = trainer.At("volumes");
  for (const Cursor& element :
       trainer.Has("volumes") ? volumes.Elements() : std::vector<Cursor>{}) {
    const Path volume = FolderFrom(scenario.trainer_folder, element);
    if (volume == "/") element.Wrong(texts::VolumeIsRoot());
    scenario.volumes.push_back(volume);
  }
  const bool is_argument = IsFirst(trainer, "job_dir", {"argument", "none"});
  scenario.appends_job_dir =
      is_argument && !scenario.CommandHas(kJobDirWord) && !scenario.CommandHas(kGcsJobDirWord);
  scenario.inherits_environment = !IsFirst(trainer, "environment", {"job", "user"});
}

}  // namespace caip::harness
