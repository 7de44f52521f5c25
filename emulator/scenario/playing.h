#pragma once
// A scenario from file to verdict: its run, its twin's, the verdict, the event list.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/submit_flags.h"
#include "harness/scenario/report.h"
#include "harness/scenario/scenario.h"

namespace caip::scenario {

struct PlayOptions {
  Path workshop;                 // where runs have their directories
  std::optional<uint64_t> seed;  // over the scenario's own
  std::optional<Path> events;    // the event list goes there
  bool keep = false;             // the run's directory stays
  std::function<bool()> interrupted = nullptr;
  client::ReadSubmitWords read_words = nullptr;  // of scenarios with `submit` words
};

/// Never an error: one that could not be played says why in `Played::error`.
harness::Played Play(const Path& file, const PlayOptions& options);

/// A directory for the runs of this process below `state`; those of processes that are gone are
/// swept. Gone with the object unless it was kept.
class Workshop {
 public:
  static Result<std::unique_ptr<Workshop>> Open(const Path& state);
  ~Workshop();
  const Path& path() const { return path_; }
  void Keep() { keep_ = true; }

 private:
  Workshop() = default;
  Path path_;
  Fd lock_;
  bool keep_ = false;
};

}  // namespace caip::scenario
