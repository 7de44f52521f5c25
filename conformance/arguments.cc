#include "conformance/arguments.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "conformance/problems.h"
#include "conformance/terminal.h"
#include "conformance/wire/wire.h"

namespace conform {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(
Examples:
  caip conform
  caip conform --chapter job-ids --chapter tuning --verbose
  caip conform --endpoint http://127.0.0.1:2247 --project demo --bucket my-bucket
  caip conform --endpoint https://ml.googleapis.com --storage https://storage.googleapis.com \
      --logging https://logging.googleapis.com --token-file token --project P --bucket B \
      --job-timeout 3600
  caip conform --api vertex --endpoint https://us-central1-aiplatform.googleapis.com \
      --storage https://storage.googleapis.com --logging https://logging.googleapis.com \
      --token-file token --project P --bucket B --set image=gcr.io/p/probe:v1
  caip conform --endpoint none --submit-command 'gcloud ai-platform jobs submit training'
  caip conform --endpoint none --submit-command 'gcloud ai custom-jobs create'
  caip conform --junit report.xml --shard 1/4

Exit codes: 0 all cases passed or are known misses; 1 a case failed; 2 the command line or a file
is wrong; 3 the endpoint cannot be judged; 4 the judge itself failed; 130 interrupted.)";

struct RawArguments {
  std::vector<std::string> settings;
  std::vector<std::string> submit_commands;
  std::string shard;
  double call = 20, job = 180, logs = 5;
};

void DefineEndpoint(CLI::App& app, Arguments* out, RawArguments* raw) {
  app.add_option("--endpoint", out->endpoint,
                 "URL to judge. `embedded` starts an emulator; `none` judges only commands.");
  app.add_option("--api", out->api,
                 "The API to judge: AI Platform Training (ml), Vertex AI (vertex) or both (all). "
                 "Default: that of the target; `embedded` has both, another endpoint ml.")
      ->check(CLI::IsMember({"ml", "vertex", "all"}));
  app.add_option("--vertex", out->vertex, "URL of Vertex AI. Default: the endpoint.");
  app.add_option("--storage", out->storage, "URL of Cloud Storage. Default: the endpoint.");
  app.add_option("--logging", out->logging, "URL of Cloud Logging. Default: the endpoint.");
  app.add_option("--project", out->project, "Project in which to create jobs.");
  app.add_option("--bucket", out->bucket, "Bucket for the probe's package and objects.");
  app.add_option("--token-file", out->token_file, "File whose first line is the bearer token.");
  app.add_option("--ca-file", out->ca_file, "Certificate authorities for https, in PEM format.");
  app.add_flag("--insecure", out->insecure, "Accept any certificate.");
  app.add_option("--target", out->target,
                 "Target file: what the endpoint has, and its known misses.");
  app.add_option("--set", raw->settings, "A setting of the target: NAME=VALUE. Repeatable.");
  app.add_option("--submit-command", raw->submit_commands,
                 "Command whose jobs to judge, `... submit training` or `... custom-jobs create`. "
                 "Repeatable.");
  app.add_option("--train-command", out->train_command, "Command for local training to judge.");
  app.add_option("--caip", out->caip, "The emulator's program, for `embedded`.");
  const CLI::Range seconds(0.001, 1e6);
  app.add_option("--timeout", raw->call, "Seconds to wait for one answer.")->check(seconds);
  app.add_option("--job-timeout", raw->job, "Seconds to wait for a job or a command to end.")
      ->check(seconds);
  app.add_option("--log-timeout", raw->logs, "Seconds to wait for log entries.")->check(seconds);
}

void DefineRun(CLI::App& app, Arguments* out, RawArguments* raw) {
  app.add_option("--home", out->home, "Folder with cases, rules, targets and the probe.");
  app.add_option("--cases", out->cases, "Folder with case files. Default: the one in --home.");
  app.add_option("--filter", out->filters, "Run only cases whose id matches the glob. Repeatable.");
  app.add_option("--chapter", out->chapters, "Run only this chapter. Repeatable.");
  app.add_option("--shard", raw->shard, "Run only the i-th of n parts: i/n.");
  app.add_option("--jobs", out->jobs, "Number of cases to run in parallel.")
      ->check(CLI::Range(1, 64));
  app.add_flag("--fail-fast", out->fail_fast, "Stop at the first failure.");
  app.add_flag("--list", out->list, "List the cases without running them.");
  app.add_flag(
      "--coverage", out->coverage,
      "List the rules that no case judges, without running cases. Exit code 1 if a rule has no "
      "case and no reason for it.");
  app.add_flag("--verbose", out->verbose,
               "Show the answers of failed cases, and why cases were skipped.");
  app.add_option("--junit", out->junit,
                 "Write the report as JUnit XML to this file; - is standard output.");
  app.add_option("--json", out->json,
                 "Write the report as JSON (schema: docs/conformance-report.schema.json).");
  app.add_option("--tap", out->tap, "Write the report as TAP 13.");
  app.add_option("--markdown", out->markdown, "Write a summary as Markdown.");
}

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

fs::path OwnFolder() {
  std::error_code code;
  return fs::read_symlink("/proc/self/exe", code).parent_path();
}

// An installed judge is in libexec/caip of its prefix.
fs::path OwnPrefix() { return OwnFolder().parent_path().parent_path(); }

// What belongs to the installed judge, or the source tree.
std::string DefaultHome() {
  const fs::path installed = OwnPrefix() / "share" / "caip" / "conformance";
  if (fs::exists(installed / "jobs.yaml")) return installed.string();
  return CAIP_CONFORMANCE_HOME;  // set by the build; "" in packages, which have the other one
}

std::string DefaultProgram() {
  const fs::path beside = OwnFolder() / "caip";
  return fs::exists(beside) ? beside.string() : (OwnPrefix() / "bin" / "caip").string();
}

std::optional<std::string> FindMistakeInUrls(const Arguments& out) {
  std::vector<std::string> urls;
  if (out.endpoint != "embedded" && out.endpoint != "none") urls.push_back(out.endpoint);
  for (const std::string& url : {out.vertex, out.storage, out.logging}) {
    if (!url.empty()) urls.push_back(url);
  }
  for (const std::string& url : urls) {
    const auto read = ParseUrl(url);
    if (!read.ok()) return read.problem().text;
  }
  return std::nullopt;
}

// The words of a command tell whose jobs it creates.
void ApplyCommands(const RawArguments& raw, Arguments* out) {
  for (const std::string& command : raw.submit_commands) {
    const bool is_custom_job = (" " + command + " ").find(" custom-jobs ") != std::string::npos;
    (is_custom_job ? out->custom_job_command : out->submit_command) = command;
  }
  if (out->endpoint != "embedded") return;
  const auto unless = [&](std::string& command, const char* words) {
    if (command.empty()) command = out->caip + words;
  };
  unless(out->submit_command, " jobs submit training");
  unless(out->custom_job_command, " ai custom-jobs create");
  unless(out->train_command, " local train");
}

std::optional<std::string> ApplyArguments(const RawArguments& raw, Arguments* out) {
  for (const std::string& text : raw.settings) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) return problems::SettingBroken(text);
    out->settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (!raw.shard.empty()) {
    char rest = 0;
    const int got =
        std::sscanf(raw.shard.c_str(), "%d/%d%c", &out->shard.first, &out->shard.second, &rest);
    if (got != 2 || out->shard.first < 1 || out->shard.first > out->shard.second) {
      return problems::ShardBroken(raw.shard);
    }
  }
  if (auto mistake = FindMistakeInUrls(*out)) return mistake;
  out->call_patience = Milliseconds(raw.call);
  out->job_patience = Milliseconds(raw.job);
  out->log_patience = Milliseconds(raw.logs);
  if (out->home.empty()) out->home = DefaultHome();
  out->home = fs::absolute(out->home).string();
  if (out->cases.empty()) out->cases = out->home + "/cases";
  if (out->caip.empty()) out->caip = DefaultProgram();
  const bool embedded = out->endpoint == "embedded";
  if (out->target.empty()) {
    out->target = out->home + "/targets/" + (embedded ? "embedded" : "any") + ".yaml";
  }
  ApplyCommands(raw, out);
  const bool command = !out->submit_command.empty() || !out->custom_job_command.empty() ||
                       !out->train_command.empty();
  if (out->endpoint == "none" && !command) return problems::CommandMissing();
  return std::nullopt;
}

}  // namespace

ParsedArguments ParseArguments(int argc, char** argv) {
  CLI::App app{
      "Judges whether an endpoint is AI Platform Training or Vertex AI custom "
      "training, by cases that cite the rules.",
      "caip conform"};
  app.footer(kFooter);
  Arguments arguments;
  RawArguments raw;
  DefineEndpoint(app, &arguments, &raw);
  DefineRun(app, &arguments, &raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    std::ostringstream out;
    const int code = app.exit(end, out, out);
    (code == 0 ? std::cout : std::cerr) << ForPeople(out.str());
    return {std::nullopt, code == 0 ? kExitFine : kExitUsage};
  }
  if (const auto mistake = ApplyArguments(raw, &arguments)) {
    std::cerr << "ERROR: (caip.conform) " << ForPeople(*mistake) << "\n";
    return {std::nullopt, kExitUsage};
  }
  return {arguments, kExitFine};
}

}  // namespace conform
