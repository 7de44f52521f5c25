#include "emulator/app/client_tokens.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/encoding.h"
#include "base/errors.h"
#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "emulator/app/errors.h"

namespace caip::app {
namespace {

constexpr size_t kTokenBytesMin = 16;
constexpr size_t kTokenBytesMax = 4096;
constexpr int kRandomWords = 4;
constexpr size_t kRandomBytes = 6;  // of each word: SeedFromSystem has 53 random bits

// A token is a secret, so it does not come from the seed of the run.
std::string RandomToken() {
  std::string bytes;
  for (int i = 0; i < kRandomWords; ++i) {
    const uint64_t word = SeedFromSystem();
    bytes.append(reinterpret_cast<const char*>(&word), kRandomBytes);
  }
  return Hex(bytes);
}

// Clients send it in a header field and in URLs.
bool IsToken(std::string_view text) {
  return text.size() >= kTokenBytesMin && text.size() <= kTokenBytesMax &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsUnreserved(static_cast<unsigned char>(c)); });
}

// Takes the same time for all texts of one length.
bool AreEqual(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    difference |= static_cast<unsigned char>(left[i] ^ right[i]);
  }
  return difference == 0;
}

Result<std::string> ReadToken(const Path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) return CannotOpen(file, errno);
  if ((facts.st_mode & 0077) != 0) return errors::TokenFileOpen(file);
  if (facts.st_uid != ::geteuid()) return errors::TokenFileOfAnotherUser(file, facts.st_uid);
  std::string text(kTokenBytesMax + 2, '\0');
  const ssize_t count = ::read(fd.get(), text.data(), text.size());
  if (count < 0) return CannotRead(file, errno);
  text.resize(static_cast<size_t>(count));
  const std::string token(Trim(text));
  if (!IsToken(token)) return errors::NotAToken(file, kTokenBytesMin, kTokenBytesMax);
  return token;
}

// Another process may make the file at the same time: the first one wins.
Status MakeTokenFile(const Path& file) {
  const Path whole = file.string() + "." + std::to_string(::getpid());
  RETURN_IF_ERROR(WriteFileDurably(whole, RandomToken() + "\n", 0600));
  const int failed = ::link(whole.c_str(), file.c_str()) != 0 ? errno : 0;
  ::unlink(whole.c_str());
  if (failed != 0 && failed != EEXIST) return CannotMake(file, failed);
  return Ok{};
}

Result<std::string> ReadOrMakeToken(const Path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) RETURN_IF_ERROR(MakeTokenFile(file));
  return ReadToken(file);
}

}  // namespace

Result<ClientTokens> ClientTokens::Open(const Path& file, const metadata::TokenMint& mint) {
  ASSIGN_OR_RETURN(std::string token, ReadOrMakeToken(file));
  return ClientTokens(mint, std::move(token));
}

bool ClientTokens::IsValid(std::string_view token) const {
  if (AreEqual(token, from_file_)) return true;
  const auto facts = mint_->Read(token);
  return facts && (!facts->expires || *facts->expires > mint_->NowSeconds());
}

}  // namespace caip::app
