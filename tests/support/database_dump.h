#pragma once
// Databases of tests as texts. Only for tests that include gtest.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "base/files.h"

namespace caip::testing {

inline void RunSql(const Path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

/// Makes a database from a dump of `sqlite3 .dump`.
inline void RestoreDump(const Path& dump, const Path& file) {
  const auto sql = ReadFile(dump);
  ASSERT_TRUE(sql.ok()) << sql.error().message;
  RunSql(file, *sql);
}

/// The rows of a query, one a line.
inline std::string Rows(sqlite3* database, const std::string& sql) {
  std::string text;
  const auto add = [](void* into, int columns, char** values, char**) {
    for (int i = 0; i < columns; ++i) {
      *static_cast<std::string*>(into) += std::string(values[i] ? values[i] : "NULL") + "|";
    }
    *static_cast<std::string*>(into) += "\n";
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), add, &text, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  return text;
}

/// The schema, its version and all rows, after a check that the file is not damaged.
inline std::string DatabaseDump(const Path& file) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK)
      << file;
  EXPECT_EQ(Rows(database, "PRAGMA integrity_check"), "ok|\n") << file;
  std::string dump = "user_version " + Rows(database, "PRAGMA user_version") +
                     Rows(database, "SELECT name, sql FROM sqlite_schema ORDER BY name");
  std::string tables = Rows(database, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (size_t at = 0; at < tables.size();) {
    const size_t end = tables.find('|', at);
    const std::string name = tables.substr(at, end - at);
    dump += name + "\n" + Rows(database, "SELECT * FROM \"" + name + "\" ORDER BY 1");
    at = end + 2;
  }
  sqlite3_close(database);
  return dump;
}

}  // namespace caip::testing
