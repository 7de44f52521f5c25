#include "fakes/logging/book/entry_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>

#include "base/abandoned_work.h"
#include "base/encoding.h"
#include "base/json.h"
#include "base/random.h"
#include "base/time_text.h"
#include "fakes/logging/book/log_book.h"
#include "tests/logging/read_after.h"

namespace caip::logging {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Instant kNoon = *ParseRfc3339("2022-02-09T12:00:00Z");

Entry AJobEntry(std::string message, Instant time, std::string job = "j",
                std::string task = "master-replica-0", std::string severity = "INFO") {
  Entry entry;
  entry.project = "p";
  entry.job_id = std::move(job);
  entry.task = std::move(task);
  entry.severity = std::move(severity);
  entry.timestamp = time;
  entry.message = std::move(message);
  return entry;
}

WrittenEntry AWrittenEntry(const std::string& text, Instant time, const std::string& insert_id,
                           const std::string& log = "app",
                           const std::string& parent = "projects/p") {
  const Json json = {{"logName", parent + "/logs/" + PercentEncoded(log)},
                     {"resource", {{"type", "global"}}},
                     {"timestamp", Rfc3339(time, 9)},
                     {"insertId", insert_id},
                     {"textPayload", text}};
  return {parent, log, time, insert_id, "", 0, CompactJson(json)};
}

std::string TextOf(const Json& entry) {
  const Json* payload = Member(entry, "jsonPayload");
  return payload ? StringOr(*payload, "message") : StringOr(entry, "textPayload");
}

class EntryListing : public ::testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    book_.reset();
    auto book = LogBook::Open(file_, kMlNames);
    ASSERT_TRUE(book.ok()) << book.error().message;
    book_ = std::move(book).value();
  }
  void Append(std::vector<Entry> entries) {
    book_->Append(std::move(entries));
    ASSERT_TRUE(book_->Flush().ok());
  }
  ListQuery Query(const std::string& filter = "", bool newest_first = false) const {
    ListQuery query;
    query.parents = {"projects/p"};
    query.filter = *Filter::Parse(filter);
    query.newest_first = newest_first;
    query.limit = 1000;
    return query;
  }
  std::vector<std::string> Texts(const ListQuery& query) const {
    const auto page = book_->List(query);
    if (!page.ok()) return {"error: " + page.error().message};
    std::vector<std::string> texts;
    for (const Json& entry : page->entries) texts.push_back(TextOf(entry));
    return texts;
  }
  std::vector<std::string> Texts(const std::string& filter, bool newest_first = false) const {
    return Texts(Query(filter, newest_first));
  }
  // Every page of the listing, put together.
  std::vector<std::string> Pages(ListQuery query) const {
    std::vector<std::string> texts;
    for (int i = 0; i < 100'000; ++i) {
      const auto page = book_->List(query);
      if (!page.ok()) return {"error: " + page.error().message};
      for (const Json& entry : page->entries) texts.push_back(TextOf(entry));
      if (!page->next) return texts;
      query.after = page->next;
    }
    return {"error: no end"};
  }

  TemporaryDirectory directory_;
  Path file_ = directory_.path() / "logs.db";
  std::unique_ptr<LogBook> book_;
};

TEST_F(EntryListing, ShowsAReplicasLineAsTheServiceDoes) {
  Entry entry = AJobEntry("hello", kNoon + milliseconds(250));
  entry.trial = "3";
  entry.pathname = "/trainer/task.py";
  entry.lineno = 42;
  Append({entry});
  const auto page = book_->List(Query());
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(page->entries[0], Json::parse(R"({
    "insertId": "0000000000000001",
    "logName": "projects/p/logs/master-replica-0",
    "resource": {"type": "ml_job",
                 "labels": {"job_id": "j", "project_id": "p", "task_name": "master-replica-0"}},
    "timestamp": "2022-02-09T12:00:00.250000000Z",
    "receiveTimestamp": "2022-02-09T12:00:00.250000000Z",
    "severity": "INFO",
    "labels": {"ml.googleapis.com/job_id": "j", "ml.googleapis.com/job_id/log_area": "root",
               "ml.googleapis.com/task_name": "master-replica-0",
               "ml.googleapis.com/trial_id": "3"},
    "jsonPayload": {"message": "hello", "levelname": "INFO", "created": 1644408000.25,
                    "pathname": "/trainer/task.py", "lineno": 42}})"));
}

// docs/service/replica-environment.md, section 6
TEST_F(EntryListing, ShowsAllMembersOfAReplicasLineAlsoIfThePlaceIsUnknown) {
  Append({AJobEntry("hello", kNoon)});
  const auto page = book_->List(Query());
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(*Member(page->entries[0], "jsonPayload"), Json::parse(R"({
    "message": "hello", "levelname": "INFO", "created": 1644408000.0, "pathname": "",
    "lineno": 0})"));
}

TEST_F(EntryListing, ShowsALineOfTheServiceInTheJobsOwnLog) {
  Append({AJobEntry("Job is queued.", kNoon, "j", "service")});
  const auto page = book_->List(Query());
  ASSERT_EQ(page->entries.size(), 1u);
  EXPECT_EQ(StringOr(page->entries[0], "logName"), "projects/p/logs/ml.googleapis.com%2Fj");
  EXPECT_EQ(StringOr(page->entries[0], "textPayload"), "Job is queued.");
}

TEST_F(EntryListing, MergesJobsAndClientsByTime) {
  Append({AJobEntry("a1", kNoon + seconds(1), "a"), AJobEntry("a4", kNoon + seconds(4), "a"),
          AJobEntry("b2", kNoon + seconds(2), "b")});
  ASSERT_TRUE(
      book_->Write({AWrittenEntry("w3", kNoon + seconds(3), "x"), AWrittenEntry("w0", kNoon, "y")})
          .ok());
  EXPECT_THAT(Texts(""), ElementsAre("w0", "a1", "b2", "w3", "a4"));
  EXPECT_THAT(Texts("", true), ElementsAre("a4", "w3", "b2", "a1", "w0"));
  EXPECT_THAT(Texts("resource.type=ml_job", true), ElementsAre("a4", "b2", "a1"));
  EXPECT_THAT(Texts("resource.type=global"), ElementsAre("w0", "w3"));
  EXPECT_THAT(Texts("log_id(\"APP\")"), ElementsAre("w0", "w3"));
  EXPECT_THAT(Texts("resource.labels.job_id=B"), ElementsAre("b2"));
}

// Against a plain sort, over random jobs, times that coincide, pages of all sizes and both orders.
TEST_F(EntryListing, IsWhatSortingEverythingWouldGive) {
  Random random(7);
  std::vector<std::pair<std::pair<Instant, std::string>, std::string>> expected;
  std::map<std::string, Instant> last_times;
  uint64_t id = 0;
  for (int batch = 0; batch < 60; ++batch) {
    std::map<std::string, std::vector<Entry>> of_job;
    for (uint64_t i = 0; i < 1 + random.Below(9); ++i) {
      const std::string job = "job" + std::to_string(random.Below(4));
      const Instant time = kNoon + milliseconds(batch * 100 + static_cast<int>(random.Below(700)));
      of_job[job].push_back(AJobEntry("", time, job));
    }
    for (auto& [job, entries] : of_job) {
      std::sort(entries.begin(), entries.end(),
                [](const Entry& a, const Entry& b) { return a.timestamp < b.timestamp; });
      Instant& last = last_times.try_emplace(job, kNoon).first->second;
      for (Entry& entry : entries) {
        last = std::max(last, entry.timestamp);  // as the book does
        entry.message = job + ":" + std::to_string(++id);
        expected.push_back({{last, InsertIdText(id)}, entry.message});
      }
      Append(entries);
    }
    const Instant time = kNoon + milliseconds(static_cast<int>(random.Below(6000)));
    const std::string text = "written" + std::to_string(batch);
    ASSERT_TRUE(book_->Write({AWrittenEntry(text, time, text)}).ok());
    expected.push_back({{time, text}, text});
  }
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> oldest_first;
  for (const auto& [key, text] : expected) oldest_first.push_back(text);
  const std::vector<std::string> newest_first(oldest_first.rbegin(), oldest_first.rend());
  for (const size_t limit : {1, 7, 50, 1000}) {
    ListQuery query = Query();
    query.limit = limit;
    query.examined_max = 10;
    EXPECT_EQ(Pages(query), oldest_first) << limit;
    query.newest_first = true;
    EXPECT_EQ(Pages(query), newest_first) << limit;
  }
}

TEST_F(EntryListing, BoundsOfTheFilterChangeNothingButTheCost) {
  for (int i = 0; i < 300; ++i) {
    Append({AJobEntry(std::to_string(i), kNoon + milliseconds(i * 37), "j" + std::to_string(i % 3),
                      i % 2 ? "master-replica-0" : "worker-replica-1", i % 10 ? "INFO" : "ERROR")});
  }
  const std::string times =
      "timestamp>=\"2022-02-09T12:00:02Z\" timestamp<\"2022-02-09T12:00:05.5Z\"";
  const std::pair<std::string, std::string> cases[] = {
      {times, "NOT (timestamp<\"2022-02-09T12:00:02Z\" OR timestamp>=\"2022-02-09T12:00:05.5Z\")"},
      {"severity>=ERROR", "NOT severity<ERROR"},
      {"resource.labels.job_id=j1 " + times, "resource.labels.job_id=~\"^j1$\" " + times},
      {"resource.labels.task_name=worker-replica-1", "resource.labels.task_name:worker"},
      {"insertId>\"0000000000000200\"", "NOT insertId<=\"0000000000000200\""},
      {"logName=\"projects/p/logs/master-replica-0\"", "logName:master"},
  };
  for (const auto& [indexed, plain] : cases) {
    for (const bool newest_first : {false, true}) {
      const auto texts = Texts(indexed, newest_first);
      EXPECT_EQ(texts, Texts(plain, newest_first)) << indexed;
      EXPECT_GT(texts.size(), 10u) << indexed;
      EXPECT_LT(texts.size(), 300u) << indexed;
    }
  }
}

TEST_F(EntryListing, GoesOnWhereItWasWhileEntriesAreAdded) {
  for (int i = 0; i < 10; ++i) Append({AJobEntry(std::to_string(i), kNoon + seconds(i))});
  ListQuery query = Query("", true);
  query.limit = 4;
  const auto first = book_->List(query);
  ASSERT_TRUE(first->next);
  Append({AJobEntry("new", kNoon + seconds(10))});
  query.after = first->next;
  EXPECT_THAT(Texts(query), ElementsAre("5", "4", "3", "2"));
}

TEST_F(EntryListing, AnswersAnEmptyPageThatGoesOnWhenItHasLookedLong) {
  for (int i = 0; i < 40; ++i) Append({AJobEntry(std::to_string(i), kNoon + seconds(i))});
  ListQuery query = Query("jsonPayload.message=39");
  query.examined_max = 15;
  const auto page = book_->List(query);
  EXPECT_TRUE(page->entries.empty());
  EXPECT_TRUE(page->next);
  EXPECT_THAT(Pages(query), ElementsAre("39"));
}

// A filter may take long for each entry.
TEST_F(EntryListing, StopsWhenItsClientIsGone) {
  std::vector<Entry> entries;
  for (int i = 0; i < 1000; ++i) entries.push_back(AJobEntry("line", kNoon + seconds(i)));
  Append(entries);
  int asked = 0;
  const AbandonableWork gone([&] { return ++asked == 3; });
  const auto listed = book_->List(Query());
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code, Code::kCancelled);
  EXPECT_EQ(asked, 3);
}

TEST_F(EntryListing, TellsNoNextPageBehindTheLastEntry) {
  Append({AJobEntry("a", kNoon), AJobEntry("b", kNoon)});
  ListQuery query = Query();
  query.limit = 2;
  EXPECT_FALSE(book_->List(query)->next);
}

TEST_F(EntryListing, StoresAnEntryThatIsWrittenTwiceOnce) {
  ASSERT_TRUE(book_->Write({AWrittenEntry("first", kNoon, "same")}).ok());
  ASSERT_TRUE(book_
                  ->Write({AWrittenEntry("again", kNoon, "same"),
                           AWrittenEntry("other time", kNoon + seconds(1), "same"),
                           AWrittenEntry("other parent", kNoon, "same", "app", "projects/q")})
                  .ok());
  EXPECT_THAT(Texts(""), ElementsAre("first", "other time"));
}

TEST_F(EntryListing, ListsSeveralParents) {
  ASSERT_TRUE(book_
                  ->Write({AWrittenEntry("q", kNoon, "1", "app", "projects/q"),
                           AWrittenEntry("org", kNoon + seconds(1), "1", "app", "organizations/1"),
                           AWrittenEntry("p", kNoon + seconds(2), "1")})
                  .ok());
  ListQuery query = Query();
  query.parents = {"projects/p", "projects/q", "organizations/1"};
  EXPECT_THAT(Texts(query), ElementsAre("q", "org", "p"));
}

TEST_F(EntryListing, KeepsWhatWasWrittenAndNewInsertIdsOverARestart) {
  const std::string before = book_->NewInsertId();
  ASSERT_TRUE(book_->Write({AWrittenEntry("kept", kNoon, before)}).ok());
  Reopen();
  EXPECT_THAT(Texts(""), ElementsAre("kept"));
  EXPECT_GT(book_->NewInsertId(), before);
}

TEST_F(EntryListing, KnowsTheNamesOfLogs) {
  Append({AJobEntry("x", kNoon), AJobEntry("y", kNoon, "j", "service")});
  ASSERT_TRUE(book_->Write({AWrittenEntry("z", kNoon, "1", "a/b")}).ok());
  EXPECT_THAT(*book_->LogIds("projects/p", "", 10),
              ElementsAre("a/b", "master-replica-0", "ml.googleapis.com/j"));
  EXPECT_THAT(*book_->LogIds("projects/p", "a/b", 1), ElementsAre("master-replica-0"));
  EXPECT_THAT(*book_->LogIds("projects/q", "", 10), IsEmpty());
}

TEST_F(EntryListing, ForgetsTheServicesLogOfADeletedJobUnlessAClientWroteToIt) {
  Append({AJobEntry("x", kNoon, "j", "service"), AJobEntry("y", kNoon, "k", "service")});
  ASSERT_TRUE(book_->Write({AWrittenEntry("z", kNoon, "1", "ml.googleapis.com/k")}).ok());
  ASSERT_TRUE(book_->DeleteJob("p", "j").ok());
  ASSERT_TRUE(book_->DeleteJob("p", "k").ok());
  EXPECT_THAT(*book_->LogIds("projects/p", "", 10), ElementsAre("ml.googleapis.com/k"));
  Append({AJobEntry("again", kNoon, "j", "service")});
  EXPECT_THAT(*book_->LogIds("projects/p", "", 10),
              ElementsAre("ml.googleapis.com/j", "ml.googleapis.com/k"));
}

TEST_F(EntryListing, HasNothingOfADeletedLogAtOnceAndAgainWhatComesLater) {
  std::vector<Entry> entries;
  for (int i = 0; i < 2000; ++i) {
    entries.push_back(AJobEntry(std::to_string(i), kNoon + milliseconds(i), "j",
                                i % 2 ? "master-replica-0" : "worker-replica-0"));
  }
  Append(entries);
  ASSERT_TRUE(book_
                  ->Write({AWrittenEntry("w", kNoon, "1", "worker-replica-0"),
                           AWrittenEntry("kept", kNoon, "2", "app")})
                  .ok());
  ASSERT_TRUE(book_->DeleteLog({"projects/p", "worker-replica-0"}).ok());
  EXPECT_THAT(Texts("log_id(worker-replica-0)"), IsEmpty());
  EXPECT_EQ(Texts("").size(), 1000u);
  EXPECT_EQ(Pages(Query()).size(), 1001u);
  EXPECT_EQ(ReadAfter(*book_, "p", "j", 0, 5000)->size(), 1000u);
  EXPECT_THAT(*book_->LogIds("projects/p", "", 10), ElementsAre("app", "master-replica-0"));
  Append({AJobEntry("later", kNoon + seconds(5), "j", "worker-replica-0")});
  EXPECT_THAT(Texts("log_id(worker-replica-0)"), ElementsAre("later"));
  for (int restart = 0; restart < 2; ++restart) {  // the room is given back meanwhile
    Reopen();
    EXPECT_THAT(Texts("log_id(worker-replica-0)"), ElementsAre("later"));
    EXPECT_EQ(Pages(Query()).size(), 1002u);
  }
}

TEST_F(EntryListing, SaysWhichLogIsNotThereToBeDeleted) {
  const Status deleted = book_->DeleteLog({"projects/p", "none"});
  ASSERT_FALSE(deleted.ok());
  EXPECT_EQ(deleted.error().code, Code::kNotFound);
}

TEST_F(EntryListing, GivesNoInsertIdTwiceThoughTheLastEntriesWereDeleted) {
  Append({AJobEntry("a", kNoon), AJobEntry("b", kNoon)});
  ASSERT_TRUE(book_->DeleteLog({"projects/p", "master-replica-0"}).ok());
  for (;;) {  // until the room is given back
    sqlite3* database = nullptr;
    sqlite3_open(file_.c_str(), &database);
    int chunks = -1;
    sqlite3_exec(
        database, "SELECT count(*) FROM chunks",
        [](void* count, int, char** values, char**) {
          *static_cast<int*>(count) = std::atoi(values[0]);
          return 0;
        },
        &chunks, nullptr);
    sqlite3_close(database);
    if (chunks == 0) break;
    ASSERT_TRUE(book_->Flush().ok());
  }
  Reopen();
  Append({AJobEntry("c", kNoon)});
  EXPECT_EQ(ReadAfter(*book_, "p", "j", 0)->front().insert_id, 3u);
}

// The file of the first format had none of the tables but chunks, and no marks on them.
TEST_F(EntryListing, ReadsABookOfTheFirstFormat) {
  Append({AJobEntry("a", kNoon, "j", "service"), AJobEntry("b", kNoon + seconds(1))});
  book_.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  const int code = sqlite3_exec(
      database,
      "DROP INDEX chunks_by_time; DROP INDEX chunks_of_job_by_time; DROP TABLE written;"
      "DROP TABLE logs; DROP TABLE deleted; DROP TABLE settings; DROP TABLE resources;"
      "ALTER TABLE chunks DROP COLUMN severities; ALTER TABLE chunks DROP COLUMN tasks;"
      "PRAGMA user_version = 1;",
      nullptr, nullptr, nullptr);
  ASSERT_EQ(code, SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
  Reopen();
  EXPECT_THAT(Texts("", true), ElementsAre("b", "a"));
  EXPECT_THAT(Texts("severity=ERROR"), IsEmpty());
  EXPECT_THAT(Texts("resource.labels.task_name=service"), ElementsAre("a"));
  EXPECT_THAT(*book_->LogIds("projects/p", "", 10),
              ElementsAre("master-replica-0", "ml.googleapis.com/j"));
}

}  // namespace
}  // namespace caip::logging
