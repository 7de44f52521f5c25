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

struct MachineType {
  std::string name;
  int vcpus = 0;           // 0: unknown
  double memory_gb = 0;    // 0: unknown
  bool is_tpu = false;     // the replicas are TPU VMs
  bool needs_own = false;  // its accelerators must be named
  /// By accelerator type, the counts that a job may ask for; ascending.
  std::map<std::string, std::vector<int64_t>> accelerators;
  std::string disk_default;  // type of the boot disk where the job names none
};

/// The lists of the service. Immutable, so any thread may ask; the default one lives as long as the
/// process.
class Catalog {
 public:
  /// Reads the form of catalog.json. The error names the entry that is broken.
  static Result<Catalog> Parse(std::string_view json_text);

  const MachineType* FindMachine(std::string_view name) const;  // nullptr: no such type
  bool IsTpu(std::string_view accelerator_type) const;
  /// True for accelerators whose machines FLEX_START can wait for.
  bool HasFlexStart(std::string_view accelerator_type) const;

  const std::vector<MachineType>& machines() const { return machines_; }
  const std::vector<std::string>& regions() const { return regions_; }  // by name

 private:
  friend class CatalogReader;
  std::vector<MachineType> machines_;
  std::vector<std::string> regions_;
  std::vector<std::string> flex_start_;
};

/// The catalog of catalog.json, built in.
const Catalog& DefaultCatalog();

/// True for an image of the service's pre-built containers (docs/service/vertex.md, section 3).
bool IsPrebuiltImage(std::string_view image_uri);
/// The Python version that a pre-built container's name states: "3.10" of
/// ".../training/tf-cpu.2-11.py310:latest"; "3.7" where the name has none; "" for another image.
std::string PythonVersionOf(std::string_view image_uri);

}  // namespace caip::vertex
