#include "fakes/logging/book/resource_table.h"

#include "base/json.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

Result<std::optional<Json>> FindResource(LogFile& file, const std::string& name) {
  SqlQuery row(file, "SELECT body FROM resources WHERE name = ?1");
  const bool exists = row.Bind(1, name).Next();
  if (const Status read = row.status(); !read.ok()) return read.error();
  if (!exists) return std::optional<Json>();
  auto body = ParseJson(row.Text(0));
  if (!body.ok()) return errors::ResourceDamaged(file.path(), name);
  return std::optional<Json>(std::move(body).value());
}

}  // namespace

Result<std::optional<Json>> ResourceTable::Get(const std::string& name) {
  return files_.With([&](LogFile& file) { return FindResource(file, name); });
}

Result<Json> ResourceTable::Change(
    const std::string& name,
    const std::function<Result<Json>(const std::optional<Json>&)>& change) {
  return files_.With([&](LogFile& file) -> Result<Json> {
    Json body;
    const Status changed = file.Write([&]() -> Status {
      ASSIGN_OR_RETURN(const std::optional<Json> present, FindResource(file, name));
      ASSIGN_OR_RETURN(body, change(present));
      const std::string text = CompactJson(body);
      SqlQuery put(file, "REPLACE INTO resources(name, body) VALUES(?1, ?2)");
      return put.Bind(1, name).Bind(2, text).Run();
    });
    if (!changed.ok()) return changed.error();
    return body;
  });
}

Result<bool> ResourceTable::Remove(const std::string& name) {
  return files_.With([&](LogFile& file) -> Result<bool> {
    bool existed = false;
    const Status removed = file.Write([&]() -> Status {
      ASSIGN_OR_RETURN(const std::optional<Json> present, FindResource(file, name));
      existed = present.has_value();
      return SqlQuery(file, "DELETE FROM resources WHERE name = ?1").Bind(1, name).Run();
    });
    if (!removed.ok()) return removed.error();
    return existed;
  });
}

Result<std::vector<std::pair<std::string, Json>>> ResourceTable::List(const std::string& prefix,
                                                                      const std::string& after,
                                                                      size_t limit) {
  return files_.With([&](LogFile& file) -> Result<std::vector<std::pair<std::string, Json>>> {
    SqlQuery rows(file,
                  "SELECT name, body FROM resources WHERE name > ?1 AND name > ?2 AND"
                  " substr(name, 1, length(?1)) = ?1 ORDER BY name LIMIT ?3");
    rows.Bind(1, prefix).Bind(2, after).Bind(3, uint64_t{limit});
    std::vector<std::pair<std::string, Json>> found;
    while (rows.Next()) {
      auto body = ParseJson(rows.Text(1));
      if (!body.ok()) return errors::ResourceDamaged(file.path(), rows.Text(0));
      found.emplace_back(rows.Text(0), std::move(body).value());
    }
    if (const Status read = rows.status(); !read.ok()) return read.error();
    return found;
  });
}

}  // namespace caip::logging
