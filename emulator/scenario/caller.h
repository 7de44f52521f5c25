#pragma once
// Which replica the request is of that this thread answers now.

#include <string>

#include "http/message.h"

namespace caip::scenario {

/// Of one request, on its thread. "" is nobody of the job.
struct Caller {
  std::string replica;      // "master-0"
  bool reads_count = true;  // false: the reading is part of a copy
};

/// nullptr outside a request.
const Caller* CurrentCaller();

/// `next`, with the caller known to all that it calls. Replicas are told by the door they come
/// through (emulator/front/guest_launcher.h).
http::Handler KnowingCallers(http::Handler next);

}  // namespace caip::scenario
