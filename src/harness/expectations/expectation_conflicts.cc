#include <algorithm>
#include <map>
#include <set>

#include "harness/expectations/counts.h"
#include "harness/expectations/expectation_texts.h"
#include "harness/expectations/verdict.h"
#include "harness/faults/trigger_reader.h"
#include "harness/scenario/scenario_replicas.h"
#include "harness/scenario/scenario_texts.h"
#include "run/lifecycle.h"

namespace caip::harness {
namespace {

/// Checks pairs of expectations against each other.
class Conflicts {
 public:
  Conflicts(const Cursor& expect, const Scenario& scenario)
      : expect_(expect), attempts_max_(scenario.kind->AttemptsMaxOf(scenario.document)) {
    for (const std::string& word : scenario.shows_bug) {
      may_fail_.insert(word.substr(0, word.find(' ')));
    }
  }

  void Check() const {
    CheckEnd();
    CheckAttempts();
    CheckObjects();
    CheckBoots();
  }

 private:
  bool Has(const char* key) const { return expect_.Has(key) && !may_fail_.contains(key); }

  void CheckEnd() const {
    const std::string state = Has("state") ? StateNamed(expect_.At("state").Text()) : "";
    if (state == "SUCCEEDED" && Has("error_matches")) {
      expect_.At("error_matches").Wrong(texts::ErrorOfSuccess());
    }
    std::vector<std::string> states;
    if (Has("states")) states = CheckStates(expect_.At("states"), state);
    if (!Has("at")) return;
    for (const auto& [word, member] : expect_.At("at").Members()) {
      const std::string entered = StateNamed(word);
      const auto named = run::JobStateNamed(entered);
      if (!named) {
        member.Wrong(texts::NotAState(word));
      } else if (!states.empty() && std::ranges::find(states, entered) == states.end()) {
        member.Wrong(texts::StatesLackState(entered));
      } else if (!state.empty() && state != entered && run::IsTerminal(*named)) {
        member.Wrong(texts::SecondEnd(state));
      }
    }
  }

  static std::vector<std::string> CheckStates(const Cursor& list, const std::string& state) {
    std::vector<std::string> states;
    const std::vector<Cursor> elements = list.Elements();
    for (const Cursor& element : elements) {
      states.push_back(StateNamed(element.Text()));
      if (!run::JobStateNamed(states.back())) element.Wrong(texts::NotAState(states.back()));
      if (states.size() == 1 && states[0] != "QUEUED") element.Wrong(texts::FirstStateNotQueued());
      const size_t before = states.size() - 2;
      if (states.size() > 1 && !Follows(states[before], states.back())) {
        element.Wrong(texts::StateCannotFollow(states[before]));
      }
    }
    // Values that are not strings have been read as "".
    const std::string last = states.empty() ? "" : states.back();
    if (!state.empty() && !last.empty() && last != state) {
      list.Wrong(texts::StatesEndOtherwise(state, last));
    }
    return states;
  }

  // Follows the table of docs/service/api.md, section 8, as the engine does.
  static bool Follows(const std::string& before, const std::string& state) {
    const auto from = run::JobStateNamed(before);
    const auto to = run::JobStateNamed(state);
    if (!from || !to) return true;  // reported already
    return std::ranges::any_of(run::kJobEvents,
                               [&](run::JobEvent event) { return run::Next(*from, event) == to; });
  }

  // A scenario that states no end expects success, too: see scenario_reader.cc.
  bool WantsSuccess() const {
    if (expect_.Has("state"))
      return Has("state") && StateNamed(expect_.At("state").Text()) == "SUCCEEDED";
    const bool says = expect_.Has("states") || expect_.Has("error_matches") || expect_.Has("at");
    return !says && may_fail_.empty();
  }

  void CheckAttempts() const {
    if (!Has("attempts")) return;
    const Cursor attempts = expect_.At("attempts");
    const Count count = ReadCount(attempts);
    if (count.least > attempts_max_) {
      attempts.Wrong(texts::TooManyAttempts(attempts_max_));
    }
    if (count.most == 0 && WantsSuccess()) {
      attempts.Wrong(texts::SuccessWithoutAttempt());
    }
  }

  void CheckObjects() const {
    if (Has("objects")) {
      const Cursor objects = expect_.At("objects");
      std::set<std::string> present;
      for (const Cursor& glob : ElementsOf(objects, "present")) present.insert(glob.Text());
      for (const Cursor& glob : ElementsOf(objects, "absent")) {
        if (present.contains(glob.Text())) glob.Wrong(texts::AbsentAndPresent());
        if (CountOf(objects, glob).least > 0) glob.Wrong(texts::AbsentButCounted());
      }
      for (const Cursor& glob : ElementsOf(objects, "present")) {
        if (CountOf(objects, glob).most == 0) glob.Wrong(texts::PresentButCountZero());
      }
    }
    if (!Has("writes")) return;
    const Cursor writes = expect_.At("writes");
    for (const Cursor& glob : ElementsOf(expect_, "written_once")) {
      if (!writes.Has(glob.Text()) || may_fail_.contains("written_once")) continue;
      if (ReadCount(writes.At(glob.Text())).most >= 1) continue;
      glob.Wrong(texts::WrittenOnceButNever());
    }
  }

  static Count CountOf(const Cursor& objects, const Cursor& glob) {
    const Cursor counts = objects.At("count");
    return counts.Has(glob.Text()) ? ReadCount(counts.At(glob.Text())) : Count{};
  }

  // A boot above the first is a restart.
  void CheckBoots() const {
    std::map<std::string, Count> restarts;
    if (Has("restarts")) {
      int64_t least = 0;
      for (const auto& [replica, member] : expect_.At("restarts").Members()) {
        if (replica == "total") continue;
        const Count count = restarts[ReplicaOfKey(replica, member)] = ReadCount(member);
        least += count.least;
        if (count.least < kBootsMax) continue;
        member.Wrong(texts::TooManyBoots(kBootsMax));
      }
      const Cursor total = expect_.At("restarts").At("total");
      if (!total.json().is_null() && ReadCount(total).most < least) {
        total.Wrong(texts::TotalTooSmall(least));
      }
    }
    if (!Has("first_step")) return;
    for (const auto& [replica, boots] : expect_.At("first_step").Members()) {
      const std::string name = ReplicaOfKey(replica, boots);
      const auto found = restarts.find(name);
      for (const auto& [boot, step] : boots.Members()) {
        const int number = BootOfKey(boot, step);
        if (found != restarts.end() && found->second.most < number - 1) {
          step.Wrong(texts::BootAfterLastRestart(Text(found->second)));
        }
        CheckNoSteps(name, number, step);
        CheckSteps(name, step);
      }
    }
  }

  // `steps` contains every step that the replica reports.
  void CheckSteps(const std::string& replica, const Cursor& step) const {
    if (!Has("steps")) return;
    for (const auto& [other, range] : expect_.At("steps").Members()) {
      if (ReplicaOfKey(other, range) != replica) continue;
      const Count all = ReadCount(range);
      const Count first = ReadCount(step);
      if (first.most < all.least || first.least > all.most) step.Wrong(texts::StepOutsideSteps());
    }
  }

  void CheckNoSteps(const std::string& replica, int boot, const Cursor& step) const {
    if (!Has("no_steps")) return;
    for (const auto& [other, boots] : expect_.At("no_steps").Members()) {
      if (ReplicaOfKey(other, boots) != replica) continue;
      for (const Cursor& silent : boots.Elements()) {
        if (silent.Integer() == boot) step.Wrong(texts::StepOfSilentBoot());
      }
    }
  }

  static std::vector<Cursor> ElementsOf(const Cursor& cursor, const char* key) {
    return cursor.Has(key) ? cursor.At(key).Elements() : std::vector<Cursor>();
  }

  const Cursor& expect_;
  int64_t attempts_max_;
  std::set<std::string> may_fail_;
};

/// Checks that the job has the replicas that expectations name.
class NamedReplicas {
 public:
  NamedReplicas(const Cursor& expect, std::vector<std::string> replicas)
      : expect_(expect), replicas_(std::move(replicas)) {}

  void Check() const {
    for (const char* key : {"restarts", "first_step", "no_steps", "steps"}) {
      CheckKeys(expect_.At(key));
    }
    for (const auto& [glob, counts] : expect_.At("reads").Members()) CheckKeys(counts);
    CheckNames(expect_, "steps_never_go_back");
    CheckNames(expect_.At("same_steps_as_twin"), "replicas");
    if (!expect_.Has("log")) return;
    for (const Cursor& line : expect_.At("log").Elements()) {
      if (line.At("replica").json() != "service") CheckNames(line, "replica");
    }
  }

 private:
  void CheckKeys(const Cursor& by_replica) const {
    for (const auto& [key, member] : by_replica.Members()) {
      if (key != "total") CheckOne(ReplicaOfKey(key, member), member);
    }
  }
  void CheckNames(const Cursor& cursor, const char* key) const {
    if (!cursor.Has(key)) return;
    for (const Cursor& name : cursor.At(key).Elements()) CheckOne(ReadReplica(name), name);
  }
  void CheckOne(const std::string& replica, const Cursor& place) const {
    if (std::ranges::find(replicas_, replica) != replicas_.end()) return;
    place.Wrong(texts::ReplicaMissing(replica, replicas_));
  }

  const Cursor& expect_;
  const std::vector<std::string> replicas_;
};

}  // namespace

void CheckExpectations(const Cursor& expect, const Scenario& scenario) {
  if (!expect.IsMap()) return;
  Conflicts(expect, scenario).Check();
  std::vector<std::string> replicas = FindReplicas(scenario);
  if (!replicas.empty()) NamedReplicas(expect, std::move(replicas)).Check();
}

}  // namespace caip::harness
