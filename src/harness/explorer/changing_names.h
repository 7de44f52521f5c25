#pragma once
// Names of files that differ from run to run, such as those of temporary files.

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "harness/events/event.h"

namespace caip::harness {

/// Finds what the names of files and directories have in common with those that they have in other
/// runs of the same job. Names in corresponding directories correspond to each other if they have
/// the same length and punctuation; else, the same punctuation; else, if both runs have as many of
/// them there. Which of them is meant is decided by the order in which triggers count them.
class ChangingNames {
 public:
  ChangingNames() = default;
  ChangingNames(const std::vector<Event>& run, const std::vector<Event>& other);

  /// A glob that the name and the corresponding names of other runs match: "ckpt-2/.tmp*" for
  /// "ckpt-2/.tmpIEUk". Names that have no letter in common are known by their form: "ckpt-2/????"
  /// for "ckpt-2/3f2a". "": the name is the same in each run.
  std::string GlobOf(const std::string& name) const;
  bool empty() const { return classes_.empty(); }

 private:
  /// What corresponding names have in common: their directory, without numbers, and their form.
  using Kind = std::tuple<std::string, std::string>;
  /// Corresponding parts of names, each between two slashes.
  struct Class {
    std::string glob;
    std::string letters;  // the kinds of letters that they consist of
  };
  struct Part {
    std::string form;  // "": the part is the same in each run
    std::string glob;
  };
  struct Unresolved;

  using Parts = std::map<std::string, std::set<std::string>>;  // by directory

  void Find(std::vector<Unresolved>& mine, std::vector<Unresolved>& theirs);
  void AddClasses(int likeness, const Parts& mine, const Parts& theirs);
  void RemoveKnown(Parts& all) const;
  std::vector<Unresolved> Following(const std::vector<Unresolved>& names) const;
  Part PartOf(const std::string& directory, const std::string& part) const;

  std::set<std::string> stable_;  // paths that both runs have, as GlobOf and Find write them
  std::map<Kind, Class> classes_;
};

}  // namespace caip::harness
