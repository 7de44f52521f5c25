#include "fakes/gcs/service/resumable.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/encoding.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/checksums.h"

namespace caip::gcs {
namespace {

constexpr size_t kResumablePieceBytes = 256 << 10;
constexpr std::string_view kCancelled = "cancelled";

}  // namespace

// The mutex is held for moments only, never while a peer is waited for. Whoever calls last owns the
// session; an earlier caller that wakes up then finds that it does not any more.
struct ResumableSessions::Session {
  std::mutex mutex;
  UploadPlan plan;
  std::string key;
  std::unique_ptr<ObjectWriter> writer;  // made with the first byte
  uint64_t received = 0;
  std::optional<uint64_t> total;  // as a piece announced it
  bool recalled = true;           // what the store keeps of it is known here
  bool resumed_from_url = false;  // we may have had bytes of it once
  bool cancelled = false;
  std::optional<ObjectInfo> done;
  uint64_t owner = 0;
  uint64_t last_use = 0;  // guarded by the sessions' mutex
};

ResumableSessions::ResumableSessions(BucketStore& store, uint64_t seed)
    : store_(store), random_(seed) {}
ResumableSessions::~ResumableSessions() = default;

Result<std::string> ResumableSessions::Start(const UploadPlan& plan) {
  RETURN_IF_ERROR(store_.NewObject(plan.info.bucket, plan.info.name));  // may it be written at all?
  const std::lock_guard lock(mutex_);
  auto session = std::make_shared<Session>();
  std::string id;
  do {  // with the same seed the same draws come again, and an earlier process may have had them
    id = UploadIdOf(plan, random_.Hex(16));
    session->key = KeyOfUploadId(id);
  } while (store_.UploadNote(session->key));
  session->plan = plan;
  session->last_use = ++uses_;
  sessions_[id] = std::move(session);
  DropOldest();
  return id;
}

std::string ResumableSessions::NewNumber() {
  const std::lock_guard lock(mutex_);
  return random_.Hex(16);
}

// Never one that a caller has in hand: two writers of the same bytes would be made of it.
void ResumableSessions::DropOldest() {
  if (sessions_.size() <= kSessionsMax) return;
  auto oldest = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
    if (at->second.use_count() > 1) continue;
    const bool older = oldest == sessions_.end() || at->second->last_use < oldest->second->last_use;
    if (older) oldest = at;
  }
  if (oldest != sessions_.end()) sessions_.erase(oldest);
}

Result<std::shared_ptr<ResumableSessions::Session>> ResumableSessions::Find(
    const std::string& upload_id) {
  const std::lock_guard lock(mutex_);
  const auto at = sessions_.find(upload_id);
  if (at != sessions_.end()) {
    at->second->last_use = ++uses_;
    return at->second;
  }
  auto plan = PlanOfUploadId(upload_id);
  if (!plan) return errors::UploadUnknown();
  auto session = std::make_shared<Session>();
  session->plan = std::move(*plan);
  session->key = KeyOfUploadId(upload_id);
  session->resumed_from_url = true;
  session->recalled = false;
  session->last_use = ++uses_;
  sessions_[upload_id] = session;
  DropOldest();
  return session;
}

// What became of a session that an earlier process had, or that was put away.
Status ResumableSessions::Recall(Session& session) {
  if (std::exchange(session.recalled, true)) return Ok{};
  const auto note = store_.UploadNote(session.key);
  if (!note) return Ok{};
  const ObjectInfo& info = session.plan.info;
  if (note->empty()) {
    ASSIGN_OR_RETURN(session.writer, store_.ResumeObject(info.bucket, info.name, session.key));
    session.received = session.writer->size();
  } else if (*note == kCancelled) {
    session.cancelled = true;
  } else {
    const auto generation = std::strtoll(note->c_str(), nullptr, 10);
    auto done = store_.GetObject(info.bucket, info.name, {.generation = generation});
    if (!done.ok()) return errors::UploadUnknown();  // finished, and replaced since
    session.done = std::move(*done);
  }
  return Ok{};
}

// Appends the body's bytes but for the first `skip`, which are here already.
Status ResumableSessions::Receive(Session& session, uint64_t owner, uint64_t skip,
                                  http::BodyReader& body) {
  std::vector<char> piece(kResumablePieceBytes);
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(piece.data(), piece.size()));
    if (count == 0) return Ok{};
    const size_t skipped = static_cast<size_t>(std::min<uint64_t>(skip, count));
    skip -= skipped;
    const std::lock_guard lock(session.mutex);
    if (session.owner != owner) return errors::UploadTakenOver();
    if (!session.writer) {
      const ObjectInfo& info = session.plan.info;
      ASSIGN_OR_RETURN(session.writer, store_.ResumeObject(info.bucket, info.name, session.key));
    }
    RETURN_IF_ERROR(session.writer->Append({piece.data() + skipped, count - skipped}));
    session.received += count - skipped;
  }
}

// Where the start named another sum than the last chunk does, one of them is wrong.
static Status CheckAgree(const ExpectedSums& first, const ExpectedSums& last) {
  if (first.md5 && last.md5 && *first.md5 != *last.md5) {
    return errors::Md5Mismatch(Base64(*first.md5), Base64(*last.md5));
  }
  if (first.crc32c && last.crc32c && *first.crc32c != *last.crc32c) {
    return errors::Crc32cMismatch(Crc32cText(*first.crc32c), Crc32cText(*last.crc32c));
  }
  return Ok{};
}

// With the session's mutex held.
Result<UploadProgress> ResumableSessions::Finish(Session& session, const ExpectedSums& sums) {
  const UploadPlan& plan = session.plan;
  if (plan.length && *plan.length != session.received) {
    return errors::UploadLengthWrong(*plan.length, session.received);
  }
  if (!session.writer) {
    ASSIGN_OR_RETURN(session.writer, store_.NewObject(plan.info.bucket, plan.info.name));
  }
  const auto writer = std::move(session.writer);
  const uint64_t received = std::exchange(session.received, 0);
  const auto commit = [&]() -> Result<ObjectInfo> {
    RETURN_IF_ERROR(CheckAgree(plan.sums, sums));
    return writer->Commit(plan.info, plan.preconditions, sums.md5 ? sums.md5 : plan.sums.md5,
                          sums.crc32c ? sums.crc32c : plan.sums.crc32c);
  };
  auto done = commit();
  if (!done.ok()) {
    store_.ForgetUpload(session.key);
    return done.error();
  }
  session.done = std::move(*done);
  (void)store_.NoteUpload(session.key, std::to_string(session.done->generation)).ok();
  return UploadProgress{received, session.done};
}

// With the session's mutex held: whether the piece fits what was announced, before a byte of it is
// kept. The first total that was named holds.
Status ResumableSessions::CheckFits(Session& session, const ContentRange& range) {
  const std::optional<uint64_t> announced =
      session.plan.length ? session.plan.length : session.total;
  if (announced && range.total && *announced != *range.total) {
    return errors::UploadLengthWrong(*announced, *range.total);
  }
  if (announced && range.last && *range.last >= *announced) {
    return errors::UploadLengthWrong(*announced, *range.last + 1);
  }
  if (range.total && session.received > *range.total) {
    return errors::UploadLengthWrong(*range.total, session.received);
  }
  if (range.total) session.total = range.total;
  return Ok{};
}

Result<UploadProgress> ResumableSessions::Put(const std::string& upload_id,
                                              const std::optional<ContentRange>& range,
                                              const ExpectedSums& sums, http::BodyReader& body) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(upload_id));
  std::unique_lock lock(session->mutex);
  RETURN_IF_ERROR(Recall(*session));
  if (session->cancelled) return errors::UploadUnknown();
  if (session->done) return UploadProgress{session->done->size, session->done};
  if (range) RETURN_IF_ERROR(CheckFits(*session, *range));
  const uint64_t owner = ++session->owner;
  const bool has_data = !range || range->first;
  if (has_data) {
    const uint64_t first = range ? *range->first : 0;
    if (first > session->received) {
      // Bytes that were lost with an earlier process are our fault: the client may ask and resend.
      if (session->resumed_from_url) return errors::UploadBytesLost();
      return errors::ChunkOutOfPlace(session->received, first);
    }
    const uint64_t skip = session->received - first;
    lock.unlock();
    RETURN_IF_ERROR(Receive(*session, owner, skip, body));
    lock.lock();
    if (session->owner != owner) return errors::UploadTakenOver();
    if (range && range->last && session->received < *range->last + 1) {
      return errors::UploadLengthWrong(*range->last + 1, session->received);
    }
  }
  const bool open_end = has_data && (!range || !range->last);
  const std::optional<uint64_t> total = range ? range->total : std::nullopt;
  if (total && session->received > *total) {
    return errors::UploadLengthWrong(*total, session->received);
  }
  const bool whole = total ? session->received == *total : open_end;
  if (whole) return Finish(*session, sums);
  if (session->writer)
    RETURN_IF_ERROR(session->writer->Persist());  // before we say that it is here
  return UploadProgress{session->received, std::nullopt};
}

Status ResumableSessions::Cancel(const std::string& upload_id) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(upload_id));
  const std::lock_guard lock(session->mutex);
  RETURN_IF_ERROR(Recall(*session));
  if (session->cancelled || session->done) return errors::UploadUnknown();
  session->cancelled = true;
  ++session->owner;
  session->writer.reset();
  store_.ForgetUpload(session->key);
  return store_.NoteUpload(session->key, std::string(kCancelled));
}

}  // namespace caip::gcs
