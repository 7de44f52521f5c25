#pragma once
// The trials of tuning jobs in the file of the jobs:
//
//   trials   project, job, number   the trial's name
//            state                  the Job of the trial, JSON with the API's names
//            run                    the engine's note, JSON
//   reports  seq                    order of arrival
//            project, job, number   whose
//            step, value, time, summary

#include <string>
#include <vector>

#include "engine/ports.h"
#include "host/store/sqlite_file.h"

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

/// Statements of a connection that writes; it outlives them.
class TrialWriter {
 public:
  Status Prepare(SqliteFile& file);
  Status Save(SqliteFile& file, const engine::TrialRecord& record);
  /// All or none.
  Status Add(SqliteFile& file, const engine::RunKey& trial,
             const std::vector<engine::Report>& reports);

 private:
  Statement save_;
  Statement add_;
};

/// Statements of a connection that reads; it outlives them.
class TrialReader {
 public:
  Status Prepare(SqliteFile& file);
  /// In one moment of the store.
  Result<std::vector<engine::TrialRecord>> Read(SqliteFile& file, const std::string& project,
                                                const std::string& job_id);

 private:
  Status ReadReports(SqliteFile& file, const std::string& project, const std::string& job_id,
                     std::vector<engine::TrialRecord>& records);

  Statement trials_;
  Statement reports_;
};

}  // namespace caip::host
