// `jobs stream-logs` of a job that has ended.
#include <gtest/gtest.h>

#include <cstdlib>

#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/commands/follow.h"

namespace caip::cli {
namespace {

class FinishedJob final : public client::Connection {
 public:
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest&, const client::BodySink&) override {
    return http::ClientResponse{
        200, {}, R"({"state": "SUCCEEDED", "finished": true, "now": "2026-11-22T00:00:01Z",
                     "createTime": "2026-11-22T00:00:00Z", "last": "1", "entries": [{
                     "severity": "INFO", "timestamp": "2026-11-22T00:00:01Z", "task": "service",
                     "message": "hello"}]})"};
  }
  std::string base_url() const override { return "http://127.0.0.1:1"; }
};

struct Sinks {
  std::string out;
  std::string err;
  Io io{[this](std::string_view text) { out += text; },
        [this](std::string_view text) { err += text; }};
};

// gcloud: stdout, where `submit --stream-logs` has the log on stderr.
TEST(StreamLogs, PrintsTheLogAsItsResultInTheColoursOfThatSink) {
  ::setenv("TZ", "UTC", 1);
  ::setenv("CLOUDSDK_CORE_PROJECT", "demo", 1);
  const auto command = std::get<StreamLogsCommand>(ParseArguments({"jobs", "stream-logs", "j1"}));
  const app::Connect connect = [](const app::EmulatorFlags&, app::Lifetime) {
    return Result<std::unique_ptr<client::Connection>>(std::make_unique<FinishedJob>());
  };
  for (const bool terminal : {false, true}) {
    Sinks sinks;
    sinks.io.out_is_terminal = terminal;
    sinks.io.err_is_terminal = !terminal;
    EXPECT_EQ(RunStreamLogs(command, {sinks.io, connect, FollowJob}), 0);
    EXPECT_EQ(sinks.err, "");
    EXPECT_EQ(sinks.out.find("\x1b[") != sinks.out.npos, terminal) << sinks.out;
    if (!terminal) {
      EXPECT_EQ(sinks.out, "INFO\t2026-11-22 00:00:01 +0000\tservice\t\thello\n");
    }
  }
}

}  // namespace
}  // namespace caip::cli
