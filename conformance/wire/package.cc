#include "conformance/wire/package.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "conformance/problems.h"

namespace conform {
namespace {

namespace fs = std::filesystem;
constexpr size_t kBlock = 512;

// A header of the ustar format (POSIX.1-1988).
std::string TarHeader(const std::string& name, size_t size) {
  std::array<char, kBlock> header{};
  std::snprintf(header.data(), 100, "%s", name.c_str());
  std::snprintf(header.data() + 100, 8, "%07o", 0644u);
  std::snprintf(header.data() + 108, 8, "%07o", 0u);
  std::snprintf(header.data() + 116, 8, "%07o", 0u);
  std::snprintf(header.data() + 124, 12, "%011zo", size);
  std::snprintf(header.data() + 136, 12, "%011o", 1577836800u);  // 2020-01-01: always the same
  std::memset(header.data() + 148, ' ', 8);
  header[156] = '0';
  std::memcpy(header.data() + 257, "ustar\00000", 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  return std::string(header.data(), header.size());
}

void AddFile(const std::string& name, const std::string& text, std::string* tar) {
  *tar += TarHeader(name, text.size()) + text;
  tar->append((kBlock - text.size() % kBlock) % kBlock, '\0');
}

std::string Gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string zipped(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  deflate(&stream, Z_FINISH);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  return zipped;
}

}  // namespace

Result<std::string> ProbePackage(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  }
  if (files.empty()) return problems::FileUnreadable(folder);
  std::sort(files.begin(), files.end());
  const std::string top = "caip_probe-1.0/";
  std::string tar;
  AddFile(top + "PKG-INFO", "Metadata-Version: 1.0\nName: caip_probe\nVersion: 1.0\n", &tar);
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    AddFile(top + fs::relative(file, folder).string(), text.str(), &tar);
  }
  tar.append(2 * kBlock, '\0');
  return Gzipped(tar);
}

}  // namespace conform
