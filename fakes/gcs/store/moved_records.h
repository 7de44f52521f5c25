#pragma once
// Records name files by their inodes, which a copy of the files does not keep. These functions take
// the records of a store to other files with the same bytes, as a backup and its restoration do.
// Both need a store that nothing else uses.

#include "base/files.h"
#include "base/result.h"

namespace caip::gcs {

/// Adds to a copy of the side store the records of objects that were being written when it was
/// made: `live`, the side store of the same files, has them since. `root` has links to the files of
/// that instant. An object that was written again since stays without its record.
Status AdoptLaterRecords(const Path& file, const Path& root, const Path& live);

/// Prepares the records of the side store `file` for a copy of the files below `root`, after those
/// were copied. A record that does not describe its file (a person has changed it) loses its inode,
/// so that it describes no file in the copy either. Bytes of small objects that their files have,
/// too, are removed.
Status DetachRecords(const Path& file, const Path& root);

/// Gives the records of a detached side store the inodes of the copied files below `root`.
/// kDataLoss: a record's file is missing or has another size.
Status AttachRecords(const Path& file, const Path& root);

}  // namespace caip::gcs
