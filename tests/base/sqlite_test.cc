#include "base/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace caip {
namespace {

Error DatabaseFailed(Code code, const Path&, std::string_view why) {
  return {code, std::string(why)};
}

class Databases : public ::testing::Test {
 protected:
  /// Each file of the directory with its bytes and the time of its last change.
  std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> Files() const {
    std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      files[entry.path().filename()] = {*ReadFile(entry.path()), entry.last_write_time()};
    }
    return files;
  }
  static void Make(SqliteDatabase& database, const char* journal) {
    ASSERT_TRUE(database.Open(SqliteDatabase::Mode::kCreate).ok());
    ASSERT_TRUE(database.Run(journal).ok());
    ASSERT_TRUE(database.Run("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)").ok());
  }
  static int64_t Count(const Path& file, SqliteDatabase::Mode mode) {
    SqliteDatabase database(file, DatabaseFailed);
    const Status opened = database.Open(mode);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    const auto count = database.Number("SELECT count(*) FROM t");
    EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.error().message);
    return count.ok() ? *count : -1;
  }

  TemporaryDirectory directory_;
  Path file_ = directory_.path() / "a b%c?.db";
};

TEST_F(Databases, AreReadWithoutAChange) {
  for (const char* journal : {"PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL"}) {
    std::filesystem::remove(file_);
    {
      SqliteDatabase writer(file_, DatabaseFailed);
      Make(writer, journal);
    }
    const auto before = Files();
    EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 2);
    EXPECT_EQ(Files(), before) << journal;
  }
}

TEST_F(Databases, AreReadWhileTheyAreWritten) {
  SqliteDatabase writer(file_, DatabaseFailed);
  Make(writer, "PRAGMA journal_mode = WAL");
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 2);
  ASSERT_TRUE(writer.Run("BEGIN IMMEDIATE; INSERT INTO t VALUES (3)").ok());
  const auto before = Files();
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 2);
  EXPECT_EQ(Files(), before);
  ASSERT_TRUE(writer.Run("COMMIT").ok());
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 3);
}

TEST_F(Databases, AreReadWithALogWhoseIndexIsMissing) {
  {
    SqliteDatabase writer(file_, DatabaseFailed);
    Make(writer, "PRAGMA journal_mode = WAL");
  }
  ASSERT_TRUE(std::filesystem::remove(file_.string() + "-shm"));
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 2);
}

TEST_F(Databases, AreReadWithALogThatHasOnlyItsHeader) {
  const Path log = file_.string() + "-wal";
  {
    SqliteDatabase writer(file_, DatabaseFailed);
    Make(writer, "PRAGMA journal_mode = WAL");
    ASSERT_TRUE(writer.Run("PRAGMA wal_checkpoint(FULL)").ok());
    std::filesystem::copy_file(log, log.string() + ".kept");
  }
  std::filesystem::rename(log.string() + ".kept", log);
  std::filesystem::resize_file(log, 32);
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 2);
}

// The power failed while the new database got its log: the journal's removal was lost. It says that
// the file was empty before.
TEST_F(Databases, AreReadWithAJournalThatHasToBeRolledBack) {
  {
    SqliteDatabase writer(file_, DatabaseFailed);
    ASSERT_TRUE(writer.Open(SqliteDatabase::Mode::kCreate).ok());
    ASSERT_TRUE(writer.Run("PRAGMA journal_mode = WAL").ok());
  }
  std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\0none\0\0\0\0\0\0\2\0\0\0\x10\0", 28);
  journal.resize(512);
  ASSERT_TRUE(WriteFile(file_.string() + "-journal", journal).ok());
  const auto before = Files();
  SqliteDatabase reader(file_, DatabaseFailed);
  const Status opened = reader.Open(SqliteDatabase::Mode::kReadOnly);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(*reader.Number("PRAGMA user_version"), 0);
  EXPECT_EQ(Files(), before);
  SqliteDatabase writer(file_, DatabaseFailed);
  Make(writer, "PRAGMA journal_mode = WAL");
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kReadOnly), 2);
}

TEST_F(Databases, ThatAreMissingAreNotMadeByAReader) {
  SqliteDatabase database(file_, DatabaseFailed);
  const Status opened = database.Open(SqliteDatabase::Mode::kReadOnly);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, Code::kNotFound);
  EXPECT_TRUE(Files().empty());
}

TEST_F(Databases, AreCopiedAsATransactionSeesThem) {
  SqliteDatabase writer(file_, DatabaseFailed);
  Make(writer, "PRAGMA journal_mode = WAL");
  SqliteDatabase reader(file_, DatabaseFailed);
  ASSERT_TRUE(reader.Open(SqliteDatabase::Mode::kExisting).ok());
  ASSERT_TRUE(reader.Run("BEGIN").ok());
  ASSERT_TRUE(reader.Number("SELECT count(*) FROM t").ok());
  ASSERT_TRUE(writer.Run("INSERT INTO t VALUES (3)").ok());
  const Path copy = directory_.path() / "copy.db";
  ASSERT_TRUE(reader.CopyTo(copy).ok());
  EXPECT_EQ(Count(copy, SqliteDatabase::Mode::kExisting), 2);
  EXPECT_EQ(Count(file_, SqliteDatabase::Mode::kExisting), 3);
  const Status nowhere = reader.CopyTo(directory_.path() / "missing/copy.db");
  ASSERT_FALSE(nowhere.ok());
}

TEST_F(Databases, CompileAStatementAtItsFirstUse) {
  SqliteDatabase database(file_, DatabaseFailed);
  Make(database, "PRAGMA journal_mode = WAL");
  SqliteStatement greater;
  SqliteStatement wrong;
  database.PrepareLater(greater, "SELECT x FROM later WHERE x > ?1");
  database.PrepareLater(wrong, "SELECT x FROM nowhere WHERE x > ?1");
  ASSERT_TRUE(database.Run("CREATE TABLE later(x); INSERT INTO later VALUES (7)").ok());
  for (int i = 0; i < 2; ++i) {
    const SqliteUse use(greater);
    EXPECT_TRUE(greater.Bind(1, int64_t{6}).Next());
    EXPECT_EQ(greater.Integer(0), 7);
    const SqliteUse use_of_wrong(wrong);
    const int code = wrong.Bind(1, int64_t{6}).Step();
    EXPECT_THAT(database.Failure(code).message, ::testing::HasSubstr("nowhere"));
  }
}

}  // namespace
}  // namespace caip
