#pragma once
// A service with canned answers, and the commands of `ai` run against it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "emulator/cli/arguments/arguments.h"
#include "emulator/cli/commands/commands.h"

namespace caip::cli {

using Words = std::vector<std::string>;

/// Records requests. An unknown request gets 404.
struct AiService {
  std::vector<std::string> requests;  // "METHOD target"
  std::vector<std::string> bodies;
  std::map<std::string, http::ClientResponse> answers;             // by request
  std::map<std::string, std::deque<http::ClientResponse>> series;  // the next answer, used once

  http::ClientResponse Answer(const http::ClientRequest& request) {
    const std::string call = request.method + " " + request.target;
    requests.push_back(call);
    bodies.push_back(request.body);
    if (auto& next = series[call]; !next.empty()) {
      http::ClientResponse answer = next.front();
      next.pop_front();
      return answer;
    }
    const auto found = answers.find(call);
    if (found != answers.end()) return found->second;
    return {404, {}, R"({"error": {"status": "NOT_FOUND", "message": "There is nothing."}})"};
  }
};

class AiConnection final : public client::Connection {
 public:
  explicit AiConnection(AiService& service) : service_(service) {}
  using Connection::Send;
  Result<http::ClientResponse> Send(const http::ClientRequest& request,
                                    const client::BodySink&) override {
    return service_.Answer(request);
  }
  std::string base_url() const override { return "http://127.0.0.1:1"; }

 private:
  AiService& service_;
};

class AiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("CLOUDSDK_AI_REGION");
    ::unsetenv("CLOUDSDK_ACTIVE_CONFIG_NAME");
    ::setenv("CLOUDSDK_CONFIG", (root_ / "gcloud").c_str(), 1);
    ::setenv("CLOUDSDK_CORE_PROJECT", "demo", 1);
    ::setenv("CAIP_STATE", (root_ / "state").c_str(), 1);
    ::setenv("TZ", "UTC", 1);
  }

  Path Write(const std::string& file, const std::string& text) {
    EXPECT_TRUE(MakeDirectories((root_ / file).parent_path()).ok());
    EXPECT_TRUE(WriteFile(root_ / file, text).ok());
    return root_ / file;
  }

  int Run(const Words& words) {
    out_ = err_ = "";
    service_.requests.clear();
    service_.bodies.clear();
    const Io io{[this](std::string_view text) { out_ += text; },
                [this](std::string_view text) { err_ += text; }};
    const app::Connect connect = [this](const app::EmulatorFlags&, app::Lifetime) {
      return Result<std::unique_ptr<client::Connection>>(std::make_unique<AiConnection>(service_));
    };
    return std::visit(Runner{{io, connect, nullptr}}, ParseArguments(words));
  }

  AiService service_;
  TemporaryDirectory directory_;
  Path root_ = directory_.path();
  std::string out_;
  std::string err_;

 private:
  struct Runner {
    Surroundings world;
    int operator()(const CustomJobCreateCommand& c) const { return RunCustomJobCreate(c, world); }
    int operator()(const TuningJobCreateCommand& c) const { return RunTuningJobCreate(c, world); }
    int operator()(const AiDescribeCommand& c) const { return RunAiDescribe(c, world); }
    int operator()(const AiListCommand& c) const { return RunAiList(c, world); }
    int operator()(const AiCancelCommand& c) const { return RunAiCancel(c, world); }
    int operator()(const AiStreamLogsCommand& c) const { return RunAiStreamLogs(c, world); }
    int operator()(const AiLocalRunCommand& c) const { return RunAiLocalRun(c, world); }
    int operator()(const MigrateCommand& c) const { return RunMigrate(c, world); }
    int operator()(const PrintCommand& c) const { return RunPrint(c, world); }
    template <typename Other>
    int operator()(const Other&) const {
      ADD_FAILURE() << "The words are another command.";
      return -1;
    }
  };
};

}  // namespace caip::cli
