#include "client/packaging.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "client/errors.h"
#include "client/flag_values.h"
#include "client/packaging_build.h"

namespace caip::client {
namespace {

// Identifies a source tree. Two trees with the same `stat` have the same `content`.
struct TreeKey {
  std::string stat;  // digest of names, kinds, sizes, modes and times of change
  Path root;
  std::vector<std::string> files;  // the files that a build reads, relative to the root, sorted
  std::string content;             // digest of names, modes and bytes; set by Find
};

// Keeps built packages in <state>/sdists, by the content of the source tree. Several processes may
// use it at once. An entry is complete or does not exist.
class PackageCache {
 public:
  explicit PackageCache(Path directory) : directory_(std::move(directory)) {}
  // Finds the built files by the tree's times, or else by its content; nullopt if there are none.
  // `remember`: the next call finds a tree that was found by its content by its times.
  std::optional<std::vector<Path>> Find(TreeKey& key, bool remember) const;
  // Keeps copies of `built` for a key that was not found, and returns their paths. Removes the
  // oldest entries.
  Result<std::vector<Path>> Keep(const TreeKey& key, const std::vector<Path>& built) const;

 private:
  Path directory_;
};

namespace fs = std::filesystem;

constexpr size_t kFilesMax = 20'000;
constexpr uintmax_t kBytesMax = 512u << 20;
constexpr size_t kEntriesMax = 64;

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

// A digest of names, modes and bytes, which a copy of the tree or `touch` does not change.
std::optional<std::string> ContentKey(const TreeKey& key) {
  Sha256Digest digest;
  AddPiece(digest, key.stat.substr(0, key.stat.find('-')));  // the salt
  for (const std::string& file : key.files) {
    const Path path = key.root / file;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;  // a dangling link
    AddPiece(digest, file);
    AddPiece(digest, std::to_string(info.st_mode));
    if (!S_ISREG(info.st_mode)) continue;
    const Result<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) return std::nullopt;
    AddPiece(digest, *bytes);
  }
  return digest.FinishHex();
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

// The key of a source tree. `package` is the directory below `root` that is built. If the root has
// its own setup.py, the key covers the whole root, else the package and the files beside it.
// nullopt: the tree is too large for the cache, or not readable. `salt` identifies everything else
// that the result depends on (the interpreter).
std::optional<TreeKey> KeyOfTree(const Path& root, const std::string& package, bool own_setup,
                                 const std::string& salt) {
  TreeKey key{"", root, {}, ""};
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
    if (::stat((root / file).c_str(), &info) != 0) continue;
    // The time of change of a directory changes when setuptools writes beside the sources.
    if (S_ISDIR(info.st_mode)) info.st_mtim = info.st_ctim = {};
    AddPiece(digest, StatLine(file, info));
    bytes += S_ISREG(info.st_mode) ? static_cast<uintmax_t>(info.st_size) : 0;
  }
  if (bytes > kBytesMax) return std::nullopt;
  key.stat = salted.FinishHex() + "-" + digest.FinishHex();
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
  if (files && remember)
    (void)WriteFile(by_stat, key.content);  // the next call need not read the files
  return files;
}

Result<std::vector<Path>> PackageCache::Keep(const TreeKey& key,
                                             const std::vector<Path>& built) const {
  // The build is assumed to have used the files that were read before it.
  if (key.content.empty()) return errors::SourceTreeUnreadable(key.root.string());
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
  if (error) RemoveTree(fresh);  // another process was faster, and its files are equal
  RETURN_IF_ERROR(WriteFile(directory_ / "by-stat" / key.stat, key.content));
  ForgetOldest(directory_ / "by-stat");
  ForgetOldest(directory_ / "by-content");
  if (auto files = FilesIn(entry)) return std::move(*files);
  return errors::CachedPackageGone(entry.string());
}

}  // namespace

namespace {

namespace fs = std::filesystem;

// True for gs://bucket/object with a valid bucket name. Anything else is a local path.
bool IsObjectUri(const std::string& package) {
  const Result<google::GcsUri> name = ParseObject(package);
  return name.ok() && !name->object.empty();
}

// Identifies the interpreters, because another one may build other files.
std::string BuildSalt() {
  std::string salt;
  for (const std::string& python : BuildPythons()) {
    struct stat info {};
    ::stat(python.c_str(), &info);
    salt += python + " " + std::to_string(info.st_size) + " " +
            std::to_string(info.st_mtim.tv_sec) + "\n";
  }
  return salt;
}

// --package-path as os.path.abspath returns it: without a trailing slash and dots.
Path AbsoluteDirectory(const std::string& path) {
  Path absolute = fs::absolute(path).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute;
}

// $CAIP_SDIST_CACHE=0 is for a setup.py whose result depends on more than the files of the tree.
bool CacheWanted() {
  const char* setting = std::getenv("CAIP_SDIST_CACHE");
  return !setting || std::string_view(setting) != "0";
}

// `scratch` becomes the directory of the build, unless the cache has its files.
Result<std::vector<Path>> Build(const Path& package_path, const PackageRequest& request,
                                std::shared_ptr<TemporaryDirectory>& scratch) {
  const Path root = package_path.parent_path();
  const std::string package = package_path.filename();
  std::optional<TreeKey> key;
  const PackageCache cache(request.cache);
  if (CacheWanted() && fs::exists(package_path / "__init__.py")) {
    key = KeyOfTree(root, package, fs::is_regular_file(root / "setup.py"), BuildSalt());
    if (key) {
      if (auto found = cache.Find(*key, !request.read_only_cache)) return std::move(*found);
    }
  }
  ASSIGN_OR_RETURN(TemporaryDirectory made, TemporaryDirectory::Make("caip-sdist-"));
  scratch = std::make_shared<TemporaryDirectory>(std::move(made));
  ASSIGN_OR_RETURN(std::vector<Path> built, BuildPackage(root, package, scratch->path() / "output",
                                                         scratch->path(), request.stop));
  if (!key || request.read_only_cache) return built;
  // If the cache is not writable, the next build is slow. This one has succeeded.
  const Result<std::vector<Path>> kept = cache.Keep(*key, built);
  return kept.ok() ? *kept : built;
}

}  // namespace

Path ParentOfPackage(const std::optional<std::string>& package_path) {
  if (!package_path) return {};
  std::error_code error;
  const Path package = std::filesystem::absolute(*package_path, error).lexically_normal();
  const bool ends_with_slash = !package.has_filename();
  return (ends_with_slash ? package.parent_path() : package).parent_path();
}

Status CheckPackageFolder(const std::string& package_path) {
  const Path folder = AbsoluteDirectory(package_path);
  std::error_code error;
  if (fs::is_directory(folder, error)) return Ok{};
  if (fs::exists(folder, error)) return errors::PackageFolderIsAFile(folder.string());
  std::vector<std::string> packages;  // beside it
  for (fs::directory_iterator it(folder.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    if (fs::exists(it->path() / "__init__.py")) packages.push_back(it->path().filename());
  }
  const std::string nearest = NearestName(folder.filename().string(), packages);
  return errors::PackageFolderMissing(
      folder.string(), nearest.empty() ? "" : (folder.parent_path() / nearest).string());
}

Result<PackageFiles> CollectPackages(const PackageRequest& request) {
  PackageFiles files;
  for (const std::string& package : request.packages) {
    if (IsObjectUri(package)) {
      files.remote.push_back(package);
    } else {
      files.local.emplace_back(package);
    }
  }
  if (!request.package_path || request.package_path->empty()) return files;
  RETURN_IF_ERROR(CheckPackageFolder(*request.package_path));
  ASSIGN_OR_RETURN(const std::vector<Path> built,
                   Build(AbsoluteDirectory(*request.package_path), request, files.keep));
  files.local.insert(files.local.end(), built.begin(), built.end());
  return files;
}

Result<std::string> DigestOf(const std::vector<Path>& files) {
  std::map<std::string, int> names;
  std::vector<std::string> twice;
  for (const Path& file : files) {
    if (++names[file.filename()] == 2) twice.push_back(file.filename());
  }
  if (!twice.empty()) return errors::DuplicatePackages(twice);
  Sha256Digest digest;
  for (const Path& file : files) {
    if (fs::is_directory(file)) return errors::FileUnreadable(file.string(), "Is a directory");
    const Result<std::string> bytes = ReadFile(file);
    if (!bytes.ok()) return errors::FileUnreadable(file.string(), bytes.error().message);
    digest.Add(*bytes);
  }
  return digest.FinishHex();
}

}  // namespace caip::client
