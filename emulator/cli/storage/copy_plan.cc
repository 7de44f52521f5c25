#include "emulator/cli/storage/copy_plan.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "emulator/cli/storage/storage_errors.h"

namespace caip::cli {
namespace {

namespace fs = std::filesystem;
using google::GcsUri;

// A file to copy, with its name in a directory.
struct Source {
  CopyPlace place;
  std::string name;     // "task.py"; below a directory also "trainer/task.py"
  std::string in_tree;  // "task.py": without the directory's own name; "" of single files
  uint64_t bytes = 0;
};

std::string LastPart(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

std::string WithSlash(const std::string& name) {
  return name.empty() || name.ends_with('/') ? name : name + "/";
}

bool IsStream(const Path& path) { return path == "-"; }

// 0: not known, as for a pipe.
uint64_t BytesOf(const Path& file) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

// Adds the files of a directory of this host, also those that links lead to.
Status AddTree(const Path& directory, std::vector<Source>& sources) {
  const std::string own = LastPart(fs::absolute(directory).lexically_normal().string());
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code unreadable;
    if (!at->is_regular_file(unreadable)) continue;
    const std::string inner = at->path().lexically_relative(directory).string();
    sources.push_back({at->path(), own + "/" + inner, inner, BytesOf(at->path())});
  }
  if (error) return errors::LocalFileFailed(directory.string(), error.value());
  return Ok{};
}

Status AddLocal(const Path& path, bool recursive, std::vector<Source>& sources) {
  if (IsStream(path)) {
    sources.push_back({path, "-", "", 0});
    return Ok{};
  }
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return errors::FileMissing(path.string());
  if (fs::is_directory(status)) {
    return recursive ? AddTree(path, sources) : Status(errors::IsADirectory(path.string()));
  }
  sources.push_back({path, path.filename().string(), "", BytesOf(path)});
  return Ok{};
}

// Objects below the folder. Those that stand for folders themselves have no bytes.
Status AddFolder(BucketFiles& files, const GcsUri& uri, std::vector<Source>& sources) {
  const std::string prefix = WithSlash(uri.object);
  ASSIGN_OR_RETURN(const BucketListing below, files.List(uri.bucket, prefix, true));
  const std::string own = prefix.empty() ? uri.bucket : LastPart(prefix);
  for (const BucketFile& file : below.files) {
    if (file.uri.object.ends_with('/')) continue;
    const std::string inner = file.uri.object.substr(prefix.size());
    sources.push_back({file.uri, own + "/" + inner, inner, file.bytes});
  }
  return Ok{};
}

Status AddRemote(BucketFiles& files, const GcsUri& uri, bool recursive,
                 std::vector<Source>& sources) {
  const size_t before = sources.size();
  if (!uri.object.empty()) {
    ASSIGN_OR_RETURN(const BucketListing matches, files.Match(uri));
    for (const BucketFile& file : matches.files) {
      if (recursive && file.uri.object.ends_with('/')) continue;  // stands for the folder
      sources.push_back({file.uri, LastPart(file.uri.object), "", file.bytes});
    }
    for (const std::string& folder : recursive ? matches.folders : std::vector<std::string>()) {
      RETURN_IF_ERROR(AddFolder(files, {uri.bucket, folder}, sources));
    }
    if (sources.size() == before && !matches.folders.empty()) {
      return errors::IsAFolder(Text(GcsUri{uri.bucket, matches.folders.front()}), "cp");
    }
  }
  if (!HasWildcard(uri.object)) {
    if (recursive) RETURN_IF_ERROR(AddFolder(files, uri, sources));
    if (sources.size() > before) return Ok{};
    ASSIGN_OR_RETURN(const auto below, files.List(uri.bucket, WithSlash(uri.object), false));
    const bool is_folder = !below.files.empty() || !below.folders.empty();
    if (is_folder && !recursive) return errors::IsAFolder(Text(uri), "cp");
  }
  return sources.size() > before ? Status(Ok{}) : Status(errors::NothingMatches(Text(uri)));
}

// How the names of the sources become those of the copies.
enum class Shape {
  kOne,       // the destination is the name
  kBelow,     // the destination is a directory that exists
  kContents,  // the destination becomes the one directory that is copied
};

Result<bool> IsFolder(BucketFiles& files, const GcsUri& uri) {
  if (uri.object.empty() || uri.object.ends_with('/')) return true;
  ASSIGN_OR_RETURN(const auto below, files.List(uri.bucket, WithSlash(uri.object), false));
  return !below.files.empty() || !below.folders.empty();
}

// `arguments`: how many sources the command names.
Result<Shape> ShapeOf(BucketFiles& files, const std::vector<Source>& sources, size_t arguments,
                      const CopyPlace& destination) {
  const auto* local = std::get_if<Path>(&destination);
  if (local && IsStream(*local)) return Shape::kOne;
  std::error_code error;
  bool exists = false;
  if (local) {
    exists = fs::is_directory(*local, error) || local->string().ends_with('/');
  } else {
    ASSIGN_OR_RETURN(exists, IsFolder(files, std::get<GcsUri>(destination)));
  }
  if (exists) return Shape::kBelow;
  const bool is_tree = std::all_of(sources.begin(), sources.end(),
                                   [](const Source& source) { return !source.in_tree.empty(); });
  if (is_tree && arguments == 1) return Shape::kContents;
  if (sources.size() == 1 && !is_tree) return Shape::kOne;
  if (local) return errors::NotADirectory(Text(destination), sources.size());
  return Shape::kBelow;  // a prefix needs no object of its own
}

// Names of objects may have any parts; those of files stay in their directory.
bool IsSafeName(const std::string& name) {
  const std::vector<std::string> parts = Split(name, '/');
  return std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos;
  });
}

Result<CopyPlace> Below(const CopyPlace& directory, const std::string& name) {
  if (const auto* uri = std::get_if<GcsUri>(&directory)) {
    return CopyPlace(GcsUri{uri->bucket, WithSlash(uri->object) + name});
  }
  const Path& path = std::get<Path>(directory);
  if (!IsSafeName(name)) return errors::NotAFileName(name, path.string());
  return CopyPlace(path / name);
}

}  // namespace

Result<CopyPlace> ReadCopyPlace(const std::string& text) {
  if (!google::HasGcsScheme(text)) return CopyPlace(Path(text));
  ASSIGN_OR_RETURN(GcsUri uri, google::ParseGcsUri(text));
  return CopyPlace(std::move(uri));
}

std::string Text(const CopyPlace& place) {
  if (const auto* uri = std::get_if<GcsUri>(&place)) return Text(*uri);
  return std::get<Path>(place).string();
}

Result<std::vector<Copy>> PlanCopies(BucketFiles& files, const std::vector<CopyPlace>& sources,
                                     const CopyPlace& destination, bool recursive) {
  std::vector<Source> found;
  for (const CopyPlace& source : sources) {
    if (const auto* path = std::get_if<Path>(&source)) {
      RETURN_IF_ERROR(AddLocal(*path, recursive, found));
    } else {
      RETURN_IF_ERROR(AddRemote(files, std::get<GcsUri>(source), recursive, found));
    }
  }
  ASSIGN_OR_RETURN(const Shape shape, ShapeOf(files, found, sources.size(), destination));
  std::vector<Copy> copies;
  std::set<std::string> taken;
  for (Source& source : found) {
    if (shape == Shape::kOne) {
      copies.push_back({std::move(source.place), destination, source.bytes});
      continue;
    }
    const auto* stream = std::get_if<Path>(&source.place);
    if (stream && IsStream(*stream)) return errors::ObjectNameMissing(Text(destination));
    ASSIGN_OR_RETURN(CopyPlace to,
                     Below(destination, shape == Shape::kBelow ? source.name : source.in_tree));
    if (!taken.insert(Text(to)).second) return errors::SameDestination(Text(to));
    copies.push_back({std::move(source.place), std::move(to), source.bytes});
  }
  return copies;
}

}  // namespace caip::cli
