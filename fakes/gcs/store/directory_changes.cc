// How the directory store commits, deletes, updates and moves objects.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/bucket_store.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/directory_writer.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

constexpr const char* kUnknownType = "application/octet-stream";

Result<FileIdentity> IdentityOfNew(int directory, const std::string& file,
                                   const std::string& object) {
  struct stat status {};
  if (::fstatat(directory, file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    return IdentityOf(status);
  }
  return errno == ENOENT ? errors::NewFileRemoved(object)
                         : errors::CannotLookAtObject(object, errno);
}

std::string DirectoryOf(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

}  // namespace

// The version that was kept of a live object. Takes it back at its end, which comes before the
// bucket's lock is released, if the object is still live then.
class DirectoryStore::KeptVersion {
 public:
  KeptVersion(DirectoryStore& store, const BucketTree& tree, const BucketRules& rules,
              const ObjectRecord* live)
      : store_(store), tree_(tree), live_(KeepsVersions(rules) ? live : nullptr) {}
  ~KeptVersion() {
    if (live_) store_.TakeVersionBack(tree_, *live_);
  }
  KeptVersion(const KeptVersion&) = delete;
  KeptVersion& operator=(const KeptVersion&) = delete;
  /// The object is not live any more.
  void Confirm() { live_ = nullptr; }

 private:
  DirectoryStore& store_;
  const BucketTree& tree_;
  const ObjectRecord* live_;
};

// A note on disk of an object that is about to get its file. If the process ends between the
// rename of the file and the save of its record, the next start finds the record in the note
// (RestoreCommits). It would take the file for one that a person made otherwise. Any thread.
class DirectoryStore::CommitNote {
 public:
  explicit CommitNote(SideStore& side) : side_(side) {}
  ~CommitNote() { End(); }
  CommitNote(const CommitNote&) = delete;
  CommitNote& operator=(const CommitNote&) = delete;
  Status Write(ObjectRecord record) {
    record_ = std::make_shared<const ObjectRecord>(std::move(record));
    side_.StageCommit(record_);
    return side_.Flush();
  }
  /// The record of the object is staged, or the object was refused.
  void End() {
    if (const RecordPtr record = std::exchange(record_, nullptr)) side_.StageCommitEnd(*record);
  }

 private:
  SideStore& side_;
  RecordPtr record_;
};

// Makes the record of a new object whose bytes are in place.
ObjectRecord DirectoryStore::NewRecord(ObjectInfo info, const FileIdentity& file,
                                       const BucketRules& rules) {
  info.generation = side_->NextGeneration(clock_.Now());
  info.metageneration = 1;
  info.revision = 0;
  info.time_created = info.updated = clock_.Now();
  info.time_deleted = info.soft_delete_time = info.hard_delete_time = std::nullopt;
  info.retained_since = Instant();
  if (rules.default_event_based_hold) info.event_based_hold = true;
  if (info.storage_class.empty() || rules.autoclass) {
    info.storage_class = rules.default_storage_class;
  }
  if (info.kms_key_name.empty()) info.kms_key_name = rules.default_kms_key;
  const bool composed = info.component_count > 0;  // these have no default type
  if (info.content_type.empty() && !composed) info.content_type = kUnknownType;
  ObjectRecord record;
  record.info = std::move(info);
  record.file = file;
  record.hashed = true;
  return record;
}

// Checks whether the object may be replaced, and keeps a version if required. Returns the record of
// the live object, if there is one. The caller holds the bucket's lock.
Result<RecordPtr> DirectoryStore::PrepareCommit(const BucketTree& tree, const ObjectInfo& info,
                                                const BucketRules& rules,
                                                const Preconditions& preconditions) {
  if (RecordPtr known = KeepsVersions(rules) ? nullptr : FindUnchanged(tree, info.name)) {
    RETURN_IF_ERROR(CheckPreconditions(preconditions, &known->info));
    RETURN_IF_ERROR(CheckDeletable(rules, known->info, clock_.Now()));
    kept_bytes_.Forget(known->info.generation);
    return known;
  }
  auto live = FindLocked(tree, info.name);
  if (!live.ok() && live.error().code != Code::kNotFound) return live.error();
  RETURN_IF_ERROR(CheckPreconditions(preconditions, live.ok() ? &live->record.info : nullptr));
  if (!live.ok()) return RecordPtr();
  RETURN_IF_ERROR(PrepareRemoval(*live, rules));
  return std::make_shared<const ObjectRecord>(std::move(live->record));
}

// The record of an object whose file is unchanged, found without opening the file. nullptr if that
// is not certain. The caller holds the bucket's lock, and the object is not being placed.
RecordPtr DirectoryStore::FindUnchanged(const BucketTree& tree, const std::string& name) const {
  if (ObjectNameProblem(name)) return nullptr;
  const auto record = side_->FindObject(tree.bucket(), name);
  if (!record.ok() || !*record) return nullptr;
  struct stat status {};
  if (::fstatat(tree.fd(), PlainPath(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode) || IdentityOf(status) != (*record)->file) {
    return nullptr;
  }
  return *record;
}

// Before the bucket's lock is taken, so that notes share their syncs. Another change may come
// first, so the object gets another generation. Without syncs, a note would take a large part of
// the time of a small object.
Status DirectoryStore::NoteNewFile(CommitNote& note, ObjectInfo info, const FileIdentity& file) {
  if (!options_.durable && file.size <= kSmallObjectBytes) return Ok{};
  std::unique_lock lock(LockOf(info.bucket).mutex);
  ASSIGN_OR_RETURN(const BucketRules rules, RulesFor(info.bucket));
  lock.unlock();
  return note.Write(NewRecord(std::move(info), file, rules));
}

Result<ObjectInfo> DirectoryStore::Commit(int directory, const std::string& temporary,
                                          ObjectInfo info, const Preconditions& preconditions) {
  ASSIGN_OR_RETURN(BucketTree tree, OpenBucket(info.bucket));
  const bool is_upload = directory == directories_.uploads.get();
  CommitNote note(*side_);
  if (!is_upload) {
    ASSIGN_OR_RETURN(const FileIdentity file, IdentityOfNew(directory, temporary, info.name));
    RETURN_IF_ERROR(NoteNewFile(note, info, file));
  }
  std::vector<std::string> touched;
  ObjectRecord record;
  UnsyncedChange change(*this, info.bucket);
  {
    const auto lock = LockForChange(info.bucket, {info.name});
    ASSIGN_OR_RETURN(const BucketRules rules, RulesFor(info.bucket));
    ASSIGN_OR_RETURN(const RecordPtr before, PrepareCommit(tree, info, rules, preconditions));
    KeptVersion version(*this, tree, rules, before.get());
    if (is_upload) RETURN_IF_ERROR(NoteCommit(temporary, info, rules, &record));
    Step();
    ASSIGN_OR_RETURN(const FileIdentity file,
                     tree.Place(directory, temporary, info.name, &touched));
    version.Confirm();
    Step();
    if (!is_upload) record = NewRecord(std::move(info), file, rules);
    record.file = file;
    change.Begin(record.info.name);
    side_->StageObject(record);
  }
  Step();
  if (options_.durable) RETURN_IF_ERROR(tree.Sync(touched));
  change.End();
  note.End();
  Step();
  RETURN_IF_ERROR(side_->Flush());
  Step();
  return std::move(record.info);
}

Status DirectoryStore::DeleteObject(const std::string& bucket, const std::string& name,
                                    const Preconditions& preconditions, const Version& version) {
  ASSIGN_OR_RETURN(BucketTree tree, OpenBucket(bucket));
  std::vector<std::string> touched;
  UnsyncedChange change(*this, bucket);
  {
    const auto lock = LockForChange(bucket, {name});
    const auto live = FindLocked(tree, name);
    const bool other = version.generation != 0 &&
                       (!live.ok() || live->record.info.generation != version.generation);
    if (other) return DeleteVersion(bucket, name, preconditions, version);
    if (!live.ok()) return live.error();
    RETURN_IF_ERROR(CheckPreconditions(preconditions, &live->record.info));
    ASSIGN_OR_RETURN(BucketRules rules, RulesFor(bucket));
    if (version.generation != 0) rules.versioning = false;  // it does not become noncurrent
    RETURN_IF_ERROR(PrepareRemoval(*live, rules));
    KeptVersion kept(*this, tree, rules, &live->record);
    Step();
    RETURN_IF_ERROR(tree.Remove(name, &touched));
    kept.Confirm();
    Step();
    change.Begin(name);
    side_->StageRemoval(bucket, name);
  }
  Step();
  if (options_.durable) RETURN_IF_ERROR(tree.Sync(touched));
  change.End();
  return side_->Flush();
}

Status DirectoryStore::CheckDeletion(const std::string& bucket, const std::string& name,
                                     const Version& version) const {
  ASSIGN_OR_RETURN(const ObjectInfo info, GetObject(bucket, name, version));
  const auto lock = LockForChange(bucket, {name});
  ASSIGN_OR_RETURN(const BucketRules rules, RulesFor(bucket));
  const bool becomes_noncurrent = rules.versioning && version.generation == 0;
  return becomes_noncurrent ? Status(Ok{}) : CheckDeletable(rules, info, clock_.Now());
}

// Another thread may have read the refused metadata to change it, so it shares its revision with no
// other metadata.
void DirectoryStore::Withdraw(const ObjectRecord& refused, bool is_live) {
  const ObjectInfo& info = refused.info;
  BucketLock& its = LockOf(info.bucket);
  {
    const std::lock_guard lock(its.mutex);
    auto before =
        its.unsaved_objects.NoteRefused({info.bucket, info.name, info.generation}, info.revision);
    if (!before) return;
    before->info.revision = side_->NextRevision(info.revision);
    if (!is_live) {
      side_->StageVersion(*before);
    } else if (const auto live = side_->FindObject(info.bucket, info.name);
               live.ok() && *live && (*live)->info.generation == info.generation) {
      side_->StageObject(*before);  // else a lookup has found that a person replaced the file
    }
    its.unsaved_objects.NoteWithdrawn();
  }
  its.settled.notify_all();
  (void)side_->Flush().ok();  // another thread may have saved it meanwhile
}

void DirectoryStore::NoteSaved(const ObjectRecord& record) {
  const ObjectInfo& info = record.info;
  BucketLock& its = LockOf(info.bucket);
  {
    const std::lock_guard lock(its.mutex);
    its.unsaved_objects.NoteSaved({info.bucket, info.name, info.generation}, info.revision);
  }
  its.settled.notify_all();
}

Result<ObjectInfo> DirectoryStore::UpdateObject(const ObjectInfo& wanted,
                                                const Preconditions& preconditions) {
  ASSIGN_OR_RETURN(Found hashed, FindVersion(wanted.bucket, wanted.name,
                                             {.generation = wanted.generation, .unsaved = true}));
  ASSIGN_OR_RETURN(const BucketTree tree, OpenBucket(wanted.bucket));
  ObjectRecord record;
  bool is_live = false;
  {
    const auto lock = LockForUpdate(wanted.bucket, wanted.name);
    const auto live = FindLocked(tree, wanted.name);
    is_live =
        live.ok() && (wanted.generation == 0 || wanted.generation == live->record.info.generation);
    if (is_live) {
      record = live->record;
    } else {
      ASSIGN_OR_RETURN(auto old, side_->FindVersion(wanted.bucket, wanted.name, wanted.generation));
      if (!old) return errors::ObjectNotFound(wanted.bucket, wanted.name);
      record = std::move(*old);
    }
    RETURN_IF_ERROR(CheckPreconditions(preconditions, &record.info));
    ObjectInfo& info = record.info;
    if (info.revision != wanted.revision) return errors::ObjectChanged(info.name);
    ObjectRecord before = record;
    const Instant now = clock_.Now();
    if (info.event_based_hold && !wanted.event_based_hold) info.retained_since = now;
    for (const TextField& field : kTextFields) info.*field.member = wanted.*field.member;
    for (const TextField& field : kJsonFields) info.*field.member = wanted.*field.member;
    for (const FlagField& flag : kFlagFields) {
      info.*flag.member = wanted.*flag.member;
      info.*flag.shown = flag.IsShown(wanted);
    }
    info.acl = wanted.acl;
    info.metadata = wanted.metadata;
    info.updated = now;
    ++info.metageneration;
    info.revision = side_->NextRevision(before.info.revision);
    LockOf(info.bucket)
        .unsaved_objects.Add({info.bucket, info.name, info.generation}, info.revision,
                             std::move(before));
    is_live ? side_->StageObject(record) : side_->StageVersion(record);
  }
  const Status saved = side_->Flush();
  Step();
  if (!saved.ok()) {
    Withdraw(record, is_live);
    return saved.error();
  }
  NoteSaved(record);
  return std::move(record.info);
}

// Links the source's file under the target's name before it removes the source's name. A crash in
// between leaves both objects, never none.
Result<ObjectInfo> DirectoryStore::MoveObject(const std::string& bucket, const std::string& from,
                                              const std::string& to, const Preconditions& of_source,
                                              const Preconditions& of_target) {
  if (const auto problem = ObjectNameProblem(to)) return errors::ObjectNameInvalid(to, *problem);
  if (from == to) return errors::MovedOntoItself(to);
  ASSIGN_OR_RETURN(const Found found, Find(bucket, from, true));  // its checksums move with it
  ASSIGN_OR_RETURN(BucketTree tree, OpenBucket(bucket));
  CommitNote note(*side_);
  ObjectInfo moved = found.record.info;
  moved.name = to;
  RETURN_IF_ERROR(NoteNewFile(note, std::move(moved), found.record.file));
  std::vector<std::string> touched;
  ObjectRecord record;
  UnsyncedChange change(*this, bucket);
  {
    const auto lock = LockForChange(bucket, {from, to});
    ASSIGN_OR_RETURN(Found source, FindLocked(tree, from));
    RETURN_IF_ERROR(CheckPreconditions(of_source, &source.record.info));
    RETURN_IF_ERROR(SyncFile(source));
    const auto target = FindLocked(tree, to);
    if (!target.ok() && target.error().code != Code::kNotFound) return target.error();
    RETURN_IF_ERROR(CheckPreconditions(of_target, target.ok() ? &target->record.info : nullptr));
    ASSIGN_OR_RETURN(const BucketRules rules, RulesFor(bucket));
    if (target.ok()) RETURN_IF_ERROR(CheckRemoval(*target, rules));
    RETURN_IF_ERROR(CheckRemoval(source, rules));  // before a version of the target is kept
    if (target.ok()) RETURN_IF_ERROR(PrepareRemoval(*target, rules));
    KeptVersion of_replaced(*this, tree, rules, target.ok() ? &target->record : nullptr);
    RETURN_IF_ERROR(PrepareRemoval(source, rules));
    KeptVersion of_moved(*this, tree, rules, &source.record);
    Step();
    const std::string temporary = TemporaryFiles::NewName();
    RETURN_IF_ERROR(LinkTemporary(source.file.fd.get(), temporary, from));
    const int directory = directories_.temporary.get();
    auto file = tree.Place(directory, temporary, to, &touched);
    if (!file.ok()) {
      ::unlinkat(directory, temporary.c_str(), 0);
      return file.error();
    }
    of_replaced.Confirm();
    record = NewRecord(source.record.info, *file, rules);
    record.info.name = to;
    change.Begin(to);
    side_->StageObject(record);
    Step();
    const bool is_at_risk = target.ok() || DirectoryOf(from) != DirectoryOf(to);
    if (options_.durable && is_at_risk) RETURN_IF_ERROR(SaveMoved(tree, touched, change));
    RETURN_IF_ERROR(tree.Remove(from, &touched));
    of_moved.Confirm();
    change.Begin(from);
    side_->StageRemoval(bucket, from);
  }
  Step();
  if (options_.durable) RETURN_IF_ERROR(tree.Sync(touched));
  change.End();
  note.End();
  Step();
  RETURN_IF_ERROR(side_->Flush());
  return std::move(record.info);
}

// Saves the object under its new name before it loses the old one. A file system may save two
// directories in any order, and after a power failure, the bytes that are kept of a small object
// would replace the file that took its name, if its record were that of the small object.
Status DirectoryStore::SaveMoved(const BucketTree& tree, const std::vector<std::string>& touched,
                                 UnsyncedChange& change) {
  RETURN_IF_ERROR(tree.Sync(touched));
  change.EndLocked();
  Step();
  return side_->Flush();
}

}  // namespace caip::gcs
