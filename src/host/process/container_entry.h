#pragma once
// The log entries of containers (docs/service/vertex.md, section 10).

#include <optional>
#include <string_view>

#include "engine/ports.h"

namespace caip::host {

/// The entry of a line of either stream, without run, task and time. A JSON object keeps its
/// members and gives its severity; any other line is a text without one. nullopt: the line is
/// empty.
std::optional<engine::LogLine> ContainerEntry(std::string_view line);

}  // namespace caip::host
