#include "emulator/app/state/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sqlite.h"
#include "base/time_text.h"
#include "places.h"
#include "tests/support/database_dump.h"

namespace caip::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kOwn = "9.8.7";
const Instant kNow = *ParseRfc3339("2027-01-02T03:04:05Z");

/// A state with two databases of old schemas: the jobs of version 0.1, and a log of the first
/// format.
class OldState : public ::testing::Test {
 protected:
  OldState() { Put(state_.path()); }

  static void Put(const Path& state) {
    const Path fixtures = Path(CAIP_SOURCE_DIR) / "tests/fixtures";
    testing::RestoreDump(fixtures / "jobs_0_1.sql", state / "jobs.db");
    testing::RestoreDump(fixtures / "state_0_1/studies.sql", state / "studies.db");
    testing::RunSql(state / "logs.db", kFirstLog);
  }
  std::string Dump(const std::string& file) { return testing::DatabaseDump(state_.path() / file); }
  Result<Upgrade> Run(std::function<void(const std::string&)> after_step = {}) {
    return UpgradeState(state_.path(), {kOwn, kNow, std::move(after_step)});
  }

  static constexpr const char* kFirstLog =
      "CREATE TABLE chunks(first_id INTEGER PRIMARY KEY, last_id INTEGER NOT NULL,"
      " project TEXT NOT NULL, job_id TEXT NOT NULL, first_time INTEGER NOT NULL,"
      " last_time INTEGER NOT NULL, entries TEXT NOT NULL);"
      "CREATE INDEX chunks_of_job ON chunks(project, job_id, first_id);"
      "PRAGMA application_id = 1128352080; PRAGMA user_version = 1;";
  TemporaryDirectory state_;
};

TEST_F(OldState, IsMigratedAfterACopyWasMade) {
  const std::string jobs = Dump("jobs.db");
  const std::string logs = Dump("logs.db");
  const std::string studies = Dump("studies.db");
  const auto upgrade = Run();
  ASSERT_TRUE(upgrade.ok()) << upgrade.error().message;
  ASSERT_EQ(upgrade->migrations.size(), 2u);
  EXPECT_EQ(upgrade->copy, state_.path() / "migrations/20270102T030405Z");
  EXPECT_EQ(testing::DatabaseDump(upgrade->copy / "jobs.db"), jobs);
  EXPECT_EQ(testing::DatabaseDump(upgrade->copy / "logs.db"), logs);
  EXPECT_FALSE(std::filesystem::exists(upgrade->copy / "studies.db"));
  EXPECT_THAT(Dump("jobs.db"), HasSubstr("user_version 4"));
  EXPECT_THAT(Dump("logs.db"), HasSubstr("user_version 2"));
  EXPECT_EQ(Dump("studies.db"), studies);

  const auto again = Run();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_THAT(again->migrations, IsEmpty());
  const auto copies = KeptCopies(state_.path());
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_TRUE(copies[0].is_finished);
  EXPECT_EQ(copies[0].caip_version, kOwn);
  EXPECT_EQ(copies[0].databases.size(), 2u);
}

TEST_F(OldState, RecordsTheVersionThatUsedItLast) {
  EXPECT_FALSE(ReadLastWriter(state_.path()));
  ASSERT_TRUE(Run().ok());
  const auto writer = ReadLastWriter(state_.path());
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->version, kOwn);
  EXPECT_EQ(writer->since, "2027-01-02T03:04:05Z");
}

TEST_F(OldState, PlansWithoutAChange) {
  const auto plan = PlanMigrations(state_.path(), kOwn);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ(plan->size(), 2u);
  EXPECT_EQ((*plan)[0].store->file, "jobs.db");
  EXPECT_EQ((*plan)[0].from, 2);
  EXPECT_EQ((*plan)[1].store->file, "logs.db");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(state_.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("jobs.db", "logs.db", "studies.db"));
}

TEST_F(OldState, OfANewerVersionIsRefusedWithAllThatIsNewer) {
  testing::RunSql(state_.path() / "jobs.db", "PRAGMA user_version = 17");
  testing::RunSql(state_.path() / "studies.db", "PRAGMA user_version = 8");
  ASSERT_TRUE(RecordWriter(state_.path(), "12.0.0", "2030-01-01T00:00:00Z").ok());
  const std::string logs = Dump("logs.db");
  const auto upgrade = Run();
  ASSERT_FALSE(upgrade.ok());
  EXPECT_EQ(upgrade.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(upgrade.error().message,
            "The state directory '" + state_.path().string() +
                "' was written by a newer version of caip, 12.0.0. jobs.db has version 17, and "
                "this caip 9.8.7 supports versions up to 4. studies.db has version 8, and this "
                "caip 9.8.7 supports versions up to 1. Use the newer caip, restore a backup that "
                "this version made (`caip state restore`), or name another directory with --state "
                "or $CAIP_STATE.");
  EXPECT_EQ(Dump("logs.db"), logs) << "nothing was migrated";
  EXPECT_EQ(ReadLastWriter(state_.path())->version, "12.0.0");
}

// A newer schema may be only in the write-ahead log, which the file's header does not show.
TEST_F(OldState, WithANewerSchemaInItsLogIsRefused) {
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(RecordWriter(state_.path(), "12.0.0", "2030-01-01T00:00:00Z").ok());
  {
    SqliteDatabase database(state_.path() / "jobs.db",
                            [](Code code, const Path&, std::string_view why) {
                              return Error{code, std::string(why)};
                            });
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kExisting).ok());
    ASSERT_TRUE(database.Run("PRAGMA user_version = 17").ok());
  }
  ASSERT_EQ(VersionInHeader(state_.path() / "jobs.db"), 4) << "the log was written back";
  const auto plan = PlanMigrations(state_.path(), kOwn);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("jobs.db has version 17"));
}

// An earlier caip may have made the file since. Until its log is written back, the header has no
// version.
TEST_F(OldState, WithAnOlderSchemaInItsLogAloneIsMigrated) {
  ASSERT_TRUE(Run().ok());
  const Path file = state_.path() / "jobs.db";
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(file.string() + suffix);
  }
  const auto dump = ReadFile(Path(CAIP_SOURCE_DIR) / "tests/fixtures/jobs_0_1.sql");
  ASSERT_TRUE(dump.ok());
  {
    SqliteDatabase database(file, [](Code code, const Path&, std::string_view why) {
      return Error{code, std::string(why)};
    });
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kCreate).ok());
    ASSERT_TRUE(database.Run("PRAGMA journal_mode = WAL").ok());
    const Status made = database.Run(dump->c_str());
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  ASSERT_EQ(VersionInHeader(file), 0) << "the log was written back";
  EXPECT_EQ(VersionInLog(file), 2);
  const auto plan = PlanMigrations(state_.path(), kOwn);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ(plan->size(), 1u);
  EXPECT_EQ((*plan)[0].from, 2);
}

// The copy of an upgrade may be put back after it.
TEST_F(OldState, ThatReplacesAMigratedOneIsMigratedAgain) {
  const std::string jobs = Dump("jobs.db");
  const auto first = Run();
  ASSERT_TRUE(first.ok()) << first.error().message;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(state_.path() / (std::string("jobs.db") + suffix));
  }
  std::filesystem::copy(first->copy / "jobs.db", state_.path() / "jobs.db");
  const auto second = Run();
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_EQ(second->migrations.size(), 1u);
  EXPECT_THAT(Dump("jobs.db"), HasSubstr("user_version 4"));
  EXPECT_EQ(second->copy, state_.path() / "migrations/20270102T030405Z-2");
  EXPECT_EQ(testing::DatabaseDump(second->copy / "jobs.db"), jobs);
}

TEST_F(OldState, LeavesADamagedFileToItsOwnStore) {
  ASSERT_TRUE(
      WriteFile(state_.path() / "buckets.db", "not a database, but a long enough text").ok());
  const auto upgrade = Run();
  ASSERT_TRUE(upgrade.ok()) << upgrade.error().message;
  EXPECT_EQ(upgrade->migrations.size(), 2u);
}

/// Runs the upgrade in a child process that is killed after its `last` step. Returns false if the
/// upgrade ended before.
bool UpgradeIsKilledAfter(const Path& state, int last) {
  const pid_t child = ::fork();
  if (child == 0) {
    int step = 0;
    const auto kill = [&](const std::string&) {
      if (step++ == last) ::kill(::getpid(), SIGKILL);
    };
    ::_exit(UpgradeState(state, {kOwn, kNow, kill}).ok() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

TEST_F(OldState, KilledAfterAnyStepIsOldOrNewAndContinues) {
  const std::vector<std::string> files = {"jobs.db", "logs.db"};
  std::vector<std::string> old;
  for (const std::string& file : files) old.push_back(Dump(file));
  TemporaryDirectory other;
  Put(other.path());
  ASSERT_TRUE(UpgradeState(other.path(), {kOwn, kNow}).ok());
  std::vector<std::string> fresh;
  for (const std::string& file : files) {
    fresh.push_back(testing::DatabaseDump(other.path() / file));
  }
  int step = 0;
  for (bool killed = true; killed; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    TemporaryDirectory state;
    Put(state.path());
    killed = UpgradeIsKilledAfter(state.path(), step);
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string now = testing::DatabaseDump(state.path() / files[i]);
      EXPECT_TRUE(now == old[i] || now == fresh[i]) << files[i] << " is neither:\n" << now;
    }
    const auto upgrade = UpgradeState(state.path(), {kOwn, kNow + std::chrono::seconds(9)});
    ASSERT_TRUE(upgrade.ok()) << upgrade.error().message;
    const auto copies = KeptCopies(state.path());
    ASSERT_EQ(copies.size(), 1u);
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(testing::DatabaseDump(state.path() / files[i]), fresh[i]);
      EXPECT_EQ(testing::DatabaseDump(copies[0].directory / files[i]), old[i]);
    }
    const std::filesystem::directory_iterator begin(state.path() / "migrations");
    EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 1);
  }
  EXPECT_GT(step, 8);
}

TEST(RestoredState, ThatIsIncompleteIsRefused) {
  TemporaryDirectory state;
  ASSERT_TRUE(MakeDirectories(state.path() / ".restoring").ok());
  const auto upgrade = UpgradeState(state.path(), {kOwn, kNow});
  ASSERT_FALSE(upgrade.ok());
  EXPECT_EQ(upgrade.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(upgrade.error().message, HasSubstr("its restoration was interrupted"));
}

// So that a start need not open the databases of a young state.
TEST(NewState, HasItsSchemasInTheLogs) {
  TemporaryDirectory state;
  for (const Store& store : Stores()) {
    const Path file = state.path() / store.file;
    ASSERT_TRUE(store.migrate(file).ok()) << store.file;
    EXPECT_EQ(VersionInHeader(file), 0) << store.file;
    EXPECT_EQ(VersionInLog(file), store.version) << store.file;
  }
}

TEST(NewState, NeedsNoMigration) {
  TemporaryDirectory state;
  const auto upgrade = UpgradeState(state.path(), {kOwn, kNow});
  ASSERT_TRUE(upgrade.ok()) << upgrade.error().message;
  EXPECT_THAT(upgrade->migrations, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(state.path() / "migrations"));
}

}  // namespace
}  // namespace caip::app
