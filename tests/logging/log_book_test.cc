#include "fakes/logging/book/log_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "tests/logging/read_after.h"

namespace caip::logging {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Instant kBookNoon = *ParseRfc3339("2022-02-09T12:00:00.000000001Z");

Entry AnEntry(std::string message, Instant time = kBookNoon, std::string job_id = "j") {
  Entry entry;
  entry.project = "p";
  entry.job_id = std::move(job_id);
  entry.task = "master-replica-0";
  entry.severity = "INFO";
  entry.timestamp = time;
  entry.message = std::move(message);
  return entry;
}

std::vector<std::string> Messages(const Result<std::vector<Entry>>& entries) {
  std::vector<std::string> messages;
  if (!entries.ok()) return {"error: " + entries.error().message};
  for (const Entry& entry : *entries) messages.push_back(entry.message);
  return messages;
}

class LogBookTest : public ::testing::Test {
 protected:
  std::unique_ptr<LogBook> Open() {
    auto book = LogBook::Open(file_, kMlNames);
    EXPECT_TRUE(book.ok()) << book.error().message;
    return std::move(book).value();
  }
  TemporaryDirectory directory_;
  Path file_ = directory_.path() / "logs.db";
};

TEST_F(LogBookTest, GivesBackAllOfAnEntry) {
  const auto book = Open();
  Entry entry = AnEntry("loss \"0.5\"\n\ttab \\ back, π and \x01");
  entry.trial = "3";
  entry.severity = "WARNING";
  entry.pathname = "/trainer/task.py";
  entry.lineno = 42;
  entry.thread = "1234";
  book->Append({entry});
  ASSERT_TRUE(book->Flush().ok());
  const auto read = ReadAfter(*book, "p", "j", 0);
  ASSERT_EQ(read->size(), 1u);
  const Entry& back = read->front();
  EXPECT_EQ(back.project, "p");
  EXPECT_EQ(back.job_id, "j");
  EXPECT_EQ(back.trial, "3");
  EXPECT_EQ(back.task, "master-replica-0");
  EXPECT_EQ(back.severity, "WARNING");
  EXPECT_EQ(back.timestamp, kBookNoon);
  EXPECT_EQ(back.message, entry.message);
  EXPECT_EQ(back.pathname, "/trainer/task.py");
  EXPECT_EQ(back.lineno, 42);
  EXPECT_EQ(back.thread, "1234");
  EXPECT_GT(back.insert_id, 0u);
}

TEST_F(LogBookTest, ShowsTheFormOfAnEntryAlsoAfterAnotherStart) {
  std::vector<Entry> entries;
  for (const char* message : {"a record", "a text", R"({"severity": "ERROR", "step": 3})", "{x"}) {
    entries.push_back(AnEntry(message));
  }
  entries[1].form = Entry::Form::kText;
  entries[2].form = entries[3].form = Entry::Form::kObject;
  {
    const auto book = Open();
    book->Append(entries);
    ASSERT_TRUE(book->Flush().ok());
  }
  const auto read = ReadAfter(*Open(), "p", "j", 0);
  ASSERT_EQ(read->size(), 4u);
  std::vector<std::string> shown;
  for (const Entry& entry : *read) {
    const Json json = LogEntryJson(kMlNames, entry);
    const Json* object = Member(json, "jsonPayload");
    shown.push_back(object && !Member(*object, "levelname") ? CompactJson(*object)
                    : object ? StringOr(*object, "message") + " with a place"
                             : StringOr(json, "textPayload"));
  }
  EXPECT_THAT(shown, ElementsAre("a record with a place", "a text", R"({"step":3})", "{x"));
}

// The agent of the service gives an entry the severity DEFAULT if it does not know the name. The
// members then are the only place that has the name.
TEST_F(LogBookTest, KeepsASeverityInTheMembersThatTheEntryDoesNotHave) {
  const auto members = [](const std::string& severity, const std::string& message) {
    Entry entry = AnEntry(message);
    entry.form = Entry::Form::kObject;
    entry.severity = severity;
    return CompactJson(*Member(LogEntryJson(kMlNames, entry), "jsonPayload"));
  };
  const std::string loud = R"({"severity":"LOUD","step":3})";
  EXPECT_EQ(members("DEFAULT", loud), loud);
  EXPECT_EQ(members("", loud), loud);
  const std::string number = R"({"severity":35,"step":3})";
  EXPECT_EQ(members("DEFAULT", number), number);
  EXPECT_EQ(members("DEFAULT", R"({"severity":"default","step":3})"), R"({"step":3})");
  EXPECT_EQ(members("WARNING", R"({"severity":"warn","step":3})"), R"({"step":3})");
}

TEST_F(LogBookTest, KeepsApartWhatDiffersFromEntryToEntry) {
  const auto book = Open();
  std::vector<Entry> entries;
  for (int i = 0; i < 64; ++i) {  // all combinations of six members, each set or not
    Entry entry = AnEntry(i & 1 ? "m" : "", i & 2 ? kBookNoon + seconds(i) : kBookNoon);
    if (i & 4) entry.severity = "";
    if (i & 8) entry.trial = "2";
    if (i & 16) entry.task = "service";
    if (i & 32) entry.lineno = i;
    entries.push_back(entry);
  }
  book->Append(entries);
  ASSERT_TRUE(book->Flush().ok());
  const auto read = ReadAfter(*book, "p", "j", 0);
  ASSERT_EQ(read->size(), entries.size());
  Instant latest = kBookNoon;
  for (size_t i = 0; i < entries.size(); ++i) {
    latest = std::max(latest, entries[i].timestamp);
    EXPECT_EQ((*read)[i].timestamp, latest) << i;
    EXPECT_EQ((*read)[i].message, entries[i].message) << i;
    EXPECT_EQ((*read)[i].severity, entries[i].severity) << i;
    EXPECT_EQ((*read)[i].trial, entries[i].trial) << i;
    EXPECT_EQ((*read)[i].task, entries[i].task) << i;
    EXPECT_EQ((*read)[i].lineno, entries[i].lineno) << i;
  }
}

TEST_F(LogBookTest, WritesTextThatIsNoUtf8SoThatItCanBeRead) {
  const auto book = Open();
  book->Append({AnEntry("a \xff\xfe z"), AnEntry("next")});
  ASSERT_TRUE(book->Flush().ok());
  const auto messages = Messages(ReadAfter(*book, "p", "j", 0));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_TRUE(IsUtf8(messages[0]));
  EXPECT_THAT(messages[0], HasSubstr("\xEF\xBF\xBD"));
  EXPECT_EQ(messages[1], "next");
}

TEST_F(LogBookTest, KeepsTheOrderOfAJobAndInsertIdsGrowOverTheWholeBook) {
  const auto book = Open();
  std::vector<Entry> entries;
  for (int i = 0; i < 5000; ++i) {
    entries.push_back(AnEntry(std::to_string(i), kBookNoon + Duration(i), i % 3 ? "a" : "b"));
  }
  book->Append(entries);
  ASSERT_TRUE(book->Flush().ok());
  std::set<uint64_t> ids;
  for (const std::string job : {"a", "b"}) {
    const auto read = ReadAfter(*book, "p", job, 0, 10000);
    ASSERT_TRUE(read.ok());
    for (size_t i = 1; i < read->size(); ++i) {
      ASSERT_LT(std::stoi((*read)[i - 1].message), std::stoi((*read)[i].message));
      ASSERT_LT((*read)[i - 1].insert_id, (*read)[i].insert_id);
    }
    for (const Entry& entry : *read) ids.insert(entry.insert_id);
  }
  EXPECT_EQ(ids.size(), 5000u);
}

TEST_F(LogBookTest, LetsNoTimeOfAJobGoBackNotEvenAcrossARestart) {
  Open()->Append({AnEntry("noon"), AnEntry("late", kBookNoon - seconds(5))});
  const auto book = Open();
  book->Append({AnEntry("later", kBookNoon - seconds(9)), AnEntry("one", kBookNoon + seconds(1)),
                AnEntry("other job", kBookNoon - seconds(9), "k")});
  ASSERT_TRUE(book->Flush().ok());
  const auto read = ReadAfter(*book, "p", "j", 0);
  ASSERT_EQ(read->size(), 4u);
  EXPECT_EQ((*read)[1].timestamp, kBookNoon);
  EXPECT_EQ((*read)[2].timestamp, kBookNoon);
  EXPECT_EQ((*read)[3].timestamp, kBookNoon + seconds(1));
  EXPECT_EQ(ReadAfter(*book, "p", "k", 0)->front().timestamp, kBookNoon - seconds(9));
}

TEST_F(LogBookTest, InsertIdsGoOnGrowingAfterARestart) {
  uint64_t last = 0;
  for (int life = 0; life < 3; ++life) {
    const auto book = Open();
    book->Append({AnEntry("life " + std::to_string(life))});
    ASSERT_TRUE(book->Flush().ok());
    const auto read = ReadAfter(*book, "p", "j", last);
    ASSERT_EQ(read->size(), 1u);
    EXPECT_GT(read->front().insert_id, last);
    last = read->front().insert_id;
  }
}

TEST_F(LogBookTest, ReadsOnBehindAnInsertIdInPages) {
  const auto book = Open();
  for (int i = 0; i < 2000; ++i) book->Append({AnEntry(std::to_string(i))});
  ASSERT_TRUE(book->Flush().ok());
  uint64_t after = 0;
  int next = 0;
  for (;;) {
    const auto page = ReadAfter(*book, "p", "j", after, 77);
    ASSERT_TRUE(page.ok());
    if (page->empty()) break;
    ASSERT_LE(page->size(), 77u);
    for (const Entry& entry : *page) ASSERT_EQ(entry.message, std::to_string(next++));
    after = page->back().insert_id;
  }
  EXPECT_EQ(next, 2000);
}

TEST_F(LogBookTest, FindsEntriesByTaskTimeAndAnyFurtherCondition) {
  const auto book = Open();
  for (int i = 0; i < 10; ++i) {
    Entry entry = AnEntry(std::to_string(i), kBookNoon + seconds(i));
    if (i % 2) entry.task = "worker-replica-0";
    if (i == 5) entry.severity = "ERROR";
    book->Append({entry});
  }
  book->Append({AnEntry("other", kBookNoon, "k")});
  ASSERT_TRUE(book->Flush().ok());
  EntryQuery query;
  query.project = "p";
  query.job_id = "j";
  query.task = "worker-replica-0";
  query.from = kBookNoon + seconds(3);
  query.until = kBookNoon + seconds(9);
  EXPECT_THAT(Messages(book->Query(query)), ElementsAre("3", "5", "7"));
  query.newest_first = true;
  query.limit = 2;
  EXPECT_THAT(Messages(book->Query(query)), ElementsAre("7", "5"));
  query.matches = [](const Entry& entry) { return entry.severity == "ERROR"; };
  EXPECT_THAT(Messages(book->Query(query)), ElementsAre("5"));
  query = EntryQuery{};
  query.project = "p";
  EXPECT_EQ(book->Query(query)->size(), 11u);  // all jobs
  query.project = "q";
  EXPECT_THAT(Messages(book->Query(query)), IsEmpty());
}

TEST_F(LogBookTest, ForgetsADeletedJobAndGivesItsIdsToNoOther) {
  auto book = Open();
  book->Append({AnEntry("old", kBookNoon, "j"), AnEntry("of another", kBookNoon, "k")});
  ASSERT_TRUE(book->Flush().ok());
  const uint64_t last = ReadAfter(*book, "p", "k", 0)->back().insert_id;
  book->Append({AnEntry("newest", kBookNoon, "j")});
  ASSERT_TRUE(book->DeleteJob("p", "j").ok());
  EXPECT_THAT(Messages(ReadAfter(*book, "p", "j", 0)), IsEmpty());
  EXPECT_THAT(Messages(ReadAfter(*book, "p", "k", 0)), ElementsAre("of another"));
  book.reset();
  book = Open();
  book->Append({AnEntry("new", kBookNoon, "j")});
  ASSERT_TRUE(book->Flush().ok());
  const auto read = ReadAfter(*book, "p", "j", 0);
  EXPECT_THAT(Messages(read), ElementsAre("new"));
  EXPECT_GT(read->back().insert_id, last + 1);
}

TEST_F(LogBookTest, WakesAFollowerAtOnce) {
  const auto book = Open();
  std::atomic<bool> woke = false;
  std::thread follower([&] { woke = book->WaitForMore("p", "j", 0, seconds(60)); });
  book->Append({AnEntry("other", kBookNoon, "k")});
  book->Append({AnEntry("x")});
  follower.join();  // long before the minute is over, or the test's own limit ends it
  EXPECT_TRUE(woke);
  EXPECT_THAT(Messages(ReadAfter(*book, "p", "j", 0)), ElementsAre("x"));
}

TEST_F(LogBookTest, KeepsAFollowerWhenAnotherOneOfTheSameJobLeaves) {
  const auto book = Open();
  std::atomic<bool> waits = false;
  std::thread follower([&] {
    EXPECT_TRUE(book->WaitForMore("p", "j", 0, seconds(60), [&] { return waits = true, false; }));
  });
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(book->WaitForMore("p", "j", 0, milliseconds(1)));
  book->Append({AnEntry("x")});
  follower.join();
}

TEST_F(LogBookTest, ToldToWaitForWhatIsThereReturnsAtOnceAlsoAfterARestart) {
  Open()->Append({AnEntry("x")});
  const auto book = Open();
  EXPECT_TRUE(book->WaitForMore("p", "j", 0, seconds(60)));
  EXPECT_FALSE(book->WaitForMore("p", "j", 1, milliseconds(1)));
  EXPECT_FALSE(book->WaitForMore("p", "unknown", 0, milliseconds(1)));
}

TEST_F(LogBookTest, HasAllThatWasFlushedAfterKillMinus9) {
  constexpr int kFlushed = 3000;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto book = LogBook::Open(file_, kMlNames);
    for (int i = 0; i < kFlushed; ++i) (*book)->Append({AnEntry(std::to_string(i))});
    const char byte = (*book)->Flush().ok() ? 'f' : 'e';
    if (::write(pipe_ends[1], &byte, 1) != 1) ::_exit(1);
    for (int i = kFlushed;; ++i) (*book)->Append({AnEntry(std::to_string(i))});
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'f');
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);

  const auto book = Open();
  const auto read = ReadAfter(*book, "p", "j", 0, 10'000'000);
  ASSERT_TRUE(read.ok());
  ASSERT_GE(read->size(), static_cast<size_t>(kFlushed));
  for (size_t i = 0; i < read->size(); ++i) ASSERT_EQ((*read)[i].message, std::to_string(i));
  book->Append({AnEntry("next life")});
  ASSERT_TRUE(book->Flush().ok());
  const auto more = ReadAfter(*book, "p", "j", read->back().insert_id);
  EXPECT_THAT(Messages(more), ElementsAre("next life"));
}

TEST_F(LogBookTest, TellsOfAFullDiskAndLosesNothing) {
  const auto book = Open();
  book->Append({AnEntry("before")});
  ASSERT_TRUE(book->Flush().ok());
  // A limit on the size of files stands for the disk: SQLite's write fails just so.
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit small{1, old_limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  book->Append({AnEntry("while it is full")});
  const Status full = book->Flush();
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().message, HasSubstr("logs.db"));
  EXPECT_TRUE(book->WaitForMore("p", "j", 1, seconds(60)));
  EXPECT_TRUE(book->Flush().ok());
  EXPECT_THAT(Messages(ReadAfter(*book, "p", "j", 0)), ElementsAre("before", "while it is full"));
}

TEST_F(LogBookTest, ReportsThatEntriesAreStoredOnceTheyAreInTheFile) {
  const auto book = Open();
  EXPECT_TRUE(book->IsStored([] { FAIL() << "nothing was appended"; }));
  for (int round = 0; round < 50; ++round) {
    book->Append({AnEntry(std::to_string(round))});
    std::promise<size_t> stored;
    const bool at_once = book->IsStored([&] {
      const auto read = ReadAfter(*book, "p", "j", 0);
      stored.set_value(read.ok() ? read->size() : 0);
    });
    if (at_once) continue;
    EXPECT_EQ(stored.get_future().get(), static_cast<size_t>(round + 1));
  }
}

TEST_F(LogBookTest, SaysClearlyThatAFileIsDamaged) {
  ASSERT_TRUE(WriteFile(file_, std::string(100'000, 'x')).ok());
  const auto book = LogBook::Open(file_, kMlNames);
  ASSERT_FALSE(book.ok());
  EXPECT_EQ(book.error().code, Code::kDataLoss);
  EXPECT_THAT(book.error().message, HasSubstr("logs.db"));
  EXPECT_THAT(book.error().message, HasSubstr("move the file and its -wal and -shm files away"));
}

TEST_F(LogBookTest, RefusesADatabaseThatIsNotOurs) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "CREATE TABLE photos(x)", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  const auto book = LogBook::Open(file_, kMlNames);
  ASSERT_FALSE(book.ok());
  EXPECT_THAT(book.error().message, HasSubstr("not a log of caip"));
}

TEST_F(LogBookTest, SaysWhereATextIsDamaged) {
  Open()->Append({AnEntry("x")});
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "UPDATE chunks SET entries = '{broken'", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  const auto read = ReadAfter(*Open(), "p", "j", 0);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kDataLoss);
  EXPECT_THAT(read.error().message, HasSubstr("entry 1"));
}

TEST_F(LogBookTest, CannotOpenWhereThereIsNoDirectory) {
  const auto book = LogBook::Open(directory_.path() / "none" / "logs.db", kMlNames);
  ASSERT_FALSE(book.ok());
  EXPECT_EQ(book.error().code, Code::kNotFound);
}

TEST_F(LogBookTest, StoresWhatSeveralThreadsAppend) {
  const auto book = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) book->Append({AnEntry("x", kBookNoon, std::to_string(t))});
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(book->Flush().ok());
  for (int t = 0; t < 4; ++t) {
    EXPECT_EQ(ReadAfter(*book, "p", std::to_string(t), 0, 10'000)->size(), 500u);
  }
}

TEST(InsertId, IsTextOfOneWidthThatGrowsAsText) {
  EXPECT_EQ(InsertIdText(7), "0000000000000007");
  EXPECT_LT(InsertIdText(99), InsertIdText(100));
  EXPECT_EQ(ParseInsertId(InsertIdText(123456)), 123456u);
  EXPECT_EQ(ParseInsertId(""), 0u);
  EXPECT_EQ(ParseInsertId("12x"), 0u);
}

}  // namespace
}  // namespace caip::logging
