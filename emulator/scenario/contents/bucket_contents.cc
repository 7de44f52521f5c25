#include "emulator/scenario/contents/bucket_contents.h"

#include <filesystem>

#include "emulator/scenario/errors.h"

namespace caip::scenario {
namespace {

constexpr uint64_t kObjectBytesMax = 16u << 20;  // larger objects are compared by size and hash

}  // namespace

Status WriteObject(gcs::BucketStore& store, const std::string& bucket, const std::string& name,
                   std::string_view bytes) {
  ASSIGN_OR_RETURN(auto writer, store.NewObject(bucket, name));
  RETURN_IF_ERROR(writer->Append(bytes));
  const auto written = writer->Commit({}, {}, std::nullopt, std::nullopt);
  return written.ok() ? Status(Ok{}) : written.error();
}

Status WriteTree(gcs::BucketStore& store, const std::string& bucket, const Path& from) {
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk entry(from, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file()) continue;
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(entry->path()));
    RETURN_IF_ERROR(
        WriteObject(store, bucket, std::filesystem::relative(entry->path(), from), bytes));
  }
  if (!error) return Ok{};
  return errors::BucketUnreadable(bucket, from, error.message());
}

Result<std::string> ReadForComparison(gcs::BucketStore& store, const gcs::ObjectInfo& info) {
  if (info.size > kObjectBytesMax) return std::to_string(info.size) + " bytes " + info.md5;
  ASSIGN_OR_RETURN(auto reader, store.OpenObject(info.bucket, info.name, {}));
  std::string bytes(info.size, '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    ASSIGN_OR_RETURN(const size_t count, reader->ReadAt(at, bytes.data() + at, bytes.size() - at));
    if (count == 0) break;
    at += count;
  }
  bytes.resize(at);
  return bytes;
}

}  // namespace caip::scenario
