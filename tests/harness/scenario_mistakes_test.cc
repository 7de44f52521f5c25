// The mistakes in scenario files that the reader reports, each at its place.

#include <gtest/gtest.h>

#include <utility>

#include "tests/harness/file_of.h"

namespace caip::harness {
namespace {

TEST(ScenarioReader, ReportsAllMistakesAtOnceWithLineColumnAndCaret) {
  const std::string mistakes = Mistakes(
      "descripton: d\n"
      "trainer: {command: [python3, t.py]}\n"
      "seed: many\n"
      "faults:\n"
      "  - kill: {replica: boss-0}\n"
      "    when: {before: {craete: \"*\"}}\n"
      "expect:\n"
      "  state: HAPPY\n");
  EXPECT_NE(mistakes.find("s.yaml:1:"), std::string::npos) << mistakes;
  EXPECT_NE(mistakes.find("did you mean 'description'?"), std::string::npos) << mistakes;
  EXPECT_NE(mistakes.find("s.yaml:3:7: seed: must be a whole number"), std::string::npos)
      << mistakes;
  EXPECT_NE(mistakes.find("seed: many\n        ^"), std::string::npos) << mistakes;
  EXPECT_NE(mistakes.find("s.yaml:5:21: faults[0].kill.replica: 'boss-0' is not a valid replica"),
            std::string::npos)
      << mistakes;
  EXPECT_NE(mistakes.find("did you mean 'create'?"), std::string::npos) << mistakes;
  EXPECT_NE(mistakes.find("s.yaml:8:10: expect.state: must be SUCCEEDED"), std::string::npos)
      << mistakes;
}

TEST(ScenarioReader, RejectsUnknownKeysAndValues) {
  const std::pair<const char*, const char*> cases[] = {
      {"faults:\n- kil: {replica: master-0}\n  when: {step: 1}\n", "did you mean 'kill'?"},
      {"faults:\n- kill: {replica: master-0}\n  when: {stat: RUNNING}\n", "did you mean 'state'?"},
      {"faults:\n- kill: {replica: master}\n", "`when` is missing"},
      {"faults:\n- kill: {}\n  when: {step: 1}\n", "kill needs `replica`"},
      {"needs: {gpus: 0}\n", "needs.gpus: must be at least 1"},
      {"needs: {gpus: some}\n", "needs.gpus: must be a whole number"},
      {"needs: {gpu: 1}\n", "did you mean 'gpus'?"},
      {"faults:\n- kill: {replica: master, for: 2s}\n  when: {step: 1}\n",
       "kill.for: is not a known key"},
      {"faults:\n- {kill: {replica: master}, cancel: {}, when: {step: 1}}\n",
       "a fault has one kind"},
      {"faults:\n- {cancel: {}, when: {step: 1, state: RUNNING}}\n", "a trigger has one event"},
      {"faults:\n- {cancel: {}, when: {nth: 2}}\n", "an event is missing"},
      {"faults:\n- {cancel: {}, when: {state: SLEEPING}}\n", "is not a state of a job"},
      {"faults:\n- {cancel: {}, when: {log: 'a('}}\n", "not a valid regular expression"},
      {"faults:\n- {cancel: {}, when: {step: 1, nth: 0}}\n", "must be a count from 1"},
      {"faults:\n- {cancel: {}, when: {step: 1, nth: 5..2}}\n", "must be a count from 1"},
      {"faults:\n- {cancel: {}, when: {step: 1, probability: 0}}\n", "must be above 0"},
      {"faults:\n- {cancel: {}, when: {before: {create: a, read: b}}}\n",
       "a trigger has one operation"},
      {"faults:\n- {cancel: {}, when: {fault: nobody}}\n", "no fault is named 'nobody'"},
      {"faults:\n- {name: a, cancel: {}, when: {step: 1}}\n- {name: a, cancel: {}, when: {step: "
       "2}}\n",
       "another fault already has the name 'a'"},
      {"faults:\n- {hang: {replica: master}, when: {step: 1}}\n", "a hang must end"},
      {"faults:\n- {network_cut: {replica: master}, when: {step: 1}}\n",
       "network_cut needs `peer`"},
      {"faults:\n- {network_drop: {replica: master, peer: bucket}, when: {step: 1}}\n",
       "'bucket' is not a valid peer"},
      {"faults:\n- {network_drop: {replica: master, peer: storage, fraction: 1}, when: {step: "
       "1}}\n",
       "fraction"},
      {"faults:\n- {network_loss: {replica: master, peer: storage, fraction: 2}, when: {step: "
       "1}}\n",
       "must be above 0 and at most 1, as in 0.1"},
      {"faults:\n- {network_loss: {replica: master, peer: storage}, when: {step: 1}}\n",
       "network_loss needs `fraction`"},
      {"faults:\n- {network_delay: {replica: master, peer: storage, by: 0s}, when: {step: 1}}\n",
       "must not be 0. Write it like 50ms"},
      {"faults:\n- {network_cut: {replica: master, peer: storage, for: 1s, until: {step: 2}}, "
       "when: {step: 1}}\n",
       "a network_cut ends by `until` or by `for`"},
      {"faults:\n- {network_cut: {replica: master, peer: master}, when: {step: 1}}\n",
       "master-0 reaches itself without a network"},
      {"faults:\n- {network_cut: {replica: master, peer: ps-7}, when: {step: 1}}\n",
       "the job has no ps-7"},
      {"semantics: posix\nfaults:\n- {network_cut: {replica: master, peer: storage}, "
       "when: {step: 1}}\n",
       "storage is a directory"},
      {"addressing: ports\nfaults:\n- {network_cut: {replica: master, peer: storage}, "
       "when: {step: 1}}\n",
       "faults of the network need replicas on machines"},
      {"faults:\n- {storage_error: {status: 503}, when: {step: 1}}\n",
       "storage_error needs a storage operation"},
      {"faults:\n- {storage_error: {status: 200}, when: {before: {read: a}}}\n", "at least 400"},
      {"faults:\n- {hold: {replica: master, until: {step: 2}}, when: {at: 2s}}\n",
       "a hold needs an event at which a replica waits, and `at` is not one"},
      {"faults:\n- {api_error: {status: 503}, when: {api: projects.job.get}}\n",
       "did you mean 'projects.jobs.get'?"},
      {"faults:\n- {cancel: {}, when: {start: 25}}\n", "faults[0].when.start"},
      {"faults:\n- {preparing_failure: {how: pip_fails}, when: {prepare: 5}}\n",
       "faults[0].when.prepare"},
      {"semantics: posix\nfaults:\n- {cancel: {}, when: {mid: {write: a}}}\n",
       "`bytes` is missing"},
      {"faults: {cancel: {}}\n", "must be a list"},
      {"semantics: blob\n", "must be object or posix"},
      {"addressing: dns\n", "must be loopback or ports"},
      {"limits: {wall: soon}\n", "must be a duration like"},
      {"mood: {queue_delay: 'often:2m'}\n", "mood.queue_delay"},
      {"mood: {stock_out: 1, provisioning_delay: none}\n", "cannot be combined"},
      {"steps: {regex: '('}\n", "steps.regex"},
      {"steps: {regex: 'step'}\n", "needs a group `step`"},
      {"faults:\n- {cancel: {}, when: {step: 1, nth: every 0}}\n", "must be a count from 1"},
      {"faults:\n- {cancel: {}, when: {at: 2s, nth: 2}}\n", "has no meaning with `at`"},
      {"faults:\n- {storage_error: {status: 503, latency: 2s}, when: {before: {read: a}}}\n",
       "fails in one way"},
      {"faults:\n- {hang: {replica: master, for: 2s, until: {step: 2}}, when: {step: 1}}\n",
       "a hang ends by `until` or by `for`"},
      {"faults:\n- {hold: {replica: master, until: {at: 2s}}, when: {step: 1}}\n",
       "`at` cannot end a fault"},
      {"expect: {first_step: {boss: {1: 1}}}\n", "'boss' is not a valid replica"},
      {"expect: {first_step: {master: {x: 1}}}\n", "'x' is not a valid boot"},
      {"expect: {first_step: {master: 1}}\n", "must be a mapping"},
      {"expect: {reads: {'*': {master: {0: 1}}}}\n", "'0' is not a valid boot"},
      {"expect: {restarts: {boss-0: 1}}\n", "'boss-0' is not a valid replica"},
      {"expect: {steps: {master-0: 1..}}\n", "must be the first and the last step"},
      {"expect: {state: FAILED}\nshows_bug: [stat]\n", "did you mean 'state'?"},
      {"shows_bug: [state]\n", "is not an expectation of this file"},
      {"expect: {stat: SUCCEEDED}\n", "did you mean 'state'?"},
      {"expect: {restarts: {master-0: many}}\n", "must be a count like"},
      {"expect: {objects: {there: [a]}}\n", "is not a known key here"},
      {"expect: {always: [{if_present: a}]}\n", "a rule is missing"},
      {"limits: {wall: 0s}\n", "s.yaml:3:16: limits.wall: must be above 0"},
      {"limits: {no_progress: 0s}\n", "limits.no_progress: must be above 0"},
      {"buckets: {UPPER_: {}}\n",
       "s.yaml:3:19: buckets.UPPER_: 'UPPER_' is not a valid bucket name"},
      {"buckets: {data: {from: nowhere}}\n", "s.yaml:3:24: buckets.data.from: "},
      {"buckets: {data: {objects: {'': x}}}\n", "is not a valid object name"},
      {"faults:\n- {clock_step: {replica: master, by: 0s}, when: {step: 1}}\n", "must not be 0"},
      {"faults:\n- {name: \"a\\e[31m\", cancel: {}, when: {step: 1}}\n",
       "only printable characters"},
      {"seed: 1.5\n", "seed: must be a whole number, not 1.5"},
      {"seed: 99999999999999999999\n", "seed: is too large"},
      {"extends: nosuch.yaml\n", "s.yaml:3:10: extends: "},
  };
  for (const auto& [text, what] : cases) {
    EXPECT_TRUE(Says(kHead + text, what))
        << text << "should say: " << what << "\nsaid: " << Mistakes(kHead + text);
  }
}

TEST(ScenarioReader, RejectsExpectationsThatExcludeEachOther) {
  const std::pair<const char*, const char*> cases[] = {
      {"{state: SUCCEEDED, error_matches: x}", "contradicts `state: SUCCEEDED`"},
      {"{state: SUCCEEDED, states: [QUEUED, FAILED]}", "the list ends with FAILED"},
      {"{states: [QUEUED, FAILED], at: {RUNNING: 1m..}}",
       "`states`, which does not contain RUNNING"},
      {"{objects: {present: [a, b], absent: [b]}}", "contradicts `present`"},
      {"{written_once: [a], writes: {a: 0}}", "contradicts `writes`, which expects none"},
      {"{restarts: {master: 1}, first_step: {chief: {3: 7}}}", "contradicts `restarts`"},
      {"{first_step: {master: {2: 7}}, no_steps: {master-0: [2]}}", "contradicts `no_steps`"},
      {"{restarts: {master-0: 3, total: 1}}",
       "contradicts the counts of the replicas, whose sum is at least 3"},
      {"{restarts: {master-0: 24..}}", "a replica is started at most 24 times"},
      {"{steps: {worker-0: 1..40}}", "the job has no worker-0; it has master-0"},
      {"{same_steps_as_twin: {replicas: [ps-0]}}", "the job has no ps-0"},
      {"{steps_never_go_back: [evaluator-0]}", "the job has no evaluator-0"},
      {"{log: [{match: x, replica: worker-1}]}", "the job has no worker-1"},
      {"{reads: {a: {worker-1: {1: 1}}}}", "the job has no worker-1"},
      {"{steps: {master-0: 1..40}, first_step: {master: {1: 50}}}", "contradicts `steps`"},
      {"{objects: {present: [a], count: {a: 0}}}", "contradicts `count`, which expects none"},
      {"{objects: {absent: [a], count: {a: 2..}}}", "contradicts `count`, which expects some"},
      {"{states: [RUNNING, SUCCEEDED]}", "a job must begin QUEUED"},
      {"{states: [QUEUED, RUNNING, SUCCEEDED]}", "states[1]: can never follow QUEUED"},
      {"{states: [QUEUED, FAILED, QUEUED]}", "states[2]: can never follow FAILED"},
      {"{states: [QUEUED, SLEEPING]}", "is not a state of a job"},
      {"{state: FAILED, at: {SUCCEEDED: 1m..2m}}", "contradicts `state: FAILED`"},
      {"{at: {SLEEPING: 1m..2m}}", "'SLEEPING' is not a state"},
      {"{state: SUCCEEDED, attempts: 0}", "a job that succeeds is tried at least once"},
      {"{attempts: 0}", "a job that succeeds is tried at least once"},
      {"{attempts: 7}", "a job is tried at most 4 times"},
      {"{same_objects_as_twin: {json_tolerance: -1}}", "must be 0 or more"},
      {"{same_steps_as_twin: {tolerance: -1}}", "must be 0 or more"},
      {"{always: [{if_present: 'a{s}', then_count: {'{t}': 4}}]}", "'{t}' is not a variable"},
      {"{always: [{if_present: 'a', then_count: {'{s}': 4}}]}", "{s} has no value"},
      {"{always: [{if_present: '{s}-{s}', then_count: {a: 4}}]}", "contains {s} twice"},
  };
  for (const auto& [expect, what] : cases) {
    const std::string text = kHead + "expect: " + expect + "\n";
    EXPECT_TRUE(Says(text, what)) << text << "said: " << Mistakes(text);
  }
  EXPECT_EQ(Mistakes(kHead + "expect: {state: SUCCEEDED, states: [QUEUED, FAILED]}\n"
                             "shows_bug: [state]\n"),
            "");
  EXPECT_EQ(Mistakes(kHead + "expect: {state: CANCELLED, attempts: 0}\n"), "");
  EXPECT_EQ(Mistakes(kHead + "expect: {states: [QUEUED, PREPARING, PREPARING, RUNNING, PREPARING, "
                             "RUNNING, CANCELLING, FAILED]}\n"),
            "");
  EXPECT_EQ(Mistakes(kHead + "expect: {log: [{match: x, replica: service}]}\n"), "");
  EXPECT_EQ(Mistakes(kHead + "expect: {restarts: {master: 1..}, first_step: {master: {3: 7}}}\n"),
            "");
}

TEST(ScenarioReader, NeedsADescriptionAndAJob) {
  EXPECT_TRUE(Says("seed: 1\n", "`description` is missing"));
  EXPECT_TRUE(Says("seed: 1\n", "a job is missing"));
  EXPECT_TRUE(Says("[]\n", "must be a mapping, not a list"));
  EXPECT_TRUE(Says("", "must be a mapping, not nothing"));
  EXPECT_TRUE(Says("a: [\n", "s.yaml:"));
}

TEST(ScenarioReader, ReportsKeysThatAreWrittenTwice) {
  const std::string top = Mistakes(kHead + "seed: 1\nseed: 2\n");
  EXPECT_NE(top.find("s.yaml:4:7: seed: is written twice"), std::string::npos) << top;
  EXPECT_NE(top.find("seed: 2\n        ^"), std::string::npos) << top;
  EXPECT_TRUE(Says(kHead + "limits:\n  wall: 3s\n  wall: 4s\n", "s.yaml:5:9: limits.wall: is"));
}

}  // namespace
}  // namespace caip::harness
