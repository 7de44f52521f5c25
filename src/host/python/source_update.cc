#include "host/python/source_update.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/environment_cache.h"
#include "host/python/installed_record.h"
#include "host/python/package_archive.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, ArchiveFile>;

constexpr size_t kScriptBytesMax = 1 << 20;
constexpr const char* kScripts = "../../../bin/";  // in RECORD, from site-packages
constexpr const char* kCompile =
    "import py_compile, sys\nfor name in sys.argv[1:]: py_compile.compile(name, doraise=True)";

class Update {
 public:
  Update(const EnvironmentPlace& from, const EnvironmentPlace& to) : from_(from), to_(to) {}

  Result<bool> Run(const std::vector<PackageUpdate>& updates) {
    std::vector<std::vector<ChangedSource>> changes;
    for (const PackageUpdate& update : updates) {
      ASSIGN_OR_RETURN(auto changed, ChangedSources(update));
      if (!changed) return false;
      changes.push_back(*std::move(changed));
    }
    RETURN_IF_ERROR(CopyTree());
    RETURN_IF_ERROR(ReadRecords());
    RETURN_IF_ERROR(RenameScripts());
    for (size_t i = 0; i < updates.size(); ++i) {
      ASSIGN_OR_RETURN(const bool done, Replace(updates[i], changes[i]));
      if (!done) return false;
    }
    if (!Compile()) return false;
    for (auto& [dist_info, record] : records_) RETURN_IF_ERROR(record.Write());
    return HasAllFiles();
  }

 private:
  Status CopyTree() {
    std::error_code error;
    for (fs::directory_iterator at(from_.root, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename();
      if (name == "lib64" || EnvironmentCache::Owns(name)) continue;
      RETURN_IF_ERROR(CopyEntry(name));
    }
    if (error) return CannotRead(from_.root, error.value());
    fs::create_symlink("lib", to_.root / "lib64", error);
    return error ? Status(CannotMake(to_.root / "lib64", error.value())) : Status(Ok{});
  }

  // pip installs not only into bin and lib: data_files and headers have directories of their own.
  Status CopyEntry(const std::string& name) const {
    const bool is_setting = name == "pyvenv.cfg" || name == "pip.conf";
    const auto form = is_setting ? fs::copy_options::none : fs::copy_options::create_hard_links;
    std::error_code error;
    fs::copy(from_.root / name, to_.root / name,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks | form, error);
    return error ? Status(CannotMake(to_.root / name, error.value())) : Status(Ok{});
  }

  // A file that was missing before the update is none of the updated package: pip removed it with
  // another version of a requirement.
  bool HasAllFiles() const {
    for (const auto& [dist_info, record] : records_) {
      for (const std::string& name : record.Names()) {
        if (name.starts_with('/')) return false;
        const bool is_installed = fs::exists(fs::symlink_status(to_.site_packages / name));
        if (!is_installed && fs::exists(fs::symlink_status(from_.site_packages / name))) {
          return false;
        }
      }
    }
    return true;
  }

  Status ReadRecords() {
    std::error_code error;
    for (fs::directory_iterator at(to_.site_packages, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() != ".dist-info" || !fs::exists(at->path() / "RECORD")) continue;
      ASSIGN_OR_RETURN(InstalledRecord record, InstalledRecord::Read(at->path()));
      records_.emplace(at->path(), std::move(record));
    }
    return error ? Status(CannotRead(to_.site_packages, error.value())) : Status(Ok{});
  }

  // The first line of a script names the environment's Python.
  Status RenameScripts() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(to_.root / "bin", error)) {
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      const auto text = ReadFileUpTo(entry.path(), kScriptBytesMax);
      if (!text.ok() || text->find(from_.root.string()) == std::string::npos) continue;
      const std::string renamed = ReplaceAll(*text, from_.root.string(), to_.root.string());
      const auto permissions = entry.status().permissions();
      RETURN_IF_ERROR(WriteFile(entry.path(), renamed));
      fs::permissions(entry.path(), permissions, error);
      const std::string name = kScripts + entry.path().filename().string();
      for (auto& [dist_info, record] : records_) record.Set(name, renamed);
    }
    return error ? Status(CannotRead(to_.root / "bin", error.value())) : Status(Ok{});
  }

  Result<bool> Replace(const PackageUpdate& update, const std::vector<ChangedSource>& changed) {
    ASSIGN_OR_RETURN(const bool found, UpdateOrigin(update));
    if (!found) return false;
    ASSIGN_OR_RETURN(const Files before, ReadArchive(update.before, kComparedSdistBytesMax));
    std::vector<std::string> members;
    for (const auto& [name, file] : before) members.push_back(name.substr(name.find('/') + 1));
    records_.at(installed_).SetMembers(std::move(members));
    for (const ChangedSource& source : changed) {
      if (!source.before) continue;
      ASSIGN_OR_RETURN(const bool done, source.after ? Rewrite(source) : Remove(source));
      if (!done) return false;
    }
    return AddNew(update, changed);
  }

  // The installed file of a source that has the bytes of the sdist from before. "": none.
  std::string InstalledUnchanged(const ChangedSource& source) const {
    const InstalledRecord& record = records_.at(installed_);
    const std::string name = record.InstalledAs(source.member);
    if (name.empty() || !record.HasCompiled(name) || IsShared(name)) return "";
    const auto now = ReadFile(to_.site_packages / name);
    return now.ok() && *now == source.before ? name : "";
  }

  // Of the packages with a file, the last one that pip installs wins.
  bool IsShared(const std::string& name) const {
    return std::any_of(records_.begin(), records_.end(), [&](const auto& record) {
      return record.first != installed_ && record.second.Lists(name);
    });
  }

  Result<bool> Rewrite(const ChangedSource& source) {
    const std::string name = InstalledUnchanged(source);
    if (name.empty()) return false;
    const Path file = to_.site_packages / name;
    std::error_code error;
    const auto permissions = fs::status(file, error).permissions();
    RETURN_IF_ERROR(WriteFile(file, *source.after));
    fs::permissions(file, permissions, error);
    if (error) return CannotMake(file, error.value());
    records_.at(installed_).Set(name, *source.after);
    sources_.push_back(file.string());
    return true;
  }

  Result<bool> Remove(const ChangedSource& source) {
    const std::string name = InstalledUnchanged(source);
    if (name.empty()) return false;
    std::vector<std::string> files = records_.at(installed_).Remove(name);
    files.push_back(name);
    for (const std::string& file : files) {
      std::error_code error;
      fs::remove(to_.site_packages / file, error);
      if (error) return CannotMake(to_.site_packages / file, error.value());
    }
    return true;
  }

  Result<bool> AddNew(const PackageUpdate& update, const std::vector<ChangedSource>& changed) {
    const auto is_new = [](const ChangedSource& source) { return !source.before; };
    if (std::none_of(changed.begin(), changed.end(), is_new)) return true;
    ASSIGN_OR_RETURN(const Files after, ReadArchive(update.after, kComparedSdistBytesMax));
    InstalledRecord& record = records_.at(installed_);
    for (const ChangedSource& source : changed) {
      if (source.before) continue;
      const std::vector<std::string> siblings = SiblingsOf(source.member, after, changed);
      const std::string name = record.PlaceFor(source.member, siblings);
      const Path file = to_.site_packages / name;
      if (name.empty() || fs::exists(fs::symlink_status(file))) return false;
      RETURN_IF_ERROR(WriteFile(file, *source.after));
      record.Add(name, *source.after, record.InstalledAs(siblings.front()));
      sources_.push_back(file.string());
    }
    return true;
  }

  // The earlier modules of the same directory.
  static std::vector<std::string> SiblingsOf(const std::string& member, const Files& files,
                                             const std::vector<ChangedSource>& changed) {
    const auto is_new = [&](const std::string& name) {
      return std::any_of(changed.begin(), changed.end(), [&](const ChangedSource& source) {
        return source.member == name && !source.before;
      });
    };
    std::vector<std::string> siblings;
    for (const auto& [name, file] : files) {
      const std::string other = name.substr(name.find('/') + 1);
      const bool is_beside = Path(other).parent_path() == Path(member).parent_path();
      if (is_beside && other.ends_with(".py") && !is_new(other)) siblings.push_back(other);
    }
    return siblings;
  }

  // pip notes in direct_url.json from which file it installed a distribution (PEP 610): its path,
  // and with some versions its digest.
  Result<bool> UpdateOrigin(const PackageUpdate& update) {
    ASSIGN_OR_RETURN(const std::string before, ReadFile(update.before));
    ASSIGN_OR_RETURN(const std::string after, ReadFile(update.after));
    const std::string sum = Sha256Hex(before);
    const std::string place = "/" + from_.key + "/" + std::to_string(update.index) + "/";
    for (auto& [dist_info, record] : records_) {
      const auto origin = ReadFileUpTo(dist_info / "direct_url.json", kScriptBytesMax);
      if (!origin.ok() || origin->find(place) == std::string::npos) continue;
      const std::string text =
          ReplaceAll(ReplaceAll(*origin, sum, Sha256Hex(after)), from_.key, to_.key);
      RETURN_IF_ERROR(WriteFile(dist_info / "direct_url.json", text));
      record.Set(dist_info.filename().string() + "/direct_url.json", text);
      installed_ = dist_info;
      return true;
    }
    return false;
  }

  // As pip compiles, with the names of the interpreter's own version. (Not by compileall: it loads
  // modules for pools of processes, which takes twice as long as the whole rest.)
  bool Compile() const {
    if (sources_.empty()) return true;
    Tool tool;
    tool.argv = {(to_.root / "bin/python3").string(), "-I", "-S", "-c", kCompile};
    tool.argv.insert(tool.argv.end(), sources_.begin(), sources_.end());
    const auto done = RunTool(tool);
    return done.ok() && done->ok();
  }

  const EnvironmentPlace& from_;
  const EnvironmentPlace& to_;
  std::map<Path, InstalledRecord> records_;
  Path installed_;                    // the dist-info of the package that is being replaced
  std::vector<std::string> sources_;  // that were replaced
};

}  // namespace

Result<bool> UpdateSources(const EnvironmentPlace& from, const EnvironmentPlace& to,
                           const std::vector<PackageUpdate>& updates) {
  return Update(from, to).Run(updates);
}

}  // namespace caip::host
