#pragma once
// Where a state directory keeps all that is signed with: <state>/keys.

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// The directory, made (0700) where there is none. What version 0.1 kept in <state>/storage-keys is
/// moved there: its HMAC and public keys, and its signing key where there is no other. Where there
/// is, the old one goes: what it signed is known by its public half.
Result<Path> OpenKeyHome(const Path& state);

}  // namespace caip::app
