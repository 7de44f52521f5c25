#include "fakes/gcs/store/side_store.h"

#include <algorithm>

#include "fakes/gcs/store/object_record.h"
#include "fakes/gcs/store/side_tables.h"

namespace caip::gcs {
namespace {

void MoveAside(const Path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::rename(file.string() + suffix, file.string() + ".broken" + suffix, ignored);
  }
}

// The size of one generation of the cache. A record takes about 1 KiB.
constexpr size_t kKnownObjects = 8192;

}  // namespace

SideStore::SideStore() : known_objects_(kKnownObjects) {}

SideStore::~SideStore() {
  if (writer_ && !staged_.empty()) (void)Flush().ok();
}

Result<std::unique_ptr<SideStore>> SideStore::Open(const Path& file, bool durable, int64_t boot) {
  auto writer = std::make_unique<Writer>(file);
  Status opened = writer->Open(durable);
  if (!opened.ok() && opened.error().code == Code::kDataLoss) {
    writer.reset();
    MoveAside(file);
    writer = std::make_unique<Writer>(file);
    opened = writer->Open(durable);
  }
  RETURN_IF_ERROR(opened);
  std::unique_ptr<SideStore> store(new SideStore);
  store->reader_ = std::make_unique<Reader>(file);
  RETURN_IF_ERROR(store->reader_->Open());
  ASSIGN_OR_RETURN(store->last_generation_, writer->LastGeneration());
  ASSIGN_OR_RETURN(const int64_t sequence,
                   writer->database.Number("SELECT ifnull(max(sequence), 0) FROM small_objects"));
  ASSIGN_OR_RETURN(const int64_t last_boot,
                   writer->database.Number("SELECT ifnull(max(value), 0) FROM counters "
                                           "WHERE name='boot'"));
  ASSIGN_OR_RETURN(const int64_t notes,
                   writer->database.Number("SELECT ifnull(max(value), 0) FROM counters "
                                           "WHERE name='upload_notes'"));
  store->has_upload_notes_ = notes != 0;
  store->last_sequence_ = static_cast<uint64_t>(sequence);
  store->is_same_boot_ = last_boot == boot;
  store->boot_ = boot;
  store->writer_ = std::move(writer);
  return store;
}

Status SideStore::SetUploadNotes(bool all) {
  if (all == has_upload_notes_) return Ok{};
  const bool is_put =
      Writer::Run(writer_->put_counter.Bind(1, "upload_notes").Bind(2, int64_t{all}));
  if (!is_put) return writer_->database.LastFailure();
  has_upload_notes_ = all;
  return Ok{};
}

Status MigrateSideStore(const Path& file) {
  SideStore::Writer writer(file);
  return writer.Open(true);
}

// Returns the object's record if it is staged or being written. The caller holds the mutex.
std::optional<RecordPtr> SideStore::FindUnwritten(const std::string& bucket,
                                                  const std::string& name) const {
  for (const Batch* batch : {&staged_, &writing_}) {
    if (const auto at = batch->objects.find({bucket, name}); at != batch->objects.end()) {
      return at->second;
    }
    if (batch->removed_buckets.contains(bucket)) return RecordPtr();
  }
  return std::nullopt;
}

// The caller holds the mutex.
bool SideStore::IsRemovalUnwritten(const std::string& bucket) const {
  return staged_.removed_buckets.contains(bucket) || writing_.removed_buckets.contains(bucket);
}

// The caller holds the reader's mutex.
Result<std::optional<ObjectRecord>> SideStore::ReadObject(const std::string& bucket,
                                                          const std::string& name) {
  SqliteStatement& select = reader_->object;
  const SqliteUse use(select);
  ASSIGN_OR_RETURN(const bool found, reader_->Next(select.Bind(1, bucket).Bind(2, name)));
  if (!found) return std::optional<ObjectRecord>();
  return std::optional(Reader::ReadRecord(select, bucket, name));
}

Result<RecordPtr> SideStore::FindObject(const std::string& bucket, const std::string& name) {
  uint64_t staged_count = 0;
  {
    const std::lock_guard lock(mutex_);
    if (RecordPtr known = known_objects_.Find(bucket, name)) return known;
    if (auto found = FindUnwritten(bucket, name)) return std::move(*found);
    staged_count = staged_count_;
  }
  RecordPtr record;
  {
    const std::lock_guard lock(reader_mutex_);
    ASSIGN_OR_RETURN(std::optional<ObjectRecord> read, ReadObject(bucket, name));
    if (read) record = std::make_shared<const ObjectRecord>(std::move(*read));
  }
  Remember(record, staged_count);
  return record;
}

// Caches a record that was read from disk, unless a newer one may have been staged since.
void SideStore::Remember(RecordPtr record, uint64_t staged_count) {
  const std::lock_guard lock(mutex_);
  if (record && staged_count == staged_count_) known_objects_.Put(std::move(record));
}

// Reads all in one transaction, because taking the file's locks costs more than reading a record.
Result<std::vector<std::optional<ObjectRecord>>> SideStore::FindObjects(
    const std::string& bucket, const std::vector<std::string>& names) {
  std::vector<std::optional<ObjectRecord>> records(names.size());
  std::vector<size_t> to_read;
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < names.size(); ++i) {
      if (auto found = FindUnwritten(bucket, names[i])) {
        if (*found) records[i] = **found;
      } else {
        to_read.push_back(i);
      }
    }
  }
  const std::lock_guard lock(reader_mutex_);
  RETURN_IF_ERROR(reader_->database.Run("BEGIN"));
  Status read = Ok{};
  for (size_t i = 0; i < to_read.size() && read.ok(); ++i) {
    auto record = ReadObject(bucket, names[to_read[i]]);
    if (!record.ok())
      read = record.error();
    else
      records[to_read[i]] = std::move(*record);
  }
  (void)reader_->database.Run("COMMIT").ok();  // nothing was written
  RETURN_IF_ERROR(read);
  return records;
}

void SideStore::StageObject(const ObjectRecord& record) {
  auto shared = std::make_shared<const ObjectRecord>(record);
  const std::lock_guard lock(mutex_);
  Stage(std::move(shared));
}

// The caller holds the mutex.
void SideStore::Stage(RecordPtr record) {
  staged_.objects[{record->info.bucket, record->info.name}] = record;
  known_objects_.Put(std::move(record));
  ++staged_count_;
}

uint64_t SideStore::StageSmallObject(RecordPtr record, std::string bytes) {
  const std::lock_guard lock(mutex_);
  staged_.small[++last_sequence_] = {record, std::move(bytes)};
  Stage(std::move(record));
  return last_sequence_;
}

void SideStore::StageSynced(uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  staged_.synced = std::max(staged_.synced, sequence);
  ++staged_count_;
}

void SideStore::StageCommit(RecordPtr record) {
  const std::lock_guard lock(mutex_);
  staged_.commits[record->info.generation] = std::move(record);
  ++staged_count_;
}

void SideStore::StageCommitEnd(const ObjectRecord& record) {
  const std::lock_guard lock(mutex_);
  staged_.commits[record.info.generation] = nullptr;
  ++staged_count_;
}

Result<std::vector<ObjectRecord>> SideStore::UnfinishedCommits() {
  const std::lock_guard lock(reader_mutex_);
  return reader_->ReadCommits();
}

Result<std::vector<SideStore::SmallObject>> SideStore::SmallObjects() {
  const std::lock_guard lock(reader_mutex_);
  return reader_->ReadSmallObjects();
}

Result<std::vector<SideStore::SmallObject>> SideStore::SmallObjectFiles() {
  const std::lock_guard lock(reader_mutex_);
  return reader_->ReadSmallObjectFiles();
}

void SideStore::StageRemoval(const std::string& bucket, const std::string& name) {
  const std::lock_guard lock(mutex_);
  staged_.objects[{bucket, name}] = nullptr;
  known_objects_.Forget(bucket, name);
  ++staged_count_;
}

void SideStore::HoldObject(const std::string& bucket, const std::string& name) {
  const std::lock_guard lock(mutex_);
  held_.insert({bucket, name});
}

void SideStore::ReleaseObject(const std::string& bucket, const std::string& name) {
  const std::lock_guard lock(mutex_);
  held_.erase({bucket, name});
  ++staged_count_;
}

Result<std::optional<Bucket>> SideStore::FindBucket(const std::string& name) {
  uint64_t staged_count = 0;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_buckets_.find(name); at != known_buckets_.end()) {
      return std::optional(at->second);
    }
    if (IsRemovalUnwritten(name)) return std::optional<Bucket>();
    staged_count = staged_count_;
  }
  std::optional<Bucket> bucket;
  {
    const std::lock_guard lock(reader_mutex_);
    SqliteStatement& select = reader_->bucket;
    const SqliteUse use(select);
    ASSIGN_OR_RETURN(const bool found, reader_->Next(select.Bind(1, name)));
    if (found) {
      bucket = BucketFromRecordText(select.Text(0));
      bucket->name = name;
    }
  }
  const std::lock_guard lock(mutex_);
  // Another thread may have staged the bucket or its removal meanwhile.
  if (const auto at = known_buckets_.find(name); at != known_buckets_.end()) {
    return std::optional(at->second);
  }
  if (IsRemovalUnwritten(name)) return std::optional<Bucket>();
  if (bucket && staged_count == staged_count_) known_buckets_[name] = *bucket;
  return bucket;
}

std::optional<BucketRules> SideStore::FindRules(const std::string& bucket) {
  const std::lock_guard lock(mutex_);
  const auto record = known_buckets_.find(bucket);
  if (record == known_buckets_.end()) return std::nullopt;
  const auto [rules, is_new] = known_rules_.try_emplace(bucket);
  if (is_new) rules->second = RulesOf(record->second);
  return rules->second;
}

void SideStore::StageBucket(const Bucket& bucket) {
  const std::lock_guard lock(mutex_);
  known_rules_.erase(bucket.name);
  staged_.buckets[bucket.name] = bucket;
  known_buckets_[bucket.name] = bucket;
  ++staged_count_;
}

void SideStore::StageBucketRemoval(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(staged_.objects, [&](const auto& item) { return item.first.first == name; });
  std::erase_if(staged_.versions, [&](const auto& v) { return std::get<0>(v.first) == name; });
  known_objects_.Clear();  // of all buckets: this is rare
  staged_.buckets.erase(name);
  staged_.removed_buckets.insert(name);
  known_buckets_.erase(name);
  known_rules_.erase(name);
  ++staged_count_;
}

int64_t SideStore::NextGeneration(Instant now) {
  const int64_t micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  const std::lock_guard lock(mutex_);
  last_generation_ = std::max(last_generation_ + 1, micros);
  return last_generation_;
}

int64_t SideStore::NextRevision(int64_t present) {
  const std::lock_guard lock(mutex_);
  last_revision_ = std::max(last_revision_, present) + 1;
  return last_revision_;
}

Result<std::optional<ObjectRecord>> SideStore::FindVersion(const std::string& bucket,
                                                           const std::string& name,
                                                           int64_t generation) {
  {
    const std::lock_guard lock(mutex_);
    for (const Batch* batch : {&staged_, &writing_}) {
      const auto at = batch->versions.find({bucket, name, generation});
      if (at != batch->versions.end()) return at->second;
      if (batch->removed_buckets.contains(bucket)) return std::optional<ObjectRecord>();
    }
  }
  const std::lock_guard lock(reader_mutex_);
  SqliteStatement& select = reader_->version;
  const SqliteUse use(select);
  select.Bind(1, bucket).Bind(2, name).Bind(3, generation);
  ASSIGN_OR_RETURN(const bool found, reader_->Next(select));
  if (!found) return std::optional<ObjectRecord>();
  return std::optional(Reader::ReadRecord(select, bucket, name));
}

void SideStore::StageVersion(const ObjectRecord& record) {
  const std::lock_guard lock(mutex_);
  const ObjectInfo& info = record.info;
  staged_.versions[{info.bucket, info.name, info.generation}] = record;
  ++staged_count_;
}

void SideStore::StageVersionRemoval(const std::string& bucket, const std::string& name,
                                    int64_t generation) {
  const std::lock_guard lock(mutex_);
  staged_.versions[{bucket, name, generation}] = std::nullopt;
  ++staged_count_;
}

Result<std::vector<SideStore::VersionName>> SideStore::VersionsFrom(const std::string& bucket,
                                                                    const std::string& name,
                                                                    int64_t generation,
                                                                    bool soft_deleted, int limit) {
  const std::lock_guard lock(reader_mutex_);
  SqliteStatement& select = reader_->versions;
  const SqliteUse use(select);
  select.Bind(1, bucket).Bind(2, name).Bind(3, generation);
  select.Bind(4, int64_t{soft_deleted}).Bind(5, int64_t{limit});
  std::vector<VersionName> names;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader_->Next(select));
    if (!more) return names;
    names.push_back({select.Text(0), select.Integer(1)});
  }
}

Result<std::vector<ObjectRecord>> SideStore::ExpiredVersions(Instant hard_delete_time, int limit) {
  const std::lock_guard lock(reader_mutex_);
  SqliteStatement& select = reader_->expired;
  const SqliteUse use(select);
  select.Bind(1, int64_t{hard_delete_time.time_since_epoch().count()}).Bind(2, int64_t{limit});
  std::vector<ObjectRecord> records;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader_->Next(select));
    if (!more) return records;
    records.push_back(Reader::ReadRecord(select, select.Text(8), select.Text(9)));
  }
}

Result<std::vector<ObjectRecord>> SideStore::VersionsOfLiveObjects() {
  const std::lock_guard lock(reader_mutex_);
  return reader_->ReadVersionsOfLiveObjects();
}

Result<bool> SideStore::KnowsGeneration(const std::string& bucket, int64_t generation) {
  const std::lock_guard lock(reader_mutex_);
  const SqliteUse use(reader_->known);
  return reader_->Next(reader_->known.Bind(1, bucket).Bind(2, generation));
}

}  // namespace caip::gcs
