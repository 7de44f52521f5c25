// Unfinished uploads: <uploads>/<key> has the bytes, <key>.note a short text. A complete upload's
// file becomes the object's, and its note stays.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
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

[[maybe_unused]] bool IsKey(const std::string& key) {
  return !key.empty() && key.find_first_not_of("0123456789abcdef") == std::string::npos;
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

// Does not sync: if a power failure loses the note, the client sends the bytes again.
Status DirectoryStore::NoteUpload(const std::string& key, const std::string& note) {
  assert(IsKey(key));
  return WriteFile(options_.uploads / (key + kNoteEnding), note);
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
    ::unlink(path.c_str());
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
