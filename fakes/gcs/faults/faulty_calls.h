#pragma once
// Calls that may go wrong on purpose.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fakes/gcs/faults/fault_plan.h"
#include "fakes/gcs/faults/pause.h"
#include "http/router.h"

namespace caip::gcs {

/// Which faults a call can suffer beside a status and a reset.
struct FaultSite {
  enum class Kind { kPlain, kUpload, kDownload } kind = Kind::kPlain;
  uint64_t offset = 0;          // of an upload: where in the object the body's first byte stands
  bool answer_has_body = true;  // of an upload that is complete; else a cut answer is a reset
};

/// Asks a plan before each call. A call without a fault costs that question and nothing else. Any
/// thread.
class FaultyCalls {
 public:
  /// `render` makes a response of an injected error, in the words of the API that is called.
  using Renderer = std::function<http::Response(const Error&)>;

  /// Without a plan no call goes wrong.
  FaultyCalls(std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause)
      : plan_(std::move(plan)), pause_(std::move(pause)) {}

  /// One call of `method` ("storage.objects.get"), whole.
  http::Response Run(const std::string& method, const http::Request& request, const FaultSite& site,
                     const Renderer& render, const http::Handler& handler) const;
  /// The same for a plain call whose result is no response: its status or reset as an error.
  Status Meet(const std::string& method, const http::Request& request) const;

 private:
  std::shared_ptr<FaultPlan> plan_;
  std::shared_ptr<Pause> pause_;
};

/// The same routes of the JSON API with faults. `plan` and `pause` are shared by the handlers.
std::vector<http::Route> WithFaults(std::vector<http::Route> routes,
                                    std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause);

}  // namespace caip::gcs
