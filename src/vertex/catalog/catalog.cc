#include "vertex/catalog/catalog.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "vertex/errors.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kPrebuiltPrefixes[] = {
    "us-docker.pkg.dev/vertex-ai/training/", "europe-docker.pkg.dev/vertex-ai/training/",
    "asia-docker.pkg.dev/vertex-ai/training/", "gcr.io/cloud-aiplatform/training/"};
constexpr std::string_view kPythonMarks[] = {".py3", ".cp3"};
constexpr std::string_view kPythonWithoutMark = "3.7";

std::vector<std::string> CatalogTexts(const Json* list) {
  std::vector<std::string> texts;
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& entry : *list) {
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  }
  return texts;
}

std::vector<int64_t> CatalogCounts(const Json& list) {
  std::vector<int64_t> counts;
  for (const Json& entry : list) {
    if (entry.is_number_integer()) counts.push_back(entry.get<int64_t>());
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

double CatalogNumber(const Json& object, std::string_view name) {
  const Json* found = Member(object, name);
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

/// Fills one Catalog; stops at the first entry that makes no sense.
class CatalogReader {
 public:
  Result<Catalog> Read(const Json& document) {
    RETURN_IF_ERROR(ReadSeries(document));
    RETURN_IF_ERROR(ReadMachines(document));
    RETURN_IF_ERROR(ReadAccelerators(document));
    if (const Json* flex = Member(document, "flex_start")) {
      catalog_.flex_start_ = CatalogTexts(Member(*flex, "accelerators"));
    }
    if (const Json* regions = Member(document, "regions")) {
      catalog_.regions_ = CatalogTexts(Member(*regions, "list"));
    }
    std::sort(catalog_.regions_.begin(), catalog_.regions_.end());
    if (catalog_.flex_start_.empty()) return errors::CatalogBroken("flex_start", "it is empty");
    if (catalog_.regions_.empty()) return errors::CatalogBroken("regions", "it is empty");
    return std::move(catalog_);
  }

 private:
  static Result<const Json*> Chapter(const Json& document, const std::string& chapter,
                                     const std::string& list) {
    const Json* found = Member(document, chapter);
    const Json* entries = found == nullptr ? nullptr : Member(*found, list);
    if (entries == nullptr || !entries->is_array() || entries->empty()) {
      return errors::CatalogBroken(chapter, "it has no array '" + list + "'");
    }
    return entries;
  }

  Status Add(MachineType machine) {
    if (machine.name.empty() || machine.vcpus < 0 || machine.memory_gb < 0) {
      return errors::CatalogBroken(machine.name, "a machine needs name, vcpus and gb");
    }
    if (catalog_.FindMachine(machine.name) != nullptr) {
      return errors::CatalogBroken(machine.name, "it is listed twice");
    }
    catalog_.machines_.push_back(std::move(machine));
    return Ok{};
  }

  Status ReadSeries(const Json& document) {
    ASSIGN_OR_RETURN(const Json* series, Chapter(document, "machines", "series"));
    for (const Json& entry : *series) {
      const Json* sizes = Member(entry, "vcpus");
      if (sizes == nullptr) return errors::CatalogBroken(StringOr(entry, "series"), "no vcpus");
      for (const int64_t vcpus : CatalogCounts(*sizes)) {
        MachineType machine;
        machine.name = StringOr(entry, "series") + "-" + std::to_string(vcpus);
        machine.vcpus = static_cast<int>(vcpus);
        machine.memory_gb = CatalogNumber(entry, "gb_per_vcpu") * static_cast<double>(vcpus);
        RETURN_IF_ERROR(Add(std::move(machine)));
      }
    }
    return Ok{};
  }

  Status ReadMachines(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "machines", "list"));
    for (const Json& entry : *list) {
      MachineType machine;
      machine.name = StringOr(entry, "name");
      machine.vcpus = static_cast<int>(IntOr(entry, "vcpus", -1));
      machine.memory_gb = CatalogNumber(entry, "gb");
      if (const Json* own = Member(entry, "accelerators")) {
        for (const auto& [type, counts] : own->items()) {
          machine.accelerators[type].counts = CatalogCounts(counts);
        }
      }
      if (const Json* multiples = Member(entry, "multiples")) {
        for (const auto& [type, multiple] : multiples->items()) {
          machine.accelerators[type].multiple = IntOr(*multiples, type, 0);
        }
      }
      machine.has_own = !machine.accelerators.empty();
      RETURN_IF_ERROR(Add(std::move(machine)));
    }
    return Ok{};
  }

  Status ReadAccelerators(const Json& document) {
    ASSIGN_OR_RETURN(const Json* list, Chapter(document, "accelerators", "list"));
    for (const Json& entry : *list) {
      const Json* counts = Member(entry, "counts");
      for (const std::string& name : CatalogTexts(Member(entry, "machines"))) {
        const auto machine = std::find_if(catalog_.machines_.begin(), catalog_.machines_.end(),
                                          [&](const MachineType& m) { return m.name == name; });
        if (machine == catalog_.machines_.end() || counts == nullptr) {
          return errors::CatalogBroken("accelerators", "no machine '" + name + "', or no counts");
        }
        for (const auto& [type, row] : counts->items()) {
          machine->accelerators[type].counts = CatalogCounts(row);
        }
      }
    }
    return Ok{};
  }

  Catalog catalog_;
};

bool AcceleratorCounts::Has(int64_t count) const {
  if (std::find(counts.begin(), counts.end(), count) != counts.end()) return true;
  return multiple > 0 && count > 0 && count % multiple == 0;
}

std::string AcceleratorCounts::InWords() const {
  std::vector<std::string> words;
  for (const int64_t count : counts) words.push_back(std::to_string(count));
  if (multiple > 0) words.push_back("a multiple of " + std::to_string(multiple));
  return Join(words, ", ");
}

Result<Catalog> Catalog::Parse(std::string_view json_text) {
  ASSIGN_OR_RETURN(const Json document, ParseJson(json_text));
  return CatalogReader().Read(document);
}

const MachineType* Catalog::FindMachine(std::string_view name) const {
  for (const MachineType& machine : machines_) {
    if (machine.name == name) return &machine;
  }
  return nullptr;
}

bool Catalog::HasFlexStart(std::string_view accelerator_type) const {
  return std::find(flex_start_.begin(), flex_start_.end(), accelerator_type) != flex_start_.end();
}

const Catalog& DefaultCatalog() {
  static const Catalog* const catalog = [] {
    Result<Catalog> parsed = Catalog::Parse(CatalogText());
    assert(parsed.ok());
    return new Catalog(std::move(parsed).value());
  }();
  return *catalog;
}

bool IsTpu(std::string_view accelerator_type) { return accelerator_type.starts_with("TPU_"); }

bool IsPrebuiltImage(std::string_view image_uri) {
  return std::any_of(std::begin(kPrebuiltPrefixes), std::end(kPrebuiltPrefixes),
                     [&](std::string_view prefix) { return image_uri.starts_with(prefix); });
}

// ".../training/tf-cpu.2-11.py310:latest" has Python 3.10.
PrebuiltImage DescribePrebuiltImage(std::string_view image_uri) {
  const size_t slash = image_uri.rfind('/');
  const std::string_view file = slash == image_uri.npos ? image_uri : image_uri.substr(slash + 1);
  PrebuiltImage image{std::string(file.substr(0, file.find_first_of(":@"))),
                      std::string(kPythonWithoutMark)};
  if (!IsPrebuiltImage(image_uri)) return image;
  for (const std::string_view mark : kPythonMarks) {
    const size_t at = image.name.rfind(mark);
    if (at == std::string::npos) continue;
    const std::string minor = image.name.substr(at + mark.size());
    if (!IsDigits(minor)) continue;
    image.python = "3." + minor;
    image.names_python = true;
  }
  return image;
}

}  // namespace caip::vertex
