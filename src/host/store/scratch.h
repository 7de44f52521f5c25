#pragma once
// Directories for files that one task of an emulator needs: <state>/tmp/<prefix>PID.XXXXXX.
//
// They are not in the system's directory for temporary files, where those of a killed emulator, or
// of a pip that it killed, would stay until somebody finds them.

#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// A new directory, which is deleted with the object. Any thread.
Result<TemporaryDirectory> MakeScratch(const Path& state, std::string_view prefix);

/// Deletes the directories that earlier emulators left. For the owner of the state, before it makes
/// any.
void RemoveScratch(const Path& state);

}  // namespace caip::host
