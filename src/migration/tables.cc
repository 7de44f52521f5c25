#include "migration/tables.h"

#include <cassert>
#include <utility>

#include "base/json.h"
#include "migration/errors.h"

namespace caip::migration {

/// Fills one Tables; stops at the first entry that makes no sense.
class TablesReader {
 public:
  Result<Tables> Read(const Json& document) {
    RETURN_IF_ERROR(ReadRuntimes(document));
    RETURN_IF_ERROR(ReadRegistries(document));
    RETURN_IF_ERROR(ForEach(document, "machines", {"from", "to"}, [this](const Json& entry) {
      tables_.machines_.push_back({StringOr(entry, "from"), StringOr(entry, "to")});
    }));
    ASSIGN_OR_RETURN(const Json* rows, List(document, "differences"));
    for (const Json& row : *rows) {
      RETURN_IF_ERROR(CheckTexts(row, {"when", "subject", "ai_platform", "vertex"}));
      tables_.differences_.push_back({StringOr(row, "when"), StringOr(row, "subject"),
                                      StringOr(row, "ai_platform"), StringOr(row, "vertex")});
    }
    return std::move(tables_);
  }

 private:
  using Names = std::initializer_list<const char*>;

  static Result<const Json*> List(const Json& object, const char* name) {
    const Json* list = Member(object, name);
    if (list == nullptr || !list->is_array() || list->empty()) {
      return errors::TablesBroken(name, "it is not a list with entries");
    }
    return list;
  }

  static Status CheckTexts(const Json& entry, Names names) {
    for (const char* name : names) {
      const Json* text = Member(entry, name);
      if (text == nullptr || !text->is_string()) {
        return errors::TablesBroken(CompactJson(entry),
                                    "it has no text '" + std::string(name) + "'");
      }
    }
    return Ok{};
  }

  // The entries of the list in a chapter.
  template <typename Take>
  static Status ForEach(const Json& document, const char* chapter, Names names, Take take) {
    const Json* found = Member(document, chapter);
    if (found == nullptr) return errors::TablesBroken(chapter, "it is missing");
    ASSIGN_OR_RETURN(const Json* list, List(*found, "list"));
    for (const Json& entry : *list) {
      RETURN_IF_ERROR(CheckTexts(entry, names));
      take(entry);
    }
    return Ok{};
  }

  Status ReadRuntimes(const Json& document) {
    RETURN_IF_ERROR(
        ForEach(document, "runtimes", {"runtime", "cpu", "gpu"}, [this](const Json& entry) {
          tables_.runtimes_.push_back(
              {StringOr(entry, "runtime"), StringOr(entry, "cpu"), StringOr(entry, "gpu")});
        }));
    const Json* prebuilt = Member(document, "prebuilt_images");
    if (prebuilt == nullptr) return errors::TablesBroken("prebuilt_images", "it is missing");
    RETURN_IF_ERROR(CheckTexts(*Member(document, "runtimes"), {"python"}));
    RETURN_IF_ERROR(CheckTexts(*prebuilt, {"prefix"}));
    tables_.python_ = StringOr(*Member(document, "runtimes"), "python");
    tables_.prebuilt_prefix_ = StringOr(*prebuilt, "prefix");
    return Ok{};
  }

  Status ReadRegistries(const Json& document) {
    RETURN_IF_ERROR(
        ForEach(document, "image_registries", {"regions", "host"}, [this](const Json& entry) {
          tables_.registries_.push_back({StringOr(entry, "regions"), StringOr(entry, "host")});
        }));
    const Json& chapter = *Member(document, "image_registries");
    RETURN_IF_ERROR(CheckTexts(chapter, {"path"}));
    tables_.registry_path_ = StringOr(chapter, "path");
    if (tables_.registries_.back().from.empty()) return Ok{};
    return errors::TablesBroken("image_registries", "the last one is not for all regions");
  }

  Tables tables_;
};

Result<Tables> Tables::Parse(std::string_view json_text) {
  ASSIGN_OR_RETURN(const Json document, ParseJson(json_text));
  return TablesReader().Read(document);
}

std::string Tables::Registry(std::string_view region) const {
  for (const Pair& registry : registries_) {
    if (region.starts_with(registry.from)) return registry.to + registry_path_;
  }
  return registries_.back().to + registry_path_;
}

std::optional<std::string> Tables::ImageOfRuntime(std::string_view runtime, bool has_gpu,
                                                  std::string_view region) const {
  for (const RuntimeImages& images : runtimes_) {
    if (images.runtime != runtime) continue;
    return Registry(region) + (has_gpu ? images.gpu : images.cpu) + ":latest";
  }
  return std::nullopt;
}

std::optional<std::string> Tables::ImageOfPrebuilt(std::string_view image_uri,
                                                   std::string_view region) const {
  if (!image_uri.starts_with(prebuilt_prefix_)) return std::nullopt;
  return Registry(region) + std::string(image_uri.substr(prebuilt_prefix_.size()));
}

std::string Tables::MachineFor(const std::string& machine) const {
  for (const Pair& pair : machines_) {
    if (pair.from == machine) return pair.to;
  }
  return machine;
}

const Tables& DefaultTables() {
  static const Tables* const tables = [] {
    Result<Tables> parsed = Tables::Parse(TablesText());
    assert(parsed.ok());
    return new Tables(std::move(parsed).value());
  }();
  return *tables;
}

}  // namespace caip::migration
