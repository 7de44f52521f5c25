// Faults of scenarios that can never happen, or never end: the reader rejects them.

#include <gtest/gtest.h>

#include "tests/harness/file_of.h"

namespace caip::harness {
namespace {

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

}  // namespace
}  // namespace caip::harness
