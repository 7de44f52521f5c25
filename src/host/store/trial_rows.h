#pragma once
// The trials of tuning jobs in the file of the jobs:
//
//   trials   project, job, number   the trial's name
//            state                  the Job of the trial, JSON with the API's names
//            run                    the engine's note, JSON
//   reports  seq                    order of arrival
//            project, job, number   the trial's name
//            step, value, time, summary

#include <string>
#include <vector>

#include "base/sqlite.h"
#include "engine/ports.h"

namespace caip::host {

inline constexpr const char* kTrialSchema = R"sql(
  CREATE TABLE trials (
    project TEXT NOT NULL,
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    run TEXT NOT NULL,
    PRIMARY KEY (project, job, number)) WITHOUT ROWID;
  CREATE TABLE reports (
    seq INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    step INTEGER NOT NULL,
    value REAL,
    time REAL NOT NULL,
    summary INTEGER NOT NULL);
  CREATE INDEX reports_by_trial ON reports (project, job, number);)sql";

/// Statements of a connection that writes. The connection outlives them.
class TrialWriter {
 public:
  void Prepare(const SqliteDatabase& file);
  Status Save(SqliteDatabase& file, const engine::TrialRecord& record);
  /// Writes all rows or none.
  Status Add(SqliteDatabase& file, const engine::RunKey& trial,
             const std::vector<engine::Report>& reports);

 private:
  SqliteStatement save_;
  SqliteStatement add_;
};

/// Statements of a connection that reads. The connection outlives them.
class TrialReader {
 public:
  void Prepare(const SqliteDatabase& file);
  /// Reads all rows in one transaction.
  Result<std::vector<engine::TrialRecord>> Read(SqliteDatabase& file, const std::string& project,
                                                const std::string& job_id);

 private:
  Status ReadReports(SqliteDatabase& file, const std::string& project, const std::string& job_id,
                     std::vector<engine::TrialRecord>& records);

  SqliteStatement trials_;
  SqliteStatement reports_;
};

}  // namespace caip::host
