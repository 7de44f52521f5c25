#pragma once
// Every rule of a CustomJob that can be checked without looking at the world
// (docs/service/vertex.md, section 3).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vertex/catalog/catalog.h"
#include "vertex/custom_job.h"
#include "vertex/nfs_mounts.h"

namespace caip::vertex {

/// What a configuration may add to the service's lists.
struct ValidationOptions {
  const Catalog* catalog = &DefaultCatalog();
  std::vector<std::string> extra_regions = {};
  std::vector<std::string> persistent_resources = {};  // ids that jobs may name
  NfsExports nfs_exports = {};

  std::vector<std::string> RegionNames() const;  // sorted
  bool HasRegion(std::string_view region) const;
};

/// All broken rules in a stable order: the pools, then the name, the rest of the spec, the labels
/// and the key. Empty: the job may be created, as far as can be said without Cloud Storage.
/// `location` is that of the request.
std::vector<FieldViolation> Validate(const CustomJob& job, std::string_view location,
                                     const ValidationOptions& options = {});

/// The fields that caip does not serve, one violation each: without them, the job would be another
/// one.
std::vector<FieldViolation> FindUnserved(const CustomJob& job, const ValidationOptions& options);

/// The findings of both as a status. What is not served comes first (kUnimplemented). A violation
/// of a rule whose error is a plain message of the service is that message if it is the only one
/// (docs/service/vertex.md, section 4).
Status StatusOf(std::vector<FieldViolation> unserved, std::vector<FieldViolation> broken);

/// kNotFound: the job names a persistent resource that is not declared.
Status CheckResources(const CustomJob& job, const ValidationOptions& options);

/// All of these.
Status CheckCustomJob(const CustomJob& job, std::string_view location,
                      const ValidationOptions& options = {});

}  // namespace caip::vertex
