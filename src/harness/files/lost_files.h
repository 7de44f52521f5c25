#pragma once
// What a failure of the power may leave of files that a run has written, because a file system
// writes names and contents later, in an order of its own.
//
// Names are those of creations, renames, links, deletions and sizes. Modes and times that a program
// sets count as names. As on ext4 and XFS, a sync of any file or directory brings all earlier names
// to the disk, and only the contents of that file
// (https://docs.kernel.org/filesystems/ext4/journal.html, "data=ordered").

#include "harness/faults/power_loss.h"
#include "harness/files/file_log.h"

namespace caip::harness {

/// The files after the first `changes` changes and a failure of the power.
FileTree AfterPowerLoss(const FileLog& log, size_t changes, PowerLoss lost);

}  // namespace caip::harness
