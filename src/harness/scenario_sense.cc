#include "harness/scenario_sense.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "harness/expectations/counts.h"
#include "harness/replica_name.h"
#include "harness/trigger_reader.h"
#include "spec/catalog.h"

namespace caip::harness {
namespace {

struct RoleWords {
  spec::Role role;
  const char* name;   // in scenarios
  const char* count;  // in a trainingInput
};
constexpr RoleWords kRoleWords[] = {
    {spec::Role::kMaster, "master", ""},
    {spec::Role::kWorker, "worker", "workerCount"},
    {spec::Role::kParameterServer, "ps", "parameterServerCount"},
    {spec::Role::kEvaluator, "evaluator", "evaluatorCount"},
};

// Counts are int64, which JSON may write as text.
int64_t CountIn(const Json& input, const char* key) {
  const Json* count = Member(input, key);
  if (!count) return 0;
  if (count->is_number_integer()) return count->get<int64_t>();
  return count->is_string() ? std::strtoll(count->get<std::string>().c_str(), nullptr, 10) : 0;
}

int64_t CountOf(const RoleWords& role, const Json& input) {
  if (role.role == spec::Role::kMaster) return 1;
  const spec::ScaleTier* tier = spec::DefaultCatalog().FindTier(StringOr(input, "scaleTier"));
  if (!tier || tier->IsCustom()) return CountIn(input, role.count);
  const spec::TierRole* of_tier = tier->Of(role.role);
  return of_tier ? of_tier->count : CountIn(input, role.count);
}

// Each fault whose `when` is another one's strike comes behind it. A chain that bites its tail has
// no beginning.
std::vector<std::string> Circle(const std::vector<Fault>& faults, const Fault& from) {
  std::vector<std::string> chain = {from.name};
  const Fault* at = &from;
  while (at->when.kind == Trigger::Kind::kFault && chain.size() <= faults.size()) {
    const auto next = std::ranges::find(faults, at->when.pattern, &Fault::name);
    if (next == faults.end()) return {};
    if (next->name == from.name) return chain.size() > 1 ? chain : std::vector<std::string>();
    chain.push_back(next->name);
    at = &*next;
  }
  return {};
}

/// Pairs of expectations, each with what it says against the other.
class Conflicts {
 public:
  Conflicts(const Cursor& expect, const std::vector<std::string>& shows_bug) : expect_(expect) {
    for (const std::string& word : shows_bug) may_fail_.insert(word.substr(0, word.find(' ')));
  }

  void Check() const {
    CheckEnd();
    CheckObjects();
    CheckBoots();
  }

 private:
  bool Has(const char* key) const { return expect_.Has(key) && !may_fail_.contains(key); }

  void CheckEnd() const {
    const std::string state = Has("state") ? expect_.At("state").Text() : "";
    if (state == "SUCCEEDED" && Has("error_matches")) {
      expect_.At("error_matches").Wrong("contradicts `state: SUCCEEDED`: such a job has no error");
    }
    if (!Has("states")) return;
    std::vector<std::string> states;
    for (const Cursor& element : expect_.At("states").Elements()) states.push_back(element.Text());
    const std::string last = states.empty() ? "" : states.back();  // "" too of what is no text
    if (!state.empty() && !last.empty() && last != state) {
      expect_.At("states").Wrong("contradicts `state: " + state + "`: it ends " + last);
    }
    if (!Has("at")) return;
    for (const auto& [entered, member] : expect_.At("at").Members()) {
      if (std::ranges::find(states, entered) != states.end()) continue;
      member.Wrong("contradicts `states`, which has no " + entered);
    }
  }

  void CheckObjects() const {
    if (Has("objects")) {
      const Cursor objects = expect_.At("objects");
      std::set<std::string> present;
      for (const Cursor& glob : ElementsOf(objects, "present")) present.insert(glob.Text());
      for (const Cursor& glob : ElementsOf(objects, "absent")) {
        if (present.contains(glob.Text())) glob.Wrong("contradicts `present`, which has it, too");
      }
    }
    if (!Has("writes")) return;
    const Cursor writes = expect_.At("writes");
    for (const Cursor& glob : ElementsOf(expect_, "written_once")) {
      if (!writes.Has(glob.Text()) || may_fail_.contains("written_once")) continue;
      if (ReadCount(writes.At(glob.Text())).most >= 1) continue;
      glob.Wrong("contradicts `writes`, which wants none");
    }
  }

  // A boot above the first is a restart.
  void CheckBoots() const {
    std::map<std::string, Count> restarts;
    if (Has("restarts")) {
      for (const auto& [replica, member] : expect_.At("restarts").Members()) {
        if (replica != "total") restarts[ReplicaOfKey(replica, member)] = ReadCount(member);
      }
    }
    if (!Has("first_step")) return;
    for (const auto& [replica, boots] : expect_.At("first_step").Members()) {
      const std::string name = ReplicaOfKey(replica, boots);
      const auto found = restarts.find(name);
      for (const auto& [boot, step] : boots.Members()) {
        const int number = BootOfKey(boot, step);
        if (found != restarts.end() && found->second.most < number - 1) {
          step.Wrong("contradicts `restarts`, which allows " + Text(found->second) + " of it");
        }
        CheckNoSteps(name, number, step);
      }
    }
  }

  void CheckNoSteps(const std::string& replica, int boot, const Cursor& step) const {
    if (!Has("no_steps")) return;
    for (const auto& [other, boots] : expect_.At("no_steps").Members()) {
      if (ReplicaOfKey(other, boots) != replica) continue;
      for (const Cursor& silent : boots.Elements()) {
        if (silent.Integer() == boot) step.Wrong("contradicts `no_steps`, which names this boot");
      }
    }
  }

  static std::vector<Cursor> ElementsOf(const Cursor& cursor, const char* key) {
    return cursor.Has(key) ? cursor.At(key).Elements() : std::vector<Cursor>();
  }

  const Cursor& expect_;
  std::set<std::string> may_fail_;
};

}  // namespace

std::vector<std::string> ReplicasOf(const Scenario& scenario) {
  std::vector<std::string> replicas;
  if (!scenario.submit.empty()) return replicas;
  const Json input = scenario.training_input.is_object() ? scenario.training_input : Json::object();
  for (const RoleWords& role : kRoleWords) {
    const int64_t count = std::min<int64_t>(CountOf(role, input), 10'000);
    for (int64_t i = 0; i < count; ++i) {
      replicas.push_back(std::string(role.name) + "-" + std::to_string(i));
    }
  }
  const Json* tuning = Member(input, "hyperparameters");
  if (!tuning) return replicas;
  return InTrials(replicas, std::clamp<int64_t>(IntOr(*tuning, "maxTrials", 1), 1, 1000));
}

std::string StrangeReplica(const Fault& fault, const std::vector<std::string>& replicas) {
  std::vector<std::string> named = {fault.replica, fault.when.replica};
  if (fault.until) named.push_back(fault.until->replica);
  for (const std::string& name : named) {
    if (name.empty() || name == "any") continue;
    if (std::ranges::find(replicas, name) == replicas.end()) return name;
  }
  return "";
}

void CheckFaultsOfJob(const Cursor& faults, const Scenario& scenario) {
  const std::vector<std::string> replicas = ReplicasOf(scenario);
  const std::vector<Cursor> elements = faults.Elements();
  if (elements.size() != scenario.faults.size()) return;  // some could not be read: said already
  for (size_t i = 0; i < elements.size(); ++i) {
    const Fault& fault = scenario.faults[i];
    const std::string strange = replicas.empty() ? "" : StrangeReplica(fault, replicas);
    if (!strange.empty()) {
      elements[i].Wrong("can never come: the job has no " + strange + "; it has " +
                        (replicas.size() > 6 ? replicas.front() + " to " + replicas.back()
                                             : Join(replicas, ", ")));
    }
    if (const auto circle = Circle(scenario.faults, fault); !circle.empty()) {
      elements[i].At("when").Wrong("can never come: " + Join(circle, " and ") +
                                   " wait for each other");
    }
  }
}

void CheckExpectations(const Cursor& expect, const std::vector<std::string>& shows_bug) {
  if (expect.IsMap()) Conflicts(expect, shows_bug).Check();
}

}  // namespace caip::harness
