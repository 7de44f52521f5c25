#pragma once
// Sources of a watched replica's calls: the kernel, or a library in the replica's programs.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// A call that was received, and the path of its answer.
struct HeardCall {
  CallFacts facts;
  std::unique_ptr<AnswerPath> path;
};

/// The calls of one watched replica. One thread uses it. Any thread may call End().
class CallSource {
 public:
  virtual ~CallSource() = default;
  /// Waits for a call to receive. False: all processes of the replica are dead.
  virtual bool Wait(bool receive) = 0;
  /// Whether a call waits to be received, at once or within this time.
  virtual bool IsCallWaiting(int limit_ms) = 0;
  /// Receives the waiting call; null if its thread has ended meanwhile.
  virtual std::unique_ptr<HeardCall> Receive() = 0;
  /// Reports that the replica's processes are dead. Any thread.
  virtual void End() {}
};

/// The way in which this host lets caip hold a replica at its system calls.
struct Interposition {
  enum class Kind {
    kSeccomp,  // in the kernel: any program
    kPreload,  // in a library that is loaded into dynamically linked programs
    kNone
  } kind = Kind::kNone;
  std::string reason;  // why no better way is available
};

/// Returns the best way that this host offers. Changes nothing. CAIP_INTERPOSITION=preload requests
/// kPreload.
Interposition InterpositionOf();

/// Calls that wait in the kernel (seccomp user notification). `listener` comes from
/// launcher/leader.cc. The source ends when all processes with the filter are dead.
std::unique_ptr<CallSource> KernelCalls(Fd listener);

/// Calls that wait in a library of caip, which LD_PRELOAD loads into the replica's programs, for
/// hosts whose kernel cannot hold calls. The library does not see the calls of static programs, or
/// direct system calls.
struct PreloadedWatch {
  std::unique_ptr<CallSource> calls;
  std::string preload;  // LD_PRELOAD
  std::string watch;    // CAIP_WATCH
};

/// Where the library finds caip in a machine, whose network and processes are its own.
struct WatchSocket {
  Path file;          // on this host, in a directory that other users cannot enter
  std::string shown;  // its path in the machine
};

/// `files`: watch file operations, too. `socket`: of a replica on a machine; nullopt: the replica
/// has the network of this host. An Error if no socket can be created.
Result<PreloadedWatch> WatchByPreload(bool files, const std::optional<WatchSocket>& socket = {});

/// Adds the watch's variables to those of a replica, before other preloaded libraries (a fake
/// clock).
void AddTo(engine::Environment& environment, const PreloadedWatch& watch);

/// The path of the running program's libcaip-watch.so.
Path OwnPreloadLibrary();

/// Whether the program has no dynamic loader and so cannot load the library.
bool IsStaticProgram(const Path& program);

}  // namespace caip::host
