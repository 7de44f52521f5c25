#include "client/packaging_edit.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <memory>

#include "base/text.h"

namespace caip::client {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;

struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
using SdistReader = std::unique_ptr<archive, FreeReader>;
using SdistWriter = std::unique_ptr<archive, FreeWriter>;

// Where the contents of a member come from.
enum class Origin { kDistribution, kTree, kUnknown };

Origin OriginOf(const std::string& name, const std::string& package, bool is_directory) {
  if (is_directory || name.find('/') == std::string::npos) return Origin::kDistribution;
  const std::string top = name.substr(0, name.find('/'));
  if (top.ends_with(".egg-info")) return Origin::kDistribution;
  return package.empty() || top == package ? Origin::kTree : Origin::kUnknown;
}

bool CopyMember(archive* reader, archive_entry* entry, archive* writer) {
  if (archive_write_header(writer, entry) != ARCHIVE_OK) return false;
  std::string block(kBlockBytes, '\0');
  for (;;) {
    const la_ssize_t count = archive_read_data(reader, block.data(), block.size());
    if (count <= 0) return count == 0;
    if (archive_write_data(writer, block.data(), static_cast<size_t>(count)) != count) return false;
  }
}

bool WritePresentFile(const Path& file, archive_entry* entry, archive* writer) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const Result<std::string> bytes = ReadFile(file);
  if (!bytes.ok()) return false;
  archive_entry_set_size(entry, static_cast<la_int64_t>(bytes->size()));
  archive_entry_set_mtime(entry, facts.st_mtim.tv_sec, 0);  // setuptools keeps whole seconds
  return archive_write_header(writer, entry) == ARCHIVE_OK &&
         archive_write_data(writer, bytes->data(), bytes->size()) ==
             static_cast<la_ssize_t>(bytes->size());
}

// `entry` is <name>-<version>/<path in the tree>.
bool WriteMember(archive* reader, archive_entry* entry, const Path& root,
                 const std::string& package, archive* writer) {
  const char* member = archive_entry_pathname(entry);
  const bool is_directory = archive_entry_filetype(entry) == AE_IFDIR;
  const bool is_file = archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
  if (member == nullptr || !(is_directory || is_file)) return false;
  const std::string_view name = member;
  const size_t slash = name.find('/');
  const std::string path(slash == std::string_view::npos ? "" : name.substr(slash + 1));
  switch (OriginOf(path, package, is_directory)) {
    case Origin::kDistribution:
      return CopyMember(reader, entry, writer);
    case Origin::kTree:
      return WritePresentFile(root / path, entry, writer);
    case Origin::kUnknown:
      break;
  }
  return false;
}

bool CopyMembers(archive* reader, const Path& root, const std::string& package, archive* writer) {
  archive_entry* entry = nullptr;
  for (;;) {
    const int code = archive_read_next_header(reader, &entry);
    if (code == ARCHIVE_EOF) return archive_write_close(writer) == ARCHIVE_OK;
    if (code != ARCHIVE_OK || !WriteMember(reader, entry, root, package, writer)) return false;
  }
}

}  // namespace

bool CopyWithPresentFiles(const Path& built, const Path& copy, const Path& root,
                          const std::string& package) {
  if (archive_zlib_version() == nullptr) return false;  // libarchive would start a program
  const SdistReader reader(archive_read_new());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_filename(reader.get(), built.c_str(), kBlockBytes) != ARCHIVE_OK) {
    return false;
  }
  const SdistWriter writer(archive_write_new());
  archive_write_add_filter_gzip(writer.get());
  archive_write_set_format_pax_restricted(writer.get());
  return archive_write_open_filename(writer.get(), copy.c_str()) == ARCHIVE_OK &&
         CopyMembers(reader.get(), root, package, writer.get());
}

}  // namespace caip::client
