#include "client/packaging.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/encoding.h"
#include "base/text.h"
#include "client/errors.h"
#include "client/flag_values.h"
#include "client/packaging_build.h"
#include "client/packaging_cache.h"

namespace caip::client {
namespace {

namespace fs = std::filesystem;

// gs://bucket/object with a good bucket name; anything else is a local path.
bool IsRemotePackaging(const std::string& package) {
  const Result<ObjectName> name = ParseObject(package);
  return name.ok() && !name->object.empty();
}

// The interpreter that would build: a new one may build other files.
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

// --package-path as os.path.abspath has it: no trailing slash, no dots.
Path AbsoluteDirectory(const std::string& path) {
  Path absolute = fs::absolute(path).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute;
}

// $CAIP_SDIST_CACHE=0 is for a setup.py whose result depends on more than its files.
bool CacheWanted() {
  const char* wish = std::getenv("CAIP_SDIST_CACHE");
  return !wish || std::string_view(wish) != "0";
}

Result<std::vector<Path>> Build(const Path& package_path, const PackageRequest& request,
                                const std::shared_ptr<TemporaryDirectory>& scratch) {
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
  ASSIGN_OR_RETURN(std::vector<Path> built, BuildPackage(root, package, scratch->path() / "output",
                                                         scratch->path(), request.stop));
  if (!key || request.read_only_cache) return built;
  // A cache that cannot be written costs the next build, not this one.
  const Result<std::vector<Path>> kept = cache.Keep(*key, built);
  return kept.ok() ? *kept : built;
}

}  // namespace

Result<PackageFiles> CollectPackages(const PackageRequest& request) {
  PackageFiles files;
  for (const std::string& package : request.packages) {
    if (IsRemotePackaging(package)) {
      files.remote.push_back(package);
    } else {
      files.local.emplace_back(package);
    }
  }
  if (!request.package_path || request.package_path->empty()) return files;
  files.keep = std::make_shared<TemporaryDirectory>("caip-sdist-");
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
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (const Path& file : files) {
    if (fs::is_directory(file)) return errors::FileUnreadable(file.string(), "Is a directory");
    const Result<std::string> bytes = ReadFile(file);
    if (!bytes.ok()) return errors::FileUnreadable(file.string(), bytes.error().message);
    EVP_DigestUpdate(context.get(), bytes->data(), bytes->size());
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), digest, &size);
  return Hex({reinterpret_cast<const char*>(digest), size});
}

}  // namespace caip::client
