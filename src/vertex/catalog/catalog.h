#pragma once
// What the service offers to custom jobs: machine types with their accelerators, pre-built
// containers, regions. All of it is data (catalog.json, with its sources).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace caip::vertex {

/// How many accelerators of one type a machine takes.
struct AcceleratorCounts {
  std::vector<int64_t> counts;  // ascending
  int64_t multiple = 0;         // any multiple of it as well; 0 none

  bool Has(int64_t count) const;
  /// "1, 2, 4", "8 or a multiple of 32": for error texts.
  std::string InWords() const;
};

struct MachineType {
  std::string name;
  int vcpus = 0;         // 0: unknown
  double memory_gb = 0;  // 0: unknown
  bool has_own = false;  // it comes with accelerators, and a job must name them
  std::map<std::string, AcceleratorCounts> accelerators;  // by type
};

/// The lists of the service. Immutable, so any thread may ask; the default one lives as long as the
/// process.
class Catalog {
 public:
  /// Reads the form of catalog.json. The error names the entry that is broken.
  static Result<Catalog> Parse(std::string_view json_text);

  const MachineType* FindMachine(std::string_view name) const;  // nullptr: no such type
  /// True for accelerators whose machines FLEX_START can wait for.
  bool HasFlexStart(std::string_view accelerator_type) const;

  const std::vector<MachineType>& machines() const { return machines_; }
  const std::vector<std::string>& flex_start() const { return flex_start_; }
  const std::vector<std::string>& regions() const { return regions_; }  // by name

 private:
  friend class CatalogReader;
  std::vector<MachineType> machines_;
  std::vector<std::string> regions_;
  std::vector<std::string> flex_start_;
};

/// The catalog of catalog.json, built in.
const Catalog& DefaultCatalog();
/// catalog.json; src/vertex/module.cmake writes the body.
std::string_view CatalogText();

/// True for "TPU_V2" and the like.
bool IsTpu(std::string_view accelerator_type);

/// An image of the service's pre-built containers (docs/service/vertex.md, section 3).
struct PrebuiltImage {
  std::string name;    // "tf-cpu.2-11.py310"
  std::string python;  // "3.10"; "3.7" where the name has no version
  bool names_python = false;
};
/// Whether the image is under the prefixes of pre-built containers.
bool IsPrebuiltImage(std::string_view image_uri);
/// Of any image that runs packages: one of another registry counts as one without a version.
PrebuiltImage DescribePrebuiltImage(std::string_view image_uri);

}  // namespace caip::vertex
