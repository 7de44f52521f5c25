#pragma once
// What cloudml-hypertune leaves in its file: a JSON object a line, the last hundred reports, the
// whole file written anew at each (page hyperparameter-tuning, section 5).

#include <string>
#include <string_view>
#include <vector>

#include "engine/ports.h"

namespace caip::host {

/// The reports of `tag` in the lines that are whole: the last may be half written, any may be
/// garbage.
std::vector<engine::Report> ReportsIn(std::string_view text, std::string_view tag);

}  // namespace caip::host
