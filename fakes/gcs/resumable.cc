#include "fakes/gcs/resumable.h"

#include <algorithm>
#include <vector>

#include "fakes/gcs/errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

}  // namespace

// The mutex is held for moments only, never while a peer is waited for. Whoever calls last owns the
// session; an earlier caller that wakes up then finds that it does not any more.
struct ResumableSessions::Session {
  std::mutex mutex;
  UploadPlan plan;
  std::unique_ptr<ObjectWriter> writer;  // made with the first byte
  uint64_t received = 0;
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
  const std::string id = UploadIdOf(plan, random_.Hex(16));
  auto session = std::make_shared<Session>();
  session->plan = plan;
  session->last_use = ++uses_;
  sessions_[id] = std::move(session);
  DropOldest();
  return id;
}

void ResumableSessions::DropOldest() {
  while (sessions_.size() > kSessionsMax) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second->last_use < b.second->last_use; }));
  }
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
  session->resumed_from_url = true;
  session->last_use = ++uses_;
  sessions_[upload_id] = session;
  DropOldest();
  return session;
}

// Appends the body's bytes but for the first `skip`, which are here already.
Status ResumableSessions::Receive(Session& session, uint64_t owner, uint64_t skip,
                                  http::BodyReader& body) {
  std::vector<char> piece(kPieceBytes);
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(piece.data(), piece.size()));
    if (count == 0) return Ok{};
    const size_t skipped = static_cast<size_t>(std::min<uint64_t>(skip, count));
    skip -= skipped;
    const std::lock_guard lock(session.mutex);
    if (session.owner != owner) return errors::UploadTakenOver();
    if (!session.writer) {
      ASSIGN_OR_RETURN(session.writer,
                       store_.NewObject(session.plan.info.bucket, session.plan.info.name));
    }
    RETURN_IF_ERROR(session.writer->Append({piece.data() + skipped, count - skipped}));
    session.received += count - skipped;
  }
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
  ASSIGN_OR_RETURN(session.done, writer->Commit(plan.info, plan.preconditions,
                                                sums.md5 ? sums.md5 : plan.sums.md5,
                                                sums.crc32c ? sums.crc32c : plan.sums.crc32c));
  return UploadProgress{received, session.done};
}

Result<UploadProgress> ResumableSessions::Put(const std::string& upload_id,
                                              const std::optional<ContentRange>& range,
                                              const ExpectedSums& sums, http::BodyReader& body) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(upload_id));
  std::unique_lock lock(session->mutex);
  if (session->cancelled) return errors::UploadUnknown();
  if (session->done) return UploadProgress{session->done->size, session->done};
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
  return UploadProgress{session->received, std::nullopt};
}

Status ResumableSessions::Cancel(const std::string& upload_id) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(upload_id));
  const std::lock_guard lock(session->mutex);
  if (session->cancelled || session->done) return errors::UploadUnknown();
  session->cancelled = true;
  ++session->owner;
  session->writer.reset();
  return Ok{};
}

}  // namespace caip::gcs
