// Measures p50 and p99 of jobs.get and jobs.list of a real `caip serve` over HTTP, among few and
// among many jobs. The cost of a listing must grow with its page, not with the store.
//
//   bench_api [jobs, default: 100000]

#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/encoding.h"
#include "base/json.h"
#include "base/text.h"
#include "host/store/job_store.h"
#include "http/client.h"
#include "ml/schema/job_json.h"
#include "places.h"

namespace caip {
namespace {

using std::chrono::duration;
using std::chrono::steady_clock;

constexpr int kCalls = 1000;

ml::Job JobNumber(int number) {
  ml::Job job;
  job.job_id = "job_" + std::to_string(number);
  job.state = number % 50 == 0 ? run::JobState::kFailed : run::JobState::kSucceeded;
  job.create_time = Instant(std::chrono::seconds(1'650'000'000 + number));
  job.start_time = *job.create_time + std::chrono::seconds(60);
  job.end_time = *job.create_time + std::chrono::seconds(600);
  job.labels = {{"team", "bench"}, {"number", std::to_string(number)}};
  job.etag = "12345678";
  ml::TrainingInput& input = job.training_input.emplace();
  input.scale_tier = "BASIC";
  input.region = "us-central1";
  input.package_uris = {"gs://bucket/" + job.job_id + "/trainer-0.0.0.tar.gz"};
  input.python_module = "trainer.task";
  input.args = {"--epochs=10", "--batch-size=64", "--learning-rate=0.01"};
  input.runtime_version = "2.11";
  input.python_version = "3.7";
  input.job_dir = "gs://bucket/" + job.job_id;
  return job;
}

// One transaction for all jobs: a synced Create for each would take minutes.
bool Fill(const Path& file, int count) {
  if (!host::OpenJobStore(file).ok()) return false;  // makes the schema
  sqlite3* db = nullptr;
  sqlite3_stmt* insert = nullptr;
  bool done = sqlite3_open(file.c_str(), &db) == SQLITE_OK &&
              sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr) == SQLITE_OK &&
              sqlite3_prepare_v2(db,
                                 "INSERT INTO jobs (project, id, create_time, finished, job, run) "
                                 "VALUES ('bench', ?1, ?2, 1, ?3, '{}')",
                                 -1, &insert, nullptr) == SQLITE_OK;
  for (int i = 0; done && i < count; ++i) {
    const ml::Job job = JobNumber(i);
    const std::string json = CompactJson(ml::ToStoredJson(job));
    sqlite3_bind_text(insert, 1, job.job_id.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(insert, 2, job.create_time->time_since_epoch().count());
    sqlite3_bind_text(insert, 3, json.c_str(), -1, SQLITE_TRANSIENT);
    done = sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  done = done && sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(db);
  return done;
}

// Runs `caip serve` until destruction.
class Server {
 public:
  explicit Server(const Path& state) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ready[0]);
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // a failed measurement leaves no server behind
      ::setenv("CAIP_READY_FD", std::to_string(ready[1]).c_str(), 1);
      ::execl(CAIP_BINARY_DIR "/caip", "caip", "serve", "--port", "0", "--state", state.c_str(),
              nullptr);
      ::_exit(127);
    }
    ::close(ready[1]);
    char buffer[256];
    for (ssize_t got; (got = ::read(ready[0], buffer, sizeof buffer)) > 0;) {
      url_.append(buffer, static_cast<size_t>(got));
    }
    ::close(ready[0]);
    url_ = std::string(Trim(url_));
  }
  ~Server() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  const std::string& url() const { return url_; }

 private:
  pid_t pid_;
  std::string url_;
};

template <typename Target>
void Measure(const char* what, int jobs, const std::string& url, int calls, Target target) {
  http::Client client(url);
  std::vector<double> times;
  size_t bytes = 0;
  for (int i = 0; i < calls + calls / 10; ++i) {
    const auto start = steady_clock::now();
    const auto answer = client.Send({.target = target(i)});
    const duration<double, std::milli> took = steady_clock::now() - start;
    if (!answer.ok() || answer->status != 200) {
      std::printf("%s: %s\n", what, answer.ok() ? answer->body.c_str() : "no answer");
      std::exit(1);
    }
    bytes = answer->body.size();
    if (i >= calls / 10) times.push_back(took.count());  // the first tenth warms up
  }
  std::sort(times.begin(), times.end());
  std::printf("%-34s %7d jobs  p50 %7.3f ms  p99 %7.3f ms  %7zu bytes\n", what, jobs,
              times[times.size() / 2], times[times.size() * 99 / 100], bytes);
}

// The tokens of all pages but the first.
std::vector<std::string> PageTokens(const std::string& url, const std::string& list) {
  http::Client client(url);
  std::vector<std::string> tokens;
  for (std::string target = list;;) {
    const auto answer = client.Send({.target = target});
    const Json page = answer.ok() ? Json::parse(answer->body, nullptr, false) : Json();
    if (!page.is_object() || !page.contains("nextPageToken")) break;
    tokens.push_back(page["nextPageToken"]);
    target = list + "&pageToken=" + PercentEncoded(tokens.back());
  }
  if (tokens.empty()) {
    std::printf("the list has no second page\n");
    std::exit(1);
  }
  return tokens;
}

void MeasureAll(int jobs) {
  const TemporaryDirectory directory;
  // Closed to other users: caip refuses an open directory that it has not made.
  if (::mkdir((directory.path() / "state").c_str(), 0700) != 0 ||
      !Fill(directory.path() / "state/jobs.db", jobs)) {
    std::printf("the jobs cannot be stored\n");
    std::exit(1);
  }
  const Server server(directory.path() / "state");
  const std::string all = "/v1/projects/bench/jobs";
  const auto spread = [jobs](int i) { return static_cast<int>(i * 7919LL % jobs); };
  Measure("jobs.get", jobs, server.url(), kCalls,
          [&](int i) { return all + "/job_" + std::to_string(spread(i)); });
  for (const char* size : {"20", "100"}) {
    const std::string what = std::string("jobs.list pageSize=") + size;
    Measure(what.c_str(), jobs, server.url(), kCalls / 4,
            [&](int) { return all + "?pageSize=" + size; });
    const std::vector<std::string> tokens = PageTokens(server.url(), all + "?pageSize=" + size);
    Measure((what + " in the middle").c_str(), jobs, server.url(), kCalls / 4, [&](int i) {
      const std::string& token = tokens[i * 7919LL % tokens.size()];
      return all + "?pageSize=" + size + "&pageToken=" + PercentEncoded(token);
    });
  }
  Measure("jobs.list fields=jobs/jobId", jobs, server.url(), kCalls / 4,
          [&](int) { return all + "?fields=jobs/jobId"; });
  Measure("jobs.list filter=state:FAILED", jobs, server.url(), kCalls / 10,
          [&](int) { return all + "?filter=state%3AFAILED"; });
  Measure("jobs.list, a filter that finds none", jobs, server.url(), 3,
          [&](int) { return all + "?filter=jobId%3Anone"; });
}

}  // namespace
}  // namespace caip

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 100'000;
  caip::MeasureAll(1000);
  caip::MeasureAll(jobs);
  return 0;
}
