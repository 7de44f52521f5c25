#pragma once
// The command line as a value.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace conform {

/// Exit codes; the same as of `caip scenario`.
enum ExitCode : int {
  kExitFine = 0,          // every case passed, or was listed as a known miss
  kExitFailed = 1,        // a case failed, or a listed one passed, or a rule is uncovered
  kExitUsage = 2,         // the command line or a file is wrong; nothing was judged
  kExitCannot = 3,        // the endpoint cannot be judged: no answer, or not the service
  kExitOurFault = 4,      // the judge itself failed
  kExitInterrupted = 130  // Ctrl-C; finished cases are reported
};

struct Arguments {
  std::string endpoint = "embedded";  // URL, "embedded", or "none" for commands only
  std::string vertex;                 // URL; "": the endpoint's
  std::string storage;
  std::string logging;
  std::string api;  // "ml", "vertex" or "all"; "": the target's
  std::string project = "caip-conform";
  std::string bucket = "caip-conform";
  std::string token_file;
  std::string ca_file;
  bool insecure = false;
  std::string target;              // file; "": by the endpoint
  std::string home;                // folder with cases, rules, targets and the probe
  std::string cases;               // folder with cases; "": in home
  std::string caip;                // the emulator's program
  std::string submit_command;      // of AI Platform Training
  std::string custom_job_command;  // of Vertex AI
  std::string train_command;
  std::map<std::string, std::string> settings;  // --set NAME=VALUE
  std::vector<std::string> filters;             // globs over ids
  std::vector<std::string> chapters;
  std::pair<int, int> shard = {1, 1};
  std::string junit, json, tap, markdown;  // files; "-" is standard output
  bool list = false;
  bool coverage = false;
  bool verbose = false;
  bool fail_fast = false;
  int jobs = 6;  // parallel cases
  std::chrono::milliseconds call_patience{10000};
  std::chrono::milliseconds job_patience{60000};
  std::chrono::milliseconds log_patience{3000};
};

/// The parsed command line: arguments to run with, or an exit code.
struct ParsedArguments {
  std::optional<Arguments> arguments;
  int exit_code = 0;
};

/// Reads the command line. Prints the help, or a mistake.
ParsedArguments ParseArguments(int argc, char** argv);

}  // namespace conform
