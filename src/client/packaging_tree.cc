#include "client/packaging_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/hash.h"
#include "host/python/setup_script.h"

namespace caip::client {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesMax = 20'000;
constexpr uintmax_t kBytesMax = 512u << 20;

// Adds the length before the piece, so that different pieces have different digests.
void AddPiece(Sha256Digest& digest, std::string_view piece) {
  digest.Add(std::to_string(piece.size()) + ":");
  digest.Add(piece);
}

// Whether a build or a run created the file, so that it is not a source.
bool IsLeftOver(const Path& path) {
  const std::string name = path.filename();
  return name == "__pycache__" || name.ends_with(".pyc") || name.ends_with(".egg-info");
}

bool ListTree(const Path& root, const Path& below, std::vector<std::string>& files) {
  std::error_code error;
  fs::recursive_directory_iterator it(root / below, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (IsLeftOver(it->path())) {
      it.disable_recursion_pending();
      continue;
    }
    files.push_back(it->path().lexically_relative(root));
    if (files.size() > kFilesMax) return false;
  }
  return !error;
}

// Lists the files beside the package that setuptools reads: README, LICENSE, setup.cfg,
// MANIFEST.in, ...
bool ListRootFiles(const Path& root, std::vector<std::string>& files) {
  std::error_code error;
  for (fs::directory_iterator it(root, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::error_code unknown;  // a link into a directory of another user, or to itself
    if (!it->is_directory(unknown)) files.push_back(it->path().filename());
    if (files.size() > kFilesMax) return false;
  }
  return !error;
}

std::string StatLine(const std::string& file, const struct stat& info) {
  return file + "\t" + std::to_string(info.st_mode) + "\t" + std::to_string(info.st_size) + "\t" +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + "\t" +
         std::to_string(info.st_ctim.tv_sec) + "." + std::to_string(info.st_ctim.tv_nsec) + "\t" +
         std::to_string(info.st_ino);
}

// Files that make setuptools read more than it copies: a version from a source, or other folders.
bool TellsSetuptoolsMore(const std::string& file) {
  return file == "setup.cfg" || file == "pyproject.toml" || file == "MANIFEST.in";
}

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 128; });
}

// setuptools packs tests beside the package. They are not in the key.
bool HasTestsBeside(const Path& root) {
  std::error_code error;
  return fs::exists(root / "test", error) || fs::exists(root / "tests", error);
}

// Whether a build only copies the file, if setup.py (if there is one) is plain.
bool IsOnlyCopied(const TreeKey& key, const std::string& file) {
  return key.own_setup ? file.find('/') != std::string::npos : file.starts_with(key.package + "/");
}

// Whether a build reads no file that it only copies.
bool OnlyCopies(const TreeKey& key) {
  if (!key.own_setup) return !HasTestsBeside(key.root);
  const Result<std::string> setup = ReadFile(key.root / "setup.py");
  return setup.ok() && host::IsPlainSetup(*setup);
}

}  // namespace

std::optional<TreeKey> KeyOfTree(const Path& root, const std::string& package, bool own_setup,
                                 const std::string& salt) {
  TreeKey key{"", root, package, own_setup, {}, "", ""};
  const bool listed = own_setup
                          ? ListTree(root, "", key.files)
                          : ListTree(root, package, key.files) && ListRootFiles(root, key.files);
  if (!listed) return std::nullopt;
  std::sort(key.files.begin(), key.files.end());
  Sha256Digest salted;
  AddPiece(salted, salt);
  AddPiece(salted, package);
  AddPiece(salted, own_setup ? "own" : "generated");
  Sha256Digest digest;
  AddPiece(digest, root.string());
  uintmax_t bytes = 0;
  for (const std::string& file : key.files) {
    struct stat info {};
    if (::stat((root / file).c_str(), &info) != 0) info = {};  // a dangling link
    // The time of change of a directory changes when setuptools writes beside the sources.
    if (S_ISDIR(info.st_mode)) info.st_mtim = info.st_ctim = {};
    AddPiece(digest, StatLine(file, info));
    bytes += S_ISREG(info.st_mode) ? static_cast<uintmax_t>(info.st_size) : 0;
  }
  if (bytes > kBytesMax) return std::nullopt;
  key.stat = salted.FinishHex() + "-" + digest.FinishHex();
  return key;
}

bool DigestContents(TreeKey& key) {
  Sha256Digest content;
  Sha256Digest shape;
  bool only_copied = OnlyCopies(key);
  const std::string salt = key.stat.substr(0, key.stat.find('-'));
  for (Sha256Digest* digest : {&content, &shape}) AddPiece(*digest, salt);
  for (const std::string& file : key.files) {
    const Path path = key.root / file;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {  // some builds stumble over a dangling link
      AddPiece(content, file);
      only_copied = false;
      continue;
    }
    for (Sha256Digest* digest : {&content, &shape}) {
      AddPiece(*digest, file);
      AddPiece(*digest, std::to_string(info.st_mode));
    }
    if (!S_ISREG(info.st_mode)) continue;
    const Result<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return false;
    AddPiece(content, *bytes);
    if (!IsOnlyCopied(key, file)) AddPiece(shape, *bytes);
    if (TellsSetuptoolsMore(file) || !IsAscii(file)) only_copied = false;
  }
  key.content = content.FinishHex();
  key.shape = only_copied ? shape.FinishHex() : "";
  return true;
}

}  // namespace caip::client
