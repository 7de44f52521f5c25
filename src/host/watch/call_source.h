#pragma once
// Where the calls of one watched replica come from, whichever way they are held.

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "engine/ports.h"
#include "host/watch/watched_call.h"

namespace caip::host {

/// A call that has been heard, and its way back.
struct HeardCall {
  CallFacts facts;
  std::unique_ptr<AnswerPath> path;
};

/// One thread, but for End().
class CallSource {
 public:
  virtual ~CallSource() = default;
  /// Waits until a call can be received (`receive`) or the replica's processes are all dead: false.
  virtual bool Wait(bool receive) = 0;
  /// Of the call that is there; null when it has vanished meanwhile.
  virtual std::unique_ptr<HeardCall> Receive() = 0;
  /// The replica's processes are dead, as somebody else knows. Any thread.
  virtual void End() {}
};

// Whether this host lets caip hold a replica at its system calls.

struct Interposition {
  enum class Kind {
    kSeccomp,  // in the kernel: any program
    kPreload,  // in a library that is loaded into programs: those that are linked dynamically
    kNone
  } kind = Kind::kNone;
  std::string reason;  // why no better one is available
};

/// The best that this host offers; changes nothing. CAIP_INTERPOSITION=preload asks for the second.
Interposition InterpositionOf();

// Calls that wait in the kernel: seccomp user notification.

/// `listener` is the seccomp listener that launcher/leader.cc made. Ends when all who have the
/// filter are dead.
std::unique_ptr<CallSource> KernelCalls(Fd listener);

// Calls that wait in a library of caip, loaded into the replica's programs by LD_PRELOAD: for hosts
// whose kernel does not hold them. Static programs, and those that make system calls by themselves,
// are not seen.

/// The variables of its environment by which a replica's programs are watched.
struct PreloadedWatch {
  std::unique_ptr<CallSource> calls;
  std::string preload;  // LD_PRELOAD
  std::string watch;    // CAIP_WATCH
};

/// `files`: its file operations, too. An Error where no socket can be made.
Result<PreloadedWatch> WatchByPreload(bool files);

/// Adds its variables to those of a replica. Other preloaded libraries (a fake clock) come after
/// it.
void AddTo(engine::Environment& environment, const PreloadedWatch& watch);

/// libcaip-watch.so, which lies beside the running program.
Path PreloadLibraryBesideUs();

/// Whether the program has no dynamic loader, and so loads no library of ours.
bool IsStaticProgram(const Path& program);

}  // namespace caip::host
