#pragma once
// Programs that the judge runs: the emulator it starts, commands it judges.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "conformance/result.h"

namespace conform {

/// What to run. The environment is the whole of it, nothing is inherited.
struct Program {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;
  std::string directory;  // "": ours
};

/// What a program left.
struct Ended {
  int exit_code = 0;  // 128 + N where signal N ended it
  bool late = false;  // it was killed at its deadline
  std::string out;
  std::string err;
};

/// Runs a program to its end; its whole group is killed at the deadline.
Result<Ended> RunProgram(const Program& program, std::chrono::milliseconds deadline);

/// A program that goes on beside us. Ends with us: with the object, and with the judge however that
/// ends. Owned by who started it.
class Companion {
 public:
  /// Starts it; what it writes to stderr goes to `log`.
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

/// What this process itself was given.
std::map<std::string, std::string> OwnEnvironment();

}  // namespace conform
