#pragma once
// Records name files by their inodes, which a copy of the files does not keep. These functions take
// the records of a store to other files with the same bytes, as a backup and its restoration do.
// All need a store that nothing else uses.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/result.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {

/// Finds a file by its path below the root of a store. nullopt: the path names no plain file.
using FileIdentifier = std::function<std::optional<FileIdentity>(const std::string& path)>;

/// Looks at the files below a root.
Result<FileIdentifier> IdentifyBelow(const Path& root);

/// The inodes of copies, by the inodes and the times of the files of which they were made.
using CopiedInodes = std::map<std::pair<uint64_t, int64_t>, uint64_t>;

/// Gives the records of copied files the inodes of the copies.
Status RenumberRecords(const Path& file, const CopiedInodes& copies);

/// Adds to a copy of the side store the records of objects that were being written when it was
/// made: `live`, the side store of the same files, has them since. `identify` finds the files of
/// that instant, or copies of them. An object that was written again since stays without its
/// record.
Status AdoptLaterRecords(const Path& file, const FileIdentifier& identify, const Path& live,
                         const CopiedInodes& copies = {});

/// Prepares the records of the side store `file` for a copy of the files that `identify` finds,
/// after those were copied, and after the store was opened once, which completes its commits. A
/// record that does not describe its file (a person has changed it) loses its inode, so that it
/// describes no file in the copy either. A record without its file (a person has deleted it) is
/// deleted. So are the bytes of small objects: their files have them, too.
Status DetachRecords(const Path& file, const FileIdentifier& identify);

/// Gives the records of a detached side store the inodes of the copied files below `root`.
/// kDataLoss: a record's file is missing or has another size.
Status AttachRecords(const Path& file, const Path& root);

}  // namespace caip::gcs
