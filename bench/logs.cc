// Measures the listing of the newest page among ten million entries; the goal is 20 ms. Compares it
// with a plain SQLite table that has a row for each entry and an index on their times.
//
//   bench_logs [entries]

#include <sqlite3.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time_text.h"
#include "fakes/logging/book/log_book.h"

namespace caip::logging {
namespace {

using std::chrono::steady_clock;

constexpr int kJobs = 500;
constexpr int kBatch = 4000;
constexpr size_t kPage = 100;
constexpr int kRounds = 21;
const Instant kBegin = *ParseRfc3339("2026-01-01T00:00:00Z");
constexpr Duration kBetween = std::chrono::microseconds(3);  // a busy machine

std::string JobOf(long i) { return "job_" + std::to_string(i / kBatch % kJobs); }
const char* SeverityOf(long i) { return i % 997 == 0 ? "ERROR" : "INFO"; }

Entry EntryOf(long i) {
  Entry entry;
  entry.project = "p";
  entry.job_id = JobOf(i);
  entry.task = i % 4 ? "worker-replica-" + std::to_string(i % 4) : "master-replica-0";
  entry.severity = SeverityOf(i);
  entry.timestamp = kBegin + i * kBetween;
  entry.message = "step " + std::to_string(i) + " of 10000: loss 0.6931, accuracy 0.9312";
  return entry;
}

void Fill(LogBook& book, long count) {
  const auto begin = steady_clock::now();
  for (long i = 0; i < count;) {
    std::vector<Entry> entries;
    for (const long end = std::min(i + kBatch, count); i < end; ++i) entries.push_back(EntryOf(i));
    book.Append(std::move(entries));
  }
  if (!book.Flush().ok()) std::abort();
  const std::chrono::duration<double> took = steady_clock::now() - begin;
  std::printf("stored %ld entries of %d jobs: %.0f entries/s\n", count, kJobs,
              static_cast<double>(count) / took.count());
}

/// Milliseconds: median and worst of some rounds, and the median of this thread's CPU time, which
/// other load on the machine does not change.
struct Times {
  double median;
  double worst;
  double cpu;
};

double CpuMilliseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

Times Measure(const std::function<size_t()>& read, size_t wanted) {
  std::vector<double> times;
  std::vector<double> cpu_times;
  for (int round = 0; round < kRounds; ++round) {
    const double cpu_begin = CpuMilliseconds();
    const auto begin = steady_clock::now();
    const size_t got = read();
    cpu_times.push_back(CpuMilliseconds() - cpu_begin);
    times.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count());
    if (got != wanted) {
      std::printf("got %zu entries, not %zu\n", got, wanted);
      std::exit(1);
    }
  }
  std::sort(times.begin(), times.end());
  std::sort(cpu_times.begin(), cpu_times.end());
  return {times[times.size() / 2], times.back(), cpu_times[cpu_times.size() / 2]};
}

size_t List(const LogBook& book, const std::string& filter, bool newest_first) {
  ListQuery query;
  query.parents = {"projects/p"};
  query.filter = *Filter::Parse(filter);
  query.newest_first = newest_first;
  query.limit = kPage;
  const auto page = book.List(query);
  if (!page.ok()) std::abort();
  std::string text;
  for (const Json& entry : page->entries) text += CompactJson(entry);  // as it is answered
  return text.empty() ? 0 : page->entries.size();
}

/// A row for each entry from `begin` to `end`.
class PlainTable {
 public:
  PlainTable(const Path& file, long begin, long end) {
    sqlite3_open(file.c_str(), &database_);
    Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
        "CREATE TABLE entries(id INTEGER PRIMARY KEY, time INTEGER, job TEXT, severity TEXT,"
        " task TEXT, message TEXT)");
    sqlite3_stmt* put = nullptr;
    sqlite3_prepare_v2(database_, "INSERT INTO entries VALUES(?1, ?2, ?3, ?4, ?5, ?6)", -1, &put,
                       nullptr);
    for (long i = begin; i < end; ++i) {
      const Entry entry = EntryOf(i);
      sqlite3_bind_int64(put, 1, i);
      sqlite3_bind_int64(put, 2, entry.timestamp.time_since_epoch().count());
      sqlite3_bind_text(put, 3, entry.job_id.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(put, 4, entry.severity.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(put, 5, entry.task.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_bind_text(put, 6, entry.message.c_str(), -1, SQLITE_TRANSIENT);
      sqlite3_step(put);
      sqlite3_reset(put);
    }
    sqlite3_finalize(put);
    Run("CREATE INDEX by_time ON entries(time); CREATE INDEX by_job ON entries(job, time); COMMIT");
  }
  ~PlainTable() { sqlite3_close(database_); }

  size_t Newest(const std::string& where) const {
    const std::string sql = "SELECT time, job, severity, task, message FROM entries WHERE " +
                            where + " ORDER BY time DESC LIMIT " + std::to_string(kPage);
    sqlite3_stmt* rows = nullptr;
    sqlite3_prepare_v2(database_, sql.c_str(), -1, &rows, nullptr);
    size_t count = 0;
    std::string text;
    while (sqlite3_step(rows) == SQLITE_ROW) {
      const Json entry = {{"timestamp", sqlite3_column_int64(rows, 0)},
                          {"message", reinterpret_cast<const char*>(sqlite3_column_text(rows, 4))}};
      text += CompactJson(entry);
      ++count;
    }
    sqlite3_finalize(rows);
    return count;
  }

 private:
  void Run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
  }
  sqlite3* database_ = nullptr;
};

void Compare(const char* what, const Times& ours, const std::optional<Times>& plain) {
  std::printf("%-44s %7.2f ms (worst %7.2f, CPU %6.2f)", what, ours.median, ours.worst, ours.cpu);
  if (plain)
    std::printf("   plain rows CPU %7.2f ms, ratio %.2f", plain->cpu, plain->cpu / ours.cpu);
  std::printf("%s\n", ours.median < 20 ? "" : "   ABOVE THE GOAL OF 20 ms");
}

int Run(long count) {
  TemporaryDirectory directory;
  auto book = LogBook::Open(directory.path() / "logs.db", {"ml_job", "ml.googleapis.com"});
  if (!book.ok()) return 1;
  Fill(**book, count);
  const PlainTable plain(directory.path() / "plain.db", std::max(0L, count - 2'000'000), count);
  const long middle = count / 2;
  const std::string job = JobOf(middle);
  const std::string from = Rfc3339(kBegin + middle * kBetween, 9);
  const std::string until = Rfc3339(kBegin + (middle + kBatch) * kBetween, 9);
  const std::string last_job = JobOf(count - 1);
  const auto ours = [&](const std::string& filter, bool newest_first) {
    return Measure([&] { return List(**book, filter, newest_first); }, kPage);
  };
  const auto rows = [&](const std::string& where) {
    return Measure([&] { return plain.Newest(where); }, kPage);
  };
  Compare("newest page", ours("", true), rows("1"));
  Compare("newest page, severity>=ERROR", ours("severity>=ERROR", true),
          rows("severity = 'ERROR'"));
  Compare("newest page of one job", ours("resource.labels.job_id=\"" + last_job + "\"", true),
          rows("job = '" + last_job + "'"));
  Compare("newest page, jsonPayload.message:\"loss\"", ours("jsonPayload.message:loss", true),
          rows("message LIKE '%loss%'"));
  Compare("newest page in a span of the middle",
          ours("timestamp>=\"" + from + "\" timestamp<\"" + until + "\"", true), {});
  Compare("one job from a time on, as gcloud streams",
          ours("resource.labels.job_id=\"" + job + "\" timestamp>=\"" + from + "\"", false), {});
  if (!(*book)->DeleteLog({"projects/p", "worker-replica-1"}).ok()) return 1;
  Compare("newest page, a quarter just deleted", ours("", true), {});
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory %ld MiB\n", usage.ru_maxrss / 1024);
  return 0;
}

}  // namespace
}  // namespace caip::logging

int main(int argc, char** argv) {
  return caip::logging::Run(argc > 1 ? std::atol(argv[1]) : 10'000'000);
}
