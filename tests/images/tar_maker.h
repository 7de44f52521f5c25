#pragma once
// Tar archives with any entries, honest or not. libarchive's writer would refuse some of them.

#include <archive.h>
#include <archive_entry.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caip::images {

/// An entry of a tar archive.
struct TarMember {
  std::string name;
  std::string bytes = {};
  char type =
      '0';  // '0' file, '1' hard link, '2' symbolic link, '3' '4' devices, '5' directory, '6'
  std::string target = {};
  unsigned mode = 0644;
  uint64_t uid = 0;
  uint64_t gid = 0;
  int64_t mtime = 1'600'000'000;
  std::vector<std::pair<std::string, std::string>> records = {};  // of a pax header
};

inline TarMember DirectoryMember(const std::string& name, unsigned mode = 0755) {
  return {name, "", '5', "", mode};
}
inline TarMember LinkMember(const std::string& name, const std::string& target) {
  return {name, "", '2', target, 0777};
}
inline TarMember HardLinkMember(const std::string& name, const std::string& target) {
  return {name, "", '1', target};
}

inline void AppendTarBlocks(std::string& tar, std::string_view bytes) {
  tar += bytes;
  tar.resize((tar.size() + 511) / 512 * 512, '\0');
}

inline void AppendTarHeader(std::string& tar, const TarMember& member, uint64_t size) {
  char header[512] = {};
  std::memcpy(header, member.name.data(), std::min<size_t>(member.name.size(), 100));
  std::snprintf(header + 100, 8, "%07o", member.mode);
  std::snprintf(header + 108, 8, "%07lo", static_cast<unsigned long>(member.uid));
  std::snprintf(header + 116, 8, "%07lo", static_cast<unsigned long>(member.gid));
  std::snprintf(header + 124, 12, "%011lo", static_cast<unsigned long>(size));
  std::snprintf(header + 136, 12, "%011lo", static_cast<unsigned long>(member.mtime));
  header[156] = member.type;
  std::memcpy(header + 157, member.target.data(), std::min<size_t>(member.target.size(), 100));
  std::memcpy(header + 257,
              "ustar\0"
              "00",
              8);
  if (member.type == '3' || member.type == '4') {
    std::memcpy(header + 329, "0000001", 7);
    std::memcpy(header + 337, "0000003", 7);
  }
  std::memset(header + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header + 148, 8, "%06o", sum);
  tar.append(header, sizeof header);
}

inline void AppendTarMember(std::string& tar, const TarMember& member) {
  std::string records;
  for (const auto& [name, value] : member.records) {
    const std::string rest = " " + name + "=" + value + "\n";
    size_t length = rest.size() + 1;
    while (std::to_string(length).size() + rest.size() != length) ++length;
    records += std::to_string(length) + rest;
  }
  if (!records.empty()) {
    AppendTarHeader(tar, {"PaxHeader", "", 'x'}, records.size());
    AppendTarBlocks(tar, records);
  }
  for (const auto& [type, text] : {std::pair('L', member.name), std::pair('K', member.target)}) {
    if (text.size() <= 100) continue;
    AppendTarHeader(tar, {"././@LongLink", "", type}, text.size() + 1);
    AppendTarBlocks(tar, text + '\0');
  }
  AppendTarHeader(tar, member, member.bytes.size());
  AppendTarBlocks(tar, member.bytes);
}

inline std::string MakeTar(const std::vector<TarMember>& members) {
  std::string tar;
  for (const TarMember& member : members) AppendTarMember(tar, member);
  tar.append(1024, '\0');
  return tar;
}

// By name: libarchive's own look-up needs the libraries of all compressions.
inline int AddFilter(archive* writer, std::string_view name) {
  if (name == "gzip") return archive_write_add_filter_gzip(writer);
  if (name == "zstd") return archive_write_add_filter_zstd(writer);
  if (name == "xz") return archive_write_add_filter_xz(writer);
  return name == "bzip2" ? archive_write_add_filter_bzip2(writer) : ARCHIVE_FATAL;
}

/// Compresses bytes: "gzip", "zstd", "xz", "bzip2"; "" leaves them as they are.
inline std::string Compress(std::string_view bytes, const std::string& filter) {
  if (filter.empty()) return std::string(bytes);
  std::string result(bytes.size() + (1 << 20), '\0');
  size_t used = 0;
  archive* writer = archive_write_new();
  archive_write_set_format_raw(writer);
  [[maybe_unused]] int code = AddFilter(writer, filter);
  assert(code == ARCHIVE_OK);
  archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr);  // equal bytes each time
  archive_write_set_bytes_per_block(writer, 0);
  code = archive_write_open_memory(writer, result.data(), result.size(), &used);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "data");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(writer, entry);
  archive_write_data(writer, bytes.data(), bytes.size());
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  result.resize(used);
  return result;
}

}  // namespace caip::images
