// Unfinished uploads: <uploads>/<key> has the bytes, <key>.note a short text. Until the upload is
// complete, its note says how many bytes are on the disk. A complete upload's file becomes the
// object's, and its note stays.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <charconv>
#include <vector>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/directory_writer.h"
#include "fakes/gcs/store/file_errors.h"
#include "fakes/gcs/store/names.h"
#include "fakes/gcs/store/object_record.h"

namespace caip::gcs {
namespace {

constexpr const char* kNoteEnding = ".note";
constexpr size_t kNoteBytesMax = 8 << 20;
constexpr size_t kShortNoteBytes = 32;  // shorter notes hold no record
constexpr std::string_view kReceived = "received ";

[[maybe_unused]] bool IsKey(const std::string& key) {
  return !key.empty() && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The bytes of an upload that are on the disk; 0 if the note does not say it.
uint64_t ReceivedOf(std::string_view note) {
  if (const auto record = RecordOfCommitNote(note)) return record->file.size;
  uint64_t size = 0;
  if (note.starts_with(kReceived)) {
    std::from_chars(note.data() + kReceived.size(), note.data() + note.size(), size);
  }
  return size;
}

}  // namespace

Result<std::unique_ptr<ObjectWriter>> DirectoryStore::ResumeObject(const std::string& bucket,
                                                                   const std::string& name,
                                                                   const std::string& key) {
  assert(IsKey(key));
  RETURN_IF_ERROR(EnsureBucket(bucket));
  if (const auto problem = ObjectNameProblem(name))
    return errors::ObjectNameInvalid(name, *problem);
  return DirectoryWriter::Resume(*this, bucket, name, key);
}

Status DirectoryStore::NoteUpload(const std::string& key, const std::string& note) {
  assert(IsKey(key));
  const Path file = options_.uploads / (key + kNoteEnding);
  return options_.durable ? WriteFileDurably(file, note) : WriteFile(file, note);
}

// After the bytes are on the disk, and before the client hears of them.
Status DirectoryStore::NoteReceived(const std::string& key, uint64_t size) const {
  return WriteFileDurably(options_.uploads / (key + kNoteEnding),
                          std::string(kReceived) + std::to_string(size));
}

// A power failure may leave later bytes of a file without earlier ones. So an upload continues
// after the bytes that were confirmed. Emulators of earlier versions confirmed bytes without a
// note. So the bytes that they left count as confirmed, and get their notes at the first start.
Status DirectoryStore::RestoreUploads() const {
  if (!options_.durable) {
    (void)side_->SetUploadNotes(false).ok();  // this emulator writes none
    return Ok{};
  }
  const bool is_noted = side_->has_upload_notes();
  if (is_noted && side_->is_same_boot()) return Ok{};
  bool all_noted = true;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(options_.uploads, failed)) {
    const std::string key = entry.path().filename();
    if (!IsKey(key)) continue;
    const auto note = ReadFileUpTo(options_.uploads / (key + kNoteEnding), kNoteBytesMax);
    if (!note.ok() && note.error().code != Code::kNotFound) return note.error();
    if (!note.ok() && !is_noted) {
      all_noted = NoteLength(key).ok() && all_noted;
    } else if (!side_->is_same_boot()) {
      RETURN_IF_ERROR(RestoreUpload(key, note.ok() ? *note : ""));
    }
  }
  if (failed) return errors::CannotContinueObject(options_.uploads.string(), failed.value());
  if (all_noted) (void)side_->SetUploadNotes(true).ok();  // else the next start tries again
  return Ok{};
}

// After a power failure. A commit syncs the directory of the object, and not the one of uploads. On
// a file system without a journal, a complete upload's file may so have both names. To cut it, or
// to continue it, would change the object.
Status DirectoryStore::RestoreUpload(const std::string& key, const std::string& note) const {
  if (!IsCompleteUpload(key, note)) return CutUpload(key, ReceivedOf(note));
  if (::unlinkat(directories_.uploads.get(), key.c_str(), 0) == 0 || errno == ENOENT) return Ok{};
  return errors::CannotContinueObject(key, errno);
}

// True if the upload is an object, or was cancelled. The note of a commit does not say whether the
// file became the object's.
bool DirectoryStore::IsCompleteUpload(const std::string& key, const std::string& note) const {
  const auto record = RecordOfCommitNote(note);
  if (!record) return !note.empty() && !note.starts_with(kReceived);
  struct stat status {};
  const int uploads = directories_.uploads.get();
  if (::fstatat(uploads, key.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  const auto tree = OpenBucket(record->info.bucket);
  if (!tree.ok()) return false;
  const auto file = tree->Open(record->info.name);
  return file.ok() && file->identity == IdentityOf(status);
}

Status DirectoryStore::NoteLength(const std::string& key) const {
  const Fd file(
      ::openat(directories_.uploads.get(), key.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || ::fdatasync(file.get()) != 0) {
    return errors::CannotContinueObject(key, errno);
  }
  return NoteReceived(key, static_cast<uint64_t>(status.st_size));
}

Status DirectoryStore::CutUpload(const std::string& key, uint64_t size) const {
  const Path file = options_.uploads / key;
  std::error_code ignored;
  if (std::filesystem::file_size(file, ignored) <= size || ignored) return Ok{};
  if (::truncate(file.c_str(), static_cast<off_t>(size)) == 0) return Ok{};
  return errors::CannotContinueObject(key, errno);
}

Result<std::optional<std::string>> DirectoryStore::UploadNote(const std::string& key) const {
  assert(IsKey(key));
  // with its bytes, an upload is not complete, even if its commit has begun
  if (::faccessat(directories_.uploads.get(), key.c_str(), F_OK, 0) == 0) {
    return std::optional<std::string>("");
  }
  auto note = ReadFileUpTo(options_.uploads / (key + kNoteEnding), kNoteBytesMax);
  if (note.ok()) return std::optional(std::move(*note));
  if (note.error().code != Code::kNotFound) return note.error();
  return std::optional<std::string>();
}

void DirectoryStore::ForgetUpload(const std::string& key) {
  assert(IsKey(key));
  ::unlinkat(directories_.uploads.get(), key.c_str(), 0);
  ::unlinkat(directories_.uploads.get(), (key + kNoteEnding).c_str(), 0);
}

// Before the upload's file becomes the object's. From then on, the note without the upload's file
// says that the upload is complete, so that one rename does both.
Status DirectoryStore::NoteCommit(const std::string& key, const ObjectInfo& info,
                                  const BucketRules& rules, ObjectRecord* record) {
  struct stat status {};
  if (::fstatat(directories_.uploads.get(), key.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errors::CannotLookAtObject(info.name, errno);
  }
  *record = NewRecord(info, IdentityOf(status), rules);
  const Path file = options_.uploads / (key + kNoteEnding);
  const std::string note = CommitNoteText(*record);
  return options_.durable ? WriteFileDurably(file, note) : WriteFile(file, note);
}

// An upload whose commit was interrupted after its rename gets the record that it did not save.
void DirectoryStore::CompleteCommits() {
  std::error_code ignored;
  std::vector<Path> complete;
  for (const auto& entry : std::filesystem::directory_iterator(options_.uploads, ignored)) {
    const bool is_short = entry.file_size(ignored) < kShortNoteBytes;
    if (entry.path().extension() != kNoteEnding || is_short) continue;
    if (CompleteCommit(entry.path())) complete.push_back(entry.path());
  }
  if (!side_->Flush().ok()) return;  // the next start tries again
  for (const Path& path : complete) {
    const auto note = ReadFileUpTo(path, kNoteBytesMax);
    if (note.ok()) (void)WriteFile(path, note->substr(0, note->find(' '))).ok();
  }
}

// False: the upload did not become an object, or the note is none of a commit.
bool DirectoryStore::CompleteCommit(const Path& path) {
  const auto note = ReadFileUpTo(path, kNoteBytesMax);
  const auto record = note.ok() ? RecordOfCommitNote(*note) : std::nullopt;
  if (!record) return false;
  const std::string key = path.stem();
  if (::faccessat(directories_.uploads.get(), key.c_str(), F_OK, 0) == 0) {
    if (options_.durable) {
      (void)NoteReceived(key, record->file.size).ok();  // the commit's note says it as well
    } else {
      ::unlink(path.c_str());
    }
    return false;
  }
  const auto tree = OpenBucket(record->info.bucket);
  if (!tree.ok()) return tree.error().code == Code::kNotFound;
  const auto file = tree->Open(record->info.name);
  if (!file.ok() && file.error().code != Code::kNotFound) return false;  // the next start looks
  if (!file.ok() || file->identity != record->file) return true;         // replaced since
  const auto known = side_->FindObject(record->info.bucket, record->info.name);
  if (!known.ok()) return false;
  if (!*known || (*known)->file != record->file) side_->StageObject(*record);
  return true;
}

}  // namespace caip::gcs
