#pragma once
// What the commands need of a running emulator, wherever it runs.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "emulator/app/emulator_flags.h"
#include "http/client.h"

namespace caip::cli {

/// A running emulator: a server that was found, one started in the background, or one inside this
/// process. One thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;
  /// One request to the ml, storage or logging face; `target` is path and query.
  virtual Result<http::ClientResponse> Send(const http::ClientRequest& request) = 0;
  /// "http://127.0.0.1:PORT", for messages; "" when it has no address.
  virtual std::string base_url() const = 0;
};

/// How the emulator is to live when none is running yet.
enum class Lifetime {
  kBackground,   // started detached; ends by itself when idle
  kThisCommand,  // inside this process; leaves nothing behind (--stream-logs)
  kBriefly,      // as kThisCommand, but in the background where unfinished jobs are to go on
};

/// Finds or starts an emulator. Called only once the client's own checks have passed.
using Connect =
    std::function<Result<std::unique_ptr<Connection>>(const EmulatorFlags& flags, Lifetime)>;

/// A log to be followed.
struct FollowRequest {
  std::string project;
  std::string job_id;
  std::string task_name;              // "" all
  bool allow_multiline_logs = false;  // false: one row for each line of a message
};

/// How following ended.
struct FollowOutcome {
  enum class End {
    kJobFinished,  // the job has an endTime and all its log was shown
    kInterrupted,  // Ctrl-C, SIGTERM, or the terminal was closed
    kStopped,      // the emulator was ended, by `caip stop` or a signal of its own
    kFailed,       // the emulator could not be asked; `failure` tells why
  } end = End::kJobFinished;
  std::string failure;
  int signal = 0;  // the one that interrupted
};

struct Io;

/// Writes a job's log to io.err, as gcloud does, until the job is over.
using Follow = std::function<FollowOutcome(Connection&, const FollowRequest&, const Io&)>;

}  // namespace caip::cli
