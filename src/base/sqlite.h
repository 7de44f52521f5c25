#pragma once

// Closes a SQLite database in write-ahead mode.
//
// When the last connection closes, SQLite moves the log into the database and deletes it: two
// syncs and two deleted files, some five milliseconds at the end of every command with an embedded
// emulator. A short log may stay: the next opening reads it faster than that, as after a kill.
// (https://www.sqlite.org/wal.html, "Avoiding Excessively Large WAL Files" and "WAL-Index
// Recovery")
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace caip {

// Closes `db`, which may be null. The log stays if it has at most `bytes` (reading a mebibyte takes
// about a millisecond). Committed data is kept either way.
inline void CloseLeavingShortLog(sqlite3* db, std::uintmax_t bytes = 1 << 20) {
  if (const char* file = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(sqlite3_filename_wal(file), absent);
    if (!absent && size <= bytes) {
      int keep = 1;
      sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
      sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
  }
  sqlite3_close_v2(db);
}

}  // namespace caip
