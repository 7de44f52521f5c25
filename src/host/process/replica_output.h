#pragma once
// What replicas print -> entries of the job's log.

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

/// Reads the pipes of all replicas on a thread of its own: bytes to lines to entries to the sink,
/// in batches, each stamped with the time it was read. When the sink is slow, the pipes fill and
/// the replicas wait: nothing is dropped. Any thread may call.
class ReplicaOutput {
 public:
  /// An entry about a replica by caip itself, written after everything that the replica printed.
  struct Remark {
    engine::Severity severity = engine::Severity::kInfo;
    std::string message;
  };
  /// `traceback`: the last Python traceback the replica printed to stderr, "" if none.
  using Done = std::function<void(std::string traceback)>;

  ReplicaOutput(const Clock& clock, engine::LogSink& sink);
  ReplicaOutput(const ReplicaOutput&) = delete;
  ReplicaOutput& operator=(const ReplicaOutput&) = delete;
  ~ReplicaOutput();  // what was not read yet is lost; no `done` is called any more

  /// Begins to read. `replica` is the caller's number for it.
  void Add(uint64_t replica, engine::RunKey run, std::string task, Fd out, Fd err);

  /// Takes what the pipes hold and then `bytes`, as if they had been written to the stream's pipe,
  /// and returns when the sink has the lines of it. Any thread but the reading one.
  void Feed(uint64_t replica, host::OutputStream stream, std::string bytes);

  /// The replica's processes are dead: takes what the pipes hold still, writes all of it and the
  /// remarks to the sink, then calls `done` on the reading thread. Of a replica that was never
  /// added it only calls `done`.
  void Finish(uint64_t replica, std::vector<Remark> remarks, Done done);

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace caip::host
