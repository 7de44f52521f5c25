#include "emulator/scenario/watch/storage_watch.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "emulator/scenario/watch/request_watch.h"
#include "fakes/gcs/errors.h"

namespace caip::scenario {
namespace {

using gcs::Bucket;
using gcs::Listing;
using gcs::ListQuery;
using gcs::ObjectInfo;
using gcs::ObjectReader;
using gcs::ObjectWriter;
using gcs::Preconditions;
using gcs::Version;
using harness::Event;
using harness::FaultInjector;
using harness::FaultResponse;
using harness::Phase;

// The error of a refused operation. Both storage APIs answer with the scenario's status.
Error StorageRefusal(const FaultResponse& response) {
  constexpr int kUsualStatus = 503;
  return gcs::errors::Injected(response.status != 0 ? response.status : kUsualStatus,
                               "refused by the scenario");
}

// Whether the operation does not take place: it is refused, or its replica has died.
bool Stops(const FaultResponse& response) {
  return response.kind == FaultResponse::Kind::kRefuse ||
         response.kind == FaultResponse::Kind::kGone;
}

harness::StorageEvent& StorageOf(Event& event) {
  return std::get<harness::StorageEvent>(event.body);
}

Event Operation(const std::string& replica, std::string op, std::string object) {
  harness::StorageEvent operation;
  operation.op = std::move(op);
  operation.object = std::move(object);
  return {.replica = replica, .body = std::move(operation)};
}

// Performs the operation and reports it before and after.
template <typename Do>
auto Report(FaultInjector& injector, Event event, const Do& operation) -> decltype(operation()) {
  const FaultResponse before = injector.ReportAndWait(event, Phase::kBefore);
  if (Stops(before)) return StorageRefusal(before);
  auto result = operation();
  StorageOf(event).failed = !result.ok();
  const FaultResponse after = injector.ReportAndWait(event, Phase::kAfter);
  if (Stops(after)) return StorageRefusal(after);
  return result;
}

// A reader that fails after the first `bytes` bytes.
class BrokenReader final : public ObjectReader {
 public:
  BrokenReader(std::unique_ptr<ObjectReader> reader, uint64_t bytes)
      : reader_(std::move(reader)), bytes_(bytes) {}
  const ObjectInfo& info() const override { return reader_->info(); }
  Result<size_t> ReadAt(uint64_t offset, char* buffer, size_t size) override {
    if (offset >= bytes_) {
      return gcs::errors::Injected(503, "the scenario breaks the stream here");
    }
    return reader_->ReadAt(offset, buffer, std::min<uint64_t>(size, bytes_ - offset));
  }

 private:
  std::unique_ptr<ObjectReader> reader_;
  uint64_t bytes_;
};

class WatchedWriter final : public ObjectWriter {
 public:
  WatchedWriter(std::unique_ptr<ObjectWriter> writer, gcs::BucketStore& store,
                FaultInjector& injector, std::string replica, std::string bucket, std::string name,
                const StoreListener& listener)
      : writer_(std::move(writer)),
        store_(store),
        injector_(injector),
        replica_(std::move(replica)),
        bucket_(std::move(bucket)),
        name_(std::move(name)),
        listener_(listener) {}

  Status Append(std::string_view bytes) override { return Forward(writer_->Append(bytes)); }
  Status AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) override {
    copied_ = source.info().bucket + "/" + source.info().name;
    return Forward(writer_->AppendFrom(source, offset, length));
  }
  uint64_t size() const override { return writer_->size(); }
  Status Persist() override { return writer_->Persist(); }
  Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                            const std::optional<std::string>& md5,
                            const std::optional<uint32_t>& crc32c) override {
    Event event = Operation(replica_, Name(), bucket_ + "/" + name_);
    StorageOf(event).bytes = writer_->size();
    StorageOf(event).from = copied_;
    return Report(injector_, std::move(event), [&] {
      auto committed = writer_->Commit(std::move(info), preconditions, md5, crc32c);
      if (listener_.changed && committed.ok()) listener_.changed(bucket_, name_);
      if (!committed.ok()) (void)Forward(committed.error());
      return committed;
    });
  }

 private:
  Status Forward(Status written) const {
    if (listener_.failed && !written.ok()) listener_.failed(written.error());
    return written;
  }
  std::string Name() const {
    if (!copied_.empty()) return "copy";
    return store_.GetObject(bucket_, name_).ok() ? "overwrite" : "create";
  }

  std::unique_ptr<ObjectWriter> writer_;
  gcs::BucketStore& store_;
  FaultInjector& injector_;
  std::string replica_;
  std::string bucket_;
  std::string name_;
  const StoreListener& listener_;
  std::string copied_;  // the source of a copy, the last one if there are several
};

class StorageWatch final : public gcs::BucketStore {
 public:
  StorageWatch(gcs::BucketStore& store, FaultInjector& injector, StoreListener listener)
      : store_(store), injector_(injector), listener_(std::move(listener)) {}

  Instant Now() const override { return store_.Now(); }
  Result<Bucket> CreateBucket(const Bucket& wanted) override { return store_.CreateBucket(wanted); }
  Result<Bucket> GetBucket(const std::string& name) const override {
    return store_.GetBucket(name);
  }
  Result<Bucket> GetUnsavedBucket(const std::string& name) const override {
    return store_.GetUnsavedBucket(name);
  }
  Result<std::vector<Bucket>> ListBuckets() const override { return store_.ListBuckets(); }
  Status DeleteBucket(const std::string& name) override { return store_.DeleteBucket(name); }
  Result<Bucket> UpdateBucket(const Bucket& bucket) override { return store_.UpdateBucket(bucket); }
  Status CheckDeletion(const std::string& bucket, const std::string& name,
                       const Version& version) const override {
    return store_.CheckDeletion(bucket, name, version);
  }

  Result<std::unique_ptr<ObjectWriter>> NewObject(const std::string& bucket,
                                                  const std::string& name) override {
    return Wrapped(store_.NewObject(bucket, name), bucket, name);
  }
  Result<std::unique_ptr<ObjectWriter>> ResumeObject(const std::string& bucket,
                                                     const std::string& name,
                                                     const std::string& key) override {
    return Wrapped(store_.ResumeObject(bucket, name, key), bucket, name);
  }
  Status NoteUpload(const std::string& key, const std::string& note) override {
    return store_.NoteUpload(key, note);
  }
  Result<std::optional<std::string>> UploadNote(const std::string& key) const override {
    return store_.UploadNote(key);
  }
  void ForgetUpload(const std::string& key) override { store_.ForgetUpload(key); }
  Result<ObjectInfo> GetObject(const std::string& bucket, const std::string& name,
                               const Version& version) const override {
    return store_.GetObject(bucket, name, version);
  }
  Result<std::unique_ptr<ObjectReader>> OpenObject(const std::string& bucket,
                                                   const std::string& name,
                                                   const Version& version) const override {
    const auto open = [&] { return store_.OpenObject(bucket, name, version); };
    const Caller* caller = CurrentCaller();
    if (!caller || caller->replica.empty() || !caller->reads_count) return open();
    Event event = Operation(caller->replica, "read", bucket + "/" + name);
    const FaultResponse before = injector_.ReportAndWait(event, Phase::kBefore);
    if (Stops(before)) return StorageRefusal(before);
    auto reader = open();
    StorageOf(event).failed = !reader.ok();
    const FaultResponse after = injector_.ReportAndWait(event, Phase::kAfter);
    if (Stops(after)) return StorageRefusal(after);
    const FaultResponse& broken = before.kind == FaultResponse::Kind::kBreak ? before : after;
    if (!reader.ok() || broken.kind != FaultResponse::Kind::kBreak) return reader;
    return std::unique_ptr<ObjectReader>(
        std::make_unique<BrokenReader>(*std::move(reader), broken.bytes));
  }
  Result<Listing> List(const std::string& bucket, const ListQuery& query) const override {
    const auto list = [&] { return store_.List(bucket, query); };
    const Caller* caller = CurrentCaller();
    if (!caller || caller->replica.empty()) return list();
    const Event event = Operation(caller->replica, "list", bucket + "/" + query.prefix);
    const FaultResponse before = injector_.ReportAndWait(event, Phase::kBefore);
    if (Stops(before)) return StorageRefusal(before);
    const std::string key = event.As<harness::StorageEvent>()->object + "\n" + query.delimiter +
                            "\n" + query.page_token;
    auto listing =
        before.kind == FaultResponse::Kind::kStale ? Earlier(key) : Remembered(key, list());
    const FaultResponse after = injector_.ReportAndWait(event, Phase::kAfter);
    if (Stops(after)) return StorageRefusal(after);
    return listing;
  }
  Status DeleteObject(const std::string& bucket, const std::string& name,
                      const Preconditions& preconditions, const Version& version) override {
    const auto remove = [&] {
      Status removed = store_.DeleteObject(bucket, name, preconditions, version);
      if (listener_.changed && removed.ok()) listener_.changed(bucket, name);
      return removed;
    };
    const Caller* caller = CurrentCaller();
    if (!caller || caller->replica.empty()) return remove();
    return Report(injector_, Operation(caller->replica, "delete", bucket + "/" + name), remove);
  }
  Result<ObjectInfo> UpdateObject(const ObjectInfo& info,
                                  const Preconditions& preconditions) override {
    return store_.UpdateObject(info, preconditions);
  }
  Result<ObjectInfo> MoveObject(const std::string& bucket, const std::string& from,
                                const std::string& to, const Preconditions& of_source,
                                const Preconditions& of_target) override {
    const auto move = [&] {
      auto moved = store_.MoveObject(bucket, from, to, of_source, of_target);
      if (listener_.changed && moved.ok()) listener_.changed(bucket, from);
      if (listener_.changed && moved.ok()) listener_.changed(bucket, to);
      return moved;
    };
    const Caller* caller = CurrentCaller();
    if (!caller || caller->replica.empty()) return move();
    Event event = Operation(caller->replica, "move", bucket + "/" + to);
    StorageOf(event).from = bucket + "/" + from;
    return Report(injector_, std::move(event), move);
  }

 private:
  Result<std::unique_ptr<ObjectWriter>> Wrapped(Result<std::unique_ptr<ObjectWriter>> writer,
                                                const std::string& bucket,
                                                const std::string& name) {
    const Caller* caller = CurrentCaller();
    if (!writer.ok() || !caller || caller->replica.empty()) return writer;
    return std::unique_ptr<ObjectWriter>(std::make_unique<WatchedWriter>(
        *std::move(writer), store_, injector_, caller->replica, bucket, name, listener_));
  }

  // Remembers each listing, because a fault may ask for the previous one.
  Result<Listing> Remembered(const std::string& key, Result<Listing> listing) const {
    if (!listing.ok()) return listing;
    const std::lock_guard lock(mutex_);
    listings_[key] = *listing;
    return listing;
  }
  Result<Listing> Earlier(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    return listings_[key];
  }

  gcs::BucketStore& store_;
  FaultInjector& injector_;
  StoreListener listener_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Listing> listings_;
};

}  // namespace

std::unique_ptr<gcs::BucketStore> WatchedStore(gcs::BucketStore& store, FaultInjector& injector,
                                               StoreListener listener) {
  return std::make_unique<StorageWatch>(store, injector, std::move(listener));
}

}  // namespace caip::scenario
