#pragma once
// Faults that can be injected into a call, and their injection. The faults are those of the storage
// testbench's retry tests.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/message.h"
#include "http/router.h"

namespace caip::gcs {

/// One fault. Its kind decides which calls it can affect.
struct Fault {
  enum class Kind {
    kStatus,            // any call: `status` instead of an answer; the call has no effect
    kReset,             // any call: the connection is reset; the call has no effect
    kStatusAfterBytes,  // an upload: `status` once `bytes` of the object are stored
    kBreakAfterBytes,   // a download: the connection ends after `bytes` of the body
    kBreakFinalAnswer,  // an upload's last piece: it is stored, its response ends after `bytes`
    kStall,             // an upload or download: stalls for `pause` after `bytes`
  } kind = Kind::kStatus;
  int status = 503;
  uint64_t bytes = 0;
  Duration pause{0};
  std::string message = {};  // for kStatus; "" for a text that names the instruction
};

/// "return-503", "return-reset-connection", "return-503-after-256K", "return-broken-stream",
/// "return-broken-stream-after-256K", "return-broken-stream-final-chunk-after-10B",
/// "stall-for-10s-after-256K". nullopt for anything else (the testbench's redirects are for gRPC
/// only).
std::optional<Fault> ParseFault(std::string_view instruction);

/// Every form that ParseFault reads, for an error's text.
std::string FaultForms();

/// Decides which fault a call gets. RetryTests implements it. Called once for each call, on any
/// thread.
class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  /// Returns and consumes the fault for this call of `method` ("storage.objects.get").
  virtual std::optional<Fault> Take(const std::string& method, const http::Request& request) = 0;
  /// Returns a fault that did not apply (the download was too short). A later call gets it.
  virtual void PutBack(const std::string& method, const http::Request& request,
                       const Fault& fault) = 0;
};

/// Waits in the middle of a response, until the server stops or the client has gone. Any thread.
class Pause {
 public:
  /// False when End() came first, or when nobody waits for the response.
  bool For(Duration duration);
  /// Ends every pause, those of later calls as well.
  void End() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    ended_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
};

/// Which faults apply to a call besides a status and a reset.
struct FaultSite {
  enum class Kind { kPlain, kUpload, kDownload } kind = Kind::kPlain;
  uint64_t offset = 0;          // of an upload: position of the body's first byte in the object
  bool answer_has_body = true;  // of a complete upload; if false, a broken answer is a reset
};

/// Asks a plan before each call and carries out the fault that it names. Any thread.
class FaultyCalls {
 public:
  /// `render` turns an injected error into a response in the form of the API that was called.
  using Renderer = std::function<http::Response(const Error&)>;

  /// Without a plan no faults are injected.
  FaultyCalls(std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause)
      : plan_(std::move(plan)), pause_(std::move(pause)) {}

  /// Runs one call of `method` ("storage.objects.get") with its fault, if it gets one.
  http::Response Run(const std::string& method, const http::Request& request, const FaultSite& site,
                     const Renderer& render, const http::Handler& handler) const;
  /// The same for a call whose result is not a response: returns a status or a reset as an error.
  Status InjectFault(const std::string& method, const http::Request& request) const;

 private:
  std::shared_ptr<FaultPlan> plan_;
  std::shared_ptr<Pause> pause_;
};

/// Returns the same routes of the JSON API with faults. `plan` and `pause` are shared by the
/// handlers.
std::vector<http::Route> WithFaults(std::vector<http::Route> routes,
                                    std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause);

}  // namespace caip::gcs
