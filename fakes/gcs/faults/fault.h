#pragma once
// Faults that can be injected into a call, in the words of the storage testbench's retry tests.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/message.h"

namespace caip::gcs {

/// One fault. Its kind decides which calls it can affect.
struct Fault {
  enum class Kind {
    kStatus,            // any call: `status` instead of an answer; the call has no effect
    kReset,             // any call: the connection is reset; the call has no effect
    kStatusAfterBytes,  // an upload: `status` once `bytes` of the object are stored
    kBreakAfterBytes,   // a download: the connection ends after `bytes` of the body
    kBreakFinalAnswer,  // an upload's last piece: it is stored, its answer ends after `bytes`
    kStall,             // an upload or download: silence of `pause` after `bytes`
  } kind = Kind::kStatus;
  int status = 503;
  uint64_t bytes = 0;
  Duration pause{0};
  std::string message = {};  // for kStatus; "" for a text that names the instruction
};

/// "return-503", "return-reset-connection", "return-503-after-256K", "return-broken-stream",
/// "return-broken-stream-after-256K", "return-broken-stream-final-chunk-after-10B",
/// "stall-for-10s-after-256K". nullopt for anything else (redirects are gRPC's alone).
std::optional<Fault> ParseFault(std::string_view instruction);

/// Every form that ParseFault reads, for an error's text.
std::string FaultForms();

/// Decides which fault a call gets: a client's retry tests, or a scenario. Asked once a call. Any
/// thread.
class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  /// The fault for this call of `method` ("storage.objects.get"), which is consumed.
  virtual std::optional<Fault> Take(const std::string& method, const http::Request& request) = 0;
  /// Returns a fault that did not apply (the download was too short). A later call gets it.
  virtual void PutBack(const std::string& method, const http::Request& request,
                       const Fault& fault) = 0;
};

}  // namespace caip::gcs
