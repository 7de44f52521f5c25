#include "host/python/package_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/text.h"
#include "host/python/python_errors.h"
#include "images/archive_problem.h"

namespace caip::host {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;
constexpr int64_t kPyprojectBytesMax = 1 << 20;

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};
using ArchivePtr = std::unique_ptr<archive, CloseArchive>;

// The compressions that pip knows. libarchive has others, for which it starts a program of that
// name from PATH (lrzip, lzop, grzip), and it does so, too, for those that it was built without.
void AddCompressions(archive* reader) {
  if (archive_zlib_version()) archive_read_support_filter_gzip(reader);
  if (archive_bzlib_version()) archive_read_support_filter_bzip2(reader);
  if (archive_liblzma_version()) {
    archive_read_support_filter_xz(reader);
    archive_read_support_filter_lzma(reader);
  }
}

Result<ArchivePtr> Open(const Path& path) {
  ArchivePtr reader(archive_read_new());
  AddCompressions(reader.get());
  // The formats of Python packages. libarchive knows others that pip does not know.
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK) {
    return errors::PackageNoArchive(path.filename().string(), images::ArchiveProblem(reader.get()));
  }
  return reader;
}

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

// True if `name`, relative to the directory `from`, stays below the top.
bool StaysInside(const std::string& from, const std::string& name) {
  if (name.starts_with('/') || name.find('\0') != std::string::npos) return false;
  int depth = 0;
  for (const std::string& part : Split(from + "/" + name, '/')) {
    if (part.empty() || part == ".") continue;
    depth += part == ".." ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

std::string DirectoryOf(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

// The name of a member. A name that the locale cannot express may be UTF-8. "" if it is neither.
std::string NameOf(archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  return TextOf(name != nullptr ? name : archive_entry_pathname_utf8(entry));
}

Status CheckMember(archive_entry* entry, const std::string& package) {
  const std::string name = NameOf(entry);
  if (name.empty()) return errors::PackageMemberNameless(package);
  if (!StaysInside("", name)) return errors::PackageMemberOutside(package, name);
  const std::string symlink = TextOf(archive_entry_symlink(entry));
  if (!symlink.empty() && !StaysInside(DirectoryOf(name), symlink)) {
    return errors::PackageLinkOutside(package, name, symlink);
  }
  const std::string hardlink = TextOf(archive_entry_hardlink(entry));
  if (!hardlink.empty() && !StaysInside("", hardlink)) {
    return errors::PackageLinkOutside(package, name, hardlink);
  }
  const auto type = archive_entry_filetype(entry);
  if (type == AE_IFCHR || type == AE_IFBLK || type == AE_IFIFO || type == AE_IFSOCK) {
    return errors::PackageMemberSpecial(package, name);
  }
  return Ok{};
}

// True for "trainer-0.1/pyproject.toml", in the top directory, but not for a vendored package.
bool IsPyproject(const std::string& name) {
  const std::string_view plain = name.starts_with("./") ? std::string_view(name).substr(2) : name;
  return plain.ends_with("/pyproject.toml") && std::count(plain.begin(), plain.end(), '/') == 1;
}

Result<std::string> ReadMember(archive* reader, archive_entry* entry, const std::string& package) {
  const int64_t size = std::clamp<int64_t>(archive_entry_size(entry), 0, kPyprojectBytesMax);
  std::string bytes(static_cast<size_t>(size), '\0');
  const la_ssize_t count = archive_read_data(reader, bytes.data(), bytes.size());
  if (count < 0) return errors::PackageNoArchive(package, images::ArchiveProblem(reader));
  bytes.resize(static_cast<size_t>(count));
  return bytes;
}

// Skips a member. Returns its size, or more than `limit`. A zip may not have its sizes in advance.
Result<uint64_t> Skip(archive* reader, uint64_t limit, const std::string& package) {
  const void* block = nullptr;
  size_t size = 0;
  la_int64_t offset = 0;
  uint64_t bytes = 0;
  while (bytes <= limit) {
    const int code = archive_read_data_block(reader, &block, &size, &offset);
    if (code == ARCHIVE_EOF) return bytes;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      return errors::PackageNoArchive(package, images::ArchiveProblem(reader));
    }
    bytes += size;
  }
  return bytes;
}

// Reads "requires = [...]" in [build-system], and only as much TOML as that needs.
std::string RequiresList(std::string_view pyproject) {
  bool in_section = false;
  bool quoted = false;
  std::string list;
  for (const std::string& raw : Split(pyproject, '\n')) {
    const std::string line(Trim(raw));
    if (list.empty() && line.starts_with('[')) in_section = line.starts_with("[build-system]");
    if (!in_section || line.starts_with('#')) continue;
    const bool begins = list.empty() && line.starts_with("requires");
    const size_t sign = begins ? line.find('=') : std::string::npos;
    if (list.empty() && sign == std::string::npos) continue;
    const size_t known = list.size();
    list += line.substr(begins ? sign + 1 : 0) + "\n";
    // A "]" may also be part of an extra: "x[y]". Outside of quotes it ends the list.
    for (const char c : std::string_view(list).substr(known)) {
      if (c == '"' || c == '\'') quoted = !quoted;
      if (c == ']' && !quoted) return list;
    }
  }
  return list;
}

}  // namespace

std::vector<std::string> BuildRequires(std::string_view pyproject) {
  const std::string list = RequiresList(pyproject);
  std::vector<std::string> names;
  for (size_t at = list.find_first_of("\"'"); at != std::string::npos;
       at = list.find_first_of("\"'", at)) {
    const size_t end = list.find(list[at], at + 1);
    if (end == std::string::npos) break;
    const std::string requirement(Trim(std::string_view(list).substr(at + 1, end - at - 1)));
    names.push_back(LowerCase(requirement.substr(0, requirement.find_first_of(" <>=!~[;@("))));
    at = end + 1;
  }
  if (names.empty()) names.push_back("setuptools");
  return names;
}

Result<ArchiveFacts> CheckArchive(const Path& archive_path, const ArchiveLimits& limits) {
  const std::string package = archive_path.filename();
  ASSIGN_OR_RETURN(const ArchivePtr reader, Open(archive_path));
  ArchiveFacts facts;
  uint64_t bytes = 0;
  uint64_t members = 0;
  while (true) {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader.get(), &entry);
    if (code == ARCHIVE_EOF) break;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      return errors::PackageNoArchive(package, images::ArchiveProblem(reader.get()));
    }
    RETURN_IF_ERROR(CheckMember(entry, package));
    if (++members > limits.members) return errors::PackageTooManyMembers(package, limits.members);
    const std::string name = NameOf(entry);
    if (IsPyproject(name)) {
      facts.has_pyproject = true;
      ASSIGN_OR_RETURN(const std::string text, ReadMember(reader.get(), entry, package));
      facts.build_requires = BuildRequires(text);
      continue;
    }
    ASSIGN_OR_RETURN(const uint64_t size, Skip(reader.get(), limits.bytes - bytes, package));
    bytes += size;
    if (bytes > limits.bytes) return errors::PackageTooLarge(package, name, limits.bytes);
  }
  if (members == 0) return errors::PackageNoArchive(package, "it is empty");
  return facts;
}

Result<std::map<std::string, ArchiveFile>> ReadArchive(const Path& archive_path, uint64_t limit) {
  const std::string package = archive_path.filename();
  ASSIGN_OR_RETURN(const ArchivePtr reader, Open(archive_path));
  std::map<std::string, ArchiveFile> files;
  uint64_t left = limit;
  archive_entry* entry = nullptr;
  int code = ARCHIVE_OK;
  while ((code = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    const std::string link =
        TextOf(archive_entry_symlink(entry)) + TextOf(archive_entry_hardlink(entry));
    ArchiveFile file{"", link, static_cast<unsigned>(archive_entry_perm(entry))};
    char block[kBlockBytes];
    la_ssize_t count = 0;
    while ((count = archive_read_data(reader.get(), block, sizeof block)) > 0) {
      if (static_cast<uint64_t>(count) > left) {
        return errors::PackageTooLarge(package, NameOf(entry), limit);
      }
      left -= static_cast<uint64_t>(count);
      file.bytes.append(block, static_cast<size_t>(count));
    }
    if (count < 0) break;
    files[NameOf(entry)] = std::move(file);
  }
  if (code != ARCHIVE_EOF) {
    return errors::PackageNoArchive(package, images::ArchiveProblem(reader.get()));
  }
  return files;
}

Status UnpackWheel(const Path& wheel, const Path& directory) {
  RETURN_IF_ERROR(CheckArchive(wheel));
  ASSIGN_OR_RETURN(const auto files, ReadArchive(wheel, ArchiveLimits().bytes));
  for (const auto& [name, file] : files) {
    if (!file.link.empty())
      return errors::PackageNoArchive(wheel.filename().string(), "it has a link");
    const Path path = directory / name;
    RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, file.mode & 0777));
    if (!fd.valid() || !WriteAll(fd.get(), file.bytes)) {
      return CannotWrite(path, errno);
    }
  }
  return Ok{};
}

}  // namespace caip::host
