#include "host/python/installed_record.h"

#include <algorithm>

#include "base/encoding.h"
#include "base/hash.h"
#include "base/text.h"

namespace caip::host {
namespace {

std::string RecordSum(std::string_view bytes) {
  return "sha256=" + Base64Url(Sha256(bytes)) + "," + std::to_string(bytes.size());
}

// The name in a line, a line of a CSV file.
std::string NameIn(const std::string& line) {
  if (!line.starts_with('"')) return line.substr(0, line.find(','));
  std::string name;
  for (size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '"' && (++at >= line.size() || line[at] != '"')) break;
    name += line[at];
  }
  return name;
}

bool MayBecomeFile(const std::string& member, const std::string& installed) {
  return member == installed || member.ends_with("/" + installed);
}

std::string CompiledStem(const Path& module) {
  return (module.parent_path() / "__pycache__" / module.stem()).string() + ".";
}

}  // namespace

Result<InstalledRecord> InstalledRecord::Read(const Path& dist_info) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(dist_info / "RECORD"));
  InstalledRecord record;
  record.file_ = dist_info / "RECORD";
  record.lines_ = Split(text, '\n');
  record.line_end_ = text.ends_with("\r\n") ? "\r" : "";  // pip's csv module writes it
  return record;
}

std::string InstalledRecord::InstalledAs(const std::string& member) const {
  std::string found;
  for (const std::string& line : lines_) {
    const std::string name = line.substr(0, line.find(','));
    if (name.empty() || !MayBecomeFile(member, name)) continue;
    if (!found.empty()) return "";
    found = name;
  }
  const auto others = std::count_if(members_.begin(), members_.end(), [&](const auto& other) {
    return other != member && MayBecomeFile(other, found);
  });
  return found.empty() || others > 0 || HasCopy(found) ? "" : found;
}

bool InstalledRecord::HasCompiled(const Path& module) const {
  const std::string name = CompiledStem(module);
  bool is_compiled = false;
  for (const std::string& line : lines_) {
    if (!line.starts_with(name)) continue;
    if (Trim(line).substr(line.find(',')) != ",,") return false;
    is_compiled = true;
  }
  return is_compiled;
}

std::vector<std::string> InstalledRecord::Names() const {
  std::vector<std::string> names;
  for (const std::string& line : lines_) {
    if (!Trim(line).empty()) names.push_back(NameIn(line));
  }
  return names;
}

void InstalledRecord::Set(const std::string& name, std::string_view bytes) {
  if (const size_t at = Find(name); at < lines_.size()) {
    lines_[at] = name + "," + RecordSum(bytes) + line_end_;
    changed_ = true;
  }
}

std::string InstalledRecord::PlaceFor(const std::string& member,
                                      const std::vector<std::string>& siblings) const {
  std::string directory;
  bool is_package = false;
  for (const std::string& sibling : siblings) {
    const Path installed = InstalledAs(sibling);
    if (!installed.has_parent_path() || !HasCompiled(installed)) return "";
    if (!directory.empty() && installed.parent_path() != directory) return "";
    directory = installed.parent_path();
    is_package = is_package || installed.filename() == "__init__.py";
  }
  return is_package ? directory + "/" + Path(member).filename().string() : "";
}

void InstalledRecord::Add(const std::string& module, std::string_view bytes,
                          const std::string& other) {
  Insert(module, RecordSum(bytes));
  const std::string known = CompiledStem(other);
  for (const std::string& line : std::vector(lines_)) {
    if (!line.starts_with(known)) continue;
    Insert(CompiledStem(module) + line.substr(known.size(), line.find(',') - known.size()), ",");
  }
}

std::vector<std::string> InstalledRecord::Remove(const std::string& module) {
  std::vector<std::string> compiled;
  std::erase_if(lines_, [&](const std::string& line) {
    const bool is_compiled = line.starts_with(CompiledStem(module));
    if (is_compiled) compiled.push_back(line.substr(0, line.find(',')));
    return is_compiled || line.starts_with(module + ",");
  });
  changed_ = true;
  return compiled;
}

Status InstalledRecord::Write() const {
  if (!changed_) return Ok{};
  return WriteFile(file_, Join(lines_, "\n"));  // a new file: the old one is a hard link
}

// Whether the source of an installed file may also be a script or a data file, or a module of
// another package. (Empty modules are often equal.)
bool InstalledRecord::HasCopy(const std::string& name) const {
  const std::string& own = lines_[Find(name)];
  const std::string facts = own.substr(name.size());
  const std::string end = "/" + Path(name).filename().string();
  const bool is_empty = Trim(facts).ends_with(",0");
  return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
    if (line == own || !NameIn(line).ends_with(end)) return false;
    return line.starts_with("../") || (!is_empty && line.ends_with(facts));
  });
}

// pip sorts the lines by their names.
void InstalledRecord::Insert(const std::string& name, const std::string& facts) {
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
    return line.empty() || line.substr(0, line.find(',')) > name;
  });
  lines_.insert(at, name + "," + facts + line_end_);
  changed_ = true;
}

size_t InstalledRecord::Find(const std::string& name) const {
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
    return line.starts_with(name + ",");
  });
  return static_cast<size_t>(at - lines_.begin());
}

}  // namespace caip::host
