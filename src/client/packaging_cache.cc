#include "client/packaging_cache.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/encoding.h"

namespace caip::client {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesMax = 20'000;
constexpr uintmax_t kBytesMax = 512u << 20;
constexpr size_t kEntriesMax = 64;

/// SHA-256 over several pieces, each with its length in front so that they cannot run together.
class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  Hasher(const Hasher&) = delete;
  ~Hasher() { EVP_MD_CTX_free(context_); }
  void Add(std::string_view piece) {
    const std::string length = std::to_string(piece.size()) + ":";
    EVP_DigestUpdate(context_, length.data(), length.size());
    EVP_DigestUpdate(context_, piece.data(), piece.size());
  }
  std::string Finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_, digest, &size);
    return Hex({reinterpret_cast<const char*>(digest), size});
  }

 private:
  EVP_MD_CTX* context_;
};

// What building and running leave behind is no source.
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

// Files beside the package that setuptools looks at: README, LICENSE, setup.cfg, MANIFEST.in, ...
bool ListRootFiles(const Path& root, std::vector<std::string>& files) {
  std::error_code error;
  for (fs::directory_iterator it(root, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (!it->is_directory()) files.push_back(it->path().filename());
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

// Names, modes and bytes; what a copy of the tree elsewhere or a touch leaves as it is.
std::optional<std::string> ContentKey(const TreeKey& key) {
  Hasher hasher;
  hasher.Add(key.stat.substr(0, key.stat.find('-')));  // the salt
  for (const std::string& file : key.files) {
    const Path path = key.root / file;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;  // a dangling link
    hasher.Add(file);
    hasher.Add(std::to_string(info.st_mode));
    if (!S_ISREG(info.st_mode)) continue;
    const Result<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return std::nullopt;
    hasher.Add(*bytes);
  }
  return hasher.Finish();
}

std::optional<std::vector<Path>> FilesIn(const Path& directory) {
  std::error_code error;
  std::vector<Path> files;
  for (fs::directory_iterator it(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    files.push_back(it->path());
  }
  if (error || files.empty()) return std::nullopt;
  std::sort(files.begin(), files.end());
  return files;
}

void ForgetOldest(const Path& directory) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, Path>> entries;
  for (fs::directory_iterator it(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::error_code gone;
    entries.emplace_back(it->last_write_time(gone), it->path());
  }
  if (entries.size() <= kEntriesMax) return;
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0; i + kEntriesMax < entries.size(); ++i) RemoveTree(entries[i].second);
}

}  // namespace

std::optional<TreeKey> KeyOfTree(const Path& root, const std::string& package, bool own_setup,
                                 const std::string& salt) {
  TreeKey key{"", root, {}, ""};
  const bool listed = own_setup
                          ? ListTree(root, "", key.files)
                          : ListTree(root, package, key.files) && ListRootFiles(root, key.files);
  if (!listed) return std::nullopt;
  std::sort(key.files.begin(), key.files.end());
  Hasher salted;
  salted.Add(salt);
  salted.Add(package);
  salted.Add(own_setup ? "own" : "generated");
  Hasher hasher;
  hasher.Add(root.string());
  uintmax_t bytes = 0;
  for (const std::string& file : key.files) {
    struct stat info {};
    if (::stat((root / file).c_str(), &info) != 0) continue;
    // The time of change of a directory moves when setuptools writes beside the sources.
    if (S_ISDIR(info.st_mode)) info.st_mtim = info.st_ctim = {};
    hasher.Add(StatLine(file, info));
    bytes += S_ISREG(info.st_mode) ? static_cast<uintmax_t>(info.st_size) : 0;
  }
  if (bytes > kBytesMax) return std::nullopt;
  key.stat = salted.Finish() + "-" + hasher.Finish();
  return key;
}

std::optional<std::vector<Path>> PackageCache::Find(TreeKey& key, bool remember) const {
  const Path by_stat = directory_ / "by-stat" / key.stat;
  if (const Result<std::string> content = ReadFileUpTo(by_stat, 256); content.ok()) {
    if (auto files = FilesIn(directory_ / "by-content" / *content)) return files;
  }
  const std::optional<std::string> content = ContentKey(key);
  if (!content) return std::nullopt;
  key.content = *content;
  auto files = FilesIn(directory_ / "by-content" / key.content);
  if (files && remember) (void)WriteFile(by_stat, key.content);  // saves the reading next time
  return files;
}

Result<std::vector<Path>> PackageCache::Keep(const TreeKey& key,
                                             const std::vector<Path>& built) const {
  // What was read before the build is what was built, as far as anybody can know.
  if (key.content.empty()) return Error{Code::kNotFound, "the source tree cannot be read"};
  RETURN_IF_ERROR(MakeDirectories(directory_ / "by-stat"));
  RETURN_IF_ERROR(MakeDirectories(directory_ / "by-content"));
  const Path entry = directory_ / "by-content" / key.content;
  const Path fresh =
      directory_ / "by-content" / ("." + key.content + "-" + std::to_string(::getpid()));
  RETURN_IF_ERROR(MakeDirectories(fresh));
  for (const Path& file : built) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    RETURN_IF_ERROR(WriteFile(fresh / file.filename(), bytes));
  }
  std::error_code error;
  fs::rename(fresh, entry, error);
  if (error) RemoveTree(fresh);  // another process was faster: its files are as good
  RETURN_IF_ERROR(WriteFile(directory_ / "by-stat" / key.stat, key.content));
  ForgetOldest(directory_ / "by-stat");
  ForgetOldest(directory_ / "by-content");
  if (auto files = FilesIn(entry)) return std::move(*files);
  return Error{Code::kNotFound, "the entry went away"};
}

}  // namespace caip::client
