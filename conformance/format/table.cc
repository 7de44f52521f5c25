#include "conformance/format/table.h"

#include "conformance/problems.h"

namespace conform {
namespace {

using Rows = std::vector<Json>;

Result<Rows> WithColumns(const Document& document, const std::string& at, const Json& table) {
  if (!table.contains("columns") || !table.contains("rows")) {
    return document.Complain(at, problems::TableWithoutRows());
  }
  const Json& columns = table["columns"];
  Rows rows;
  for (size_t i = 0; i < table["rows"].size(); ++i) {
    const Json& values = table["rows"][i];
    const std::string row_at = Below(Below(at, "rows"), i);
    if (!values.is_array() || values.size() != columns.size()) {
      return document.Complain(row_at, problems::RowLength(values.size(), columns.size()));
    }
    Json row = Json::object();
    for (size_t c = 0; c < columns.size(); ++c) row[columns[c].get<std::string>()] = values[c];
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Rows> TableRows(const Document& document, const std::string& at, const Json& table) {
  if (table.is_object()) return WithColumns(document, at, table);
  Rows rows;
  for (size_t i = 0; i < table.size(); ++i) {
    if (!table[i].is_object()) return document.Complain(Below(at, i), problems::RowNotMap());
    rows.push_back(table[i]);
  }
  return rows;
}

Rows Times(const Rows& rows, const std::string& name, const Json& values) {
  Rows product;
  for (const Json& row : rows) {
    for (const Json& value : values) {
      product.push_back(row);
      product.back()[name] = value;
    }
  }
  return product;
}

}  // namespace

Result<Rows> RowsOf(const Document& document, const std::string& pointer, const Json& written) {
  Rows rows = {Json::object()};
  if (written.contains("table")) {
    Result<Rows> table = TableRows(document, Below(pointer, "table"), written["table"]);
    if (!table.ok()) return table;
    rows = std::move(table).value();
  }
  if (!written.contains("each")) return rows;
  for (const auto& [name, values] : written["each"].items()) {
    if (!values.is_array() || values.empty()) {
      return document.Complain(Below(Below(pointer, "each"), name), problems::EachNotList(name));
    }
    rows = Times(rows, name, values);
  }
  return rows;
}

}  // namespace conform
