// Blobs and uploads of a registry.

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "fakes/registry/errors.h"
#include "fakes/registry/registry.h"
#include "images/errors.h"

namespace caip::registry {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
constexpr uint32_t kIdMask = 0xffffffff;

// The first part of the ids of a repository's uploads.
std::string UploadPrefix(const Repository& of) {
  char prefix[16];
  std::snprintf(prefix, sizeof prefix, "%08x-", static_cast<unsigned>(Fnv1a(of.stored) & kIdMask));
  return prefix;
}

// Copies the body to the upload. Returns the number of bytes beyond the range.
Result<uint64_t> Copy(const UploadPiece& piece, images::BlobUpload& upload) {
  std::vector<char> buffer(kPieceBytes);
  uint64_t left = piece.range ? piece.range->length() : UINT64_MAX;
  uint64_t beyond = 0;
  while (true) {
    ASSIGN_OR_RETURN(const size_t count, piece.body.Read(buffer.data(), buffer.size()));
    if (count == 0) return beyond;
    const size_t kept = static_cast<size_t>(std::min<uint64_t>(count, left));
    if (kept > 0) RETURN_IF_ERROR(upload.Append({buffer.data(), kept}));
    left -= kept;
    beyond += count - kept;
  }
}

// Checks the place of a piece before its first byte is read.
Status CopyPiece(const UploadPiece& piece, images::BlobUpload& upload) {
  if (!piece.range) {
    const auto copied = Copy(piece, upload);
    return copied.ok() ? Status(Ok{}) : copied.error();
  }
  const uint64_t begin = upload.offset();
  if (piece.range->first != begin) return errors::UploadRangeWrong(begin, piece.range->first);
  ASSIGN_OR_RETURN(const uint64_t beyond, Copy(piece, upload));
  const uint64_t length = upload.offset() - begin + beyond;
  if (length == piece.range->length()) return Ok{};
  return errors::UploadSizeWrong(piece.range->length(), length);
}

}  // namespace

// Configurations are small. A client would wait too long while a large layer is read.
bool Registry::IsUsable(const images::Digest& blob) const {
  const auto size = blobs_.Size(blob);
  if (!size.ok()) return false;
  if (*size <= images::kManifestBytesMax) return blobs_.IsKnownIntact(blob);
  return !blobs_.IsKnownDamaged(blob);
}

Result<OpenBlob> Registry::Open(const Repository& in, const images::Digest& blob) {
  ASSIGN_OR_RETURN(const bool is_linked, names_.IsLinked(in.stored, blob));
  if (!is_linked) return images::errors::BlobUnknown(blob.text());
  ASSIGN_OR_RETURN(Fd file, blobs_.OpenBlob(blob));
  if (!IsUsable(blob)) return errors::BlobDamaged(blob.text());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return CannotLookAt(blob.text(), errno);
  return OpenBlob{std::move(file), static_cast<uint64_t>(status.st_size)};
}

Status Registry::RemoveBlob(const Repository& in, const images::Digest& blob) {
  ASSIGN_OR_RETURN(const bool is_linked, names_.IsLinked(in.stored, blob));
  if (!is_linked) return images::errors::BlobUnknown(blob.text());
  return names_.Unlink(in.stored, blob);
}

Result<bool> Registry::Mount(const Repository& to, const Repository* from,
                             const images::Digest& blob) {
  if (!IsUsable(blob)) return false;
  ASSIGN_OR_RETURN(const Fd lock, lock_());
  if (!blobs_.Has(blob)) return false;
  if (from != nullptr) {
    ASSIGN_OR_RETURN(const bool is_linked, names_.IsLinked(from->stored, blob));
    if (!is_linked) return false;
  }
  RETURN_IF_ERROR(names_.Link(to.stored, blob));
  return true;
}

Status Registry::PutBlob(const Repository& to, const images::Digest& blob, http::BodyReader& body) {
  ASSIGN_OR_RETURN(images::BlobUpload upload, blobs_.Begin(NewUploadId(to)));
  const Status copied = CopyPiece({body}, upload);
  const Status stored = copied.ok() ? MakeBlob(to, upload, blob) : copied;
  if (!stored.ok() && !upload.is_over()) upload.Cancel();
  return stored;
}

Status Registry::MakeBlob(const Repository& in, images::BlobUpload& upload,
                          const images::Digest& blob) {
  // This reads a blob that is stored already, and after a restart the whole upload: the lock would
  // keep a removal waiting meanwhile.
  RETURN_IF_ERROR(upload.Prepare(blob));
  ASSIGN_OR_RETURN(const Fd lock, lock_());
  RETURN_IF_ERROR(upload.Finish(blob));
  return names_.Link(in.stored, blob);
}

// The form of a UUID, as the specification asks. A repeated seed repeats ids after a restart.
std::string Registry::NewUploadId(const Repository& to) {
  const std::lock_guard lock(mutex_);
  std::string id;
  do {
    id = UploadPrefix(to) + chance_.Hex(4) + "-" + chance_.Hex(4) + "-" + chance_.Hex(4) + "-" +
         chance_.Hex(12);
  } while (blobs_.Offset(id).ok());
  return id;
}

Result<std::string> Registry::StartUpload(const Repository& to) {
  ASSIGN_OR_RETURN(const images::BlobUpload upload, blobs_.Begin(NewUploadId(to)));
  return upload.id();
}

Result<images::BlobUpload> Registry::ResumeUpload(const Repository& to, const std::string& id) {
  if (!id.starts_with(UploadPrefix(to))) return images::errors::UploadUnknown(id);
  return blobs_.Resume(id);
}

Result<uint64_t> Registry::UploadOffset(const Repository& to, const std::string& id) const {
  if (!id.starts_with(UploadPrefix(to))) return images::errors::UploadUnknown(id);
  return blobs_.Offset(id);
}

Result<uint64_t> Registry::AddToUpload(const Repository& to, const std::string& id,
                                       const UploadPiece& piece) {
  ASSIGN_OR_RETURN(images::BlobUpload upload, ResumeUpload(to, id));
  RETURN_IF_ERROR(CopyPiece(piece, upload));
  return upload.offset();
}

Status Registry::FinishUpload(const Repository& to, const std::string& id, const UploadPiece& last,
                              const images::Digest& blob) {
  ASSIGN_OR_RETURN(images::BlobUpload upload, ResumeUpload(to, id));
  RETURN_IF_ERROR(CopyPiece(last, upload));
  return MakeBlob(to, upload, blob);
}

Status Registry::CancelUpload(const Repository& to, const std::string& id) {
  ASSIGN_OR_RETURN(images::BlobUpload upload, ResumeUpload(to, id));
  upload.Cancel();
  return Ok{};
}

}  // namespace caip::registry
