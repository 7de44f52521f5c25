#pragma once
// Makes the source distribution of an edited package from the one that was built before the edit.

#include <string>

#include "base/files.h"

namespace caip::client {

/// Copies the source distribution `built` to `copy`. The files of `package` (a directory name below
/// `root`; "": all directories) get the contents and times that they have now. All else stays as it
/// is: modes, what a setup.py wrote, and the files beside it. False if the distribution cannot be
/// copied in this way. Then only a build tells what it has to hold.
bool CopyWithPresentFiles(const Path& built, const Path& copy, const Path& root,
                          const std::string& package);

}  // namespace caip::client
