#include "host/python/source_update.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/hash.h"
#include "base/text.h"
#include "host/process/child_process.h"
#include "host/python/package_archive.h"

namespace caip::host {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, ArchiveFile>;

constexpr uint64_t kSdistBytesMax = 64 << 20;
constexpr size_t kScriptBytesMax = 1 << 20;
constexpr const char* kScripts = "../../../bin/";  // in RECORD, from site-packages
// What lets a build do more with a source than copy it.
constexpr std::array<std::string_view, 3> kOwnBuild = {"cmdclass", "use_2to3", "ext_modules"};

constexpr const char* kCompile =
    "import py_compile, sys\nfor name in sys.argv[1:]: py_compile.compile(name, doraise=True)";

bool Mentions(const Files& files, const std::string& name, std::string_view word) {
  const auto file = files.find(name);
  return file != files.end() && file->second.bytes.find(word) != std::string::npos;
}

// "trainer-0.1/", if all members are below it.
std::optional<std::string> TopOf(const Files& files) {
  if (files.empty()) return std::nullopt;
  const std::string& first = files.begin()->first;
  std::string top = first.substr(0, first.find('/') + 1);
  const bool is_common = std::all_of(files.begin(), files.end(),
                                     [&](const auto& file) { return file.first.starts_with(top); });
  return top.empty() || !is_common ? std::nullopt : std::optional(std::move(top));
}

bool IsCopyingBuild(const Files& files, const std::string& top) {
  if (!files.count(top + "PKG-INFO")) return false;  // nothing would show other metadata
  for (const std::string_view word : kOwnBuild) {
    if (Mentions(files, top + "setup.py", word) || Mentions(files, top + "setup.cfg", word) ||
        Mentions(files, top + "pyproject.toml", word)) {
      return false;
    }
  }
  const auto pyproject = files.find(top + "pyproject.toml");
  if (pyproject == files.end()) return files.count(top + "setup.py") != 0;
  const auto wanted = BuildRequires(pyproject->second.bytes);
  return std::all_of(wanted.begin(), wanted.end(),
                     [](const auto& name) { return name == "setuptools" || name == "wheel"; });
}

}  // namespace

Result<std::optional<std::vector<ChangedSource>>> ChangedSources(const PackageUpdate& update) {
  const std::optional<std::vector<ChangedSource>> more;
  ASSIGN_OR_RETURN(const Files before, ReadArchive(update.before, kSdistBytesMax));
  ASSIGN_OR_RETURN(const Files after, ReadArchive(update.after, kSdistBytesMax));
  const auto top = TopOf(before);
  if (!top || before.size() != after.size() || !IsCopyingBuild(before, *top)) return more;
  std::vector<ChangedSource> changed;
  for (const auto& [name, old] : before) {
    const auto now = after.find(name);
    if (now == after.end()) return more;
    if (now->second == old) continue;
    const std::string member = name.substr(top->size());
    const bool is_source = member.ends_with(".py") && member.find('/') != std::string::npos &&
                           old.link.empty() && now->second.link.empty() &&
                           old.mode == now->second.mode;
    if (!is_source) return more;
    changed.push_back({member, old.bytes, now->second.bytes});
  }
  return std::optional(std::move(changed));
}

namespace {

std::string RecordSum(std::string_view bytes) {
  return "sha256=" + Base64Url(Sha256(bytes)) + "," + std::to_string(bytes.size());
}

// The RECORD of one installed distribution (PyPA, "Recording installed projects").
class Record {
 public:
  static Result<Record> Read(const Path& dist_info) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(dist_info / "RECORD"));
    Record record;
    record.file_ = dist_info / "RECORD";
    record.lines_ = Split(text, '\n');
    return record;
  }
  /// The installed file that a member of the sdist became: "src/trainer/task.py" is
  /// "trainer/task.py". "": none, or several.
  std::string InstalledAs(const std::string& member) const {
    std::string found;
    for (const std::string& line : lines_) {
      const std::string name = line.substr(0, line.find(','));
      if (name.empty() || (member != name && !member.ends_with("/" + name))) continue;
      if (!found.empty()) return "";
      found = name;
    }
    return found;
  }
  /// True if pip compiled the module: "trainer/__pycache__/task.cpython-311.pyc".
  bool HasCompiled(const Path& module) const {
    const std::string name = (module.parent_path() / "__pycache__" / module.stem()).string() + ".";
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const std::string& line) { return line.starts_with(name); });
  }
  /// Sets the digest and the size of a file that it lists.
  void Set(const std::string& name, std::string_view bytes) {
    if (const size_t at = Find(name); at < lines_.size()) {
      lines_[at] = name + "," + RecordSum(bytes);
      changed_ = true;
    }
  }
  Status Write() const {
    if (!changed_) return Ok{};
    return WriteFile(file_, Join(lines_, "\n"));  // a new file: the old one is a hard link
  }

 private:
  size_t Find(const std::string& name) const {
    const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return line.starts_with(name + ",");
    });
    return static_cast<size_t>(at - lines_.begin());
  }
  Path file_;
  std::vector<std::string> lines_;
  bool changed_ = false;
};

class Update {
 public:
  Update(const EnvironmentPlace& from, const EnvironmentPlace& to) : from_(from), to_(to) {}

  Result<bool> Run(const std::vector<PackageUpdate>& updates) {
    RETURN_IF_ERROR(CopyTree());
    RETURN_IF_ERROR(ReadRecords());
    RETURN_IF_ERROR(RenameScripts());
    for (const PackageUpdate& update : updates) {
      ASSIGN_OR_RETURN(const bool done, Replace(update));
      if (!done) return false;
    }
    if (!Compile()) return false;
    for (auto& [dist_info, record] : records_) RETURN_IF_ERROR(record.Write());
    return true;
  }

 private:
  Status CopyTree() {
    std::error_code error;
    for (const char* name : {"bin", "lib"}) {
      fs::copy(from_.root / name, to_.root / name,
               fs::copy_options::recursive | fs::copy_options::copy_symlinks |
                   fs::copy_options::create_hard_links,
               error);
      if (error) return CannotMake(to_.root / name, error.value());
    }
    for (const char* name : {"pyvenv.cfg", "pip.conf"}) {
      fs::copy_file(from_.root / name, to_.root / name, error);
      if (error) return CannotMake(to_.root / name, error.value());
    }
    fs::create_symlink("lib", to_.root / "lib64", error);
    return error ? Status(CannotMake(to_.root / "lib64", error.value())) : Status(Ok{});
  }

  Status ReadRecords() {
    std::error_code error;
    for (fs::directory_iterator at(to_.site_packages, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() != ".dist-info" || !fs::exists(at->path() / "RECORD")) continue;
      ASSIGN_OR_RETURN(Record record, Record::Read(at->path()));
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

  Result<bool> Replace(const PackageUpdate& update) {
    ASSIGN_OR_RETURN(const auto changed, ChangedSources(update));
    if (!changed) return false;
    ASSIGN_OR_RETURN(const bool found, UpdateOrigin(update));
    if (!found) return false;
    Record& record = records_.at(installed_);
    for (const ChangedSource& source : *changed) {
      const std::string name = record.InstalledAs(source.member);
      if (name.empty() || !record.HasCompiled(name)) return false;
      const Path file = to_.site_packages / name;
      const auto now = ReadFile(file);
      if (!now.ok() || *now != source.before) return false;
      RETURN_IF_ERROR(WriteFile(file, source.after));
      record.Set(name, source.after);
      sources_.push_back(file.string());
    }
    return true;
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
  std::map<Path, Record> records_;
  Path installed_;                    // the dist-info of the package that is being replaced
  std::vector<std::string> sources_;  // that were replaced
};

}  // namespace

Result<bool> UpdateSources(const EnvironmentPlace& from, const EnvironmentPlace& to,
                           const std::vector<PackageUpdate>& updates) {
  return Update(from, to).Run(updates);
}

}  // namespace caip::host
