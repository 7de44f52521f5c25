#include "host/store/job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "base/json.h"
#include "base/sqlite.h"
#include "host/errors.h"

namespace caip::host {
namespace {

using engine::JobRecord;
using engine::RemovedId;
using testing::ElementsAre;
using testing::HasSubstr;

JobRecord Record(const std::string& project, const std::string& id, int64_t second,
                 run::JobState state = run::JobState::kQueued) {
  JobRecord record;
  record.job.key = {project, id, ""};
  record.job.create_time = Instant(std::chrono::seconds(second) + std::chrono::nanoseconds(7));
  record.job.state = state;
  record.job.document =
      std::make_shared<const Json>(Json{{"trainingInput", {{"region", "us-central1"}}}});
  record.note = {{"seed", 4711}, {"addresses", {"127.3.4.2:2222"}}};
  return record;
}

std::vector<std::string> Ids(const Result<std::vector<JobRecord>>& records) {
  std::vector<std::string> ids;
  EXPECT_TRUE(records.ok()) << (records.ok() ? "" : records.error().message);
  if (records.ok()) {
    for (const JobRecord& record : *records) ids.push_back(record.job.key.job_id);
  }
  return ids;
}

class JobStoreTest : public testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    store_.reset();
    auto opened = OpenJobStore(file_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    store_ = std::move(*opened);
  }
  TemporaryDirectory directory_;
  Path file_ = directory_.path() / "jobs.db";
  std::unique_ptr<engine::JobStore> store_;
};

TEST_F(JobStoreTest, GivesBackWhatItWasGiven) {
  JobRecord record = Record("p", "one", 100);
  record.job.key.location = "attic";
  record.job.end_cause = run::EndCause::kOutOfStock;
  ASSERT_TRUE(store_->Create(record).ok());
  Reopen();
  const auto found = store_->Get("p", "one");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found->job.document, *record.job.document);
  EXPECT_EQ(found->job.create_time, record.job.create_time);
  EXPECT_EQ(found->note, record.note);
  EXPECT_EQ(found->job.key, record.job.key);
  EXPECT_EQ(found->job.end_cause, record.job.end_cause);
}

TEST_F(JobStoreTest, AnIdIsTakenInItsProject) {
  ASSERT_TRUE(store_->Create(Record("p", "one", 100, run::JobState::kFailed)).ok());
  const Status again = store_->Create(Record("p", "one", 200));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
  EXPECT_TRUE(store_->Create(Record("q", "one", 200)).ok());
  EXPECT_EQ(store_->Get("p", "one")->job.state, run::JobState::kFailed);
}

TEST_F(JobStoreTest, SavesOnlyWhatWasCreated) {
  JobRecord record = Record("p", "one", 100);
  const Status early = store_->Save(record);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, Code::kNotFound);
  ASSERT_TRUE(store_->Create(record).ok());
  record.job.state = run::JobState::kRunning;
  record.note = {{"boot", 2}};
  ASSERT_TRUE(store_->Save(record).ok());
  Reopen();
  EXPECT_EQ(store_->Get("p", "one")->job.state, run::JobState::kRunning);
  EXPECT_EQ(store_->Get("p", "one")->note, (Json{{"boot", 2}}));
}

TEST_F(JobStoreTest, ListsTheNewestFirstAndEqualTimesByCreation) {
  for (const auto& [id, second] : std::vector<std::pair<std::string, int>>{
           {"old", 100}, {"twin_1", 200}, {"twin_2", 200}, {"new", 300}, {"late_but_old", 50}}) {
    ASSERT_TRUE(store_->Create(Record("p", id, second)).ok());
  }
  ASSERT_TRUE(store_->Create(Record("q", "other", 150)).ok());
  EXPECT_THAT(Ids(store_->List({"p", 0, ""})),
              ElementsAre("new", "twin_2", "twin_1", "old", "late_but_old"));
  EXPECT_THAT(Ids(store_->List({"p", 2, ""})), ElementsAre("new", "twin_2"));
  EXPECT_THAT(Ids(store_->List({"p", 2, "twin_2"})), ElementsAre("twin_1", "old"));
  EXPECT_THAT(Ids(store_->List({"p", 0, "late_but_old"})), ElementsAre());
  EXPECT_THAT(Ids(store_->List({"nobody", 0, ""})), ElementsAre());
  EXPECT_EQ(store_->List({"p", 0, "unheard_of"}).error().code, Code::kNotFound);
}

TEST_F(JobStoreTest, KnowsTheUnfinishedOfAllProjectsOldestFirst) {
  ASSERT_TRUE(store_->Create(Record("q", "third", 5)).ok());
  ASSERT_TRUE(store_->Create(Record("p", "done", 1)).ok());
  ASSERT_TRUE(store_->Create(Record("p", "running", 9, run::JobState::kCancelling)).ok());
  ASSERT_TRUE(store_->Save(Record("p", "done", 1, run::JobState::kSucceeded)).ok());
  EXPECT_THAT(Ids(store_->Unfinished()), ElementsAre("third", "running"));
  EXPECT_TRUE(HasUnfinishedJobs(file_));
  ASSERT_TRUE(store_->Save(Record("q", "third", 5, run::JobState::kSucceeded)).ok());
  ASSERT_TRUE(store_->Save(Record("p", "running", 9, run::JobState::kSucceeded)).ok());
  EXPECT_FALSE(HasUnfinishedJobs(file_));
}

TEST_F(JobStoreTest, NamesTheNewestJobsToOtherProcesses) {
  ASSERT_TRUE(store_->Create(Record("p", "old", 1)).ok());
  ASSERT_TRUE(store_->Create(Record("q", "foreign", 2)).ok());
  ASSERT_TRUE(store_->Create(Record("p", "new", 9)).ok());
  ASSERT_TRUE(store_->Save(Record("p", "old", 1, run::JobState::kFailed)).ok());
  const auto names = NewestJobNames(file_, "p", 10);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].id, "new");
  EXPECT_FALSE(names[0].has_ended);
  EXPECT_EQ(names[1].id, "old");
  EXPECT_TRUE(names[1].has_ended);
  EXPECT_EQ(NewestJobNames(file_, "p", 1).size(), 1u);
  EXPECT_TRUE(NewestJobNames(file_.string() + ".missing", "p", 10).empty());
  EXPECT_FALSE(std::filesystem::exists(file_.string() + ".missing"));
}

TEST_F(JobStoreTest, KnowsTheNewestTimeOfCreationOfAllProjects) {
  EXPECT_EQ(*store_->NewestCreateTime(), std::nullopt);
  ASSERT_TRUE(store_->Create(Record("p", "old", 1)).ok());
  ASSERT_TRUE(store_->Create(Record("q", "new", 9, run::JobState::kSucceeded)).ok());
  ASSERT_TRUE(store_->Create(Record("p", "between", 5)).ok());
  EXPECT_EQ(*store_->NewestCreateTime(), store_->Get("q", "new")->job.create_time);
}

TEST_F(JobStoreTest, NamesThatLookLikeSqlAreNames) {
  const std::string id = "a'); DROP TABLE jobs; --";
  ASSERT_TRUE(store_->Create(Record("p'", id, 1)).ok());
  EXPECT_EQ(store_->Get("p'", id)->job.key.job_id, id);
}

TEST_F(JobStoreTest, IsReadFromManyThreadsWhileOneWrites) {
  std::atomic<bool> done{false};
  std::atomic<int> errors{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 6; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto records = store_->List({"p", 0, ""});
        if (!records.ok() || !store_->Unfinished().ok()) ++errors;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const JobRecord record = Record("p", "job_" + std::to_string(i), i);
    if (!store_->Create(record).ok() || !store_->Save(record).ok()) ++errors;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(Ids(store_->List({"p", 0, ""})).size(), 200u);
}

// The child acknowledges each job on the pipe when Create or Save has returned, until it is killed.
TEST_F(JobStoreTest, KeepsAllItHasAcknowledgedWhenKilledMidway) {
  for (const int acknowledged_before_kill : {1, 7, 40}) {
    store_.reset();
    const std::string project = "p" + std::to_string(acknowledged_before_kill);
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = OpenJobStore(file_);
      for (int i = 0; store.ok(); ++i) {
        JobRecord record = Record(project, "job_" + std::to_string(i), i);
        bool ok = (*store)->Create(record).ok();
        record.job.state = run::JobState::kRunning;
        ok = ok && (*store)->Save(record).ok();
        if (!ok || ::write(pipe_ends[1], &i, sizeof i) != sizeof i) break;
      }
      ::_exit(1);
    }
    int last = -1;
    while (last + 1 < acknowledged_before_kill) {
      ASSERT_EQ(::read(pipe_ends[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[1]);
    while (::read(pipe_ends[0], &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
    }
    ::close(pipe_ends[0]);
    Reopen();
    for (int i = 0; i <= last; ++i) {
      const auto found = store_->Get(project, "job_" + std::to_string(i));
      ASSERT_TRUE(found.ok()) << i << " of " << last;
      EXPECT_EQ(found->job.state, run::JobState::kRunning) << i << " of " << last;
    }
  }
}

TEST_F(JobStoreTest, AFileThatIsNoStoreIsSaidToBeNone) {
  store_.reset();
  ASSERT_TRUE(WriteFile(file_, std::string(8192, 'x')).ok());
  for (const char* extension : {"-wal", "-shm"}) ::unlink((file_.string() + extension).c_str());
  const auto opened = OpenJobStore(file_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kDataLoss);
  EXPECT_THAT(opened.error().message, HasSubstr(file_.string()));
  EXPECT_THAT(opened.error().message, HasSubstr("Move the file away"));
}

TEST_F(JobStoreTest, AStoreInADirectoryThatIsNotThereCannotBeOpened) {
  const auto opened = OpenJobStore(directory_.path() / "none" / "jobs.db");
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("jobs.db"));
}

engine::TrialRecord ATrial(const std::string& job, const std::string& trial,
                           run::JobState state = run::JobState::kRunning) {
  engine::TrialRecord record;
  record.job.key = {"p", job, trial};
  record.job.document = std::make_shared<const Json>(Json::object());
  record.note = {{"attempt", 1}};
  record.job.state = state;
  record.job.create_time = Instant(std::chrono::seconds(5));
  return record;
}

TEST_F(JobStoreTest, KeepsTrialsByNumberWithTheirReportsInOrder) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const char* trial : {"10", "2", "1"}) {
    ASSERT_TRUE(store_->SaveTrial(ATrial("j", trial)).ok());
  }
  ASSERT_TRUE(store_->SaveTrial(ATrial("other", "1")).ok());
  ASSERT_TRUE(
      store_->AddReports({"p", "j", "2"}, {{10, 0.5, 1.25, false}, {20, kNaN, 2, true}}).ok());
  ASSERT_TRUE(store_->AddReports({"p", "j", "2"}, {{5, -kInfinity, 3, false}}).ok());
  ASSERT_TRUE(store_->SaveTrial(ATrial("j", "2", run::JobState::kSucceeded)).ok());
  Reopen();
  const auto trials = store_->Trials("p", "j");
  ASSERT_TRUE(trials.ok()) << trials.error().message;
  ASSERT_EQ(trials->size(), 3u);
  EXPECT_EQ((*trials)[0].job.key.trial, "1");
  EXPECT_EQ((*trials)[2].job.key.trial, "10");
  const engine::TrialRecord& second = (*trials)[1];
  EXPECT_EQ(second.job.state, run::JobState::kSucceeded);
  EXPECT_EQ(second.job.create_time, Instant(std::chrono::seconds(5)));
  EXPECT_EQ(second.note, Json({{"attempt", 1}}));
  ASSERT_EQ(second.reports.size(), 3u);
  EXPECT_EQ(second.reports[0].step, 10);
  EXPECT_EQ(second.reports[0].value, 0.5);
  EXPECT_EQ(second.reports[0].time, 1.25);
  EXPECT_FALSE(second.reports[0].summary);
  EXPECT_TRUE(std::isnan(second.reports[1].value));
  EXPECT_TRUE(second.reports[1].summary);
  EXPECT_EQ(second.reports[2].value, -kInfinity);
  EXPECT_TRUE(store_->Trials("p", "none")->empty());
}

TEST_F(JobStoreTest, RemovesAJobThatHasEndedWithItsTrials) {
  ASSERT_TRUE(store_->Create(Record("p", "j", 100, run::JobState::kFailed)).ok());
  ASSERT_TRUE(store_->Create(Record("q", "j", 100, run::JobState::kFailed)).ok());
  ASSERT_TRUE(store_->SaveTrial(ATrial("j", "1")).ok());
  ASSERT_TRUE(store_->SaveTrial(ATrial("other", "1")).ok());
  ASSERT_TRUE(store_->AddReports({"p", "j", "1"}, {{10, 0.5, 1.25, false}}).ok());
  ASSERT_TRUE(store_->Remove("p", "j", RemovedId::kFree).ok());
  EXPECT_EQ(store_->Remove("p", "j", RemovedId::kFree).error().code, Code::kNotFound);
  Reopen();
  EXPECT_EQ(store_->Get("p", "j").error().code, Code::kNotFound);
  EXPECT_TRUE(store_->Get("q", "j").ok());
  EXPECT_TRUE(store_->Trials("p", "j")->empty());
  EXPECT_EQ(store_->Trials("p", "other")->size(), 1u);
  ASSERT_TRUE(store_->Create(Record("p", "j", 200)).ok());
  EXPECT_TRUE(store_->Trials("p", "j")->empty());
}

TEST_F(JobStoreTest, KeepsTheIdOfARemovedJobTakenOnRequest) {
  for (const char* project : {"p", "q"}) {
    ASSERT_TRUE(store_->Create(Record(project, "j", 100, run::JobState::kFailed)).ok());
  }
  ASSERT_TRUE(store_->Remove("p", "j", RemovedId::kTaken).ok());
  ASSERT_TRUE(store_->Remove("q", "j", RemovedId::kFree).ok());
  Reopen();
  EXPECT_EQ(store_->Get("p", "j").error().code, Code::kNotFound);
  EXPECT_EQ(store_->Create(Record("p", "j", 200)).error().code, Code::kAlreadyExists);
  EXPECT_TRUE(store_->Create(Record("q", "j", 200)).ok());
  EXPECT_TRUE(store_->Create(Record("p", "k", 200)).ok());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have their own heaps
TEST_F(JobStoreTest, NeedsLittleMemoryForTheIdsOfRemovedJobs) {
  store_.reset();
  SqliteDatabase ids(file_, errors::JobStoreFailed);
  ASSERT_TRUE(ids.Open(SqliteDatabase::Mode::kExisting).ok());
  ASSERT_TRUE(ids.Run("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < "
                      "200000) INSERT INTO taken_ids SELECT 'p', i FROM n")
                  .ok());
  Reopen();
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 1'000; ++i) {
    const std::string id = std::to_string(i * 7919 % 200'003) + "x";
    ASSERT_TRUE(store_->Create(Record("p", id, i, run::JobState::kFailed)).ok());
    ASSERT_TRUE(store_->Remove("p", id, RemovedId::kTaken).ok());
  }
  EXPECT_LT(::mallinfo2().uordblks, before + (1 << 20));
}
#endif

TEST_F(JobStoreTest, KeepsAJobThatHasNotEnded) {
  ASSERT_TRUE(store_->Create(Record("p", "j", 100)).ok());
  ASSERT_TRUE(store_->SaveTrial(ATrial("j", "1")).ok());
  EXPECT_FALSE(store_->Remove("p", "j", RemovedId::kTaken).ok());
  EXPECT_TRUE(store_->Get("p", "j").ok());
  EXPECT_EQ(store_->Trials("p", "j")->size(), 1u);
}

TEST_F(JobStoreTest, AStoreOfTheTimeBeforeTrialsGetsThem) {
  ASSERT_TRUE(store_->Create(Record("p", "one", 100)).ok());
  store_.reset();
  SqliteDatabase file(file_, errors::JobStoreFailed);  // what version 1 had
  ASSERT_TRUE(file.Open(SqliteDatabase::Mode::kExisting).ok());
  ASSERT_TRUE(file.Run("DROP TABLE trials; DROP TABLE reports; DROP TABLE taken_ids; "
                       "DROP INDEX jobs_by_age; DROP INDEX jobs_of_all_projects; "
                       "DROP INDEX jobs_by_id; ALTER TABLE jobs DROP COLUMN api; "
                       "ALTER TABLE jobs DROP COLUMN location; "
                       "CREATE INDEX jobs_by_age ON jobs (project, create_time, seq); "
                       "PRAGMA user_version = 1")
                  .ok());
  Reopen();
  EXPECT_TRUE(store_->Get("p", "one").ok());
  EXPECT_TRUE(store_->SaveTrial(ATrial("one", "1")).ok());
  EXPECT_EQ(store_->Trials("p", "one")->size(), 1u);
}

TEST_F(JobStoreTest, KeepsJobsOfSeveralApis) {
  const auto of_api = [](JobRecord record, const std::string& location) {
    record.job.api = "guests";
    record.job.key.location = location;
    return record;
  };
  ASSERT_TRUE(store_->Create(Record("p", "first", 100)).ok());
  ASSERT_TRUE(store_->Create(of_api(Record("p", "1", 101), "attic")).ok());
  ASSERT_TRUE(store_->Create(of_api(Record("q", "2", 102), "attic")).ok());
  ASSERT_TRUE(store_->Create(of_api(Record("p", "3", 103), "cellar")).ok());
  Reopen();
  EXPECT_THAT(Ids(store_->List({.project = "p"})), ElementsAre("first"));
  EXPECT_THAT(Ids(store_->List({.project = "p", .api = "guests", .location = "attic"})),
              ElementsAre("1"));
  const engine::JobQuery everywhere{.project = "", .api = "guests", .location = "attic"};
  EXPECT_THAT(Ids(store_->List(everywhere)), ElementsAre("2", "1"));
  engine::JobQuery rest = everywhere;
  rest.before_id = "2";
  EXPECT_THAT(Ids(store_->List(rest)), ElementsAre("1"));
  const auto found = store_->Find("3");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->job.key, (run::RunKey{"p", "3", "", "cellar"}));
  EXPECT_EQ(found->job.api, "guests");
  EXPECT_EQ(store_->Find("first").error().code, Code::kNotFound);
  EXPECT_THAT(Ids(store_->Unfinished()), ElementsAre("first", "1", "2", "3"));
}

TEST_F(JobStoreTest, ContinuesAListAfterAJobThatWasRemoved) {
  ASSERT_TRUE(store_->Create(Record("p", "old", 100)).ok());
  const JobRecord removed = Record("p", "removed", 101, run::JobState::kSucceeded);
  ASSERT_TRUE(store_->Create(removed).ok());
  ASSERT_TRUE(store_->Create(Record("p", "new", 102)).ok());
  EXPECT_EQ(*store_->CountCreated(), 3);
  ASSERT_TRUE(store_->Remove("p", "removed", RemovedId::kFree).ok());
  engine::JobQuery rest{.project = "p", .before_id = "removed"};
  EXPECT_EQ(store_->List(rest).error().code, Code::kNotFound);
  rest.before_time = removed.job.create_time;
  EXPECT_THAT(Ids(store_->List(rest)), ElementsAre("old"));
  Reopen();
  EXPECT_EQ(*store_->CountCreated(), 3) << "jobs that were removed count";
}

// A client that looks for unfinished jobs must not disturb the emulator that makes the store.
TEST_F(JobStoreTest, IsAskedForUnfinishedJobsWhileItIsMade) {
  for (int round = 0; round < 20; ++round) {
    const Path file = directory_.path() / ("new-" + std::to_string(round));
    std::atomic<bool> made = false;
    std::vector<std::jthread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        while (!made) EXPECT_FALSE(HasUnfinishedJobs(file));
      });
    }
    const auto store = OpenJobStore(file);
    made = true;
    EXPECT_TRUE(store.ok()) << store.error().message;
  }
}

}  // namespace
}  // namespace caip::host
