
#include "fakes/gcs/service/uploads.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/encoding.h"
#include "base/json.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

constexpr size_t kResumablePieceBytes = 256 << 10;
constexpr std::string_view kCancelled = "cancelled";

struct Condition {
  const char* name;
  std::optional<int64_t> Preconditions::*member;
};

constexpr Condition kConditions[] = {
    {"g", &Preconditions::if_generation_match},
    {"gn", &Preconditions::if_generation_not_match},
    {"m", &Preconditions::if_metageneration_match},
    {"mn", &Preconditions::if_metageneration_not_match},
};

// Detects URLs of other servers and typing errors. It does not stop attackers, who may write
// objects anyway.
std::string Seal(std::string_view text) {
  Hasher hasher;
  hasher.Add("caip-upload:");
  hasher.Add(text);
  return Hex(hasher.Finish().md5).substr(0, 16);
}

}  // namespace

Result<std::optional<ObjectInfo>> ObjectOfUpload(const BucketStore& store, const ObjectName& object,
                                                 const std::string& key) {
  ASSIGN_OR_RETURN(const auto note, store.UploadNote(key));
  const int64_t generation = note ? std::strtoll(note->c_str(), nullptr, 10) : 0;
  if (generation <= 0) return std::optional<ObjectInfo>();
  auto made = store.GetObject(object.bucket, object.name, {.generation = generation});
  if (made.ok()) return std::optional(std::move(*made));
  if (made.error().code != Code::kNotFound) return made.error();
  return std::optional<ObjectInfo>();
}

// The mutex is never held while a call waits for its client. The latest call owns the session. An
// earlier call that continues later fails, because it no longer owns the session.
struct ResumableSessions::Session {
  std::mutex mutex;
  UploadPlan plan;
  std::string key;
  std::unique_ptr<ObjectWriter> writer;  // made with the first byte
  uint64_t received = 0;
  std::optional<uint64_t> total;  // from the first piece that gives it
  bool loaded = true;             // its state in the store has been loaded
  bool resumed_from_url = false;  // some of its bytes may have been lost
  bool cancelled = false;
  std::optional<ObjectInfo> done;
  uint64_t owner = 0;
  uint64_t last_use = 0;  // guarded by the sessions' mutex
};

ResumableSessions::ResumableSessions(BucketStore& store, uint64_t seed)
    : store_(store), random_(seed) {}
ResumableSessions::~ResumableSessions() = default;

Result<std::string> ResumableSessions::Start(const UploadPlan& plan) {
  RETURN_IF_ERROR(
      store_.NewObject(plan.info.bucket, plan.info.name));  // fails if it cannot be written
  const std::lock_guard lock(mutex_);
  auto session = std::make_shared<Session>();
  std::string id;
  std::optional<std::string> note;
  do {  // the same seed repeats the numbers of an earlier process
    id = UploadIdOf(plan, random_.Hex(16));
    session->key = KeyOfUploadId(id);
    ASSIGN_OR_RETURN(note, store_.UploadNote(session->key));
  } while (note);
  session->plan = plan;
  session->last_use = ++uses_;
  sessions_[id] = std::move(session);
  DropOldest();
  return id;
}

std::string ResumableSessions::NewNonce() {
  const std::lock_guard lock(mutex_);
  return random_.Hex(16);
}

// Never drops a session in use: its next request would create a second writer of the same bytes.
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

// One that another call uses stays until it is the oldest.
void ResumableSessions::NoteFinished(const std::string& upload_id) {
  const std::lock_guard lock(mutex_);
  finished_.push_back(upload_id);
  if (finished_.size() <= kFinishedMax) return;
  const auto oldest = sessions_.find(finished_.front());
  if (oldest != sessions_.end() && oldest->second.use_count() == 1) sessions_.erase(oldest);
  finished_.pop_front();
}

size_t ResumableSessions::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
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
  session->loaded = false;
  session->last_use = ++uses_;
  sessions_[upload_id] = session;
  DropOldest();
  return session;
}

// Loads the state of a session that an earlier process had or that was dropped from memory. A
// client may ask for many sessions that have finished, so these are dropped again.
Status ResumableSessions::Load(const std::string& upload_id, Session& session) {
  if (session.loaded) return Ok{};
  const Status loaded = LoadState(session);
  if (!loaded.ok() || session.cancelled || session.done) NoteFinished(upload_id);
  return loaded;
}

Status ResumableSessions::LoadState(Session& session) {
  ASSIGN_OR_RETURN(const auto note, store_.UploadNote(session.key));
  const ObjectInfo& info = session.plan.info;
  if (note && note->empty()) {
    ASSIGN_OR_RETURN(session.writer, store_.ResumeObject(info.bucket, info.name, session.key));
    session.received = session.writer->size();
  } else if (note && *note == kCancelled) {
    session.cancelled = true;
  } else if (note) {
    ASSIGN_OR_RETURN(session.done, ObjectOfUpload(store_, {info.bucket, info.name}, session.key));
    if (!session.done) return errors::UploadUnknown();  // finished, and replaced since
  }
  session.loaded = true;
  return Ok{};
}

// Appends the body's bytes except the first `skip`, which were received before.
Status ResumableSessions::Receive(Session& session, uint64_t owner, Expected expected,
                                  http::BodyReader& body) {
  std::vector<char> piece(kResumablePieceBytes);
  uint64_t arrived = 0;
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(piece.data(), piece.size()));
    if (count == 0) return Ok{};
    arrived += count;
    if (expected.length && arrived > *expected.length) {
      return errors::UploadLengthWrong(*expected.length, arrived);
    }
    const size_t skipped = static_cast<size_t>(std::min<uint64_t>(expected.skipped, count));
    expected.skipped -= skipped;
    const std::lock_guard lock(session.mutex);
    if (session.owner != owner) return errors::UploadTakenOver();
    if (!session.writer) {
      const ObjectInfo& info = session.plan.info;
      ASSIGN_OR_RETURN(session.writer, store_.ResumeObject(info.bucket, info.name, session.key));
    }
    Status kept = session.writer->Append({piece.data() + skipped, count - skipped});
    if (!kept.ok()) {  // a part of the piece may be in the file
      session.writer.reset();
      session.loaded = false;
      return kept;
    }
    session.received += count - skipped;
  }
}

// If the first request and the last piece have different checksums, one of them is wrong.
static Status CheckAgree(const ExpectedSums& first, const ExpectedSums& last) {
  if (first.md5 && last.md5 && *first.md5 != *last.md5) {
    return errors::Md5Mismatch(Base64(*first.md5), Base64(*last.md5));
  }
  if (first.crc32c && last.crc32c && *first.crc32c != *last.crc32c) {
    return errors::Crc32cMismatch(Crc32cText(*first.crc32c), Crc32cText(*last.crc32c));
  }
  return Ok{};
}

// False: the host refused, and the client may send the last piece again.
static bool IsAboutTheRequest(const Error& error) {
  return error.code == Code::kInvalidArgument || error.code == Code::kFailedPrecondition ||
         error.code == Code::kNotFound;
}

// The caller holds the session's mutex.
Result<UploadProgress> ResumableSessions::Finish(Session& session, const ExpectedSums& sums) {
  const UploadPlan& plan = session.plan;
  if (plan.length && *plan.length != session.received) {
    return errors::UploadLengthWrong(*plan.length, session.received);
  }
  if (!session.writer) {  // an empty object
    ASSIGN_OR_RETURN(session.writer,
                     store_.ResumeObject(plan.info.bucket, plan.info.name, session.key));
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
    session.loaded = false;
    // an object whose record could not be saved is not forgotten: the client asks for it again
    const auto note = store_.UploadNote(session.key);
    const bool is_incomplete = note.ok() && note->value_or("").empty();
    if (is_incomplete && IsAboutTheRequest(done.error())) store_.ForgetUpload(session.key);
    return done.error();
  }
  session.done = std::move(*done);
  return UploadProgress{received, session.done};
}

// Checks a piece against the announced length before any of its bytes is kept. The first total that
// a piece names is binding. The caller holds the session's mutex.
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
  RETURN_IF_ERROR(Load(upload_id, *session));
  if (session->cancelled) return errors::UploadUnknown();
  if (session->done) return UploadProgress{session->done->size, session->done};
  if (range) RETURN_IF_ERROR(CheckFits(*session, *range));
  const uint64_t owner = ++session->owner;
  const bool has_data = !range || range->first;
  if (has_data) {
    const uint64_t first = range ? *range->first : 0;
    if (first > session->received) {
      // An earlier process lost the bytes: the client may ask for the progress and send them again.
      if (session->resumed_from_url) return errors::UploadBytesLost();
      return errors::ChunkOutOfPlace(session->received, first);
    }
    const uint64_t skip = session->received - first;
    lock.unlock();
    const auto length =
        range && range->last ? std::optional(*range->last - first + 1) : std::nullopt;
    RETURN_IF_ERROR(Receive(*session, owner, {skip, length}, body));
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
  if (whole) {
    auto finished = Finish(*session, sums);
    if (finished.ok()) NoteFinished(upload_id);
    return finished;
  }
  if (session->writer)
    RETURN_IF_ERROR(session->writer->Persist());  // before the response confirms the bytes
  return UploadProgress{session->received, std::nullopt};
}

Status ResumableSessions::Cancel(const std::string& upload_id) {
  ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(upload_id));
  const std::lock_guard lock(session->mutex);
  RETURN_IF_ERROR(Load(upload_id, *session));
  if (session->cancelled || session->done) return errors::UploadUnknown();
  session->cancelled = true;
  ++session->owner;
  session->writer.reset();
  store_.ForgetUpload(session->key);
  RETURN_IF_ERROR(store_.NoteUpload(session->key, std::string(kCancelled)));
  NoteFinished(upload_id);
  return Ok{};
}

std::string UploadIdOf(const UploadPlan& plan, std::string_view nonce) {
  Json json = {{"id", nonce},
               {"b", plan.info.bucket},
               {"o", plan.info.name},
               {"r", ObjectRecordText(plan.info)}};
  for (const Condition& condition : kConditions) {
    const auto& value = plan.preconditions.*condition.member;
    if (value) json[condition.name] = *value;
  }
  if (plan.sums.md5) json["md5"] = Base64(*plan.sums.md5);
  if (plan.sums.crc32c) json["crc"] = *plan.sums.crc32c;
  if (plan.length) json["l"] = *plan.length;
  const std::string text = Base64Url(CompactJson(json));
  return text + "." + Seal(text);
}

std::string KeyOfUploadId(std::string_view upload_id) {
  Hasher hasher;
  hasher.Add(upload_id);
  return Hex(hasher.Finish().md5);
}

std::optional<UploadPlan> PlanOfUploadId(std::string_view upload_id) {
  const size_t dot = upload_id.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view text = upload_id.substr(0, dot);
  if (Seal(text) != upload_id.substr(dot + 1)) return std::nullopt;
  const auto bytes = FromBase64(text);
  if (!bytes) return std::nullopt;
  const auto json = ParseJson(*bytes);
  if (!json.ok()) return std::nullopt;
  UploadPlan plan;
  plan.info = ObjectFromRecordText(StringOr(*json, "r"));
  plan.info.bucket = StringOr(*json, "b");
  plan.info.name = StringOr(*json, "o");
  for (const Condition& condition : kConditions) {
    if (Member(*json, condition.name)) {
      plan.preconditions.*condition.member = IntOr(*json, condition.name, 0);
    }
  }
  if (Member(*json, "md5")) plan.sums.md5 = FromBase64(StringOr(*json, "md5"));
  if (Member(*json, "crc")) plan.sums.crc32c = static_cast<uint32_t>(IntOr(*json, "crc", 0));
  if (Member(*json, "l")) plan.length = static_cast<uint64_t>(IntOr(*json, "l", 0));
  return plan;
}

}  // namespace caip::gcs
