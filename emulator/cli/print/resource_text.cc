#include "emulator/cli/print/resource_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "base/json.h"
#include "base/quoting.h"
#include "base/text.h"
#include "client/yaml_text.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_expression.h"
#include "emulator/cli/print/resource_values.h"
#include "report/box_table.h"

namespace caip::cli {
namespace {

// The format of gcloud's `jobs list` without --format.
constexpr std::string_view kJobColumns =
    "table(jobId.basename(),state:label=STATUS,createTime.date(tz=LOCAL):label=CREATED)";

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// packageUris -> PACKAGE_URIS; capitals after a small letter are one word.
std::string SnakeCase(const std::string& name) {
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    const char before = i > 0 ? name[i - 1] : '\0';
    const bool next_is_lower = i + 1 < name.size() && IsLower(name[i + 1]);
    if (IsUpper(name[i]) && (IsLower(before) || IsDigit(before))) {
      snake += '_';
      while (i + 1 < name.size() && IsUpper(name[i + 1])) snake += name[i++];
    } else if (IsUpper(name[i]) && before && next_is_lower) {
      snake += '_';
    }
    snake += name[i];
  }
  return UpperCase(snake);
}

// Makes headings: the last name of a path, with as many names before it as make the heading unique.
class Headings {
 public:
  std::string For(const FormatKey& key) {
    if (key.label) return *key.label;
    std::string heading;
    for (auto step = key.path.rbegin(); step != key.path.rend(); ++step) {
      if (step->index || step->each) continue;
      heading = SnakeCase(step->name) + (heading.empty() ? "" : "_" + heading);
      if (taken_.insert(heading).second) break;
    }
    return heading;
  }

 private:
  std::set<std::string> taken_;
};

bool IsFalse(const Json& value) {
  return (value.is_boolean() && !value.get<bool>()) ||
         (value.is_number() && value.get<double>() == 0) ||
         (value.is_structured() && value.empty());
}

// What is printed. A list of jobs has default columns.
enum class Printed { kOne, kJobs, kList };

/// Prints resources by one expression.
class Printer {
 public:
  Printer(FormatExpression format, Printed printed, std::optional<int64_t> page_size)
      : format_(std::move(format)), is_list_(printed != Printed::kOne), page_size_(page_size) {
    if (format_.name == "text") format_.name = "flattened";
    if (format_.name == "default") format_.name = "yaml";
    if (format_.name == "get" || format_.Has("no-transforms")) transforms_ = false;
    Headings headings;
    std::map<std::string, std::optional<std::string>> labels;
    for (FormatKey& key : format_.keys) {
      if (printed == Printed::kJobs) TakeDefaults(key);
      std::optional<std::string>& known = labels[PathText(key.path)];
      if (!key.label) key.label = known;  // a key that is shown twice has one label
      if (!known) known = key.label;
      headings_.push_back(headings.For(key));
    }
  }

  std::string Text(const Json& resources) {
    const std::string& name = format_.name;
    if (name == "json") return JsonText(resources);
    if (name == "table") return Tables(resources);
    if (name == "list") return List(resources);
    if (name == "yaml") return Yaml(resources);
    if (name == "flattened") return Flattened(resources);
    if (name == "csv" || name == "value" || name == "get") return Columns(resources);
    return "";  // none, disable
  }

 private:
  // Adds default headings, and default transforms to keys without transforms.
  void TakeDefaults(FormatKey& key) const {
    static const FormatExpression kDefaults = *ParseFormat(kJobColumns);
    for (const FormatKey& column : kDefaults.keys) {
      if (PathText(column.path) != PathText(key.path)) continue;
      const bool by_columns =
          format_.name != "json" && format_.name != "yaml" && format_.name != "flattened";
      if (key.transforms.empty() && by_columns) key.transforms = column.transforms;
      if (!key.label) key.label = column.label;
    }
  }

  std::vector<Json> Row(const Json& resource) const {
    std::vector<Json> row;
    for (const FormatKey& key : format_.keys) {
      Json value = ValueAt(resource, key.path);
      row.push_back(transforms_ ? Transformed(std::move(value), key.transforms) : value);
    }
    return row;
  }

  Json Shown(const Json& resource) const { return Projected(resource, format_.keys, transforms_); }

  std::string JsonText(const Json& resources) const {
    Json shown = Json::array();
    for (const Json& resource : resources) shown.push_back(Shown(resource));
    return client::SortedJson(is_list_ ? shown : shown.front());
  }

  std::string Yaml(const Json& resources) const {
    std::string text;
    for (const Json& resource : resources) {
      text += (is_list_ ? "---\n" : "") + client::YamlText(Shown(resource));
    }
    return text;
  }

  // Formats resources as csv, value or get.
  std::string Columns(const Json& resources) const {
    const bool csv = format_.name == "csv";
    const std::string separator = format_.Attribute("separator", csv ? "," : "\t");
    const std::string terminator = format_.Attribute("terminator", "\n");
    std::string text;
    const auto add = [&](const std::vector<std::string>& cells) {
      text += Join(cells, separator) + terminator;
    };
    const bool headed = std::any_of(headings_.begin(), headings_.end(),
                                    [](const auto& heading) { return !heading.empty(); });
    if (csv && headed && !resources.empty() && !format_.Has("no-heading")) {
      std::vector<std::string> cells;
      for (const std::string& heading : headings_) cells.push_back(Quoted(LowerCase(heading)));
      add(cells);
    }
    for (const Json& resource : resources) {
      std::vector<std::string> cells;
      for (const Json& value : Row(resource)) cells.push_back(Cell(value));
      add(cells);
    }
    return text;
  }

  std::string Cell(const Json& value) const {
    const std::string delimiter = format_.Attribute("delimiter", ";");
    std::vector<std::string> parts;
    if (value.is_object()) {
      const nlohmann::json sorted = value;  // a plain tree keeps its keys in order
      for (const auto& item : sorted.items()) {
        parts.push_back(Quoted(item.key() + "=" + PythonText(Json(item.value()))));
      }
      return Join(parts, delimiter);
    }
    if (!value.is_array()) return Quoted(Plain(value));
    for (const Json& element : value) {
      parts.push_back(IsFalse(element) ? "" : Quoted(PythonText(element)));
    }
    return Join(parts, delimiter);
  }

  std::string Quoted(const std::string& text) const {
    const bool quotes = format_.name == "csv" ? !format_.Has("no-quote") : format_.Has("quote");
    if (!quotes || text.empty()) return text;
    const bool edge = std::isspace(static_cast<unsigned char>(text.front())) ||
                      std::isspace(static_cast<unsigned char>(text.back()));
    const std::string special[] = {
        format_.Attribute("delimiter", ";"), "\"",
        format_.Attribute("separator", format_.name == "csv" ? "," : "\t"),
        format_.Attribute("terminator", "\n")};
    const bool inside = std::any_of(std::begin(special), std::end(special), [&](const auto& mark) {
      return !mark.empty() && text.find(mark) != text.npos;
    });
    return edge || inside ? "\"" + ReplaceAll(text, "\"", "\"\"") + "\"" : text;
  }

  // Formats a number in a cell with six digits. Lists and maps show all digits.
  static std::string Plain(const Json& value) {
    return value.is_number_float() ? client::SixDigits(value.get<double>()) : PythonText(value);
  }

  // Returns the rows in the order of :sort=N. Numbers come before texts.
  std::vector<std::vector<Json>> SortedRows(const Json& resources) const {
    std::vector<std::vector<Json>> rows;
    for (const Json& resource : resources) rows.push_back(Row(resource));
    std::vector<size_t> order;
    for (size_t i = 0; i < format_.keys.size(); ++i) {
      if (format_.keys[i].sort) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return *format_.keys[a].sort < *format_.keys[b].sort;
    });
    const auto weight = [](const Json& value) {
      const double number =
          value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
      return std::pair(number, Plain(value));
    };
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      for (size_t i : order) {
        const auto left = weight(a[i]);
        const auto right = weight(b[i]);
        if (left != right) return format_.keys[i].reverse ? right < left : left < right;
      }
      return false;
    });
    return rows;
  }

  std::string Tables(const Json& resources) const {
    const size_t all = resources.size();
    const size_t rows = page_size_ ? static_cast<size_t>(*page_size_) : std::max<size_t>(all, 1);
    std::string text;
    for (size_t start = 0; start < all; start += rows) {
      const auto begin = resources.begin() + static_cast<std::ptrdiff_t>(start);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(rows, all - start));
      text += (start > 0 ? "\n" : "") + Table(Json(begin, end), start == 0);
    }
    return text;
  }

  std::string Table(const Json& resources, bool first) const {
    const std::vector<std::vector<Json>> rows = SortedRows(resources);
    report::BoxTable table;
    if (first) table.title = format_.Attribute("title", "");
    table.rows.resize(rows.size());
    for (size_t i = 0; i < format_.keys.size(); ++i) {
      const auto is_null = [i](const std::vector<Json>& row) { return row[i].is_null(); };
      if (format_.keys[i].optional && std::all_of(rows.begin(), rows.end(), is_null)) continue;
      if (!format_.Has("no-heading")) table.headings.push_back(headings_[i]);
      table.alignments.push_back(format_.keys[i].align);
      for (size_t y = 0; y < rows.size(); ++y) table.rows[y].push_back(Plain(rows[y][i]));
    }
    if (format_.Has("box")) return report::Boxed(table, 0);
    return report::Unboxed(table, std::strtoul(format_.Attribute("pad", "2").c_str(), nullptr, 10));
  }

  // Puts " - " before each resource, and its values below each other.
  std::string List(const Json& resources) const {
    std::string text = format_.Attribute("title", "");
    if (!text.empty()) text += "\n";
    for (const Json& resource : resources) {
      std::vector<std::string> lines;
      for (const Json& value : Row(resource)) {
        if (!value.is_null()) lines.push_back(PythonText(value));
      }
      if (format_.keys.empty()) {
        const nlohmann::json sorted = resource;
        for (const auto& item : sorted.items()) {
          lines.push_back(item.key() + ": " + PythonText(Json(item.value())));
        }
      }
      text += " - " + Join(lines, format_.Has("compact") ? " " : "\n   ") + "\n";
    }
    return text;
  }

  using Lines = std::vector<std::pair<std::string, std::string>>;

  void Flatten(const Json& value, const std::string& name, Lines& lines) const {
    if (value.is_object() && !value.empty()) {
      const nlohmann::json sorted = value;
      for (const auto& item : sorted.items()) {
        Flatten(Json(item.value()), name + (name.empty() ? "" : ".") + item.key(), lines);
      }
    } else if (value.is_array() && !value.empty()) {
      for (size_t i = 0; i < value.size(); ++i) {
        Flatten(value[i], name + "[" + std::to_string(i) + "]", lines);
      }
    } else {
      lines.emplace_back(Labelled(name), value.is_null() ? "None" : Plain(value));
    }
  }

  // A key that the format names is shown with its heading.
  std::string Labelled(const std::string& name) const {
    for (size_t i = 0; i < format_.keys.size(); ++i) {
      if (PathText(format_.keys[i].path) == name) return LowerCase(headings_[i]);
    }
    return name;
  }

  std::string Flattened(const Json& resources) const {
    const std::string separator = format_.Attribute("separator", ": ");
    std::string text;
    for (const Json& resource : resources) {
      if (is_list_) text += "---\n";
      Lines lines;
      Flatten(Shown(resource), "", lines);
      size_t width = 0;
      for (const auto& [name, value] : lines) width = std::max(width, name.size());
      for (const auto& [name, value] : lines) {
        const size_t pad = format_.Has("no-pad") ? 0 : width - name.size();
        text += name + separator + std::string(pad, ' ') + OneLine(value) + "\n";
      }
    }
    return text;
  }

  static std::string OneLine(const std::string& text) {
    const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    const bool edge = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
    if (!edge && text.find('\n') == text.npos) return text;
    std::string line = ReplaceAll(ReplaceAll(text, "\\", "\\\\"), "\"", "\\\"");
    line = ReplaceAll(ReplaceAll(line, "\n", "\\n"), "\t", "\\t");
    return "\"" + ReplaceAll(line, "\r", "\\r") + "\"";
  }

  FormatExpression format_;
  bool is_list_;
  std::optional<int64_t> page_size_;
  bool transforms_ = true;
  std::vector<std::string> headings_;
};

Result<std::string> Print(const Json& resources, std::string_view format, Printed printed,
                          std::optional<int64_t> page_size) {
  ASSIGN_OR_RETURN(FormatExpression expression, ParseFormat(format));
  if (expression.name == "table" && expression.keys.empty()) {
    if (printed == Printed::kList) return errors::FormatNeedsKeys("table");
    expression.keys = ParseFormat(kJobColumns)->keys;
  }
  return Printer(std::move(expression), printed, page_size).Text(resources);
}

}  // namespace

Result<std::string> FormatResource(const Json& resource, std::string_view format) {
  return Print(Json::array({WithDoubles(resource)}), format, Printed::kOne, std::nullopt);
}

Result<std::string> FormatResources(const Json& resources, std::string_view format,
                                    std::optional<int64_t> page_size) {
  return Print(WithDoubles(resources), format, Printed::kJobs, page_size);
}

Result<std::string> FormatPlainResources(const Json& resources, std::string_view format,
                                         std::optional<int64_t> page_size) {
  return Print(WithDoubles(resources), format, Printed::kList, page_size);
}

}  // namespace caip::cli
