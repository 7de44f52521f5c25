#pragma once
// Who decides what befalls a call: the retry tests of a client's test suite, or a scenario.

#include <optional>
#include <string>
#include <vector>

#include "fakes/gcs/faults/fault.h"
#include "http/message.h"

namespace caip::gcs {

/// Any thread; asked once a call.
class FaultPlan {
 public:
  virtual ~FaultPlan() = default;
  /// What is to befall this call of `method` ("storage.objects.get"); it is used up by that.
  virtual std::optional<Fault> Take(const std::string& method, const http::Request& request) = 0;
  /// The call gave no occasion for it (a download that was too short): it waits for another one.
  virtual void PutBack(const std::string& method, const http::Request& request,
                       const Fault& fault) = 0;
};

/// Several plans as one: the first that has something to say wins. They must outlive it.
class FaultPlans final : public FaultPlan {
 public:
  explicit FaultPlans(std::vector<FaultPlan*> plans) : plans_(std::move(plans)) {}
  std::optional<Fault> Take(const std::string& method, const http::Request& request) override {
    for (FaultPlan* plan : plans_) {
      if (auto fault = plan->Take(method, request)) return fault;
    }
    return std::nullopt;
  }
  /// Goes to all: who did not give it away ignores it.
  void PutBack(const std::string& method, const http::Request& request,
               const Fault& fault) override {
    for (FaultPlan* plan : plans_) plan->PutBack(method, request, fault);
  }

 private:
  std::vector<FaultPlan*> plans_;
};

}  // namespace caip::gcs
