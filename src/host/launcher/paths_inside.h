#pragma once
// Paths inside of a root. Symbolic links never lead out of it.

#include <fcntl.h>
#include <sys/types.h>

#include <string>
#include <string_view>

namespace caip::host::launcher {

inline constexpr mode_t kDirectoryMode = 0755;
inline constexpr mode_t kFileMode = 0644;
inline constexpr int kLinksMax = 8;

std::string_view ParentOf(std::string_view path);
const char* NameIn(const char* path);

/// Opens a path. -1 with errno.
int OpenInside(int root, const char* path, int flags);

/// Opens the directory and makes it and its parents where they do not exist: at the end of the
/// symbolic links that lead to them. -1 with errno.
int OpenDirectory(int root, std::string_view path, int links = kLinksMax);

/// Opens the file and makes it where it does not exist: at the end of the symbolic links that lead
/// to it, as /etc/resolv.conf may lead to a directory that only the host has. -1 with errno.
int OpenFile(int root, const std::string& path, int links = kLinksMax);

}  // namespace caip::host::launcher
