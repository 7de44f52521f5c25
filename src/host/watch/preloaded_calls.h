#pragma once
// Calls that wait in a library of caip, loaded into the replica's programs by LD_PRELOAD: for hosts
// whose kernel does not hold them. Static programs, and those that make system calls by themselves,
// are not seen.

#include <memory>
#include <string>

#include "engine/ports.h"
#include "host/watch/call_source.h"

namespace caip::host {

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
