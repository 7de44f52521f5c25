#pragma once
// How findings name what they extend, so that they can be moved with it.

#include "base/files.h"

namespace caip::explore {

/// `file` as it is named from `folder`: relative, so that both may be moved together; absolute
/// where nothing but the root is above both.
Path SeenFrom(const Path& folder, const Path& file);

}  // namespace caip::explore
