#include "harness/expectations/expectation.h"

#include <utility>

namespace caip::harness {
namespace {

class FunctionExpectation final : public Expectation {
 public:
  FunctionExpectation(std::function<std::vector<Assertion>(const ComparedRuns&)> evaluate,
                      bool needs_twin)
      : evaluate_(std::move(evaluate)), needs_twin_(needs_twin) {}
  std::vector<Assertion> Evaluate(const ComparedRuns& runs) const override {
    return evaluate_(runs);
  }
  bool needs_twin() const override { return needs_twin_; }

 private:
  std::function<std::vector<Assertion>(const ComparedRuns&)> evaluate_;
  bool needs_twin_;
};

}  // namespace

ExpectationPtr Expect(std::function<std::vector<Assertion>(const ComparedRuns&)> evaluate,
                      bool needs_twin) {
  return std::make_shared<FunctionExpectation>(std::move(evaluate), needs_twin);
}

const std::vector<ExpectationKind>& ExpectationKinds() {
  static const std::vector<ExpectationKind> kinds = {
      {"state", "The job's last state.", ReadState},
      {"error_matches", "A regular expression that is found in the job's errorMessage.",
       ReadErrorMatches},
      {"states", "All states of the job, in order.", ReadStates},
      {"at", "By state: when it was first entered since the job was made, emulated: 10m..11m.",
       ReadAt},
      {"restarts", "How often each replica was restarted; `total` for all.", ReadRestarts},
      {"attempts", "How often the whole job was tried.", ReadAttempts},
      {"first_step", "By replica and boot: the first step that it reports.", ReadFirstStep},
      {"no_steps", "By replica: the boots that report no step at all.", ReadNoSteps},
      {"steps", "By replica: exactly the steps that have effective records: 1..40.", ReadSteps},
      {"steps_never_go_back", "Replicas that never report a step twice or go back.",
       ReadStepsNeverGoBack},
      {"same_steps_as_twin", "Effective records of steps equal those of the run without faults.",
       ReadSameStepsAsTwin},
      {"objects", "Objects at the end: present, absent, count.", ReadObjects},
      {"object_fields", "Fields of objects that are JSON.", ReadObjectFields},
      {"same_objects_as_twin", "The objects at the end equal those of the run without faults.",
       ReadSameObjectsAsTwin},
      {"writes", "By glob: how often objects were created, overwritten or renamed into place.",
       ReadWrites},
      {"written_once", "Globs of objects that are created once and never overwritten.",
       ReadWrittenOnce},
      {"reads", "By glob, replica and boot: how often objects were read.", ReadReads},
      {"output_never_goes_back",
       "A program that starts again after an error deletes no output, and sets none back.",
       ReadOutputNeverGoesBack},
      {"trials", "Of a tuning job: how many trials, the steps that each reports, the best one.",
       ReadTrials},
      {"log", "How many log lines match a regular expression.", ReadLog},
      {"always", "Rules that must hold after every event.", ReadAlways},
  };
  return kinds;
}

const ExpectationKind* FindExpectationKind(std::string_view name) {
  for (const ExpectationKind& kind : ExpectationKinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace caip::harness
