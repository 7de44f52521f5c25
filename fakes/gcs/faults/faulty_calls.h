#pragma once
// Injects faults into calls.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fakes/gcs/faults/fault.h"
#include "http/router.h"

namespace caip::gcs {

/// Waits in the middle of an answer. The end of the server ends every wait. Any thread.
class Pause {
 public:
  /// False when End() came first.
  bool For(Duration duration) {
    std::unique_lock lock(mutex_);
    return !ended_.wait_for(lock, duration, [this] { return over_; });
  }
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
  uint64_t offset = 0;          // of an upload: where in the object the body's first byte stands
  bool answer_has_body = true;  // of a complete upload; else cutting the answer is a reset
};

/// Asks a plan before each call and carries out the fault that it names. Any thread.
class FaultyCalls {
 public:
  /// `render` makes a response of an injected error, in the words of the API that is called.
  using Renderer = std::function<http::Response(const Error&)>;

  /// Without a plan no faults are injected.
  FaultyCalls(std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause)
      : plan_(std::move(plan)), pause_(std::move(pause)) {}

  /// Runs one call of `method` ("storage.objects.get") with its fault.
  http::Response Run(const std::string& method, const http::Request& request, const FaultSite& site,
                     const Renderer& render, const http::Handler& handler) const;
  /// The same for a plain call whose result is not a response: a status or reset is an error.
  Status Meet(const std::string& method, const http::Request& request) const;

 private:
  std::shared_ptr<FaultPlan> plan_;
  std::shared_ptr<Pause> pause_;
};

/// The same routes of the JSON API with faults. `plan` and `pause` are shared by the handlers.
std::vector<http::Route> WithFaults(std::vector<http::Route> routes,
                                    std::shared_ptr<FaultPlan> plan, std::shared_ptr<Pause> pause);

}  // namespace caip::gcs
