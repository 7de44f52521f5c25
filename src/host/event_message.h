#pragma once
// The scalars in one Event message: as much of protocol buffers as that takes.

#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// Adds the values of `tag`, at the event's step and wall time. False: the bytes are no Event.
bool ReadScalars(std::string_view event, std::string_view tag,
                 std::vector<engine::Report>& reports);

}  // namespace caip::host
