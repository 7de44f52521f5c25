#pragma once
// One emulator: constructs its parts, connects them, and destroys them in order.

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "emulator/app/settings/options.h"
#include "engine/engine.h"
#include "fakes/gcs/store/directory_store.h"

namespace caip::app {

class EmulatorHooks;

/// A running emulator. It owns the state directory while it exists. It serves as soon as Start
/// returns, and its engine runs on its own thread.
class Emulator {
 public:
  /// Errors: kAborted when another process owns the state directory (and which), kAlreadyExists
  /// when the port is in use, kCancelled when the options interrupted the start,
  /// kPermissionDenied, kDataLoss, ...
  static Result<std::unique_ptr<Emulator>> Start(const EmulatorOptions& options,
                                                 const EmulatorFlags& flags,
                                                 EmulatorHooks* hooks = nullptr);
  ~Emulator();  // same as Stop()
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  /// "http://127.0.0.1:PORT".
  const std::string& base_url() const;
  uint64_t seed() const;
  engine::Engine& engine();
  gcs::DirectoryStore& buckets();
  /// A note for the user if the port is not the default one; else "".
  const std::string& port_note() const;
  /// Notes for the user, each a line: why replicas have no machines of their own although nobody
  /// asked for that, and why their machine types are not limited. "" if there is none.
  const std::string& replicas_note() const;

  /// Why WaitForEnd returned.
  enum class End { kInterrupted, kAsked, kIdle };
  /// Blocks until `interrupt_descriptor` is readable, a client asks for the end, or there was no
  /// unfinished job and no request for the time `idle`.
  End WaitForEnd(int interrupt_descriptor, std::optional<Duration> idle);

  /// The reason to end, if nothing needs the emulator: no job is unfinished and no process that
  /// joined (POST /emulator/v1:join) exists, or a client asked for the end. After that no process
  /// can join.
  std::optional<End> MayEnd();
  /// For an emulator whose command has ended: another command may replace it once nothing uses it.
  /// Blocks until MayEnd, or until `interrupt_descriptor` is readable. If a client joined with
  /// `stays`, the emulator is needed until the idle timeout of background servers.
  End WaitWhileNeeded(int interrupt_descriptor);

  /// Kills all replicas. The next emulator on this state directory continues unfinished jobs, as
  /// after a loss of their machines.
  void Stop();

 private:
  struct Parts;
  explicit Emulator(std::unique_ptr<Parts> parts);
  /// Waits until a signal or a client wants the end; std::nullopt after `limit`.
  std::optional<End> WaitForWish(int interrupt_descriptor, Duration limit);

  std::unique_ptr<Parts> parts_;
};

}  // namespace caip::app
