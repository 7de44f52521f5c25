#include "client/vertex/worker_pools.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "client/flag_values.h"
#include "client/vertex/gcloud_messages.h"
#include "client/vertex/local_image.h"
#include "client/vertex/vertex_errors.h"

namespace caip::client::vertex {
namespace {

constexpr std::string_view kTextPoolKeys[] = {
    "accelerator-type", "container-image-uri", "executor-image-uri", "local-package-path",
    "machine-type",     "output-image-uri",    "python-module",      "script"};
constexpr std::string_view kListPoolKeys[] = {"extra-dirs", "extra-packages", "requirements"};

template <typename Keys>
bool IsAmong(const Keys& keys, std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

// A list within a value of the flag: a;b. "^:^a:b" sets another separator.
Result<std::vector<std::string>> ParseInnerList(const std::string& value) {
  const bool has_own = value.starts_with('^') && value.find('^', 1) != value.npos;
  return ParseList(has_own ? value : "^;^" + value);
}

Result<int64_t> ParsePoolCount(const std::string& key, const std::string& value) {
  const Result<int64_t> count = ParseInteger(value);
  return count.ok() ? count : errors::PoolValue(key, count.error());
}

// gcloud's checks of machine and accelerators.
Status CheckPoolMachine(const PoolFlag& pool) {
  if (!pool.Has("machine-type")) return errors::MachineTypeMissing();
  if (pool.Has("accelerator-count") && !pool.Has("accelerator-type")) {
    return errors::AcceleratorTypeMissing();
  }
  const std::string& type = pool.Text("accelerator-type");
  const std::vector<std::string> known = AcceleratorTypes();
  if (type.empty() || IsAmong(known, type)) return Ok{};
  return errors::AcceleratorTypeUnknown(type, known);
}

std::vector<std::string> KeysPresent(const PoolFlag& pool,
                                     std::initializer_list<std::string_view> keys) {
  std::vector<std::string> present;
  for (const std::string_view key : keys) {
    if (pool.Has(key)) present.emplace_back(key);
  }
  return present;  // `keys` are sorted, as gcloud lists them
}

Status CheckPoolProgram(const PoolFlag& pool) {
  const bool has_executor = pool.Has("executor-image-uri");
  const bool has_container = pool.Has("container-image-uri");
  const bool has_module = pool.Has("python-module");
  if (has_executor == has_container) return errors::OneImageRequired();
  if (has_container && has_module) return errors::ModuleWithContainer();
  if (has_executor && !has_module) return errors::ModuleMissing();
  const std::vector<std::string> local =
      KeysPresent(pool, {"extra-dirs", "extra-packages", "requirements", "script"});
  if (!local.empty()) return errors::KeysNeedLocalPackage(local);
  return Ok{};
}

// The later pools, if the first one has a local package.
Status CheckPoolWithoutProgram(const PoolFlag& pool) {
  const std::vector<std::string> present =
      KeysPresent(pool, {"container-image-uri", "executor-image-uri", "extra-dirs",
                         "extra-packages", "python-module", "requirements", "script"});
  return present.empty() ? Status(Ok{}) : Status(errors::KeysBesideLocalPackage(present));
}

Json MachineOf(const PoolFlag& pool) {
  Json machine = Json::object();
  machine["machineType"] = pool.Text("machine-type");
  if (const std::string& type = pool.Text("accelerator-type"); !type.empty()) {
    machine["acceleratorType"] = type;
    machine["acceleratorCount"] = pool.accelerator_count.value_or(1);
  }
  return machine;
}

Json PackageOf(const PoolFlag& pool, const std::vector<std::string>& package_uris) {
  Json package = Json::object();
  if (pool.Has("executor-image-uri")) package["executorImageUri"] = pool.Text("executor-image-uri");
  if (!package_uris.empty()) package["packageUris"] = package_uris;
  if (pool.Has("python-module")) package["pythonModule"] = pool.Text("python-module");
  return package;
}

// An empty value of a key counts as missing here, as in gcloud.
Json PoolSpec(const PoolFlag& pool, const std::vector<std::string>& package_uris,
              const std::string& image) {
  Json spec = Json::object();
  spec["machineSpec"] = MachineOf(pool);
  spec["replicaCount"] = std::to_string(pool.replica_count.value_or(1));
  const std::string& container = image.empty() ? pool.Text("container-image-uri") : image;
  if (!container.empty()) {
    spec["containerSpec"] = {{"imageUri", container}};
  } else if (!package_uris.empty() || !pool.Text("executor-image-uri").empty() ||
             !pool.Text("python-module").empty()) {
    spec["pythonPackageSpec"] = PackageOf(pool, package_uris);
  }
  return spec;
}

}  // namespace

bool PoolFlag::IsEmpty() const {
  return texts.empty() && lists.empty() && !replica_count && !accelerator_count;
}

bool PoolFlag::Has(std::string_view key) const {
  if (key == "replica-count") return replica_count.has_value();
  if (key == "accelerator-count") return accelerator_count.has_value();
  return texts.find(key) != texts.end() || lists.find(key) != lists.end();
}

const std::string& PoolFlag::Text(std::string_view key) const {
  static const std::string none;
  const auto found = texts.find(key);
  return found == texts.end() ? none : found->second;
}

const std::vector<std::string>& PoolKeys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all = {"accelerator-count", "replica-count"};
    all.insert(all.end(), std::begin(kTextPoolKeys), std::end(kTextPoolKeys));
    all.insert(all.end(), std::begin(kListPoolKeys), std::end(kListPoolKeys));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return keys;
}

Result<PoolFlag> ParsePoolFlag(std::string_view text) {
  ASSIGN_OR_RETURN(const auto entries, ParseDict(text));
  PoolFlag pool;
  for (const auto& [key, value] : entries) {
    if (key == "replica-count") {
      ASSIGN_OR_RETURN(pool.replica_count, ParsePoolCount(key, value));
    } else if (key == "accelerator-count") {
      ASSIGN_OR_RETURN(pool.accelerator_count, ParsePoolCount(key, value));
    } else if (IsAmong(kListPoolKeys, key)) {
      ASSIGN_OR_RETURN(pool.lists[key], ParseInnerList(value));
    } else if (IsAmong(kTextPoolKeys, key)) {
      pool.texts[key] = value;
    } else {
      return errors::PoolKeyUnknown(key, PoolKeys());
    }
  }
  return pool;
}

Status CheckPoolFlags(const std::vector<PoolFlag>& pools) {
  if (pools.front().IsEmpty()) return errors::FirstPoolEmpty();
  for (const PoolFlag& pool : pools) {
    if (!pool.IsEmpty()) RETURN_IF_ERROR(CheckPoolMachine(pool));
  }
  const bool is_local = pools.front().Has("local-package-path");
  RETURN_IF_ERROR(is_local ? CheckLocalPackage(pools.front()) : CheckPoolProgram(pools.front()));
  for (size_t i = 1; i < pools.size(); ++i) {
    if (pools[i].IsEmpty()) continue;
    if (is_local) {
      RETURN_IF_ERROR(CheckPoolWithoutProgram(pools[i]));
    } else {
      if (pools[i].Has("local-package-path")) return errors::LocalPackageInLaterPool();
      RETURN_IF_ERROR(CheckPoolProgram(pools[i]));
    }
  }
  return Ok{};
}

Json PoolSpecs(const std::vector<PoolFlag>& pools, const std::vector<std::string>& package_uris,
               const std::string& image) {
  Json specs = Json::array();
  for (const PoolFlag& pool : pools) {
    specs.push_back(pool.IsEmpty() ? Json::object() : PoolSpec(pool, package_uris, image));
  }
  return specs;
}

}  // namespace caip::client::vertex
