#pragma once
// Archives with any members, honest or not.

#include <archive.h>
#include <archive_entry.h>

#include <cassert>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"

namespace caip::host {

struct ArchiveMember {
  std::string name;
  std::string bytes = {};
  std::string symlink = {};  // a link to there instead of a file
};

/// Writes a .zip or .whl or, by the name's end, a .tar.gz, .tar.bz2, .tar.xz or .tar.lzma.
inline void MakeArchive(const Path& path, const std::vector<ArchiveMember>& members) {
  archive* writer = archive_write_new();
  const std::string end = path.extension();
  if (end == ".gz") archive_write_add_filter_gzip(writer);
  if (end == ".bz2") archive_write_add_filter_bzip2(writer);
  if (end == ".xz") archive_write_add_filter_xz(writer);
  if (end == ".lzma") archive_write_add_filter_lzma(writer);
  if (end == ".zip" || end == ".whl") {
    archive_write_set_format_zip(writer);
  } else {
    archive_write_set_format_pax_restricted(writer);
  }
  [[maybe_unused]] int code = archive_write_open_filename(writer, path.c_str());
  assert(code == ARCHIVE_OK);
  for (const ArchiveMember& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_filetype(entry, member.symlink.empty() ? AE_IFREG : AE_IFLNK);
    if (!member.symlink.empty()) archive_entry_set_symlink(entry, member.symlink.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.bytes.size()));
    archive_write_header(writer, entry);
    archive_write_data(writer, member.bytes.data(), member.bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
}

/// Files of an archive or of a directory, by their names.
using Members = std::map<std::string, std::string>;

/// Writes a source distribution of a package: a .tar.gz with these files.
inline void WriteSdist(const Path& file, const Members& members) {
  std::vector<ArchiveMember> list;
  for (const auto& [name, bytes] : members) list.push_back({name, bytes});
  MakeArchive(file, list);
}

}  // namespace caip::host
