#include "host/store/trial_rows.h"

#include <sqlite3.h>

#include <map>
#include <utility>

#include "base/json.h"
#include "host/errors.h"
#include "host/store/stored_job.h"

namespace caip::host {

using engine::Report;
using engine::RunKey;
using engine::TrialRecord;

namespace {

int64_t NumberOf(const RunKey& trial) { return std::stoll(trial.trial); }

Result<TrialRecord> RecordIn(const SqliteStatement& row, const SqliteDatabase& file,
                             const std::string& project, const std::string& job_id) {
  const std::string trial = std::to_string(row.Integer(0));
  const std::string name = project + "/" + job_id + " trial " + trial;
  auto job = ParseStoredJob({project, job_id, trial}, row.Text(1));
  if (!job.ok()) return errors::JobRecordBroken(file.file(), name, job.error());
  auto note = ParseJson(row.Text(2));
  if (!note.ok()) return errors::JobRecordBroken(file.file(), name, note.error());
  return TrialRecord{*std::move(job), *std::move(note)};
}

}  // namespace

void TrialWriter::Prepare(const SqliteDatabase& file) {
  file.PrepareLater(save_,
                    "INSERT INTO trials (project, job, number, state, run) "
                    "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (project, job, number) "
                    "DO UPDATE SET state = ?4, run = ?5");
  file.PrepareLater(add_,
                    "INSERT INTO reports (project, job, number, step, value, time, summary) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
}

Status TrialWriter::Save(SqliteDatabase& file, const TrialRecord& record) {
  const RunKey& key = record.job.key;
  SqliteUse use(save_);
  use->Bind(1, key.project).Bind(2, key.job_id).Bind(3, NumberOf(key));
  use->Bind(4, StoredJobText(record.job)).Bind(5, CompactJson(record.note));
  const int code = use->Step();
  if (code != SQLITE_DONE) return file.Failure(code);
  return Ok{};
}

Status TrialWriter::Add(SqliteDatabase& file, const RunKey& trial,
                        const std::vector<Report>& reports) {
  RETURN_IF_ERROR(file.Run("BEGIN IMMEDIATE"));
  for (const Report& report : reports) {
    SqliteUse use(add_);
    use->Bind(1, trial.project).Bind(2, trial.job_id).Bind(3, NumberOf(trial));
    use->Bind(4, report.step).Bind(5, report.value).Bind(6, report.time);
    use->Bind(7, static_cast<int64_t>(report.summary));
    const int code = use->Step();
    if (code == SQLITE_DONE) continue;
    const Error error = file.Failure(code);
    (void)file.Run("ROLLBACK");
    return error;
  }
  return file.Run("COMMIT");
}

void TrialReader::Prepare(const SqliteDatabase& file) {
  file.PrepareLater(trials_,
                    "SELECT number, state, run FROM trials "
                    "WHERE project = ?1 AND job = ?2 ORDER BY number");
  file.PrepareLater(reports_,
                    "SELECT number, step, value, time, summary FROM reports "
                    "WHERE project = ?1 AND job = ?2 ORDER BY seq");
}

Result<std::vector<TrialRecord>> TrialReader::Read(SqliteDatabase& file, const std::string& project,
                                                   const std::string& job_id) {
  std::vector<TrialRecord> records;
  RETURN_IF_ERROR(file.Run("BEGIN"));
  const auto read = [&]() -> Status {
    SqliteUse rows(trials_);
    rows->Bind(1, project).Bind(2, job_id);
    int code = rows->Step();
    for (; code == SQLITE_ROW; code = rows->Step()) {
      ASSIGN_OR_RETURN(TrialRecord record, RecordIn(trials_, file, project, job_id));
      records.push_back(std::move(record));
    }
    if (code != SQLITE_DONE) return file.Failure(code);
    return ReadReports(file, project, job_id, records);
  };
  const Status done = read();
  RETURN_IF_ERROR(file.Run("COMMIT"));
  if (!done.ok()) return done.error();
  return records;
}

Status TrialReader::ReadReports(SqliteDatabase& file, const std::string& project,
                                const std::string& job_id, std::vector<TrialRecord>& records) {
  std::map<int64_t, TrialRecord*> by_number;
  for (TrialRecord& record : records) by_number.emplace(NumberOf(record.job.key), &record);
  SqliteUse rows(reports_);
  rows->Bind(1, project).Bind(2, job_id);
  int code = rows->Step();
  for (; code == SQLITE_ROW; code = rows->Step()) {
    const auto of = by_number.find(reports_.Integer(0));
    if (of == by_number.end()) continue;
    of->second->reports.push_back(
        {reports_.Integer(1), reports_.Real(2), reports_.Real(3), reports_.Integer(4) != 0});
  }
  if (code != SQLITE_DONE) return file.Failure(code);
  return Ok{};
}

}  // namespace caip::host
