// Unfinished uploads of the directory store: <uploads>/<key> has the bytes, <key>.note a text.
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>

#include "fakes/gcs/errors.h"
#include "fakes/gcs/store/directory_store.h"
#include "fakes/gcs/store/directory_writer.h"
#include "fakes/gcs/store/names.h"

namespace caip::gcs {
namespace {

constexpr size_t kNoteBytesMax = 64 << 10;

[[maybe_unused]] bool IsKey(const std::string& key) {
  return !key.empty() && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

Result<std::unique_ptr<ObjectWriter>> DirectoryStore::ResumeObject(const std::string& bucket,
                                                                   const std::string& name,
                                                                   const std::string& key) {
  assert(IsKey(key));
  RETURN_IF_ERROR(MakeIfWanted(bucket));
  if (const auto problem = ObjectNameProblem(name))
    return errors::ObjectNameInvalid(name, *problem);
  return DirectoryWriter::Resume(*this, bucket, name, key);
}

// Without a sync: a note that a power cut takes away costs no more than the same bytes again.
Status DirectoryStore::NoteUpload(const std::string& key, const std::string& note) {
  assert(IsKey(key));
  return WriteFile(options_.uploads / (key + ".note"), note);
}

std::optional<std::string> DirectoryStore::UploadNote(const std::string& key) const {
  assert(IsKey(key));
  auto note = ReadFileUpTo(options_.uploads / (key + ".note"), kNoteBytesMax);
  if (note.ok()) return std::move(*note);
  if (::faccessat(directories_.uploads.get(), key.c_str(), F_OK, 0) == 0) return std::string();
  return std::nullopt;
}

void DirectoryStore::ForgetUpload(const std::string& key) {
  assert(IsKey(key));
  ::unlinkat(directories_.uploads.get(), key.c_str(), 0);
  ::unlinkat(directories_.uploads.get(), (key + ".note").c_str(), 0);
}

}  // namespace caip::gcs
