#include "images/byte_source.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <utility>

#include "images/archive_problem.h"
#include "images/errors.h"

namespace caip::images {
namespace {

constexpr size_t kReadBlock = 256 << 10;
constexpr size_t kPieceBytes = 512 << 10;
constexpr size_t kPiecesAhead = 6;

using AddFilter = int (*)(archive*);

constexpr AddFilter kFilters[] = {archive_read_support_filter_gzip,
                                  archive_read_support_filter_zstd, archive_read_support_filter_xz,
                                  archive_read_support_filter_bzip2};

// A libarchive without the library of a filter adds one that runs a program, and warns. Such a
// filter is left out.
std::vector<AddFilter> FiltersOfThisProcess() {
  std::vector<AddFilter> filters;
  for (const AddFilter add : kFilters) {
    const ArchivePtr trial(archive_read_new());
    if (add(trial.get()) == ARCHIVE_OK) filters.push_back(add);
  }
  return filters;
}

}  // namespace

void CloseArchive::operator()(archive* opened) const { archive_read_free(opened); }

Result<std::unique_ptr<DecompressedFile>> DecompressedFile::Open(int file) {
  static const std::vector<AddFilter> filters = FiltersOfThisProcess();
  ArchivePtr reader(archive_read_new());
  for (const AddFilter add : filters) add(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_read_support_format_empty(reader.get());
  if (archive_read_open_fd(reader.get(), file, kReadBlock) != ARCHIVE_OK) {
    return errors::ArchiveBroken(ArchiveProblem(reader.get()));
  }
  archive_entry* entry = nullptr;
  const int code = archive_read_next_header(reader.get(), &entry);
  if (code != ARCHIVE_OK && code != ARCHIVE_EOF) {
    return errors::ArchiveBroken(ArchiveProblem(reader.get()));
  }
  std::unique_ptr<DecompressedFile> opened(new DecompressedFile(std::move(reader)));
  opened->is_over_ = code == ARCHIVE_EOF;
  return opened;
}

Result<std::string_view> DecompressedFile::Next() {
  const void* block = nullptr;
  size_t size = 0;
  la_int64_t offset = 0;
  while (!is_over_) {
    const int code = archive_read_data_block(reader_.get(), &block, &size, &offset);
    if (code == ARCHIVE_RETRY) continue;
    if (code == ARCHIVE_EOF) break;
    if (code != ARCHIVE_OK) return errors::ArchiveBroken(ArchiveProblem(reader_.get()));
    if (size > 0) return std::string_view(static_cast<const char*>(block), size);
  }
  is_over_ = true;
  return std::string_view();
}

HashedSource::HashedSource(ByteSource& source, uint64_t limit, std::stop_token stop)
    : source_(source), limit_(limit), stop_(std::move(stop)), thread_([this] { ReadAhead(); }) {}

HashedSource::~HashedSource() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Fills the buffer unless the source ends before.
Status HashedSource::Fill(std::string& bytes) {
  bytes.assign(rest_);
  rest_.clear();
  while (bytes.size() < kPieceBytes) {
    ASSIGN_OR_RETURN(const std::string_view more, source_.Next());
    if (more.empty()) break;
    const size_t room = std::min(more.size(), kPieceBytes - bytes.size());
    bytes.append(more.substr(0, room));
    rest_.assign(more.substr(room));
  }
  hash_.Add(bytes);
  total_ += bytes.size();
  if (total_ > limit_) return errors::ImageTooLarge(limit_);
  return Ok{};
}

// False if nobody wants more pieces.
bool HashedSource::Deliver(Piece piece) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopped_ || pieces_.size() < kPiecesAhead; });
  if (is_stopped_) return false;
  pieces_.push_back(std::move(piece));
  changed_.notify_all();
  return true;
}

void HashedSource::ReadAhead() {
  bool goes_on = true;
  while (goes_on) {
    Piece piece;
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        piece.bytes = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    piece.bytes.clear();
    piece.bytes.reserve(kPieceBytes);
    piece.status = Fill(piece.bytes);
    goes_on = piece.status.ok() && !piece.bytes.empty();
    goes_on = Deliver(std::move(piece)) && goes_on;
  }
}

Result<std::string_view> HashedSource::Next() {
  if (stop_.stop_requested()) return errors::ReadingStopped();
  if (is_over_) {
    if (!current_.status.ok()) return current_.status.error();
    return std::string_view();
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !pieces_.empty(); });
    spare_.push_back(std::move(current_.bytes));
    current_ = std::move(pieces_.front());
    pieces_.pop_front();
  }
  changed_.notify_all();
  is_over_ = !current_.status.ok() || current_.bytes.empty();
  if (!current_.status.ok()) return current_.status.error();
  return std::string_view(current_.bytes);
}

Result<Digest> HashedSource::Finish() {
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view bytes, Next());
    if (bytes.empty()) break;
  }
  return Digest::ParseHex(hash_.FinishHex());
}

}  // namespace caip::images
