// Operations on objects, except those that write bytes.

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "base/abandoned_work.h"
#include "base/encoding.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/service/settings.h"
#include "fakes/gcs/service/storage_service.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

constexpr int kObjectTriesMax = 10;

}  // namespace

Result<ObjectPage> StorageService::ListObjects(const std::string& bucket, ListQuery query,
                                               bool with_folders) const {
  ObjectPage page;
  ASSIGN_OR_RETURN(page.bucket, GetBucket(bucket));
  if (with_folders) {
    for (const ManagedFolder& folder : ManagedFoldersOf(page.bucket)) {
      query.folders.push_back(folder.name);
    }
  }
  ASSIGN_OR_RETURN(page.listing, store_.List(bucket, query));
  return page;
}

Result<ObjectInfo> StorageService::GetObject(const ObjectName& object,
                                             const Version& version) const {
  return store_.GetObject(object.bucket, object.name, version);
}

Result<std::shared_ptr<ObjectReader>> StorageService::OpenObject(const ObjectName& object,
                                                                 const Version& version) const {
  ASSIGN_OR_RETURN(auto reader, store_.OpenObject(object.bucket, object.name, version));
  return std::shared_ptr<ObjectReader>(std::move(reader));
}

Result<ObjectInfo> StorageService::ChangeObject(const ObjectName& object, const Version& version,
                                                const Preconditions& conditions,
                                                const ObjectChange& change,
                                                bool may_weaken_retention) {
  Version newest = version;
  newest.unsaved = true;  // the change is saved only with those before it
  for (int tries = 1;; ++tries) {
    ASSIGN_OR_RETURN(ObjectInfo info, GetObject(object, newest));
    RETURN_IF_ERROR(CheckPreconditions(conditions, &info));  // before any rule of the fields
    Preconditions unchanged = conditions;
    if (!unchanged.if_metageneration_match) unchanged.if_metageneration_match = info.metageneration;
    const std::string retention = info.retention;
    const std::string custom_time = info.custom_time;
    const std::string acl = info.acl;
    const std::string storage_class = info.storage_class;
    RETURN_IF_ERROR(change(&info));
    if (info.acl != acl) {
      RETURN_IF_ERROR(CheckObjectList(info, errors::ListUse::kChangeObject));
    }
    RETURN_IF_ERROR(CheckObjectFields(info));
    RETURN_IF_ERROR(CheckCustomTimeChange(custom_time, info.custom_time));
    RETURN_IF_ERROR(CheckRetentionChange(retention, info.retention, may_weaken_retention));
    if (info.retention != retention) RETURN_IF_ERROR(CheckMayRetain(info));
    info.storage_class = storage_class;  // only a rewrite changes it
    auto updated = store_.UpdateObject(info, unchanged);
    if (updated.ok()) return updated;
    const Code failure = updated.error().code;
    const bool lost = failure == Code::kFailedPrecondition || failure == Code::kNotFound;
    const bool raced = failure == Code::kAborted || (lost && !conditions.if_metageneration_match);
    if (!raced || tries == kObjectTriesMax) return updated;
  }
}

Status StorageService::DeleteObject(const ObjectName& object, const Version& version,
                                    const Preconditions& conditions) {
  return store_.DeleteObject(object.bucket, object.name, conditions, version);
}

Result<ObjectInfo> StorageService::MoveObject(const ObjectName& from, const std::string& to,
                                              const Preconditions& of_source,
                                              const Preconditions& of_target) {
  return store_.MoveObject(from.bucket, from.name, to, of_source, of_target);
}

// Operations that write bytes: uploads, copies and compositions.

namespace {

constexpr size_t kSourcesMax = 32;

// `is_stored`: the bytes come from a file, so that nothing is lost if the copy stops.
Status CopyBody(http::BodyReader& body, ObjectWriter& writer, bool is_stored) {
  constexpr size_t kFirstBytes = 16 << 10;  // most objects need no more
  constexpr size_t kBufferBytes = 256 << 10;
  size_t size = kFirstBytes;
  auto buffer = std::make_unique_for_overwrite<char[]>(size);
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, body.Read(buffer.get(), size));
    if (count == 0) return Ok{};
    if (is_stored && IsWorkAbandoned()) return errors::ClientGone();
    RETURN_IF_ERROR(writer.Append({buffer.get(), count}));
    if (count < size || size == kBufferBytes) continue;
    size = kBufferBytes;
    buffer = std::make_unique_for_overwrite<char[]>(size);
  }
}

// A copy about to begin. `source` keeps its bytes readable even if the object is overwritten.
struct CopyPlan {
  std::shared_ptr<ObjectReader> source;
  ObjectInfo info;  // the source's metadata with the client's changes
  const CopyRequest& request;
};

// The copy does not get the source's holds, retention and access list. Its storage class and KMS
// key are the defaults of its bucket.
Result<CopyPlan> PlanCopy(const StorageService& service, const CopyRequest& request) {
  ASSIGN_OR_RETURN(auto source, service.OpenObject(request.source, request.version));
  RETURN_IF_ERROR(CheckPreconditions(request.of_source, &source->info()));
  RETURN_IF_ERROR(CheckKey(source->info(), request.source_key));
  CopyPlan plan{source, source->info(), request};
  for (const FlagField& flag : kFlagFields) flag.Set(std::nullopt, &plan.info);
  plan.info.retention.clear();
  plan.info.acl.clear();
  plan.info.storage_class.clear();
  plan.info.kms_key_name.clear();
  RETURN_IF_ERROR(request.change(&plan.info));
  RETURN_IF_ERROR(CheckObjectFields(plan.info));
  ObjectInfo made = plan.info;
  made.bucket = request.target.bucket;
  RETURN_IF_ERROR(service.CheckNewObject(made));
  return plan;
}

Result<ObjectInfo> CopyWhole(BucketStore& store, const CopyPlan& plan) {
  const ObjectName& target = plan.request.target;
  ASSIGN_OR_RETURN(const auto writer, store.NewObject(target.bucket, target.name));
  RETURN_IF_ERROR(writer->AppendFrom(*plan.source, 0, plan.source->info().size));
  return writer->Commit(plan.info, plan.request.of_target, std::nullopt, std::nullopt);
}

// True if the copy changes location, storage class or key. Only such copies take several steps.
Result<bool> MovesBytes(const BucketStore& store, const CopyPlan& plan) {
  const ObjectInfo& source = plan.source->info();
  ASSIGN_OR_RETURN(const Bucket from, store.GetBucket(source.bucket));
  ASSIGN_OR_RETURN(const Bucket to, store.GetBucket(plan.request.target.bucket));
  const std::string storage_class =
      plan.info.storage_class.empty() ? RulesOf(to).default_storage_class : plan.info.storage_class;
  return from.location != to.location || source.storage_class != storage_class ||
         source.customer_key_sha256 != plan.info.customer_key_sha256;
}

// A token is a number and a hash of that number, source and target. The store keeps the bytes
// copied so far under that hash.
std::string TokenKey(const CopyPlan& plan, std::string_view number) {
  const ObjectInfo& source = plan.source->info();
  const ObjectName& target = plan.request.target;
  Hasher hasher;
  for (std::string_view part :
       {std::string_view(source.bucket), std::string_view(source.name),
        std::string_view(target.bucket), std::string_view(target.name), number}) {
    hasher.Add(part);
    hasher.Add(std::string_view("\0", 1));
  }
  hasher.Add(std::to_string(source.generation));
  return Hex(hasher.Finish().md5);
}

// Returns the key of a token. Makes the token if it is "".
Result<std::string> KeyOfToken(const BucketStore& store, ResumableSessions& sessions,
                               const CopyPlan& plan, std::string* token) {
  if (token->empty()) {
    std::string key;
    std::optional<std::string> note;
    do {
      const std::string number = sessions.NewNonce();
      key = TokenKey(plan, number);
      *token = number + "." + key;
      ASSIGN_OR_RETURN(note, store.UploadNote(key));
    } while (note);
    return key;
  }
  const size_t dot = token->find('.');
  const std::string key = TokenKey(plan, token->substr(0, dot));
  if (dot == std::string::npos || token->substr(dot + 1) != key) {
    return errors::RewriteTokenInvalid();
  }
  return key;
}

// Copies up to `limit` more bytes; the last step makes the object.
Status CopyStep(BucketStore& store, const CopyPlan& plan, const std::string& key, uint64_t limit,
                RewriteProgress* progress) {
  const ObjectInfo& source = plan.source->info();
  const ObjectName& target = plan.request.target;
  ASSIGN_OR_RETURN(progress->made, ObjectOfUpload(store, target, key));
  if (progress->made) return Ok{};  // by an earlier call, whose answer was lost
  ASSIGN_OR_RETURN(const auto writer, store.ResumeObject(target.bucket, target.name, key));
  const uint64_t here = std::min<uint64_t>(writer->size(), source.size);
  RETURN_IF_ERROR(
      writer->AppendFrom(*plan.source, here, std::min<uint64_t>(limit, source.size - here)));
  progress->rewritten = writer->size();
  if (progress->rewritten < source.size) return writer->Persist();
  const auto md5 = source.md5.empty() ? std::nullopt : std::optional(source.md5);
  auto made = writer->Commit(plan.info, plan.request.of_target, md5, source.crc32c);
  if (!made.ok()) store.ForgetUpload(key);
  if (!made.ok()) return made.error();
  progress->made = std::move(*made);
  return Ok{};
}

Result<std::shared_ptr<ObjectReader>> OpenComponent(const StorageService& service,
                                                    const std::string& bucket,
                                                    const ComposeSource& source) {
  if (source.name.empty()) {
    return errors::FieldInvalid("sourceObjects[].name", "a source needs a name");
  }
  ASSIGN_OR_RETURN(auto reader,
                   service.OpenObject({bucket, source.name}, {.generation = source.generation}));
  const Preconditions wanted{.if_generation_match = source.if_generation_match};
  RETURN_IF_ERROR(CheckPreconditions(wanted, &reader->info()));
  return reader;
}

// Deletes as objects.delete does: a source with a generation for good, even in a bucket with
// versioning. Keeps a source without one that has been overwritten since.
Status DeleteSources(BucketStore& store, const ComposeRequest& request,
                     const std::vector<int64_t>& generations) {
  for (size_t i = 0; i < generations.size(); ++i) {
    const ComposeSource& source = request.sources[i];
    const Preconditions unchanged{.if_generation_match = generations[i]};
    const Status deleted = store.DeleteObject(request.target.bucket, source.name, unchanged,
                                              {.generation = source.generation});
    const bool gone = !deleted.ok() && (deleted.error().code == Code::kFailedPrecondition ||
                                        deleted.error().code == Code::kNotFound);
    if (!gone) RETURN_IF_ERROR(deleted);
  }
  return Ok{};
}

}  // namespace

Result<ObjectInfo> StorageService::Insert(const UploadPlan& plan, http::BodyReader& bytes) {
  RETURN_IF_ERROR(CheckObjectFields(plan.info));
  RETURN_IF_ERROR(CheckNewObject(plan.info));
  ASSIGN_OR_RETURN(const auto writer, store_.NewObject(plan.info.bucket, plan.info.name));
  RETURN_IF_ERROR(CopyBody(bytes, *writer, false));
  return writer->Commit(plan.info, plan.preconditions, plan.sums.md5, plan.sums.crc32c);
}

Result<ObjectInfo> StorageService::InsertOnce(const UploadPlan& plan, http::BodyReader& bytes,
                                              const std::string& key) {
  RETURN_IF_ERROR(CheckObjectFields(plan.info));
  RETURN_IF_ERROR(CheckNewObject(plan.info));
  {
    const std::lock_guard lock(inserting_mutex_);
    if (!inserting_.insert(key).second) return errors::UploadTakenOver();
  }
  const auto insert = [&]() -> Result<ObjectInfo> {
    ASSIGN_OR_RETURN(auto known, ObjectOfUpload(store_, {plan.info.bucket, plan.info.name}, key));
    if (known) return *std::move(known);
    store_.ForgetUpload(key);  // the bytes of a call that was interrupted
    ASSIGN_OR_RETURN(const auto writer, store_.ResumeObject(plan.info.bucket, plan.info.name, key));
    RETURN_IF_ERROR(CopyBody(bytes, *writer, true));
    return writer->Commit(plan.info, plan.preconditions, plan.sums.md5, plan.sums.crc32c);
  };
  auto made = insert();
  if (!made.ok()) {
    const auto note = store_.UploadNote(key);
    if (note.ok() && note->value_or("").empty()) store_.ForgetUpload(key);
  }
  const std::lock_guard lock(inserting_mutex_);
  inserting_.erase(key);
  return made;
}

Result<bool> StorageService::HasInserted(const std::string& key) const {
  ASSIGN_OR_RETURN(const auto note, store_.UploadNote(key));
  return note.has_value();
}

Result<bool> StorageService::IsInserted(const ObjectName& object, const std::string& key) const {
  ASSIGN_OR_RETURN(const auto made, ObjectOfUpload(store_, object, key));
  return made.has_value();
}

Result<std::string> StorageService::StartUpload(const UploadPlan& plan) {
  RETURN_IF_ERROR(CheckObjectFields(plan.info));
  RETURN_IF_ERROR(CheckNewObject(plan.info));
  return sessions_.Start(plan);
}

Result<ObjectInfo> StorageService::Copy(const CopyRequest& request) {
  ASSIGN_OR_RETURN(const CopyPlan plan, PlanCopy(*this, request));
  return CopyWhole(store_, plan);
}

Result<RewriteProgress> StorageService::Rewrite(const CopyRequest& request,
                                                const std::string& token,
                                                std::optional<uint64_t> limit) {
  ASSIGN_OR_RETURN(const CopyPlan plan, PlanCopy(*this, request));
  ASSIGN_OR_RETURN(const bool moves, MovesBytes(store_, plan));
  RewriteProgress progress;
  progress.rewritten = progress.size = plan.source->info().size;
  progress.token = token;
  const bool in_steps = !token.empty() || (limit && moves && progress.size > *limit);
  if (!in_steps) {
    ASSIGN_OR_RETURN(progress.made, CopyWhole(store_, plan));
    return progress;
  }
  ASSIGN_OR_RETURN(const std::string key, KeyOfToken(store_, sessions_, plan, &progress.token));
  RETURN_IF_ERROR(CopyStep(store_, plan, key, limit.value_or(progress.size), &progress));
  return progress;
}

// An object that was not composed counts as one component.
static int SumOfComponents(int so_far, int more) {
  const int64_t sum = int64_t{so_far} + std::max(more, 1);
  return static_cast<int>(std::min<int64_t>(sum, std::numeric_limits<int>::max()));
}

Result<ObjectInfo> StorageService::Compose(ComposeRequest request) {
  const size_t count = request.sources.size();
  if (count == 0 || count > kSourcesMax) return errors::TooManySources(count);
  ObjectInfo& info = request.info;
  RETURN_IF_ERROR(CheckObjectFields(info));
  const std::string& bucket = request.target.bucket;
  info.bucket = bucket;
  RETURN_IF_ERROR(CheckNewObject(info));
  ASSIGN_OR_RETURN(const auto writer, store_.NewObject(bucket, request.target.name));
  std::vector<int64_t> generations;
  for (const ComposeSource& source : request.sources) {
    ASSIGN_OR_RETURN(const auto reader, OpenComponent(*this, bucket, source));
    if (request.delete_sources) {
      const Version version{.generation = source.generation};
      RETURN_IF_ERROR(store_.CheckDeletion(bucket, source.name, version));
    }
    generations.push_back(reader->info().generation);
    RETURN_IF_ERROR(CheckKey(reader->info(), info.customer_key_sha256));
    info.component_count = SumOfComponents(info.component_count, reader->info().component_count);
    RETURN_IF_ERROR(writer->AppendFrom(*reader, 0, reader->info().size));
  }
  ASSIGN_OR_RETURN(ObjectInfo made, writer->Commit(std::move(info), request.preconditions,
                                                   std::nullopt, std::nullopt));
  if (request.delete_sources) RETURN_IF_ERROR(DeleteSources(store_, request, generations));
  return made;
}

}  // namespace caip::gcs
