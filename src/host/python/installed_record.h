#pragma once
// The RECORD of an installed distribution (PyPA, "Recording installed projects").

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::host {

/// A RECORD that is read, changed and written. Names are relative to site-packages.
class InstalledRecord {
 public:
  static Result<InstalledRecord> Read(const Path& dist_info);
  /// Call it before the following: the members of the sdist that was installed.
  void SetMembers(std::vector<std::string> members) { members_ = std::move(members); }
  /// The installed file that a member of the sdist became: "src/trainer/task.py" is
  /// "trainer/task.py". "": none, or several, or "tests/trainer/task.py" may have become it, too,
  /// or another installed file may have its bytes.
  std::string InstalledAs(const std::string& member) const;
  /// True if pip compiled the module: "trainer/__pycache__/task.cpython-311.pyc". RECORD has no
  /// digests of such files. The package itself has others, which its build compiled.
  bool HasCompiled(const Path& module) const;
  bool Lists(const std::string& name) const { return Find(name) < lines_.size(); }
  std::vector<std::string> Names() const;
  /// Sets the digest and the size of a file that it lists.
  void Set(const std::string& name, std::string_view bytes);
  /// Where pip would install a new module: beside the other modules of its directory, if these are
  /// a package of which `siblings` has all installed. "" if that is not certain.
  std::string PlaceFor(const std::string& member, const std::vector<std::string>& siblings) const;
  /// Adds a module, and its compiled file with the same ending as that of another one.
  void Add(const std::string& module, std::string_view bytes, const std::string& other);
  /// Removes a module and its compiled files. Returns the names of these.
  std::vector<std::string> Remove(const std::string& module);
  /// Writes it if it has changed.
  Status Write() const;

 private:
  bool HasCopy(const std::string& name) const;
  void Insert(const std::string& name, const std::string& facts);
  size_t Find(const std::string& name) const;

  Path file_;
  std::vector<std::string> lines_;
  std::string line_end_;
  std::vector<std::string> members_;
  bool changed_ = false;
};

}  // namespace caip::host
