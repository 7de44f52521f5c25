#pragma once
// Every rule of a CustomJob that can be checked without looking at the world.

#include <string>
#include <vector>

#include "base/result.h"
#include "vertex/catalog/catalog.h"
#include "vertex/custom_job.h"

namespace caip::vertex {

/// What a configuration may add to the service's lists.
struct ValidationOptions {
  const Catalog* catalog = &DefaultCatalog();
  std::vector<std::string> extra_regions;
  std::vector<std::string> persistent_resources;  // ids that jobs may name
  std::vector<std::string> nfs_servers;           // that the settings map to directories

  std::vector<std::string> RegionNames() const;  // sorted
  bool HasRegion(std::string_view region) const;
};

/// All broken rules in a stable order: the name, the pools, the rest of the spec, the labels and
/// the key. Empty: the job may be created, as far as can be said without Cloud Storage.
std::vector<FieldViolation> Validate(const CustomJob& job, const std::string& location,
                                     const ValidationOptions& options = {});

/// Validate as a status. First come the errors that the service reports alone: a field that caip
/// does not have (kUnimplemented), an unknown persistent resource (kNotFound), and two plain
/// messages (docs/service/vertex.md, section 4).
Status CheckCustomJob(const CustomJob& job, const std::string& location,
                      const ValidationOptions& options = {});

}  // namespace caip::vertex
