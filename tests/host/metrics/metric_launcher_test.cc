// Reports of real processes, read as they are written.

#include "host/metrics/metric_launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <future>

#include "tests/host/launch_world.h"
#include "tests/host/metrics/event_maker.h"
#include "tests/host/metrics/hand_launcher.h"
#include "tests/host/metrics/no_threads.h"

namespace caip::host {
namespace {

using engine::Report;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A launcher with its metric launcher around it, buckets, and what was reported.
struct World {
  explicit World(bool has_disks = true)
      : disks(*processes.launcher),
        launcher(std::move(processes.launcher), has_disks ? &disks : nullptr,
                 {[this](const std::string& uri) { return Directory(uri); }}, processes.sink,
                 processes.clock) {}
  Path Directory(const std::string& uri) const {
    return processes.state.path() / "buckets" / uri.substr(5);
  }

  engine::ReplicaLaunch Trial(const std::string& script, int boot = 1) {
    engine::ReplicaLaunch launch = AShell(script, {{"p", "job", "3"}, {}, boot});
    launch.user_directories = {"var/hypertune"};
    const std::string file = disks.BootDisk(launch.key) + "/var/hypertune/output.metric";
    launch.environment.emplace_back("FILE", file);
    launch.environment.emplace_back("EVENTS", Directory("gs://bkt/out/3").string());
    launch.metrics = engine::MetricSource{"accuracy", file, "gs://bkt/out/3"};
    return launch;
  }
  void Launch(engine::ReplicaLaunch launch) {
    launcher.Launch(std::move(launch),
                    {[](const engine::ReplicaKey&) {},
                     [this](const engine::ReplicaExit& exit) {
                       const std::lock_guard lock(mutex);
                       reported_at_exit = reports.size();
                       exits.push_back(exit);
                       changed.notify_all();
                     },
                     [this](const engine::ReplicaKey&, std::vector<Report> more) {
                       const std::lock_guard lock(mutex);
                       reports.insert(reports.end(), more.begin(), more.end());
                       changed.notify_all();
                     }});
  }
  bool Await(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30), condition);
  }
  // For what must not happen.
  bool AwaitBriefly(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::milliseconds(300), condition);
  }
  void Run(engine::ReplicaLaunch launch) {
    const size_t before = exits.size();
    Launch(std::move(launch));
    EXPECT_TRUE(Await([&] { return exits.size() > before; })) << "no exit came";
  }
  std::vector<double> Values() {
    const std::lock_guard lock(mutex);
    std::vector<double> values;
    for (const Report& report : reports) values.push_back(report.value);
    return values;
  }
  void Event(const std::string& name, const std::string& bytes, bool append = false) {
    const Path file = Directory("gs://bkt/out/3") / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, append ? std::ios::app : std::ios::trunc) << bytes;
  }

  LaunchWorld processes;
  engine::LocalDisks& disks;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Report> reports;
  std::vector<engine::ReplicaExit> exits;
  size_t reported_at_exit = 0;
  MetricLauncher launcher;
};

constexpr const char* kLine =
    R"(line() { echo "{\"accuracy\": \"$1\", \"global_step\": \"$2\", \"timestamp\": $2}"; }; )";

TEST(MetricLauncher, TellsEachReportWhileTheTrainerStillRuns) {
  World world;
  world.Launch(world.Trial(std::string(kLine) +
                           "line 0.1 1 > $FILE; read x < /dev/null; "
                           "(line 0.1 1; line 0.2 2) > $FILE; exec sleep 600"));
  EXPECT_TRUE(world.Await([&] { return world.reports.size() == 2; }));
  EXPECT_THAT(world.Values(), ElementsAre(0.1, 0.2));
  world.launcher.Kill({{"p", "job", "3"}, {}, 1});
  EXPECT_TRUE(world.Await([&] { return world.exits.size() == 1; }));
  EXPECT_THAT(world.Values(), ElementsAre(0.1, 0.2));
}

TEST(MetricLauncher, TellsEverythingBeforeTheExit) {
  World world;
  world.Run(world.Trial(std::string(kLine) +
                        "i=0; while [ $i -lt 100 ]; do line 0.$i $i; i=$((i+1)); done > $FILE"));
  EXPECT_EQ(world.reported_at_exit, 100u);
  EXPECT_EQ(world.reports.size(), 100u);
}

TEST(MetricLauncher, TellsEverythingBeforeTheExitAlsoIfNoDescriptorIsFreeAtTheEnd) {
  World world;
  const Path go = world.processes.state.path() / "go";
  world.Launch(world.Trial(std::string(kLine) + "line 0.1 1 > $FILE; until [ -e " + go.string() +
                           " ]; do sleep 0.01; done; line 0.2 2 > $FILE"));
  ASSERT_TRUE(world.Await([&] { return world.reports.size() == 1; }));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  ::mkdir(go.c_str(), 0700);
  const bool has_exited_early = world.AwaitBriefly([&] { return !world.exits.empty(); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(has_exited_early);
  ASSERT_TRUE(world.Await([&] { return !world.exits.empty(); }));
  EXPECT_EQ(world.reported_at_exit, 2u);
}

TEST(MetricLauncher, LeavesOutOtherTagsAndHalfALine) {
  World world;
  world.Run(world.Trial(R"(echo '{"loss": "1", "timestamp": 1}' > $FILE; )"
                        R"(printf '{"accuracy": "0.5"' >> $FILE)"));
  EXPECT_THAT(world.Values(), IsEmpty());
}

TEST(MetricLauncher, AWholeLastLineCountsWithoutItsNewline) {
  World world;
  world.Run(world.Trial(R"(printf '{"accuracy": "0.5"}' > $FILE)"));
  EXPECT_THAT(world.Values(), ElementsAre(0.5));
}

TEST(MetricLauncher, WithoutTimestampsEachLineIsTakenOnce) {
  World world;
  world.Run(world.Trial(R"(for v in 1 2 1; do echo "{\"accuracy\": $v}" >> $FILE; done; )"
                        "touch $FILE"));
  EXPECT_THAT(world.Values(), ElementsAre(1, 2, 1));
}

TEST(MetricLauncher, WithoutTimestampsAFileWrittenAnewIsNews) {
  World world;
  const std::string wait = "until [ -e $EVENTS/go$N ]; do sleep 0.01; done; ";
  world.Launch(
      world.Trial("mkdir -p $EVENTS; one() { echo \"{\\\"accuracy\\\": $1}\" > $FILE; }; "
                  "one 1; N=1; " +
                  wait + "one 2; N=2; " + wait + "one 1"));
  for (size_t told = 1; told <= 3; ++told) {
    EXPECT_TRUE(world.Await([&] { return world.reports.size() == told; })) << told;
    world.Event("go" + std::to_string(told), "");
  }
  EXPECT_TRUE(world.Await([&] { return world.exits.size() == 1; }));
  EXPECT_THAT(world.Values(), ElementsAre(1, 2, 1));
}

TEST(MetricLauncher, NamesOtherTagsWhereTheMetricNeverCame) {
  World world;
  world.Event("events.out.tfevents.1", Framed(AnEvent(1, 3, Simple("epoch_accuracy", 0.5f))));
  world.Run(world.Trial(R"(echo '{"acc": "1", "timestamp": 1}' > $FILE)"));
  EXPECT_TRUE(world.processes.sink.AwaitMessage(
      "The trial has reported acc, epoch_accuracy, but no 'accuracy'. Name one of them as the "
      "metric of the job (hyperparameterMetricTag, or metricId of Vertex AI), or report "
      "'accuracy'."));
}

TEST(MetricLauncher, AFileThatNeverComesIsNoMisfortune) {
  World world;
  world.Run(world.Trial("rm -rf $(dirname $FILE)"));
  EXPECT_THAT(world.Values(), IsEmpty());
  EXPECT_EQ(world.exits[0].exit_code, 0);
}

TEST(MetricLauncher, ADirectoryOrAFifoInItsPlaceIsToldAndReadFromByNobody) {
  for (const char* make : {"mkdir $FILE", "mkfifo $FILE"}) {
    World world;
    world.Run(world.Trial(std::string(make) + " && exec true"));
    EXPECT_THAT(world.Values(), IsEmpty());
    EXPECT_EQ(world.exits[0].exit_code, 0);
    EXPECT_TRUE(world.processes.sink.AwaitMessage("where the trial's metric is to be written"));
  }
}

TEST(MetricLauncher, ALinkInItsPlaceIsReportedOnceAndNotFollowed) {
  World world;
  world.Run(world.Trial(std::string(kLine) + "line 0.1 1 > $FILE.other; ln -s $FILE.other $FILE"));
  EXPECT_THAT(world.Values(), IsEmpty());
  const auto messages = world.processes.sink.Messages();
  EXPECT_THAT(messages, ElementsAre(HasSubstr("is a symbolic link. Nothing is read from it.")));
}

TEST(MetricLauncher, FollowsEventFilesAtAnyDepth) {
  World world;
  world.Launch(world.Trial("exec sleep 600"));
  world.Event("train/deep/down/events.out.tfevents.1",
              Framed(AnEvent(1, 1, Simple("accuracy", 0.5f))));
  EXPECT_TRUE(world.Await([&] { return world.reports.size() == 1; }));
  world.Event("train/deep/down/events.out.tfevents.1",
              Framed(AnEvent(2, 2, Simple("accuracy", 0.25f))), true);
  EXPECT_TRUE(world.Await([&] { return world.reports.size() == 2; }));
  world.Event("eval/events.out.tfevents.2", Framed(AnEvent(3, 3, Simple("accuracy", 0.125f))));
  EXPECT_TRUE(world.Await([&] { return world.reports.size() == 3; }));
  EXPECT_THAT(world.Values(), ElementsAre(0.5, 0.25, 0.125));
  world.launcher.Kill({{"p", "job", "3"}, {}, 1});
  EXPECT_TRUE(world.Await([&] { return world.exits.size() == 1; }));
  EXPECT_EQ(world.reports.size(), 3u);
}

TEST(MetricLauncher, AnEventFileThatIsWrittenAnewWholeIsToldOnce) {
  World world;
  const std::string one = Framed(AnEvent(1, 1, Simple("accuracy", 0.5f)));
  const std::string two = one + Framed(AnEvent(2, 2, Simple("accuracy", 0.25f)));
  world.Launch(world.Trial("exec sleep 600"));
  world.Event("events.out.tfevents.1", one);
  EXPECT_TRUE(world.Await([&] { return world.reports.size() == 1; }));
  world.Event("part", two);
  std::filesystem::rename(world.Directory("gs://bkt/out/3/part"),
                          world.Directory("gs://bkt/out/3/events.out.tfevents.1"));
  EXPECT_TRUE(world.Await([&] { return world.reports.size() == 2; }));
  EXPECT_THAT(world.Values(), ElementsAre(0.5, 0.25));
  world.launcher.Kill({{"p", "job", "3"}, {}, 1});
  EXPECT_TRUE(world.Await([&] { return world.exits.size() == 1; }));
}

TEST(MetricLauncher, TellsOfBrokenEventFilesAndReadsTheRest) {
  World world;
  std::string bad = Framed(AnEvent(1, 1, Simple("accuracy", 0.5f)));
  bad[15] ^= 1;
  world.Event("events.out.tfevents.1", bad + Framed(AnEvent(2, 2, Simple("accuracy", 0.25f))));
  world.Event("events.out.tfevents.2", "this is not an event file");
  world.Run(world.Trial("true"));
  EXPECT_THAT(world.Values(), ElementsAre(0.25));
  EXPECT_TRUE(world.processes.sink.AwaitMessage("records that do not match their checksums"));
  EXPECT_TRUE(world.processes.sink.AwaitMessage("tfevents.2' is broken"));
}

TEST(MetricLauncher, AnEventFileOfTwoGibibytesCostsNoMemory) {
  World world;
  world.Event("events.out.tfevents.1", FrameHead(uint64_t{2} << 30));
  const Path file = world.Directory("gs://bkt/out/3/events.out.tfevents.1");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + (uint64_t{2} << 30) + 4);
  world.Event("events.out.tfevents.1", Framed(AnEvent(2, 2, Simple("accuracy", 0.25f))), true);
  world.Run(world.Trial("true"));
  EXPECT_THAT(world.Values(), ElementsAre(0.25));
}

TEST(MetricLauncher, WhatLiesInANeighboursJobDirIsTheNeighbours) {
  World world;
  const Path other = world.Directory("gs://bkt/out/4");
  std::filesystem::create_directories(other);
  std::ofstream(other / "events.out.tfevents.1") << Framed(AnEvent(1, 1, Simple("accuracy", 0.5f)));
  world.Run(world.Trial("true"));
  EXPECT_THAT(world.Values(), IsEmpty());
}

TEST(MetricLauncher, ReadsEventFilesOnlyWhereBootDisksAreElsewhereAndSaysSo) {
  World world(false);
  world.Event("events.out.tfevents.1", Framed(AnEvent(1, 1, Simple("accuracy", 0.5f))));
  world.Run(world.Trial(std::string(kLine) + "line 0.1 1 > $FILE"));
  EXPECT_THAT(world.Values(), ElementsAre(0.5));
  EXPECT_TRUE(world.processes.sink.AwaitMessage("The trial's metric file does not count"));
}

TEST(MetricLauncher, OneThatCannotBeStartedEndsAllTheSame) {
  World world;
  engine::ReplicaLaunch launch = world.Trial("true");
  launch.program = run::LocalCommand{{"/no/such/program"}};
  world.Run(launch);
  EXPECT_NE(world.exits[0].start_error + std::to_string(world.exits[0].exit_code), "0");
}

TEST(MetricLauncher, NoTrialStartsWhoseReportsNothingCouldRead) {
  World world;
  {
    const NoThreads none;
    world.Run(world.Trial("true"));
  }
  EXPECT_TRUE(world.exits[0].start_may_pass);
  EXPECT_THAT(world.exits[0].start_error, HasSubstr("cannot start a thread"));
  EXPECT_TRUE(world.processes.sink.AwaitMessage("This replica did not start"));
  world.Run(world.Trial(std::string(kLine) + "line 0.1 1 > $FILE"));
  EXPECT_THAT(world.Values(), ElementsAre(0.1));
}

/// A trial whose replica is the test itself. It has event files only.
struct TrialByHand {
  explicit TrialByHand(Duration end_wait_max) {
    auto inner = std::make_unique<HandLauncher>();
    HandLauncher& hand = *inner;
    launcher = std::make_unique<MetricLauncher>(
        std::move(inner), nullptr,
        MetricLauncherOptions{[this](const std::string&) { return root.path(); }, end_wait_max},
        sink, clock);
    engine::ReplicaLaunch launch = AShell("");
    launch.metrics = engine::MetricSource{"accuracy", "/output.metric", "gs://bkt/out"};
    launcher->Launch(std::move(launch),
                     {[](const engine::ReplicaKey&) {},
                      [this](const engine::ReplicaExit&) { at_exit.set_value(values); },
                      [this](const engine::ReplicaKey&, const std::vector<Report>& reports) {
                        for (const Report& report : reports) values.push_back(report.value);
                      }});
    listener = hand.listeners.back();
    listener.on_started(AKey());
  }
  /// Ends the replica. Returns the values that had come when the end was reported.
  std::vector<double> End() {
    listener.on_exit(ExitOfHand(AKey()));
    auto ended = at_exit.get_future();
    const bool has_ended = ended.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    EXPECT_TRUE(has_ended) << "no exit came";
    return has_ended ? ended.get() : std::vector<double>{};
  }

  TemporaryDirectory root;
  SystemClock clock;
  RecordingSink sink;
  std::vector<double> values;  // only the launcher's thread uses it
  std::promise<std::vector<double>> at_exit;
  engine::Launcher::Listener listener;
  std::unique_ptr<MetricLauncher> launcher;  // last: its thread uses the members above
};

TEST(MetricLauncher, MoreThanOneTurnReadsIsReadBeforeTheExit) {
  TrialByHand trial{std::chrono::seconds(60)};
  std::ofstream(trial.root.path() / "events.out.tfevents.1") << TenLargeEvents();
  EXPECT_THAT(trial.End(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(MetricLauncher, TheEndWaitsNoLongerThanItsBound) {
  TrialByHand trial{Duration(0)};
  ASSERT_TRUE(trial.sink.AwaitMessage("does not count"));  // its thread has started
  const NoDescriptors none;  // the directory cannot be read, for as long as the test waits
  EXPECT_THAT(trial.End(), IsEmpty());
  EXPECT_THAT(trial.sink.Messages().back(), HasSubstr("were not read before it ended"));
}

TEST(MetricLauncher, LaunchesOfJobsPassItBy) {
  World world;
  engine::ReplicaLaunch launch = AShell("true");
  world.Run(launch);
  EXPECT_EQ(world.exits[0].exit_code, 0);
}

}  // namespace
}  // namespace caip::host
