#pragma once
// Turns the output of replicas into entries of the job's log.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/log_limit.h"
#include "engine/ports.h"
#include "host/process/log_entry.h"

namespace caip::host {

/// A longer line becomes several entries.
inline constexpr size_t kLogLineBytesMax = kLogEntryBytesMax;

/// Reads the pipes of all replicas on a thread of its own and passes entries to the sink, in
/// batches, each with the time when it was read. If the sink is slow, the pipes fill and the
/// replicas wait, so that no output is lost. Any thread may call.
class ReplicaOutput {
 public:
  /// An entry by caip itself about a replica, written after the replica's output.
  struct Remark {
    engine::Severity severity = engine::Severity::kInfo;
    std::string message;
  };
  /// `traceback`: the last Python traceback the replica printed to stderr, "" if none.
  using Done = std::function<void(std::string traceback)>;

  ReplicaOutput(const Clock& clock, engine::LogSink& sink);
  ReplicaOutput(const ReplicaOutput&) = delete;
  ReplicaOutput& operator=(const ReplicaOutput&) = delete;
  ~ReplicaOutput();  // drops unread output; calls no `done` afterwards

  /// The facts that the entries of a replica share.
  struct Source {
    engine::RunKey run;
    std::string task;
    run::LogReader reader = run::LogReader::kLauncher;
  };

  /// Begins to read. `replica` is the caller's number of the replica. The remarks are written at
  /// once.
  void Add(uint64_t replica, Source source, Fd out, Fd err, std::vector<Remark> remarks = {});

  /// Writes entries of a replica, whether its output is read or not.
  void Write(Source source, std::vector<Remark> remarks);

  /// Reads the pipes and then `bytes`, as if the replica had written them to the stream's pipe.
  /// Returns when the sink has the lines. Any thread except the reading one.
  void Feed(uint64_t replica, host::OutputStream stream, std::string bytes);

  /// Call it when the replica's processes are dead. Passes the rest of the pipes and the remarks to
  /// the sink, then calls `done` on the reading thread. For an unknown replica it only calls
  /// `done`.
  void Finish(uint64_t replica, std::vector<Remark> remarks, Done done);

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace caip::host
