#include "emulator/check/trace_recorder.h"

#include <gmock/gmock.h>

#include "places.h"

namespace caip::check {
namespace {

using engine::ReplicaKey;
using harness::TouchedFile;
using host::FileAccess;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ReplicaKey kMaster = {{"p", "j", ""}, {"master", 0}, 1};
const ReplicaKey kWorker = {{"p", "j", ""}, {"worker", 0}, 1};

/// "master-0 /a was there, read, written, read after, 3 bytes".
std::string Words(const TouchedFile& file) {
  std::string words = file.replica + " " + file.path;
  if (file.was_there) words += " was there,";
  if (file.read) words += " read,";
  if (file.written) words += " written,";
  if (file.read_again) words += " read after,";
  return words + " " + std::to_string(file.bytes) + " bytes";
}

/// The boot disks of processes, or of machines whose files are below a directory of the host.
struct FakeDisks final : engine::LocalDisks {
  Path machines;  // "": replicas are processes
  std::string BootDisk(const ReplicaKey&) const override { return machines.empty() ? "/disk" : ""; }
  std::string OnHost(const ReplicaKey& key, const std::string& path) const override {
    return machines.empty() ? path : (machines / key.replica.role).string() + path;
  }
};

class TraceRecorderTest : public ::testing::Test {
 protected:
  void Read(const std::string& path, const ReplicaKey& who = kMaster) {
    recorder_.Seen(who, {FileAccess::Kind::kRead, path, "", true, false});
  }
  void Write(const std::string& path, bool is_there = false, bool reads_too = false) {
    recorder_.Seen(kMaster, {FileAccess::Kind::kWrite, path, "", is_there, reads_too});
  }
  void Rename(const std::string& from, const std::string& to, bool is_there = false) {
    recorder_.Seen(kMaster, {FileAccess::Kind::kRename, from, to, is_there, false});
  }
  void Delete(const std::string& path) {
    recorder_.Seen(kMaster, {FileAccess::Kind::kDelete, path, "", true});
  }
  void Launch(const ReplicaKey& who) {
    engine::ReplicaLaunch launch;
    launch.key = who;
    recorder_.Launching(launch, disks_);
  }
  void End(const ReplicaKey& who) {
    engine::ReplicaExit exit;
    exit.key = who;
    recorder_.Ended(exit);
  }
  harness::CheckRun Over() {
    harness::CheckRun run;
    recorder_.HandOver(run);
    return run;
  }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    for (const TouchedFile& file : Over().traces.files) files.push_back(Words(file));
    return files;
  }

  FakeDisks disks_;
  check::TraceRecorder recorder_{"/state/buckets", true};
};

TEST_F(TraceRecorderTest, ObjectsAndFilesOfTheSystemAreLeftOut) {
  Read("/state/buckets/job/out/ckpt");
  Write("/state/buckets/job/out/ckpt");
  Read("/usr/lib/python3/json.py");
  Read("/etc/hosts");
  Write("/dev/shm/x");
  Read("/data/train.csv");
  Write("/etc/made-by-the-trainer");
  EXPECT_THAT(Files(), ElementsAre("master-0 /data/train.csv was there, read, 0 bytes",
                                   "master-0 /etc/made-by-the-trainer written, 0 bytes"));
}

TEST_F(TraceRecorderTest, ReadingBeforeAndAfterAWriteDiffer) {
  Read("/a");
  Write("/a", true);
  Write("/b");
  Read("/b");
  Write("/c");
  Read("/c");
  Write("/c", true);
  Write("/d", true, /*reads_too=*/true);
  EXPECT_THAT(Files(), ElementsAre("master-0 /a was there, read, written, 0 bytes",
                                   "master-0 /b written, read after, 0 bytes",
                                   "master-0 /c written, 0 bytes",
                                   "master-0 /d was there, read, written, read after, 0 bytes"));
}

TEST_F(TraceRecorderTest, TheReplicaThatTouchedAFileLastIsNamed) {
  Write("/a");
  Read("/a", kWorker);
  EXPECT_THAT(Files(), ElementsAre("worker-0 /a written, read after, 0 bytes"));
}

TEST_F(TraceRecorderTest, ARenameMovesAFileOrAllFilesBelowADirectory) {
  Write("/tmp/a");
  Rename("/tmp/a", "/out/a");
  Write("/srv/x/1");
  Write("/srv/x/2");
  Write("/srv/xy");
  Rename("/srv/x", "/done", true);
  EXPECT_THAT(Files(),
              ElementsAre("master-0 /done/1 was there, written, 0 bytes",
                          "master-0 /done/2 was there, written, 0 bytes",
                          "master-0 /out/a written, 0 bytes", "master-0 /srv/xy written, 0 bytes"));
}

TEST_F(TraceRecorderTest, AFileThatIsRenamedIntoABucketIsAnObject) {
  Write("/tmp/a");
  Rename("/tmp/a", "/state/buckets/job/out/a");
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(TraceRecorderTest, ADeletedFileIsKeptIfItWasRead) {
  Write("/a");
  Delete("/a");
  Read("/b");
  Write("/b", true);
  Delete("/b");
  Delete("/never-seen");
  EXPECT_THAT(Files(), ElementsAre("master-0 /b was there, read, 0 bytes"));
}

TEST_F(TraceRecorderTest, BytesAreCountedAtTheReplicasEnd) {
  TemporaryDirectory folder;
  const std::string kept = (folder.path() / "kept").string();
  const std::string gone = (folder.path() / "gone").string();
  ASSERT_TRUE(WriteFile(kept, "12345").ok());
  Write(kept);
  Write(gone);
  End(kMaster);
  EXPECT_THAT(Files(), ElementsAre("master-0 " + gone + " written, 0 bytes",
                                   "master-0 " + kept + " written, 5 bytes"));
}

TEST_F(TraceRecorderTest, FilesOfMachinesAreNotThoseOfOtherMachines) {
  TemporaryDirectory folder;
  disks_.machines = folder.path();
  for (const ReplicaKey& key : {kMaster, kWorker}) {
    const Path tmp = folder.path() / key.replica.role / "tmp";
    ASSERT_TRUE(MakeDirectories(tmp).ok());
    ASSERT_TRUE(WriteFile(tmp / "f", key.replica.role).ok());
    Launch(key);
    recorder_.Seen(key, {FileAccess::Kind::kWrite, "/tmp/f", "", false, false});
  }
  Read("/home/ann/f", kWorker);
  End(kMaster);
  End(kWorker);
  const std::vector<TouchedFile> files = Over().traces.files;
  std::vector<std::string> words;
  for (const TouchedFile& file : files) words.push_back(Words(file));
  EXPECT_THAT(words, ElementsAre("master-0 /tmp/f written, 6 bytes",
                                 "worker-0 /home/ann/f was there, read, 0 bytes",
                                 "worker-0 /tmp/f written, 6 bytes"));
  EXPECT_TRUE(files[0].is_on_own_disk);
  EXPECT_FALSE(files[1].is_on_own_disk);
}

TEST_F(TraceRecorderTest, LaunchesKeepTheirArguments) {
  engine::ReplicaLaunch launch;
  launch.key = kWorker;
  launch.program = run::LocalCommand{{"python3", "-m", "trainer.task"}};
  launch.environment = {{"HOSTNAME", "elsewhere"}};
  launch.working_directory = "user_dir";
  recorder_.Launching(launch, disks_);
  const harness::CheckRun run = Over();
  ASSERT_EQ(run.launched.size(), 1u);
  EXPECT_EQ(run.launched[0].replica, "worker-0");
  EXPECT_EQ(run.launched[0].argv, launch.Argv());
  EXPECT_EQ(run.launched[0].Variable("HOSTNAME"), "elsewhere");
  EXPECT_EQ(run.launched[0].Variable("HOME"), "");
  EXPECT_EQ(run.launched[0].boot_disk, "/disk");
  EXPECT_EQ(run.launched[0].directory, "/disk/user_dir");
}

TEST_F(TraceRecorderTest, ErrorsAreLinesOfStderrWithoutALogger) {
  const auto line = [](const std::string& text, engine::Severity severity,
                       const std::string& pathname) {
    engine::LogLine made;
    made.task = "master-replica-0";
    made.severity = severity;
    made.message = text;
    made.pathname = pathname;
    return made;
  };
  recorder_.Printed(line("pip says", engine::Severity::kError, ""));  // nobody is launched yet
  Launch(kMaster);
  recorder_.Printed(line("progress", engine::Severity::kError, ""));
  recorder_.Printed(line("logged", engine::Severity::kError, "trainer/task.py"));
  recorder_.Printed(line("printed", engine::Severity::kInfo, ""));
  const harness::CheckRun run = Over();
  ASSERT_EQ(run.traces.raw_errors.size(), 1u);
  EXPECT_EQ(run.traces.raw_errors[0].text, "progress");
  EXPECT_EQ(run.traces.raw_errors[0].replica, "master-0");
}

TEST_F(TraceRecorderTest, ProcessesThatOutliveAReplicaAreNamed) {
  recorder_.LeftRunning(kMaster, {"421 sleep 600"});
  const harness::CheckRun run = Over();
  ASSERT_EQ(run.traces.left_running.size(), 1u);
  EXPECT_EQ(run.traces.left_running[0].command, "421 sleep 600");
}

TEST_F(TraceRecorderTest, TheMetricFileIsReadWhenItsReplicaHasEnded) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "output.metric").string();
  ASSERT_TRUE(WriteFile(file, "{\"loss\": \"2.0\", \"global_step\": \"8\"}\nno JSON\n").ok());
  engine::ReplicaLaunch launch;
  launch.key = kMaster;
  launch.metrics = engine::MetricSource{"accuracy", file, ""};
  recorder_.Launching(launch, disks_);
  End(kWorker);
  End(kMaster);
  std::vector<std::string> reports;
  for (const harness::TriedReport& report : Over().traces.tried_reports) {
    reports.push_back(report.where + " " + report.tag + "=" + report.value);
  }
  EXPECT_THAT(reports, ElementsAre("the metric file loss=2.0", "the metric file =no JSON"));
}

}  // namespace
}  // namespace caip::check
