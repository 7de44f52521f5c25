#include "harness/scenario/scenario.h"

#include <gtest/gtest.h>

#include "harness/scenario/file_cursor.h"
#include "places.h"
#include "tests/harness/file_of.h"

namespace caip::harness {
namespace {

const std::string kHead = "description: d\ntrainer: {command: [python3, t.py]}\n";

/// Of faults that only answer: nothing of it is asked for.
class EmptyContext final : public FaultContext {
 public:
  RunControl& run() override { std::abort(); }
  void WaitForEndOfBoot(const std::string&) override {}
  void WaitForUntil() override {}
  void WhenUntilComes(std::function<void()>) override {}
  void After(Duration, std::function<void()>) override {}
  void Pause(Duration) override {}
  uint64_t NextSeed() override { return 0; }
};

FaultResponse AnswerOf(const Fault& fault) {
  EmptyContext context;
  return fault.action->Inject(fault, context);
}

bool Says(const std::string& text, const std::string& what) {
  return Mistakes(text).find(what) != std::string::npos;
}

TEST(ScenarioReader, ReadsEveryKey) {
  const auto read = Read(R"(
description: All of it.
seed: 7
semantics: posix
addressing: ports
needs: [libfaketime]
job:
  config: {scaleTier: CUSTOM, masterType: n1-standard-4, workerCount: 2}
  args: ["--steps", 40]
trainer:
  command: [python3, t.py]
buckets:
  job: {}
  data: {from: ., objects: {init: text, a/b.json: {"w": 100}}}
mood: {queue_delay: "constant:20m", restart_delay: none, stock_out: 2, vm_lifetime: 2h}
limits: {wall: 30s, no_progress: 5s, log_lines: 10, grace: 1s}
steps: {regex: 'step (?P<step>\d+)'}
faults:
  - name: first
    kill: {replica: chief, down_until: {fault: second}}
    when: {before: {create: "gs://job/out/*"}, nth: 2..3}
  - name: second
    hang: {replica: worker-1, for: 2s}
    when: {mid: {write: "*", bytes: 10}, replica: any}
  - storage_error: {status: 429}
    when: {after: {list: "*"}, nth: every 3, probability: 0.5}
  - cancel: {}
    when: {at: 90s}
expect:
  state: SUCCEEDED
  same_steps_as_twin: {}
shows_bug: [state]
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->seed, 7u);
  EXPECT_EQ(read->semantics, Semantics::kPosix);
  EXPECT_TRUE(read->own_ports);
  EXPECT_EQ(read->arguments, (std::vector<std::string>{"--steps", "40"}));
  EXPECT_EQ(read->buckets.at("data").objects.at("a/b.json"), "{\"w\": 100}");
  EXPECT_EQ(read->buckets.at("data").from->filename(), ".");
  EXPECT_TRUE(std::holds_alternative<run::StockOut>(read->service_delays.provisioning_delay));
  EXPECT_EQ(read->limits.wall, std::chrono::seconds(30));
  EXPECT_EQ(read->limits.log_lines, 10);
  ASSERT_EQ(read->faults.size(), 4u);
  EXPECT_EQ(read->faults[0].replica, "master-0");
  EXPECT_EQ(read->faults[0].when.As<StorageTrigger>()->glob, "job/out/*");
  EXPECT_EQ(read->faults[0].when.nth, (Occurrence{2, 3, 0}));
  EXPECT_TRUE(read->faults[0].until->Is<FaultTrigger>());
  EXPECT_EQ(read->faults[1].when.replica, "any");
  EXPECT_EQ(read->faults[1].when.As<StorageTrigger>()->bytes, 10u);
  EXPECT_EQ(read->faults[2].name, "storage_error 1");
  EXPECT_EQ(AnswerOf(read->faults[2]).status, 429);
  EXPECT_EQ(read->faults[2].when.nth.every, 3);
  EXPECT_EQ(read->faults[3].when.As<TimeTrigger>()->at, std::chrono::seconds(90));
  EXPECT_TRUE(read->needs_twin());
  EXPECT_EQ(read->shows_bug, std::vector<std::string>{"state"});
}

TEST(ScenarioReader, TakesTheDirectoryOfACommandForADirectory) {
  const std::string head = "description: d\ntrainer: ";
  for (const char* trainer : {"{command: [python3, t.py, \"--out={job_dir}/a\"]}",
                              "{cluster: [{name: a, command: [x]}, {name: b, command: "
                              "[x, \"{job_dir}\"]}]}"}) {
    const auto read = Read(head + trainer + "\n");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->semantics, Semantics::kPosix) << trainer;
    EXPECT_TRUE(Says(head + trainer + "\nsemantics: object\n",
                     "s.yaml:3:12: semantics: `{job_dir}` in the command is a directory."));
  }
  const auto read = Read(head + "{command: [python3, t.py, \"{gs_job_dir}\"]}\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->semantics, Semantics::kObject);
}

TEST(ScenarioReader, HasDefaults) {
  const auto read = Read(kHead);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->seed, 1u);
  EXPECT_EQ(read->semantics, Semantics::kObject);
  EXPECT_FALSE(read->own_ports);
  EXPECT_TRUE(read->faults.empty());
  EXPECT_FALSE(read->needs_twin());
}

TEST(ScenarioReader, ReadsNeeds) {
  const auto gpus = Read(kHead + "needs: {gpus: 2}\n");
  ASSERT_TRUE(gpus.ok()) << gpus.error().message;
  EXPECT_EQ(gpus->gpus, 2);
  EXPECT_TRUE(gpus->modules.empty());
  const auto both = Read(kHead + "needs: {modules: [torch], gpus: 1}\n");
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_EQ(both->gpus, 1);
  EXPECT_EQ(both->modules, std::vector<std::string>{"torch"});
}

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

TEST(ScenarioReader, RejectsTriggersThatCanNeverHappen) {
  const std::string kill = "faults:\n- kill: {replica: master}\n  when: ";
  EXPECT_TRUE(Says(kHead + kill + "{mid: {write: '*', bytes: 3}}\n", "can never happen"));
  EXPECT_TRUE(Says(kHead + kill + "{before: {read: 'disk:*'}}\n", "does not watch `read`"));
  EXPECT_FALSE(Says(kHead + kill + "{mid: {write: 'disk:*', bytes: 3}}\n", "can never happen"));
  EXPECT_FALSE(Says(kHead + kill + "{before: {rename: 'disk:*'}}\n", "can never happen"));
  EXPECT_TRUE(Says(kHead + kill + "{before: {rename: '*'}}\n", "can never happen"));
  EXPECT_EQ(Mistakes("semantics: posix\n" + kHead + kill + "{before: {rename: '*'}}\n"), "");
  const std::string until =
      "faults:\n- hold: {replica: master, until: {before: {rename: '*'}}}\n  when: {step: 1}\n";
  EXPECT_TRUE(Says(kHead + until, "can never happen")) << Mistakes(kHead + until);
  const std::string of_fault =
      "faults:\n- hold: {replica: master, until: {fault: nobody}}\n  when: {step: 1}\n";
  EXPECT_TRUE(Says(kHead + of_fault, "no fault is named 'nobody'"));
  const std::string of_itself = "faults:\n- {name: a, cancel: {}, when: {fault: a}}\n";
  EXPECT_TRUE(Says(kHead + of_itself, "can never happen"));
}

TEST(ScenarioReader, RejectsFaultsThatADirectoryCannotHave) {
  const std::string reads =
      "faults:\n- storage_error: {break_after: 10}\n  when: {before: {read: a}}\n";
  EXPECT_EQ(Mistakes(kHead + reads), "");
  EXPECT_TRUE(Says("semantics: posix\n" + kHead + reads,
                   "s.yaml:5:32: faults[0].storage_error.break_after: needs `semantics: object`"))
      << Mistakes("semantics: posix\n" + kHead + reads);
  EXPECT_TRUE(
      Says("semantics: posix\n" + kHead +
               "faults:\n- storage_error: {stale_listing: true}\n  when: {before: {list: a}}\n",
           "stale_listing: needs `semantics: object`"));
}

TEST(ScenarioReader, RejectsAnUntilOfAReplicaThatIsDown) {
  const std::string own = "until: {step: 9}}\n  when: {start: 1}\n";
  const std::string kill = "faults:\n- kill: {replica: master, down_";
  EXPECT_TRUE(Says(kHead + kill + own, "down_until: can never happen: master-0 is down"))
      << Mistakes(kHead + kill + own);
  EXPECT_TRUE(Says(kHead + "faults:\n- hang: {replica: master, " + own, "master-0 waits until"));
  const std::string cluster = "job: {config: {scaleTier: STANDARD_1}}\n";
  EXPECT_EQ(Mistakes(kHead + cluster + kill + own), "");
  EXPECT_EQ(Mistakes(kHead + kill + "until: {start: 1}}\n  when: {start: 1}\n"), "");
  const std::string hold = "faults:\n- hold: {replica: master, until: {step: 9}}\n  when: ";
  EXPECT_TRUE(Says(kHead + hold + "{step: 2}\n", "until: can never happen"));
  EXPECT_EQ(Mistakes(kHead + hold + "{before: {create: a}}\n"), "");  // another thread may
  EXPECT_TRUE(Says("semantics: posix\n" + kHead + hold + "{before: {create: a}}\n",
                   "until: can never happen"));
}

// No thread of a replica could wait at the others.
TEST(ScenarioReader, RejectsAHoldAtAnEventAtWhichNoReplicaWaits) {
  const std::string head = kHead + "job: {config: {scaleTier: STANDARD_1}}\n";
  const std::string hold =
      "faults:\n- {name: gone, kill: {replica: worker-0}, when: {step: 1}}\n"
      "- hold: {replica: master, until: {step: 9, replica: worker-0}}\n  when: ";
  for (const std::string name : {"start: 1", "state: RUNNING", "fault: gone", "metric: accuracy"}) {
    const std::string text = head + hold + "{" + name + "}\n";
    const std::string refusal =
        "faults[1].when: a hold needs an event at which a replica waits, and `" +
        name.substr(0, name.find(':')) + "` is not one. Write before, ";
    EXPECT_TRUE(Says(text, refusal)) << text << "said: " << Mistakes(text);
  }
  for (const char* when :
       {"{before: {create: a}}", "{after: {read: a}}", "{log: saved}", "{step: 2}",
        "{step: 2, since: gone}", "{mid: {write: 'disk:a', bytes: 3}}"}) {
    EXPECT_EQ(Mistakes(head + hold + when + "\n"), "") << when;
  }
  for (const char* until : {"{start: 2}", "{state: RUNNING}", "{fault: gone}"}) {
    EXPECT_EQ(Mistakes(head +
                       "faults:\n- {name: gone, kill: {replica: worker-0}, when: {step: 1}}\n"
                       "- {hold: {replica: master, until: " +
                       until + "}, when: {step: 1}}\n"),
              "")
        << until;
  }
}

// The replica that reaches `when` waits, not the one that the fault names.
TEST(ScenarioReader, RejectsAHoldOfTheReplicaThatIsToEndIt) {
  const std::string head = kHead + "job: {config: {scaleTier: STANDARD_1}}\n";
  const auto hold = [&](const std::string& who, const std::string& until) {
    return head + "faults:\n- hold: {replica: master, until: " + until +
           "}\n  when: {log: saved, replica: " + who + "}\n";
  };
  const std::string of_worker = "{step: 9, replica: worker-0}";
  EXPECT_TRUE(Says(hold("worker-0", of_worker), "until: can never happen: worker-0 waits until"))
      << Mistakes(hold("worker-0", of_worker));
  EXPECT_TRUE(Says(hold("any", of_worker),
                   "until: may never happen: with `replica: any` in `when`, worker-0 itself may "
                   "wait, and no other replica causes this event. Name the replica that waits."))
      << Mistakes(hold("any", of_worker));
  EXPECT_EQ(Mistakes(hold("worker-0", "{step: 9, replica: master}")), "");
  EXPECT_EQ(Mistakes(hold("any", "{step: 9, replica: any}")), "");
  EXPECT_EQ(Mistakes(hold("any", "{state: CANCELLING}")), "");
  EXPECT_EQ(Mistakes(hold("any", "{start: 2, replica: worker-0}")), "");
}

TEST(ScenarioReader, RejectsPackageFaultsOfAJobWithoutPackages) {
  const std::string fails =
      "faults:\n- preparing_failure: {how: pip_fails}\n  when: {prepare: 1}\n";
  EXPECT_TRUE(Says(kHead + fails, "when: can never happen: the job has no packages"));
  EXPECT_EQ(Mistakes("description: d\njob: {config: {packageUris: ['gs://a/b.tar.gz']}}\n" + fails),
            "");
  EXPECT_EQ(Mistakes("description: d\njob: {submit: [--packages, p.tar.gz]}\n" + fails), "");
}

TEST(ScenarioReader, ExpectsSuccessByDefault) {
  const auto expected = [](const std::string& rest) {
    const auto read = Read(kHead + rest);
    return read.ok() ? read->expectations.size() : 99;
  };
  EXPECT_EQ(expected(""), 1u);
  EXPECT_EQ(expected("expect: {attempts: 1}\n"), 2u);
  EXPECT_EQ(expected("expect: {state: FAILED}\n"), 1u);
  EXPECT_EQ(expected("expect: {states: [QUEUED, FAILED]}\n"), 1u);
  EXPECT_EQ(expected("expect: {error_matches: x}\n"), 1u);
  EXPECT_EQ(expected("expect: {at: {CANCELLED: 1m..}}\n"), 1u);
  EXPECT_EQ(expected("expect: {attempts: 1}\nshows_bug: [attempts]\n"), 1u);
  Evidence run;
  run.state = "FAILED";
  run.error_message = "no luck";
  const auto assertions = Read(kHead)->expectations[0]->Evaluate({run});
  EXPECT_EQ(assertions[0].name, "state");
  EXPECT_EQ(assertions[0].expected, "SUCCEEDED");
  EXPECT_EQ(assertions[0].found, "FAILED: no luck");
}

TEST(ScenarioReader, RejectsReplicasThatTheJobDoesNotHave) {
  const std::string kill = "faults:\n- kill: {replica: worker-1}\n  when: {step: 1}\n";
  EXPECT_TRUE(
      Says(kHead + kill, "s.yaml:4:3: faults[0]: can never happen: the job has no worker-1"))
      << Mistakes(kHead + kill);
  const std::string of = "job: {config: {scaleTier: ";
  EXPECT_EQ(Mistakes(kHead + of + "STANDARD_1}}\n" + kill), "");
  EXPECT_EQ(Mistakes(kHead + of + "CUSTOM, workerCount: 2}}\n" + kill), "");
  EXPECT_EQ(Mistakes(kHead + of + "CUSTOM, workerCount: \"2\"}}\n" + kill), "");
  EXPECT_TRUE(Says(kHead + of + "CUSTOM, workerCount: 1}}\n" + kill, "has no worker-1"));
  EXPECT_TRUE(Says(kHead + "faults:\n- cancel: {}\n  when: {step: 1, replica: ps-0}\n",
                   "the job has no ps-0; it has master-0"));
  EXPECT_TRUE(Says(kHead +
                       "faults:\n- hold: {replica: master, until: {step: 1, replica: evaluator}}\n"
                       "  when: {step: 2}\n",
                   "the job has no evaluator-0"));
  EXPECT_EQ(Mistakes("description: d\njob: {submit: [--config, c.yaml]}\n" + kill), "");
}

TEST(ScenarioReader, ReadsSignalsAndTriggersThatCountSinceAFault) {
  const auto read =
      Read(kHead +
           "faults:\n- {name: notice, maintenance: {replica: master}, when: {step: 2}}\n"
           "- signal: {replica: master, signal: SIGUSR1}\n"
           "  when: {after: {change: '*'}, since: notice, nth: 2}\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(Describe(read->faults[1].when), "after change * since fault 'notice', the 2nd");
}

TEST(ScenarioReader, RejectsSignalsAndFaultsThatDoNotExist) {
  const std::string fault = "faults:\n- signal: {replica: master, signal: ";
  EXPECT_TRUE(Says(kHead + fault + "SIGKILL}\n  when: {step: 1}\n",
                   "use one of SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2"));
  EXPECT_TRUE(Says(kHead + fault + "SIGINT}\n  when: {step: 1, since: nothing}\n",
                   "no fault is named 'nothing'"));
  EXPECT_TRUE(Says(kHead + fault + "SIGINT}\n  when: {at: 3s, since: nothing}\n",
                   "has no meaning with `at`"));
  EXPECT_TRUE(Says(kHead + "faults:\n- {name: a, cancel: {}, when: {step: 1, since: b}}\n"
                           "- {name: b, cancel: {}, when: {fault: a}}\n",
                   "a and b wait for each other"));
}

TEST(ScenarioReader, RejectsFaultsThatWaitForEachOther) {
  const std::string faults =
      "faults:\n- {name: a, cancel: {}, when: {fault: b}}\n"
      "- {name: b, cancel: {}, when: {fault: a}}\n- {name: c, cancel: {}, when: {fault: a}}\n";
  const std::string mistakes = Mistakes(kHead + faults);
  EXPECT_NE(mistakes.find("faults[0].when: can never happen: a and b wait for each other"),
            std::string::npos)
      << mistakes;
  EXPECT_EQ(mistakes.find("faults[2]"), std::string::npos) << mistakes;
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

TEST(ScenarioReader, MergesAFileIntoTheOneThatItExtends) {
  const ScenarioFolder folder;
  folder.Write("base.yaml", kHead + "seed: 3\nexpect: {state: SUCCEEDED}\n");
  const auto read = ReadScenario(folder.Write("over.yaml", "extends: base.yaml\nseed: 4\n"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->seed, 4u);
  EXPECT_EQ(read->description, "d");
  EXPECT_EQ(read->expectations.size(), 1u);
}

TEST(ScenarioReader, NamesTheFileOfAMistake) {
  const ScenarioFolder folder;
  folder.Write("base.yaml", kHead + "seed: x\n");
  const auto read = ReadScenario(folder.Write("over.yaml", "extends: base.yaml\nlimts: {}\n"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("base.yaml:3:7"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("over.yaml:2:"), std::string::npos) << read.error().message;
}

TEST(ScenarioReader, RejectsFilesThatExtendEachOther) {
  const ScenarioFolder folder;
  folder.Write("a.yaml", "extends: b.yaml\n");
  const auto read = ReadScenario(folder.Write("b.yaml", "extends: a.yaml\n"));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("in a circle"), std::string::npos) << read.error().message;
}

TEST(ScenarioReader, ReportsAMissingFile) {
  const ScenarioFolder folder;
  const auto read = ReadScenario(folder.path() / "none.yaml");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kNotFound);
}

TEST(ScenarioSchema, KnowsEveryKind) {
  const Json schema = ScenarioSchema();
  for (const FaultKind& kind : FaultKinds()) {
    EXPECT_TRUE(schema.at("$defs").at("fault").at("properties").contains(kind.name)) << kind.name;
  }
  for (const ExpectationKind& kind : ExpectationKinds()) {
    EXPECT_TRUE(schema.at("properties").at("expect").at("properties").contains(kind.name));
  }
}

// Editors read it from there; docs/scenarios.md says how. `caip scenario schema` writes it.
TEST(ScenarioSchema, IsTheShippedFile) {
  const auto file = ReadFile(Path(CAIP_SOURCE_DIR) / "scenarios" / "schema.json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, PrettyJson(ScenarioSchema()) + "\n");
}

// Every key of every scenario that ships, as an editor would check it.
void ExpectKnown(const Json& schema, const Json& part, const Json& value, const std::string& at) {
  Json rule = part;
  if (const Json* ref = Member(part, "$ref")) {
    const std::string name = ref->get<std::string>();
    rule = schema.at("$defs").at(name.substr(name.rfind('/') + 1));
  }
  if (value.is_array() && Member(rule, "items")) {
    for (const Json& element : value) ExpectKnown(schema, rule.at("items"), element, at + "[]");
  }
  if (!value.is_object() || !Member(rule, "properties")) return;
  for (const auto& [key, member] : value.items()) {
    const Json* known = Member(rule.at("properties"), key);
    EXPECT_NE(known, nullptr) << at << "." << key;
    if (known) ExpectKnown(schema, *known, member, at + "." + key);
  }
}

TEST(ScenarioReader, ReadsTheModulesThatAScenarioNeeds) {
  const auto read = Read(
      "description: d\ntrainer: {command: [python3, t.py]}\n"
      "needs: {modules: [sklearn, torch]}\n");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->modules, (std::vector<std::string>{"sklearn", "torch"}));
  EXPECT_TRUE(read->needs.empty());
}

TEST(ScenarioReader, AcceptsArgsInOnePlace) {
  const std::string job = "job: {config: {args: [--a]}, args: [--b]}\n";
  EXPECT_EQ(Mistakes("description: d\ntrainer: {command: [python3, t.py]}\n" + job), "");
  const std::string twice =
      Mistakes("description: d\ntrainer: {command: [python3, t.py], args: [--c]}\n" + job);
  EXPECT_NE(twice.find("trainer.args"), twice.npos) << twice;
  EXPECT_NE(twice.find("are the same arguments"), twice.npos) << twice;
}

TEST(TrainingJobKind, AddsArgumentsAfterThoseOfTheDocument) {
  const JobCompletion completion{.arguments = {"--bar", "2"}};
  EXPECT_EQ(TrainingJobs().Complete({{"args", {"--foo", "1"}}}, completion)["args"],
            Json({"--foo", "1", "--bar", "2"}));
  EXPECT_EQ(TrainingJobs().Complete(nullptr, completion)["args"], Json({"--bar", "2"}));
  EXPECT_EQ(TrainingJobs().Complete({{"args", "--foo"}}, completion)["args"], "--foo")
      << "the service rejects it";
}

TEST(ScenarioReader, TellsTheConfigOfAJobFromAScenario) {
  const Path folder = Path(CAIP_SOURCE_DIR) / "scenarios";
  EXPECT_TRUE(IsJobConfig(folder / "digits.yaml"));
  EXPECT_FALSE(IsJobConfig(folder / "frameworks/sklearn_partial_fit.yaml"));
  EXPECT_FALSE(IsJobConfig(folder / "missing.yaml"));
  TemporaryDirectory directory;
  const Path file = directory.path() / "config.yaml";
  for (const char* of_vertex : {"workerPoolSpecs: []\n", "studySpec: {}\ntrialJobSpec: {}\n",
                                "displayName: d\njobSpec: {workerPoolSpecs: []}\n",
                                "job_spec: {}\n", "labels: {team: a}\n"}) {
    ASSERT_TRUE(WriteFile(file, of_vertex).ok());
    EXPECT_TRUE(IsJobConfig(file)) << of_vertex;
    ASSERT_TRUE(WriteFile(file, of_vertex + std::string("job: {}\n")).ok());
    EXPECT_FALSE(IsJobConfig(file)) << of_vertex;
  }
  ASSERT_TRUE(WriteFile(file, "description: d\nlabels: {team: a}\n").ok());
  EXPECT_FALSE(IsJobConfig(file)) << "a scenario with a mistake";
}

TEST(ScenarioReader, FindsScenariosOfAFolderByNameAndContents) {
  TemporaryDirectory directory;
  const auto is_meant = [&](const std::string& name, const std::string& text) {
    const Path file = directory.path() / name;
    EXPECT_TRUE(WriteFile(file, text).ok());
    return IsMeantAsScenario(file);
  };
  EXPECT_TRUE(is_meant("a.yaml", "anything: 1\n"));
  for (const char* text : {"job: {}\n", "trainer: {}\n", "extends: a.yaml\n", "jobSpec: {}\n"}) {
    EXPECT_TRUE(is_meant("b.yml", text)) << text;
    EXPECT_FALSE(is_meant("b.txt", text)) << text;
  }
  EXPECT_FALSE(is_meant("docker-compose.yml", "services: {}\n"));
  EXPECT_FALSE(is_meant("list.yml", "[job]\n"));
  EXPECT_FALSE(is_meant("template.yml", "job: {{\n"));
}

TEST(ScenarioSchema, HasEveryKeyOfTheShippedScenarios) {
  const Json schema = ScenarioSchema();
  for (const char* folder : {"restarts", "service", "frameworks"}) {
    const Path path = Path(CAIP_SOURCE_DIR) / "scenarios" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".yaml") continue;
      const auto text = OpenFileText(entry.path());
      ASSERT_TRUE(text.ok()) << text.error().message;
      ExpectKnown(schema, schema, (*text)->document.value, entry.path().filename());
    }
  }
}

// The shipped file is well formed.
TEST(ScenarioReader, ReadsEveryShippedScenario) {
  size_t read = 0;
  for (const char* folder : {"restarts", "service", "frameworks"}) {
    const Path path = Path(CAIP_SOURCE_DIR) / "scenarios" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".yaml") continue;
      const auto scenario = ReadScenario(entry.path());
      EXPECT_TRUE(scenario.ok()) << scenario.error().message;
      ++read;
    }
  }
  EXPECT_GE(read, 60u);
}

}  // namespace
}  // namespace caip::harness
