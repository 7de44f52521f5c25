#pragma once
// Names of files that differ from run to run, such as those of temporary files.

#include <map>
#include <string>
#include <vector>

#include "harness/events/event.h"

namespace caip::harness {

/// The names in `run` that `other`, another run of the same job, does not have, each with a glob
/// that the corresponding names of both runs match: "ckpt-2/.tmpIEUk" -> "ckpt-2/.tmp*". Names in
/// alike directories, of the same length and with the same punctuation, correspond to each other. A
/// name that has nothing in common with the corresponding ones has no glob.
std::map<std::string, std::string> ChangingNames(const std::vector<Event>& run,
                                                 const std::vector<Event>& other);

/// The glob that a name of this or another run has among them; "": none.
std::string GlobOf(const std::map<std::string, std::string>& globs, const std::string& name);

}  // namespace caip::harness
