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
#include "client/packaging_edit.h"
#include "client/packaging_tree.h"

namespace caip::client {
namespace {

// Keeps built packages in <state>/sdists, by the content of the source tree. Several processes may
// use it at once. An entry is complete or does not exist.
class PackageCache {
 public:
  explicit PackageCache(Path directory) : directory_(std::move(directory)) {}
  // Finds the built files by the tree's times, or else by its content; nullopt if there are none.
  // `remember`: the next call finds a tree that was found by its content by its times.
  std::optional<std::vector<Path>> Find(TreeKey& key, bool remember) const;
  // The source distribution of the same package before its files were edited; "" if there is none.
  Path FindSimilar(const TreeKey& key) const;
  // Keeps copies of `built` for a key that was not found, and returns their paths. Removes the
  // oldest entries.
  Result<std::vector<Path>> Keep(const TreeKey& key, const std::vector<Path>& built) const;

 private:
  Path directory_;
};

namespace fs = std::filesystem;

constexpr size_t kEntriesMax = 64;

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

std::optional<std::vector<Path>> PackageCache::Find(TreeKey& key, bool remember) const {
  const Path by_stat = directory_ / "by-stat" / key.stat;
  if (const Result<std::string> content = ReadFileUpTo(by_stat, 256); content.ok()) {
    if (auto files = FilesIn(directory_ / "by-content" / *content)) return files;
  }
  if (!DigestContents(key)) return std::nullopt;
  auto files = FilesIn(directory_ / "by-content" / key.content);
  if (files && remember)
    (void)WriteFile(by_stat, key.content);  // the next call need not read the files
  return files;
}

Path PackageCache::FindSimilar(const TreeKey& key) const {
  if (key.shape.empty()) return {};
  const Result<std::string> content = ReadFileUpTo(directory_ / "by-shape" / key.shape, 256);
  if (!content.ok()) return {};
  const auto files = FilesIn(directory_ / "by-content" / *content);
  return files && files->size() == 1 ? files->front() : Path();
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
  if (!key.shape.empty()) {
    RETURN_IF_ERROR(MakeDirectories(directory_ / "by-shape"));
    RETURN_IF_ERROR(WriteFile(directory_ / "by-shape" / key.shape, key.content));
    ForgetOldest(directory_ / "by-shape");
  }
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

// Builds in `scratch`. If only files were edited that a build copies, an earlier result is copied:
// that needs no Python and takes milliseconds.
Result<std::vector<Path>> BuildIn(const Path& scratch, const Path& package_path,
                                  const Path& similar, bool own_setup,
                                  const std::stop_token& stop) {
  const Path root = package_path.parent_path();
  const std::string package = package_path.filename();
  if (!similar.empty()) {
    const Path copy = scratch / similar.filename();
    const std::string edited = own_setup ? "" : package;
    if (CopyWithPresentFiles(similar, copy, root, edited)) return std::vector<Path>{copy};
  }
  return BuildPackage(root, package, scratch / "output", scratch, stop);
}

// `scratch` becomes the directory of the build, unless the cache has its files.
Result<std::vector<Path>> Build(const Path& package_path, const PackageRequest& request,
                                std::shared_ptr<TemporaryDirectory>& scratch) {
  const Path root = package_path.parent_path();
  std::optional<TreeKey> key;
  std::error_code error;
  const PackageCache cache(request.cache);
  const bool own_setup = fs::is_regular_file(root / "setup.py", error);
  if (CacheWanted() && fs::exists(package_path / "__init__.py", error)) {
    key = KeyOfTree(root, package_path.filename(), own_setup, BuildSalt());
    if (key) {
      if (auto found = cache.Find(*key, !request.read_only_cache)) return std::move(*found);
    }
  }
  ASSIGN_OR_RETURN(TemporaryDirectory made, TemporaryDirectory::Make("caip-sdist-"));
  scratch = std::make_shared<TemporaryDirectory>(std::move(made));
  ASSIGN_OR_RETURN(std::vector<Path> built,
                   BuildIn(scratch->path(), package_path, key ? cache.FindSimilar(*key) : Path(),
                           own_setup, request.stop));
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
    std::error_code unreadable;  // a directory of another user
    const bool is_package = fs::exists(it->path() / "__init__.py", unreadable);
    if (is_package) packages.push_back(it->path().filename());
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
