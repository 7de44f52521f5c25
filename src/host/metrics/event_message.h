#pragma once
// The scalars in one Event message: as much of protocol buffers as that takes.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// Adds the values of `tag`, at the event's step and wall time, and the tags of other scalars (some
/// twenty at the most). False: the bytes are not an Event.
bool ReadScalars(std::string_view event, std::string_view tag, std::vector<engine::Report>& reports,
                 std::set<std::string>& other_tags);

}  // namespace caip::host
