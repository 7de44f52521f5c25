#include "ml/catalog/catalog.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "base/json.h"
#include "base/text.h"
#include "ml/catalog/embedded_catalog.h"

namespace caip::ml {
namespace {

template <typename T>
const T* Find(const std::vector<T>& list, std::string T::*key, std::string_view value) {
  for (const T& entry : list) {
    if (entry.*key == value) return &entry;
  }
  return nullptr;
}

bool ReadSmallNumber(std::string_view digits, int& number) {
  if (digits.empty() || digits.size() > 3) return false;
  if (digits.size() > 1 && digits.front() == '0') return false;
  const char* end = digits.data() + digits.size();
  return std::from_chars(digits.data(), end, number).ptr == end && digits.front() != '-';
}

}  // namespace

const TierRole* ScaleTier::Of(Role role) const {
  for (const TierRole& entry : roles) {
    if (entry.role == role) return &entry;
  }
  return nullptr;
}

bool TpuRules::IsTpuType(std::string_view accelerator_type) const {
  return counts.count(std::string(accelerator_type)) != 0 ||
         std::find(pod_types.begin(), pod_types.end(), accelerator_type) != pod_types.end();
}

bool TpuRules::Allows(std::string_view accelerator_type, int64_t count) const {
  if (const auto row = counts.find(std::string(accelerator_type)); row != counts.end()) {
    return std::find(row->second.begin(), row->second.end(), count) != row->second.end();
  }
  return IsTpuType(accelerator_type) && count > 0 && count % pod_multiple == 0;
}

std::string TpuRules::CountsInWords(std::string_view accelerator_type) const {
  if (!IsTpuType(accelerator_type)) return "";
  const auto row = counts.find(std::string(accelerator_type));
  if (row == counts.end()) return std::to_string(pod_multiple) + " or a multiple of it";
  std::vector<std::string> words;
  for (const int64_t count : row->second) words.push_back(std::to_string(count));
  return Join(words, ", ");
}

const ScaleTier* Catalog::FindTier(std::string_view name) const {
  return Find(tiers_, &ScaleTier::name, name);
}

const MachineType* Catalog::FindMachine(std::string_view name) const {
  return Find(machines_, &MachineType::name, name);
}

std::string FrameworkModule(const std::string& framework) {
  return framework == "scikit-learn" ? "sklearn" : framework;
}

const Runtime* Catalog::FindRuntime(std::string_view version) const {
  return Find(runtimes_, &Runtime::version, version);
}

const Region* Catalog::FindRegion(std::string_view name) const {
  return Find(regions_, &Region::name, name);
}

bool Catalog::IsBuiltInAlgorithm(std::string_view image_uri) const {
  return image_uri.starts_with(built_in_image_prefix_);
}

const BuiltInAlgorithm* Catalog::FindBuiltInAlgorithm(std::string_view image_uri) const {
  if (!IsBuiltInAlgorithm(image_uri)) return nullptr;
  const std::string_view tagged = image_uri.substr(built_in_image_prefix_.size());
  return Find(built_in_algorithms_, &BuiltInAlgorithm::image,
              tagged.substr(0, tagged.find_first_of(":@")));
}

const Catalog& DefaultCatalog() {
  static const Catalog* const catalog = [] {
    Result<Catalog> parsed = Catalog::Parse(embedded::Catalog());
    assert(parsed.ok());
    return new Catalog(std::move(parsed).value());
  }();
  return *catalog;
}

std::optional<std::pair<int, int>> ParseRuntimeVersion(std::string_view text) {
  const size_t dot = text.find('.');
  int major = 0;
  int minor = 0;
  if (dot == std::string_view::npos) return std::nullopt;
  if (!ReadSmallNumber(text.substr(0, dot), major)) return std::nullopt;
  if (!ReadSmallNumber(text.substr(dot + 1), minor)) return std::nullopt;
  return std::pair(major, minor);
}

}  // namespace caip::ml
