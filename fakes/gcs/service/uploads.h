#pragma once
// Uploads: the plan, which the service knows before the bytes arrive, and the sessions of resumable
// uploads. A session's URL holds its plan and the store keeps its bytes, so a session continues
// after a restart.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/random.h"
#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

/// Checksums that a client announces.
struct ExpectedSums {
  std::optional<std::string> md5;  // 16 raw bytes
  std::optional<uint32_t> crc32c;
};

/// An upload's destination and conditions. `info` has bucket, name and the client's fields.
struct UploadPlan {
  ObjectInfo info = {};
  Preconditions preconditions = {};
  ExpectedSums sums = {};
  std::optional<uint64_t> length = {};  // announced for a resumable upload
};

/// `Content-Range` of an upload: "bytes 0-99/100", "bytes 0-99/*", "bytes 0-*/*" (open end),
/// "bytes */100" and "bytes */*" (a query of the progress).
struct ContentRange {
  std::optional<uint64_t> first;  // nullopt: no data, a query of the progress
  std::optional<uint64_t> last;   // nullopt with `first`: up to the end of the body
  std::optional<uint64_t> total;
};

/// A piece of a resumable upload. A `range` of nullopt means the whole object.
struct UploadPiece {
  std::string id = {};
  std::optional<ContentRange> range = {};
  ExpectedSums sums = {};
};

/// The state of an upload: complete, or the number of bytes received.
struct UploadProgress {
  uint64_t received = 0;
  std::optional<ObjectInfo> done;
};

/// The object that the upload `key` became; nullopt if it is not complete, or its object has been
/// replaced since.
Result<std::optional<ObjectInfo>> ObjectOfUpload(const BucketStore& store, const ObjectName& object,
                                                 const std::string& key);

/// Serves the sessions of resumable uploads. If there are too many, the one unused longest is
/// dropped from memory, and its next request restores it. Of finished sessions, which are seldom
/// asked for again, memory holds only the newest. Any thread.
class ResumableSessions {
 public:
  /// Sessions in memory. Each may hold a file descriptor.
  static constexpr size_t kSessionsMax = 256;
  /// Complete and cancelled ones among them.
  static constexpr size_t kFinishedMax = 16;

  ResumableSessions(BucketStore& store, uint64_t seed);
  ~ResumableSessions();
  /// The upload_id for a session's URL. kNotFound when the bucket is missing.
  Result<std::string> Start(const UploadPlan& plan);
  /// Receives a piece, or without `first` only reports the progress. A range of nullopt means the
  /// whole object. kOutOfRange for an unknown id. A newer call takes over the session from an older
  /// call that still waits for its client.
  Result<UploadProgress> Put(const std::string& upload_id, const std::optional<ContentRange>& range,
                             const ExpectedSums& sums, http::BodyReader& body);
  /// 16 hexadecimal digits, random within this process.
  std::string NewNonce();
  /// Drops the bytes. The id is unknown from then on.
  Status Cancel(const std::string& upload_id);
  /// Sessions in memory.
  size_t size() const;

 private:
  struct Session;
  Result<std::shared_ptr<Session>> Find(const std::string& upload_id);
  Status Load(const std::string& upload_id, Session& session);
  Status LoadState(Session& session);
  Status CheckFits(Session& session, const ContentRange& range);
  // What a piece must have: bytes that an earlier one had, too, and its length, if it is known.
  struct Expected {
    uint64_t skipped = 0;
    std::optional<uint64_t> length;
  };
  Status Receive(Session& session, uint64_t owner, Expected expected, http::BodyReader& body);
  Result<UploadProgress> Finish(Session& session, const ExpectedSums& sums);
  void DropOldest();
  void NoteFinished(const std::string& upload_id);

  BucketStore& store_;
  mutable std::mutex mutex_;
  Random random_;
  uint64_t uses_ = 0;
  std::map<std::string, std::shared_ptr<Session>> sessions_;
  std::deque<std::string> finished_;  // ids, the newest last
};

/// Converts a plan to an upload_id and back; nullopt for an id that was not made here.
std::string UploadIdOf(const UploadPlan& plan, std::string_view nonce);
std::optional<UploadPlan> PlanOfUploadId(std::string_view upload_id);
/// The key under which the store keeps the bytes of an upload.
std::string KeyOfUploadId(std::string_view upload_id);

}  // namespace caip::gcs
