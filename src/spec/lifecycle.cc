#include "spec/lifecycle.h"

namespace caip::spec {

std::string_view Name(JobEvent event) {
  switch (event) {
    case JobEvent::kScheduled:
      return "scheduled";
    case JobEvent::kReplicasUp:
      return "replicas up";
    case JobEvent::kRetried:
      return "retried";
    case JobEvent::kCancelAsked:
      return "cancel asked";
    case JobEvent::kSucceeded:
      return "succeeded";
    case JobEvent::kGaveUp:
      return "gave up";
    case JobEvent::kAllStopped:
      return "all stopped";
  }
  return "";
}

}  // namespace caip::spec
