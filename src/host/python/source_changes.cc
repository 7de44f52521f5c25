#include "host/python/source_changes.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "host/python/package_archive.h"
#include "host/python/setup_script.h"

namespace caip::host {
namespace {

using Files = std::map<std::string, ArchiveFile>;

// What lets a build do more with a source than copy it.
constexpr std::array<std::string_view, 15> kOwnBuild = {
    "cmdclass",           "use_2to3",
    "ext_modules",        "ext-modules",
    "setup_requires",     "setup-requires",
    "command_packages",   "command-packages",
    "backend-path",       "setuptools_scm",
    "distutils.commands", "distutils.setup_keywords",
    "egg_info.writers",   "setuptools.finalize_distribution_options",
    "setuptools-scm"};

constexpr std::array<const char*, 3> kBuildFiles = {"setup.py", "setup.cfg", "pyproject.toml"};

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

bool BuildMentions(const Files& files, const std::string& top, std::string_view word) {
  return std::any_of(kBuildFiles.begin(), kBuildFiles.end(),
                     [&](const char* name) { return Mentions(files, top + name, word); });
}

// `version = attr: trainer.__version__`, but not `dependencies = ["attrs"]`.
bool ReadsAttributes(const Files& files, const std::string& name) {
  static const RE2 attribute(R"(\battr\b)");
  const auto file = files.find(name);
  return file != files.end() && RE2::PartialMatch(file->second.bytes, attribute);
}

// False if the file may install one directory as several packages. The usual use of package_dir is
// one directory above all packages.
bool NamesOneDirectory(const Files& files, const std::string& name) {
  static const RE2 named(R"(package[-_]dir)");
  static const RE2 one(
      R"re((?:package[-_]dir\s*=\s*=\s*[^\s=,]+[ \t]*(?:\n[^\s]|\n\s*\n|\s*$))|)re"
      R"re((?:package[-_]dir["']?\s*=\s*\{\s*(?:""|'')\s*=\s*["'][^"']*["']\s*\})|)re"
      R"re((?:package[-_]dir\s*\]\s*(?:""|'')\s*=\s*["'][^"']*["']\s*(?:\[|$)))re");
  const auto file = files.find(name);
  if (file == files.end() || !RE2::PartialMatch(file->second.bytes, named)) return true;
  return RE2::PartialMatch(file->second.bytes, one);
}

// Whether setuptools builds by pyproject.toml, without a part of a build that is in the sdist.
bool IsBuiltBySetuptools(const std::string& pyproject) {
  static const RE2 backend(R"re(build-backend["']?\s*=\s*["']([^"']*)["'])re");
  std::string name = "setuptools.build_meta";
  const bool names_it = RE2::PartialMatch(pyproject, backend, &name);
  if (!names_it && pyproject.find("build-backend") != std::string::npos) return false;
  if (name != "setuptools.build_meta" && name != "setuptools.build_meta:__legacy__") return false;
  const auto wanted = BuildRequires(pyproject);
  return std::all_of(wanted.begin(), wanted.end(),
                     [](const auto& each) { return each == "setuptools" || each == "wheel"; });
}

// Whether a build copies the sources, and their bytes change nothing else that it makes. PKG-INFO
// alone does not show that: it may lack requirements, entry points and scripts.
bool IsCopyingBuild(const Files& files, const std::string& top) {
  if (!files.count(top + "PKG-INFO")) return false;  // no tool for packages made it
  const auto is_link = [](const auto& file) { return !file.second.link.empty(); };
  if (std::any_of(files.begin(), files.end(), is_link)) return false;  // a build copies its target
  const auto is_mentioned = [&](std::string_view word) { return BuildMentions(files, top, word); };
  if (std::any_of(kOwnBuild.begin(), kOwnBuild.end(), is_mentioned)) return false;
  for (const char* settings : {"setup.cfg", "pyproject.toml"}) {
    if (ReadsAttributes(files, top + settings)) return false;
    if (!NamesOneDirectory(files, top + settings)) return false;
  }
  const auto setup = files.find(top + "setup.py");
  const bool has_setup = setup != files.end();
  if (has_setup && !InstallsWithoutReadingSources(setup->second.bytes)) return false;
  const auto pyproject = files.find(top + "pyproject.toml");
  return pyproject == files.end() ? has_setup : IsBuiltBySetuptools(pyproject->second.bytes);
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
    const bool names_modules =
        BuildMentions(before_, top_, "py_modules") || BuildMentions(before_, top_, "py-modules");
    if (!moved_.empty() && names_modules) return {};
    if (BuildNamesChanged()) return {};
    if (!std::includes(moved_.begin(), moved_.end(), listed_.begin(), listed_.end())) return {};
    return std::move(changed_);
  }

 private:
  // A build installs such a file as a script or as data, too, or reads it.
  bool BuildNamesChanged() const {
    return std::any_of(changed_.begin(), changed_.end(), [&](const ChangedSource& source) {
      return BuildMentions(before_, top_, Path(source.member).filename().string());
    });
  }

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
