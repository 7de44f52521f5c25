#include "fakes/logging/book/log_purge.h"

#include <algorithm>

#include "base/text.h"
#include "fakes/logging/book/chunk_packer.h"
#include "fakes/logging/book/errors.h"

namespace caip::logging {
namespace {

constexpr uint64_t kRowsPerStep = 1000;
constexpr uint64_t kChunksPerStep = 64;

Result<std::vector<Chunk>> ReadNextChunks(LogFile& file, uint64_t after, uint64_t last_id) {
  SqlQuery rows(file,
                "SELECT first_id, last_id, project, job_id, first_time, last_time, tasks"
                " FROM chunks WHERE first_id > ?1 AND first_id <= ?2 ORDER BY first_id LIMIT ?3");
  rows.Bind(1, after).Bind(2, last_id).Bind(3, kChunksPerStep);
  std::vector<Chunk> chunks;
  while (rows.Next()) {
    Chunk& chunk = chunks.emplace_back();
    chunk.first_id = static_cast<uint64_t>(rows.Number(0));
    chunk.last_id = static_cast<uint64_t>(rows.Number(1));
    chunk.project = rows.Text(2);
    chunk.job_id = rows.Text(3);
    chunk.first_time = rows.Time(4);
    chunk.last_time = rows.Time(5);
    chunk.tasks = Split(rows.Text(6), '\n');
  }
  if (const Status read = rows.status(); !read.ok()) return read.error();
  return chunks;
}

bool HasLog(const JobLogNames& names, const Chunk& chunk, const LogKey& log) {
  return ProjectParent(chunk.project) == log.parent &&
         std::any_of(chunk.tasks.begin(), chunk.tasks.end(), [&](const std::string& task) {
           return LogIdOfTask(names, task, chunk.job_id) == log.log_id;
         });
}

// Inside Write.
Status RemoveFromChunk(LogFile& file, Chunk& chunk, const LogKey& log, uint64_t last_id) {
  {
    SqlQuery row(file, "SELECT entries FROM chunks WHERE first_id = ?1");
    if (row.Bind(1, chunk.first_id).Next()) chunk.entries = row.Text(0);
    RETURN_IF_ERROR(row.status());
  }
  std::vector<Entry> entries;
  if (!Unpack(chunk, entries)) return errors::ChunkDamaged(file.path(), chunk.first_id);
  std::erase_if(entries, [&](const Entry& entry) {
    return entry.insert_id <= last_id &&
           LogIdOfTask(file.names(), entry.task, entry.job_id) == log.log_id;
  });
  if (entries.empty()) return file.RemoveChunk(chunk.first_id);
  Repack(entries, chunk);
  return file.ReplaceChunk(chunk);
}

}  // namespace

Result<bool> LogPurge::Step(LogFile& file) {
  ASSIGN_OR_RETURN(const DeletedLogs deleted, ReadDeleted(file));
  if (deleted.empty()) return false;
  const auto& [log, up_to] = *deleted.begin();
  if (log != log_ || up_to.last_id != last_id_) {
    log_ = log;
    last_id_ = up_to.last_id;
    chunks_done_ = 0;
  }
  ASSIGN_OR_RETURN(const bool more_written, PurgeWritten(file, log, up_to));
  if (more_written) return true;
  ASSIGN_OR_RETURN(const bool more_chunks, PurgeChunks(file, log, up_to));
  if (more_chunks) return true;
  last_id_ = 0;
  RETURN_IF_ERROR(file.Write([&file, key = log]() -> Status {
    SqlQuery done(file, "DELETE FROM deleted WHERE parent = ?1 AND log = ?2");
    return done.Bind(1, key.parent).Bind(2, key.log_id).Run();
  }));
  return deleted.size() > 1;
}

Result<bool> LogPurge::PurgeWritten(LogFile& file, const LogKey& log, const DeletedUpTo& up_to) {
  bool has_more = false;
  const Status removed = file.Write([&]() -> Status {
    {
      SqlQuery remove(file,
                      "DELETE FROM written WHERE id IN (SELECT id FROM written WHERE parent = ?1"
                      " AND log = ?2 COLLATE NOCASE AND log = ?2 AND id <= ?3 LIMIT ?4)");
      remove.Bind(1, log.parent).Bind(2, log.log_id).Bind(3, up_to.last_written);
      RETURN_IF_ERROR(remove.Bind(4, kRowsPerStep).Run());
    }
    SqlQuery rest(file,
                  "SELECT 1 FROM written WHERE parent = ?1 AND log = ?2 COLLATE NOCASE"
                  " AND log = ?2 AND id <= ?3 LIMIT 1");
    rest.Bind(1, log.parent).Bind(2, log.log_id).Bind(3, up_to.last_written);
    has_more = rest.Next();
    return rest.status();
  });
  if (!removed.ok()) return removed.error();
  return has_more;
}

Result<bool> LogPurge::PurgeChunks(LogFile& file, const LogKey& log, const DeletedUpTo& up_to) {
  ASSIGN_OR_RETURN(std::vector<Chunk> chunks, ReadNextChunks(file, chunks_done_, up_to.last_id));
  if (chunks.empty()) return false;
  const uint64_t done = chunks.back().first_id;
  std::erase_if(chunks,
                [&file, &log](const Chunk& chunk) { return !HasLog(file.names(), chunk, log); });
  if (!chunks.empty()) {
    const Status rewritten = file.Write([&]() -> Status {
      for (Chunk& chunk : chunks) RETURN_IF_ERROR(RemoveFromChunk(file, chunk, log, up_to.last_id));
      return Ok{};
    });
    if (!rewritten.ok()) return rewritten.error();
  }
  chunks_done_ = done;
  return true;
}

}  // namespace caip::logging
