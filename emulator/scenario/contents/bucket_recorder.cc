#include "emulator/scenario/contents/bucket_recorder.h"

#include <unistd.h>

#include "base/encoding.h"
#include "emulator/scenario/errors.h"

namespace caip::scenario {
namespace {

// Links the file instead of copying it: the store never changes a file that it has written.
Status Link(const Path& from, const Path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return Ok{};
  std::error_code error;
  std::filesystem::copy_file(from, to, error);
  if (!error) return Ok{};
  return errors::CannotKeep(from.string(), error.value());
}

std::string DigestOf(const gcs::ObjectInfo& info) {
  return std::to_string(info.size) + ":" + std::to_string(info.crc32c) + ":" + Hex(info.md5);
}

}  // namespace

Status BucketRecorder::Begin(gcs::DirectoryStore& store) {
  RETURN_IF_ERROR(MakeDirectories(directory_));
  BucketState state;
  ASSIGN_OR_RETURN(const std::vector<gcs::Bucket> buckets, store.ListBuckets());
  for (const gcs::Bucket& bucket : buckets) {
    gcs::ListQuery query;
    do {
      ASSIGN_OR_RETURN(const gcs::Listing page, store.List(bucket.name, query));
      for (const gcs::ObjectInfo& info : page.items) {
        if (auto kept = Keep(store, info)) state[info.bucket + "/" + info.name] = std::move(kept);
      }
      query.page_token = page.next_page_token;
    } while (!query.page_token.empty());
  }
  const std::lock_guard lock(mutex_);
  states_ = {std::move(state)};
  return Ok{};
}

void BucketRecorder::Take(gcs::DirectoryStore& store, const std::string& bucket,
                          const std::string& name) {
  const auto info = store.GetObject(bucket, name, {});
  KeptObjectPtr kept = info.ok() ? Keep(store, *info) : nullptr;
  const std::lock_guard lock(mutex_);
  BucketState state = states_.empty() ? BucketState() : states_.back();
  if (kept) {
    state[bucket + "/" + name] = std::move(kept);
  } else {
    state.erase(bucket + "/" + name);
  }
  states_.push_back(std::move(state));
}

KeptObjectPtr BucketRecorder::Keep(gcs::DirectoryStore& store, const gcs::ObjectInfo& info) {
  auto kept = std::make_shared<KeptObject>();
  {
    const std::lock_guard lock(mutex_);
    kept->file = directory_ / std::to_string(++files_);
  }
  const Status linked = Link(store.PathOf(info.bucket, info.name), kept->file);
  if (!linked.ok()) {
    const std::lock_guard lock(mutex_);
    if (outcome_.ok()) outcome_ = linked;
    return nullptr;
  }
  kept->info = info;
  kept->digest = DigestOf(info);
  return kept;
}

Status BucketRecorder::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

std::vector<BucketState> BucketRecorder::states() const {
  const std::lock_guard lock(mutex_);
  return states_;
}

std::string KeyOf(const BucketState& state) {
  std::string key;
  for (const auto& [name, object] : state) key += name + "\n" + object->digest + "\n";
  return key;
}

Status Restore(const BucketState& state, gcs::DirectoryStore& store) {
  for (const auto& [name, object] : state) {
    const gcs::ObjectInfo& info = object->info;
    if (!store.GetBucket(info.bucket).ok()) {
      const auto made = store.CreateBucket(info.bucket);
      if (!made.ok()) return made.error();
    }
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(object->file));
    ASSIGN_OR_RETURN(auto writer, store.NewObject(info.bucket, info.name));
    RETURN_IF_ERROR(writer->Append(bytes));
    gcs::ObjectInfo wanted;
    wanted.content_type = info.content_type;
    wanted.content_encoding = info.content_encoding;
    wanted.metadata = info.metadata;
    const auto written = writer->Commit(std::move(wanted), {}, std::nullopt, std::nullopt);
    if (!written.ok()) return written.error();
  }
  return Ok{};
}

}  // namespace caip::scenario
