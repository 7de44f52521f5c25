#pragma once
// The file that cloudml-hypertune writes: one JSON object a line, the last hundred reports, the
// whole file written again at each (docs/service/hyperparameter-tuning.md, section 5).

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// The reports of `tag` in the lines that are objects: the last may be half written, and any may be
/// garbage. A last line that is whole counts without its newline, too.
std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag);

/// The names under which numbers are reported there, twenty at the most.
std::set<std::string> TagsIn(std::string_view text);

}  // namespace caip::host
