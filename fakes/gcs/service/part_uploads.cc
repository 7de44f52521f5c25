#include "fakes/gcs/service/part_uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/encoding.h"
#include "base/time_text.h"
#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/checksums.h"
#include "fakes/gcs/store/file_errors.h"

namespace caip::gcs {
namespace {

constexpr size_t kPartUploadsPieceBytes = 256 << 10;
constexpr char kPlanFile[] = "upload.json";

// A valid id cannot lead out of the directory.
bool IsId(std::string_view id) {
  return id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string NameOf(const UploadedPart& part) {
  char number[8];
  std::snprintf(number, sizeof number, "%05d", part.number);
  return std::string(number) + "." + part.md5;
}

// A directory that does not exist has no files.
bool IsFailure(const std::error_code& listed) {
  return listed && listed != std::errc::no_such_file_or_directory;
}

// "00012.<md5 in hex>"; nullopt for other files.
std::optional<UploadedPart> PartOf(const Path& file) {
  const std::string name = file.filename().string();
  if (name.size() != 38 || name[5] != '.') return std::nullopt;
  UploadedPart part;
  const auto [end, error] = std::from_chars(name.data(), name.data() + 5, part.number);
  if (error != std::errc() || end != name.data() + 5) return std::nullopt;
  part.md5 = name.substr(6);
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return std::nullopt;
  part.size = static_cast<uint64_t>(facts.st_size);
  part.modified = Instant(std::chrono::seconds(facts.st_mtim.tv_sec) +
                          std::chrono::nanoseconds(facts.st_mtim.tv_nsec));
  return part;
}

// Reads the parts' files in order; one is open at a time.
class PartReader final : public http::BodyReader {
 public:
  explicit PartReader(std::vector<Path> files) : files_(std::move(files)) {}
  Result<size_t> Read(char* buffer, size_t size) override {
    while (true) {
      if (!file_.valid()) {
        if (next_ == files_.size()) return size_t{0};
        file_ = Fd(::open(files_[next_++].c_str(), O_RDONLY | O_CLOEXEC));
        if (!file_.valid()) return errors::CannotReadPart(errno);
      }
      const ssize_t count = ::read(file_.get(), buffer, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errors::CannotReadPart(errno);
      if (count > 0) return static_cast<size_t>(count);
      file_.Close();
    }
  }

 private:
  std::vector<Path> files_;
  size_t next_ = 0;
  Fd file_;
};

Result<PartUpload> ReadPlan(const Path& directory) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(directory / kPlanFile));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  PartUpload plan;
  plan.id = directory.filename().string();
  plan.bucket = StringOr(json, "bucket");
  plan.object = StringOr(json, "object");
  if (const Json* metadata = Member(json, "metadata")) plan.metadata = *metadata;
  if (const Json* query = Member(json, "query")) plan.query = *query;
  plan.begun = ParseRfc3339(StringOr(json, "begun")).value_or(Instant());
  return plan;
}

// The files of the same part with other contents. Looks at names only: an upload may have 10,000
// parts.
Result<std::vector<Path>> OthersOf(const UploadedPart& part, const Path& directory) {
  const std::string name = NameOf(part);
  const std::string number = name.substr(0, name.find('.') + 1);
  std::vector<Path> others;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
    const std::string other = entry.path().filename();
    if (other.starts_with(number) && other != name) others.push_back(entry.path());
  }
  if (IsFailure(failed)) return errors::CannotReadPart(failed.value());
  return others;
}

}  // namespace

PartUploads::PartUploads(Path directory, const Clock& clock, Random random)
    : directory_(std::move(directory)),
      clock_(&clock),
      mutex_(std::make_unique<std::mutex>()),
      random_(random) {
  RemoveRemains();
}
PartUploads::PartUploads(PartUploads&&) noexcept = default;
PartUploads::~PartUploads() = default;

// What a kill left of uploads that were being begun or forgotten.
void PartUploads::RemoveRemains() const {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    const auto plan = std::filesystem::status(entry.path() / kPlanFile, ignored);
    const bool is_upload = IsId(entry.path().filename().string());
    if (is_upload && plan.type() == std::filesystem::file_type::not_found) RemoveTree(entry.path());
  }
}

std::string PartUploads::NewId() {
  const std::lock_guard lock(*mutex_);
  std::string id;
  do {  // the same seed repeats the ids of an earlier process
    id = random_.Hex(32);
  } while (std::filesystem::exists(directory_ / id));
  return id;
}

Result<PartUpload> PartUploads::Begin(
    PartUpload plan, const std::function<Result<bool>(const std::string& id)>& was_used) {
  for (bool used = true; used;) {
    plan.id = NewId();
    ASSIGN_OR_RETURN(used, was_used(plan.id));
  }
  plan.begun = clock_->Now();
  RETURN_IF_ERROR(MakeDirectories(directory_ / plan.id));
  const Json json = {{"bucket", plan.bucket},
                     {"object", plan.object},
                     {"metadata", plan.metadata},
                     {"query", plan.query},
                     {"begun", Rfc3339(plan.begun, 3)}};
  RETURN_IF_ERROR(WriteFileDurably(directory_ / plan.id / kPlanFile, PrettyJson(json)));
  RETURN_IF_ERROR(SyncDirectory(directory_));
  return plan;
}

Result<PartUpload> PartUploads::Find(const std::string& id, const std::string& bucket,
                                     const std::string& object) const {
  if (!IsId(id)) return errors::PartsUnknown();
  auto plan = ReadPlan(directory_ / id);
  if (!plan.ok() && plan.error().code != Code::kNotFound) return plan.error();
  if (!plan.ok() || plan->bucket != bucket || plan->object != object) return errors::PartsUnknown();
  return plan;
}

Result<std::vector<PartUpload>> PartUploads::List(const std::string& bucket) const {
  std::vector<PartUpload> list;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, failed)) {
    auto plan = ReadPlan(entry.path());
    if (!plan.ok() && plan.error().code != Code::kNotFound) return plan.error();
    if (plan.ok() && plan->bucket == bucket) list.push_back(std::move(*plan));
  }
  if (IsFailure(failed)) return errors::CannotReadPart(failed.value());
  std::sort(list.begin(), list.end(), [](const PartUpload& a, const PartUpload& b) {
    return std::tie(a.object, a.begun, a.id) < std::tie(b.object, b.begun, b.id);
  });
  return list;
}

Result<UploadedPart> PartUploads::Put(const PartUpload& upload, int number, http::BodyReader& body,
                                      const std::string& expected_md5) {
  const Path directory = directory_ / upload.id;
  const Path temporary = directory / ("receiving." + NewId());
  Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid())
    return errno == ENOENT ? errors::PartsUnknown() : errors::CannotKeepPart(errno);
  const auto receive = [&]() -> Result<UploadedPart> {
    std::vector<char> piece(kPartUploadsPieceBytes);
    Hasher hasher;
    UploadedPart part{.number = number};
    while (true) {
      ASSIGN_OR_RETURN(const size_t count, body.Read(piece.data(), piece.size()));
      if (count == 0) break;
      hasher.Add({piece.data(), count});
      if (!WriteAll(file.get(), {piece.data(), count})) return errors::CannotWritePart(errno);
      part.size += count;
    }
    const auto [md5, crc32c] = hasher.Finish();
    if (!expected_md5.empty() && md5 != expected_md5) {
      return errors::Md5Mismatch(Base64(expected_md5), Base64(md5));
    }
    part.md5 = Hex(md5);
    part.crc32c = crc32c;
    if (::fsync(file.get()) != 0) return errors::CannotKeepPart(errno);
    return part;
  };
  auto part = receive();
  if (!part.ok()) {
    ::unlink(temporary.c_str());
    return part;
  }
  std::vector<Path> replaced;
  {
    const std::lock_guard lock(*mutex_);
    ASSIGN_OR_RETURN(replaced, OthersOf(*part, directory));
    if (::rename(temporary.c_str(), (directory / NameOf(*part)).c_str()) != 0) {
      return errno == ENOENT ? errors::PartsUnknown() : errors::CannotKeepPart(errno);
    }
  }
  RETURN_IF_ERROR(SyncDirectory(directory));
  for (const Path& old : replaced) ::unlink(old.c_str());
  return part;
}

Result<std::vector<UploadedPart>> PartUploads::Parts(const PartUpload& upload) const {
  std::vector<UploadedPart> parts;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / upload.id, failed)) {
    if (const auto part = PartOf(entry.path())) parts.push_back(*part);
  }
  if (IsFailure(failed)) return errors::CannotReadPart(failed.value());
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::tie(a.number, a.modified) < std::tie(b.number, b.modified);
  });
  return parts;
}

std::unique_ptr<http::BodyReader> PartUploads::Read(const PartUpload& upload,
                                                    std::vector<UploadedPart> parts) const {
  std::vector<Path> files;
  for (const UploadedPart& part : parts) files.push_back(directory_ / upload.id / NameOf(part));
  return std::make_unique<PartReader>(std::move(files));
}

// The plan goes first and for good: without it the upload does not exist, whatever else a kill or a
// power failure leaves.
Status PartUploads::Forget(const PartUpload& upload) {
  const Path directory = directory_ / upload.id;
  if (::unlink((directory / kPlanFile).c_str()) != 0) {
    return errno == ENOENT ? errors::PartsUnknown() : errors::CannotKeepPart(errno);
  }
  RETURN_IF_ERROR(SyncDirectory(directory));
  RemoveTree(directory);
  return Ok{};
}

}  // namespace caip::gcs
