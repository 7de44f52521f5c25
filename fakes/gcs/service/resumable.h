#pragma once
// Resumable uploads. A session's URL carries all that was agreed at its start and the store keeps
// its bytes, so that it goes on after a restart where it was.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/random.h"
#include "fakes/gcs/service/uploads.h"

namespace caip::gcs {

/// Where an upload stands: done, or how many bytes are here.
struct UploadProgress {
  uint64_t received = 0;
  std::optional<ObjectInfo> done;
};

/// Any thread. Sessions that were not used for long are put away when there are too many: they
/// come back with their bytes when they are asked for.
class ResumableSessions {
 public:
  /// Sessions that keep a file descriptor at a time.
  static constexpr size_t kSessionsMax = 256;

  ResumableSessions(BucketStore& store, uint64_t seed);
  ~ResumableSessions();
  /// The upload_id for a session's URL. kNotFound when the bucket is missing.
  Result<std::string> Start(const UploadPlan& plan);
  /// Takes a piece, or (without `first`) only tells where it stands. A range of nullopt: all of it
  /// at once. kOutOfRange for an id that was never given. A newer call takes the session over from
  /// an older one that still waits for its peer.
  Result<UploadProgress> Put(const std::string& upload_id, const std::optional<ContentRange>& range,
                             const ExpectedSums& sums, http::BodyReader& body);
  /// 16 hexadecimal digits that are not given twice (by this process).
  std::string NewNumber();
  /// Drops the bytes; the id is dead.
  Status Cancel(const std::string& upload_id);

 private:
  struct Session;
  Result<std::shared_ptr<Session>> Find(const std::string& upload_id);
  Status Recall(Session& session);
  Status CheckFits(Session& session, const ContentRange& range);
  Status Receive(Session& session, uint64_t owner, uint64_t skip, http::BodyReader& body);
  Result<UploadProgress> Finish(Session& session, const ExpectedSums& sums);
  void DropOldest();

  BucketStore& store_;
  std::mutex mutex_;
  Random random_;
  uint64_t uses_ = 0;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
};

/// An upload_id and back; nullopt for what we never made.
std::string UploadIdOf(const UploadPlan& plan, std::string_view nonce);
std::optional<UploadPlan> PlanOfUploadId(std::string_view upload_id);
/// Under what the store keeps the bytes.
std::string KeyOfUploadId(std::string_view upload_id);

}  // namespace caip::gcs
