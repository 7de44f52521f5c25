#pragma once
// The schema, version 4 (PRAGMA user_version); version 3 had jobs of one API only, version 2 no
// taken_ids, version 1 no trials:
//
//   jobs  seq          order of creation, over all projects
//         project, id  the job's name; stays taken until the job is removed
//         create_time  nanoseconds since 1970
//         finished     1 in a terminal state
//         job          the job's document, state and times, JSON (stored_job.h)
//         run          the engine's note, JSON
//         api, location  as in the job: for lists
//   trials, reports      see trial_rows.h
//   taken_ids  project, id  of jobs that were removed, and whose ids no job may have again

namespace caip::host {

inline constexpr const char* kJobSchema = R"sql(
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    id TEXT NOT NULL,
    create_time INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    job TEXT NOT NULL,
    run TEXT NOT NULL,
    UNIQUE (project, id));
  CREATE INDEX jobs_by_age ON jobs (project, create_time, seq);
  CREATE INDEX jobs_unfinished ON jobs (seq) WHERE finished = 0;)sql";

// What version 4 adds. An API other than the first also lists and finds jobs of all projects.
inline constexpr const char* kJobApiSchema = R"sql(
  ALTER TABLE jobs ADD COLUMN api TEXT NOT NULL DEFAULT '';
  ALTER TABLE jobs ADD COLUMN location TEXT NOT NULL DEFAULT '';
  DROP INDEX jobs_by_age;
  CREATE INDEX jobs_by_age ON jobs (project, api, location, create_time, seq);
  CREATE INDEX jobs_of_all_projects ON jobs (api, location, create_time, seq) WHERE api <> '';
  CREATE INDEX jobs_by_id ON jobs (id) WHERE api <> '';)sql";

inline constexpr const char* kTakenIdsSchema = R"sql(
  CREATE TABLE taken_ids (project TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (project, id))
  WITHOUT ROWID;)sql";

}  // namespace caip::host
