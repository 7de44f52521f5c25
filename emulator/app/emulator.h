#pragma once
// One emulator: everything constructed, connected and, in the end, taken down in order.

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/app/settings/options.h"
#include "engine/engine.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::app {

class Interference;

/// Owns the state directory while it lives. Serves at once; its engine runs on a thread of its own.
class Emulator {
 public:
  /// Errors: kAborted when the state directory is taken (with the owner's name), kAlreadyExists
  /// when the port is, kPermissionDenied, kDataLoss, ... with what to do.
  static Result<std::unique_ptr<Emulator>> Start(const EmulatorOptions& options,
                                                 const EmulatorFlags& flags,
                                                 Interference* interference = nullptr);
  ~Emulator();  // as Stop()
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  /// "http://127.0.0.1:PORT".
  const std::string& base_url() const;
  uint64_t seed() const;
  engine::Engine& engine();
  gcs::DirectoryStore& buckets();
  /// What to tell about the port, where it is not the usual one; else "".
  const std::string& port_note() const;

  /// Why WaitForEnd returned.
  enum class End { kInterrupted, kAsked, kIdle };
  /// Blocks until `interrupt_descriptor` is readable, a client asks for the end, or for `idle` no
  /// job was unfinished and no request came.
  End WaitForEnd(int interrupt_descriptor, std::optional<Duration> idle);

  /// An answer where nobody needs it: no job is unfinished and nobody who joined (POST
  /// /emulator/v1:join) lives, or a client asked for the end. Nobody can join from then on.
  std::optional<End> MayEnd();
  /// Blocks until MayEnd, or `interrupt_descriptor` is readable. Where somebody is to be served
  /// beyond the end of his process, it is needed until it was idle for long, as other servers.
  End WaitWhileNeeded(int interrupt_descriptor);

  /// Kills all replicas; unfinished jobs go on with the next emulator on this state directory, as
  /// after a loss of their machines.
  void Stop();

 private:
  struct Parts;
  explicit Emulator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace caip::app
