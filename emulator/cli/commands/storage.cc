// `caip ls`, `cp`, `cat`, `rm`, `buckets list` and `buckets rm`: objects for people without gsutil.

#include <cstdio>
#include <map>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "emulator/app/attach/interrupt.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/output.h"
#include "emulator/cli/storage/bucket_files.h"
#include "emulator/cli/storage/copy_plan.h"
#include "emulator/cli/storage/local_files.h"
#include "emulator/cli/storage/storage_errors.h"

namespace caip::cli {
namespace {

using google::GcsUri;

std::string Bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string Counted(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Prints listings.
class Lister {
 public:
  Lister(const LsCommand& command, BucketFiles& files, const Io& io)
      : command_(command), files_(files), io_(io) {}

  Status List(const GcsUri& uri) {
    if (HasWildcard(uri.object)) {
      ASSIGN_OR_RETURN(const BucketListing matches, files_.Match(uri));
      for (const std::string& folder : matches.folders) Print(Text(GcsUri{uri.bucket, folder}));
      for (const BucketFile& file : matches.files) Print(file);
      const bool is_empty = matches.files.empty() && matches.folders.empty();
      return is_empty ? Status(errors::NothingMatches(Text(uri))) : Status(Ok{});
    }
    bool is_found = false;
    if (!uri.object.empty() && !uri.object.ends_with('/')) {
      ASSIGN_OR_RETURN(const auto file, files_.Find(uri));
      if (file) Print(*file);
      is_found = file.has_value();
    }
    const bool needs_slash = !uri.object.empty() && !uri.object.ends_with('/');
    ASSIGN_OR_RETURN(
        const BucketListing below,
        files_.List(uri.bucket, uri.object + (needs_slash ? "/" : ""), command_.recursive));
    for (const std::string& folder : below.folders) Print(Text(GcsUri{uri.bucket, folder}));
    for (const BucketFile& file : below.files) Print(file);
    is_found |= uri.object.empty() || !below.files.empty() || !below.folders.empty();
    return is_found ? Status(Ok{}) : Status(errors::NothingMatches(Text(uri)));
  }

  void PrintTotal() const {
    if (command_.long_listing) {
      io_.out("TOTAL: " + Counted(count_, "object") + ", " + Bytes(bytes_) + "\n");
    }
  }

 private:
  void Print(const std::string& uri) const {
    io_.out((command_.long_listing ? std::string(33, ' ') : "") + uri + "\n");
  }
  void Print(const BucketFile& file) {
    ++count_;
    bytes_ += file.bytes;
    if (!command_.long_listing) return Print(Text(file.uri));
    char head[64];
    std::snprintf(head, sizeof head, "%10llu  ", static_cast<unsigned long long>(file.bytes));
    io_.out(head + file.updated.substr(0, 19) + "Z " + Text(file.uri) + "\n");
  }

  const LsCommand& command_;
  BucketFiles& files_;
  const Io& io_;
  size_t count_ = 0;
  uint64_t bytes_ = 0;
};

Status ListBuckets(BucketFiles& files, const Io& io) {
  ASSIGN_OR_RETURN(const auto buckets, files.Buckets());
  for (const std::string& bucket : buckets) io.out("gs://" + bucket + "/\n");
  return Ok{};
}

Status ListStorage(const LsCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  BucketFiles files(*connection);
  if (command.uris.empty()) return ListBuckets(files, world.io);
  Lister lister(command, files, world.io);
  for (const GcsUri& uri : command.uris) RETURN_IF_ERROR(lister.List(uri));
  lister.PrintTotal();
  return Ok{};
}

// Opens what is copied to storage.
Result<FileBody> OpenSource(const Path& path) {
  return path == "-" ? FileBody::OfStandardInput() : FileBody::Open(path);
}

Status CopyOne(BucketFiles& files, const Copy& copy, const Io& io) {
  const auto* from = std::get_if<GcsUri>(&copy.from);
  const auto* to = std::get_if<GcsUri>(&copy.to);
  if (from && to) return files.Copy(*from, *to);
  if (to) {
    ASSIGN_OR_RETURN(FileBody body, OpenSource(std::get<Path>(copy.from)));
    return files.Write(*to, body, body.size());
  }
  const Path& path = std::get<Path>(copy.to);
  if (path == "-") {
    return files.Read(*from, [&](std::string_view bytes) {
      io.out(bytes);
      return true;
    });
  }
  return FillFile(path, [&](const auto& take) { return files.Read(*from, take); });
}

Status CopyFiles(const CpCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  BucketFiles files(*connection);
  ASSIGN_OR_RETURN(const std::vector<Copy> copies,
                   PlanCopies(files, command.sources, command.destination, command.recursive));
  const app::InterruptGuard guard;  // a copy that is interrupted leaves nothing half written
  uint64_t bytes = 0;
  for (const Copy& copy : copies) {
    RETURN_IF_ERROR(CopyOne(files, copy, world.io));
    bytes += copy.bytes;
  }
  const bool is_printed = Text(command.destination) == "-";
  if (!is_printed) {
    world.io.err("Copied " + Counted(copies.size(), "file") +
                 (bytes > 0 ? " (" + Bytes(bytes) + ")" : "") + ".\n");
  }
  return Ok{};
}

Status PrintFiles(const CatCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  BucketFiles files(*connection);
  for (const GcsUri& uri : command.uris) {
    ASSIGN_OR_RETURN(const BucketListing matches, files.Match(uri));
    if (matches.files.empty()) return errors::NothingMatches(Text(uri));
    for (const BucketFile& file : matches.files) {
      RETURN_IF_ERROR(CopyOne(files, {file.uri, Path("-"), file.bytes}, world.io));
    }
  }
  return Ok{};
}

using Objects = std::map<std::string, GcsUri>;  // by their texts

Status AddBelow(BucketFiles& files, const GcsUri& folder, Objects& all) {
  const bool needs_slash = !folder.object.ends_with('/');
  ASSIGN_OR_RETURN(const BucketListing below,
                   files.List(folder.bucket, folder.object + (needs_slash ? "/" : ""), true));
  for (const BucketFile& file : below.files) all.emplace(Text(file.uri), file.uri);
  return Ok{};
}

// Adds the objects that a URI of `rm` names.
Status AddRemoved(BucketFiles& files, const GcsUri& uri, bool recursive, Objects& all) {
  ASSIGN_OR_RETURN(BucketListing matches, files.Match(uri));
  for (const BucketFile& file : matches.files) all.emplace(Text(file.uri), file.uri);
  if (!HasWildcard(uri.object)) matches.folders = {uri.object};
  Objects below;
  for (const std::string& folder : matches.folders) {
    RETURN_IF_ERROR(AddBelow(files, {uri.bucket, folder}, below));
  }
  if (matches.files.empty() && below.empty()) return errors::NothingMatches(Text(uri));
  if (recursive) all.merge(below);
  const bool is_folder = !recursive && matches.files.empty();
  return is_folder ? Status(errors::IsAFolder(Text(uri), "rm")) : Status(Ok{});
}

// Nothing is removed if one of the URIs names nothing.
Status RemoveFiles(const RmCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  BucketFiles files(*connection);
  Objects all;
  std::set<std::string> buckets;
  for (const GcsUri& uri : command.uris) {
    if (!uri.object.empty()) {
      RETURN_IF_ERROR(AddRemoved(files, uri, command.recursive, all));
      continue;
    }
    if (!command.recursive) return errors::IsABucket(Text(uri));
    RETURN_IF_ERROR(files.List(uri.bucket, "", false));  // it exists
    buckets.insert(uri.bucket);
  }
  for (const auto& [text, uri] : all) RETURN_IF_ERROR(files.Remove(uri));
  size_t objects = all.size();
  for (const std::string& bucket : buckets) {
    ASSIGN_OR_RETURN(const size_t removed, files.RemoveAllOf(bucket));
    objects += removed;
  }
  world.io.err("Removed " + Counted(objects, "object") +
               (buckets.empty() ? "" : " and " + Counted(buckets.size(), "bucket")) + ".\n");
  return Ok{};
}

Status RemoveBuckets(const BucketsRmCommand& command, const Surroundings& world) {
  ASSIGN_OR_RETURN(const auto connection, world.connect(command.emulator, app::Lifetime::kBriefly));
  BucketFiles files(*connection);
  for (const std::string& bucket : command.buckets) {
    ASSIGN_OR_RETURN(const BucketListing all, files.List(bucket, "", command.recursive));
    const bool is_empty = all.files.empty() && all.folders.empty();
    if (!is_empty && !command.recursive) return errors::BucketIsNotEmpty(bucket);
    if (command.recursive) RETURN_IF_ERROR(files.RemoveAllOf(bucket));
    if (!command.recursive) RETURN_IF_ERROR(files.RemoveBucket(bucket));
    world.io.err("Removed gs://" + bucket + ".\n");
  }
  return Ok{};
}

int Ended(const Status& status, const Io& io, std::string_view command) {
  return status.ok() ? static_cast<int>(kExitSuccess) : Fail(io, command, status.error());
}

}  // namespace

int RunLs(const LsCommand& command, const Surroundings& world) {
  return Ended(ListStorage(command, world), world.io, "ls");
}

int RunCp(const CpCommand& command, const Surroundings& world) {
  return Ended(CopyFiles(command, world), world.io, "cp");
}

int RunCat(const CatCommand& command, const Surroundings& world) {
  return Ended(PrintFiles(command, world), world.io, "cat");
}

int RunRm(const RmCommand& command, const Surroundings& world) {
  return Ended(RemoveFiles(command, world), world.io, "rm");
}

int RunBucketsList(const BucketsListCommand& command, const Surroundings& world) {
  auto connection = world.connect(command.emulator, app::Lifetime::kBriefly);
  if (!connection.ok()) return Fail(world.io, "buckets.list", connection.error());
  BucketFiles files(**connection);
  return Ended(ListBuckets(files, world.io), world.io, "buckets.list");
}

int RunBucketsRm(const BucketsRmCommand& command, const Surroundings& world) {
  return Ended(RemoveBuckets(command, world), world.io, "buckets.rm");
}

}  // namespace caip::cli
