#include "images/tar_reader.h"

#include <algorithm>
#include <cstring>

#include "images/errors.h"

namespace caip::images {
namespace {

constexpr uint64_t kExtensionMax = 1 << 20;
constexpr uint64_t kTarSizeMax = uint64_t{1} << 62;
constexpr std::string_view kAttributeRecord = "SCHILY.xattr.";

EntryKind KindOfType(char type, std::string_view path) {
  switch (type) {
    case '0':
    case '\0':
    case '7':
      return path.ends_with('/') ? EntryKind::kDirectory : EntryKind::kFile;
    case 'S':
      return EntryKind::kFile;
    case '1':
      return EntryKind::kHardLink;
    case '2':
      return EntryKind::kSymbolicLink;
    case '3':
    case '4':
      return EntryKind::kDevice;
    case '5':
      return EntryKind::kDirectory;
    case '6':
      return EntryKind::kPipe;
    default:
      return EntryKind::kOther;
  }
}

Error DamagedHeader() { return errors::ArchiveBroken("the header of an entry is damaged"); }
Error NoArchive() { return errors::ArchiveBroken("it is not a tar archive"); }
Error Truncated() { return errors::ArchiveBroken("its end is missing"); }

}  // namespace

// Up to `limit` bytes of the next piece; none at the end of the source.
Result<std::string_view> TarReader::Take(uint64_t limit) {
  if (piece_.empty()) {
    ASSIGN_OR_RETURN(piece_, source_.Next());
  }
  const std::string_view taken = piece_.substr(0, std::min<uint64_t>(limit, piece_.size()));
  piece_.remove_prefix(taken.size());
  return taken;
}

Result<std::string> TarReader::ReadText(uint64_t size) {
  std::string text;
  while (text.size() < size) {
    ASSIGN_OR_RETURN(const std::string_view taken, Take(size - text.size()));
    if (taken.empty()) return Truncated();
    text += taken;
  }
  return text;
}

Status TarReader::Skip(uint64_t size) {
  while (size > 0) {
    ASSIGN_OR_RETURN(const std::string_view taken, Take(size));
    if (taken.empty()) return Truncated();
    size -= taken.size();
  }
  return Ok{};
}

Status TarReader::SkipRest() {
  const uint64_t rest = stored_ + padding_;
  stored_ = padding_ = 0;
  return Skip(rest);
}

// False at the end of the archive: a block of zeros, or the end of the source.
Result<bool> TarReader::ReadHeader(TarHeader& header) {
  size_t filled = 0;
  while (filled < header.size()) {
    ASSIGN_OR_RETURN(const std::string_view taken, Take(header.size() - filled));
    if (taken.empty() && filled == 0) return false;
    if (taken.empty()) return is_started_ ? Truncated() : NoArchive();
    std::memcpy(header.data() + filled, taken.data(), taken.size());
    filled += taken.size();
  }
  if (header.IsZero()) {
    has_end_ = true;
    return false;
  }
  if (!header.HasRightChecksum()) {
    return is_started_ ? DamagedHeader() : NoArchive();
  }
  is_started_ = true;
  return true;
}

Result<const TarEntry*> TarReader::Next() {
  RETURN_IF_ERROR(SkipRest());
  Extension extension;
  while (!is_over_) {
    TarHeader header;
    ASSIGN_OR_RETURN(const bool is_header, ReadHeader(header));
    if (!is_header) break;
    const char type = header.type();
    if (type != 'x' && type != 'X' && type != 'g' && type != 'L' && type != 'K') {
      RETURN_IF_ERROR(Begin(header, std::move(extension)));
      return &entry_;
    }
    const auto size = TarNumber(header.Raw(TarHeader::kSize));
    if (!size || *size < 0) return DamagedHeader();
    RETURN_IF_ERROR(ReadExtension(type, static_cast<uint64_t>(*size), extension));
  }
  is_over_ = true;
  return static_cast<const TarEntry*>(nullptr);
}

Status TarReader::ReadExtension(char type, uint64_t size, Extension& extension) {
  if (size > kExtensionMax) return errors::ArchiveBroken("the name of an entry is too long");
  ASSIGN_OR_RETURN(const std::string text, ReadText(size));
  RETURN_IF_ERROR(Skip((kTarBlock - size % kTarBlock) % kTarBlock));
  const std::string name = text.substr(0, text.find('\0'));
  if (type == 'L') extension.path = name;
  if (type == 'K') extension.target = name;
  if (type != 'x' && type != 'X') return Ok{};  // 'g' is for no entry in particular
  extension.records.clear();  // a later header replaces an earlier one, as in GNU tar and in Go
  for (std::string_view rest = text; !rest.empty() && rest.front() != '\0';) {
    const size_t blank = rest.find(' ');
    size_t length = 0;
    if (blank == std::string_view::npos || !ReadDecimal(rest.substr(0, blank), length) ||
        length <= blank + 1 || length > rest.size() || rest[length - 1] != '\n') {
      return DamagedHeader();
    }
    const std::string_view record = rest.substr(blank + 1, length - blank - 2);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) return DamagedHeader();
    extension.records.emplace_back(record.substr(0, equals), record.substr(equals + 1));
    rest.remove_prefix(length);
  }
  return Ok{};
}

Status TarReader::Begin(const TarHeader& header, Extension extension) {
  entry_ = TarEntry{};
  sparse_ = TarSparse{};
  const char type = header.type();
  const auto mode = TarNumber(header.Raw(TarHeader::kMode));
  const auto uid = TarNumber(header.Raw(TarHeader::kUid));
  const auto gid = TarNumber(header.Raw(TarHeader::kGid));
  const auto size = TarNumber(header.Raw(TarHeader::kSize));
  const auto mtime = TarNumber(header.Raw(TarHeader::kMtime));
  if (!mode || !uid || !gid || !size || !mtime || *size < 0) return DamagedHeader();
  entry_.path = extension.path.empty() ? header.Path() : std::move(extension.path);
  entry_.target =
      extension.target.empty() ? header.Text(TarHeader::kTarget) : std::move(extension.target);
  entry_.mode = static_cast<unsigned>(*mode) & 07777;
  entry_.uid = *uid;
  entry_.gid = *gid;
  entry_.size = static_cast<uint64_t>(*size);
  entry_.mtime = *mtime;
  stored_ = entry_.size;
  const auto more = [this](uint64_t bytes) { return ReadText(bytes); };
  if (type == 'S') RETURN_IF_ERROR(sparse_.ReadHeader(header, entry_, more));
  RETURN_IF_ERROR(Apply(extension.records));
  entry_.kind = KindOfType(type, entry_.path);
  // Some programs write the size of the file that a link means.
  if (entry_.kind != EntryKind::kFile && entry_.kind != EntryKind::kOther) {
    entry_.size = stored_ = 0;
  }
  if (entry_.size > kTarSizeMax || stored_ > kTarSizeMax) return DamagedHeader();
  padding_ = (kTarBlock - stored_ % kTarBlock) % kTarBlock;
  return sparse_.ReadMap(entry_, stored_, more);
}

Status TarReader::Apply(const TarRecords& records) {
  bool is_read = true;
  for (const auto& [name, value] : records) {
    const std::string_view text = value;
    if (name == "path" && !value.empty()) entry_.path = value;
    if (name == "linkpath" && !value.empty()) entry_.target = value;
    if (name == "uid") is_read &= ReadDecimal(text, entry_.uid);
    if (name == "gid") is_read &= ReadDecimal(text, entry_.gid);
    if (name == "mtime") is_read &= ReadTime(text, entry_.mtime, entry_.mtime_nanoseconds);
    if (name == "size") {
      is_read &= ReadDecimal(text, stored_);
      entry_.size = stored_;
    }
    if (name.starts_with(kAttributeRecord)) {
      entry_.attributes.emplace_back(name.substr(kAttributeRecord.size()), value);
    }
  }
  if (!is_read) return DamagedHeader();
  RETURN_IF_ERROR(sparse_.Apply(records, entry_));
  if (entry_.path.find('\0') != std::string::npos ||
      entry_.target.find('\0') != std::string::npos) {
    return DamagedHeader();
  }
  return Ok{};
}

Status TarReader::ReadData(const Write& write) {
  for (const TarSegment& segment : sparse_.Segments(stored_)) {
    for (uint64_t done = 0; done < segment.length;) {
      ASSIGN_OR_RETURN(const std::string_view taken, Take(segment.length - done));
      if (taken.empty()) return Truncated();
      RETURN_IF_ERROR(write(taken, segment.offset + done));
      done += taken.size();
      stored_ -= taken.size();
    }
  }
  return Ok{};
}

}  // namespace caip::images
