#include "host/python/source_changes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/python/package_archive.h"

namespace caip::host {
namespace {

using Files = std::map<std::string, ArchiveFile>;

// What lets a build do more with a source than copy it.
constexpr std::array<std::string_view, 3> kOwnBuild = {"cmdclass", "use_2to3", "ext_modules"};

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

bool IsModule(const std::string& member, const ArchiveFile& file) {
  return member.ends_with(".py") && member.find('/') != std::string::npos && file.link.empty();
}

// Whether a build installs one module more or less, and nothing else of it changes. An __init__.py
// makes a package, with all that is below it.
bool IsOneModule(const std::string& member, const ArchiveFile& file) {
  return IsModule(member, file) && (file.mode & 0111) == 0 && !member.ends_with("/__init__.py") &&
         member.find_first_of(",\"\n") == std::string::npos;  // RECORD would quote it
}

// SOURCES.txt lists the files of the sdist. It is not installed.
bool IsListOfSources(const std::string& member) {
  return member.ends_with(".egg-info/SOURCES.txt");
}

std::set<std::string> LinesOf(const std::string& text) {
  std::set<std::string> lines;
  for (const std::string& line : Split(text, '\n')) lines.insert(line);
  return lines;
}

// Compares two sdists whose members are below `top`.
class Comparison {
 public:
  Comparison(const Files& before, const Files& after, const std::string& top)
      : before_(before), after_(after), top_(top) {}

  std::optional<std::vector<ChangedSource>> Run() {
    for (const auto& [name, old] : before_) {
      const auto now = after_.find(name);
      if (!(now == after_.end() ? Drop(name, old) : Replace(name, old, now->second))) return {};
    }
    for (const auto& [name, file] : after_) {
      if (before_.count(name) == 0 && !Add(name, file)) return {};
    }
    const bool names_modules = Mentions(before_, top_ + "setup.py", "py_modules") ||
                               Mentions(before_, top_ + "setup.cfg", "py_modules") ||
                               Mentions(before_, top_ + "pyproject.toml", "py-modules");
    if (!moved_.empty() && names_modules) return {};
    if (!std::includes(moved_.begin(), moved_.end(), listed_.begin(), listed_.end())) return {};
    return std::move(changed_);
  }

 private:
  std::string MemberOf(const std::string& name) const { return name.substr(top_.size()); }

  bool Replace(const std::string& name, const ArchiveFile& old, const ArchiveFile& now) {
    if (now == old) return true;
    const std::string member = MemberOf(name);
    if (IsListOfSources(member)) {
      const auto lines = LinesOf(old.bytes);
      const auto present = LinesOf(now.bytes);
      std::set_symmetric_difference(lines.begin(), lines.end(), present.begin(), present.end(),
                                    std::inserter(listed_, listed_.end()));
      return true;
    }
    changed_.push_back({member, old.bytes, now.bytes});
    return IsModule(member, old) && IsModule(member, now) && old.mode == now.mode;
  }
  bool Drop(const std::string& name, const ArchiveFile& file) {
    const std::string member = MemberOf(name);
    moved_.insert(member);
    changed_.push_back({member, file.bytes, std::nullopt});
    return IsOneModule(member, file) && HasModuleBeside(name);
  }
  // Otherwise the package would be gone, too.
  bool HasModuleBeside(const std::string& name) const {
    return std::any_of(after_.begin(), after_.end(), [&](const auto& file) {
      return file.first.ends_with(".py") &&
             Path(file.first).parent_path() == Path(name).parent_path();
    });
  }
  bool Add(const std::string& name, const ArchiveFile& file) {
    if (!name.starts_with(top_)) return false;
    const std::string member = MemberOf(name);
    moved_.insert(member);
    changed_.push_back({member, std::nullopt, file.bytes});
    return IsOneModule(member, file);
  }

  const Files& before_;
  const Files& after_;
  const std::string& top_;
  std::vector<ChangedSource> changed_;
  std::set<std::string> moved_;   // members that are new or gone
  std::set<std::string> listed_;  // lines of SOURCES.txt that are new or gone
};

}  // namespace

Result<std::optional<std::vector<ChangedSource>>> ChangedSources(const PackageUpdate& update) {
  ASSIGN_OR_RETURN(const Files before, ReadArchive(update.before, kComparedSdistBytesMax));
  ASSIGN_OR_RETURN(const Files after, ReadArchive(update.after, kComparedSdistBytesMax));
  const auto top = TopOf(before);
  if (!top || !IsCopyingBuild(before, *top)) return std::optional<std::vector<ChangedSource>>();
  return Comparison(before, after, *top).Run();
}

}  // namespace caip::host
