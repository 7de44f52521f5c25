#include "fakes/gcs/observed_store.h"

namespace caip::gcs {
namespace {

// Tells of the change around doing it.
template <typename Change>
auto Tell(MutationListener& listener, const Mutation& mutation, const Change& change)
    -> decltype(change()) {
  RETURN_IF_ERROR(listener.Before(mutation));
  auto result = change();
  listener.After(mutation, result.ok());
  return result;
}

class ObservedWriter final : public ObjectWriter {
 public:
  ObservedWriter(std::unique_ptr<ObjectWriter> writer, MutationListener& listener,
                 Mutation mutation)
      : writer_(std::move(writer)), listener_(listener), mutation_(std::move(mutation)) {}
  Status Append(std::string_view bytes) override { return writer_->Append(bytes); }
  Status AppendFrom(ObjectReader& source, uint64_t offset, uint64_t length) override {
    return writer_->AppendFrom(source, offset, length);
  }
  uint64_t size() const override { return writer_->size(); }
  Status Persist() override { return writer_->Persist(); }
  Result<ObjectInfo> Commit(ObjectInfo info, const Preconditions& preconditions,
                            const std::optional<std::string>& expected_md5,
                            const std::optional<uint32_t>& expected_crc32c) override {
    return Tell(listener_, mutation_, [&] {
      return writer_->Commit(std::move(info), preconditions, expected_md5, expected_crc32c);
    });
  }

 private:
  std::unique_ptr<ObjectWriter> writer_;
  MutationListener& listener_;
  Mutation mutation_;
};

class ObservedStore final : public BucketStore {
 public:
  ObservedStore(BucketStore& store, MutationListener& listener)
      : store_(store), listener_(listener) {}

  Result<Bucket> CreateBucket(const Bucket& wanted) override {
    return Tell(listener_, {Mutation::Kind::kCreateBucket, wanted.name},
                [&] { return store_.CreateBucket(wanted); });
  }
  Result<Bucket> GetBucket(const std::string& name) const override {
    return store_.GetBucket(name);
  }
  std::vector<Bucket> ListBuckets() const override { return store_.ListBuckets(); }
  Status DeleteBucket(const std::string& name) override {
    return Tell(listener_, {Mutation::Kind::kDeleteBucket, name},
                [&] { return store_.DeleteBucket(name); });
  }
  Result<Bucket> UpdateBucket(const Bucket& bucket) override {
    return Tell(listener_, {Mutation::Kind::kUpdateBucket, bucket.name},
                [&] { return store_.UpdateBucket(bucket); });
  }
  Result<std::unique_ptr<ObjectWriter>> NewObject(const std::string& bucket,
                                                  const std::string& name) override {
    ASSIGN_OR_RETURN(auto writer, store_.NewObject(bucket, name));
    return std::unique_ptr<ObjectWriter>(std::make_unique<ObservedWriter>(
        std::move(writer), listener_, Mutation{Mutation::Kind::kWrite, bucket, name}));
  }
  Result<std::unique_ptr<ObjectWriter>> ResumeObject(const std::string& bucket,
                                                     const std::string& name,
                                                     const std::string& key) override {
    ASSIGN_OR_RETURN(auto writer, store_.ResumeObject(bucket, name, key));
    return std::unique_ptr<ObjectWriter>(std::make_unique<ObservedWriter>(
        std::move(writer), listener_, Mutation{Mutation::Kind::kWrite, bucket, name}));
  }
  Status NoteUpload(const std::string& key, const std::string& note) override {
    return store_.NoteUpload(key, note);
  }
  std::optional<std::string> UploadNote(const std::string& key) const override {
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
    return store_.OpenObject(bucket, name, version);
  }
  Result<Listing> List(const std::string& bucket, const ListQuery& query) const override {
    return store_.List(bucket, query);
  }
  Status DeleteObject(const std::string& bucket, const std::string& name,
                      const Preconditions& preconditions, const Version& version) override {
    return Tell(listener_, {Mutation::Kind::kDelete, bucket, name},
                [&] { return store_.DeleteObject(bucket, name, preconditions, version); });
  }
  Result<ObjectInfo> MoveObject(const std::string& bucket, const std::string& from,
                                const std::string& to, const Preconditions& of_source,
                                const Preconditions& of_target) override {
    return Tell(listener_, {Mutation::Kind::kMove, bucket, from},
                [&] { return store_.MoveObject(bucket, from, to, of_source, of_target); });
  }
  Result<ObjectInfo> UpdateObject(const ObjectInfo& info,
                                  const Preconditions& preconditions) override {
    return Tell(listener_, {Mutation::Kind::kUpdate, info.bucket, info.name},
                [&] { return store_.UpdateObject(info, preconditions); });
  }

 private:
  BucketStore& store_;
  MutationListener& listener_;
};

}  // namespace

std::unique_ptr<BucketStore> Observed(BucketStore& store, MutationListener& listener) {
  return std::make_unique<ObservedStore>(store, listener);
}

}  // namespace caip::gcs
