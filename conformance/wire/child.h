#pragma once
// Programs that the judge runs: an emulator, and commands to judge.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance/json_fwd.h"
#include "conformance/result.h"

namespace conform {

/// A program to run. It inherits no environment variables.
struct Program {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;
  std::string directory;  // "": that of this process
};

/// The result of a program.
struct Ended {
  int exit_code = 0;  // 128 + N if signal N ended it
  bool late = false;  // killed at its deadline
  std::string out;
  std::string err;
};

/// Runs a program to its end. Kills its process group at the deadline.
Result<Ended> RunProgram(const Program& program, std::chrono::milliseconds deadline);

/// A program in the background. Ends with the object, and with the judge in any case.
class Companion {
 public:
  /// Starts a program. Its stderr goes to the file `log`.
  static Result<Companion> Start(const Program& program, const std::string& log);
  Companion(Companion&& other) noexcept : process_(other.process_) { other.process_ = -1; }
  Companion& operator=(Companion&&) = delete;
  ~Companion();
  /// Whether it still runs.
  bool alive() const;

 private:
  explicit Companion(pid_t process) : process_(process) {}
  pid_t process_;
};

/// The environment of this process.
std::map<std::string, std::string> OwnEnvironment();

/// A running emulator. Ends with the object.
struct Embedded {
  std::string url;
  std::unique_ptr<Companion> server;
};

/// Starts `caip serve` in a folder below `scratch`; `config` is its config.yaml.
Result<Embedded> StartEmbedded(const std::string& caip, const std::string& scratch,
                               const Json& config);

}  // namespace conform
