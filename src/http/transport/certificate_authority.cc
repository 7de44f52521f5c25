#include "http/transport/certificate_authority.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "http/transport/x509.h"

namespace caip::http {
namespace {

using Days = std::chrono::days;

constexpr auto kBackdated = Days(1);  // clocks of containers and virtual machines lag
constexpr auto kAuthorityLife = Days(3650);
constexpr auto kServerLife = Days(365);  // some clients refuse what lives longer than 398 days
constexpr auto kRenewal = Days(30);      // what ends sooner is made anew
constexpr size_t kNamesMax = 1024;       // every bucket may be a name
constexpr size_t kNameBytesMax = 253;    // of a DNS name
constexpr char kCommonName[] = "caip local certificate authority";

// Where distributions keep the authorities that everybody trusts.
constexpr const char* kSystemBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora
    "/etc/ssl/ca-bundle.pem",              // openSUSE
    "/etc/ssl/cert.pem",
};

// How a bundle begins: what follows tells whose authorities it has beside ours.
constexpr char kSource[] = "# caip's authority and those of ";

std::string SourceLine(const Path& source) { return kSource + source.string() + "\n"; }

// What the bundle says that it is made of; "" where there is none, or an older one.
std::string SourceOf(const Path& bundle) {
  std::ifstream file(bundle);
  std::string line;
  std::getline(file, line);
  return line.starts_with(kSource) ? line.substr(sizeof kSource - 1) : "";
}

bool IsReadable(const Path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), R_OK) == 0;
}

// A name may become part of a certificate's extension: nothing but a name's own letters may pass.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                  c == '_' || c == ':';
         });
}

// "*.x.org" may stand in a certificate, "*-ml.x.org" is understood by few.
bool MayStandInCertificate(std::string_view name) {
  return IsName(name.starts_with("*.") ? name.substr(2) : name);
}

}  // namespace

struct CertificateAuthority::Keys {
  KeyPtr authority_key;  // read when the first certificate is asked for
  CertificatePtr authority;
  KeyPtr server_key;  // one for all names: made at the first use, never written down
};

namespace {

// What the directory holds, if it lasts. The key is not looked at: most runs need none.
CertificatePtr ReadAuthority(const Path& directory, Instant now) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / "ca.key", ignored)) return nullptr;
  const auto pem = ReadFile(directory / "ca.pem");
  CertificatePtr authority = pem.ok() ? ReadCertificate(*pem) : nullptr;
  return authority && EndOf(*authority) > now + kRenewal ? std::move(authority) : nullptr;
}

// The key first: a certificate without its key would be trusted for nothing.
Status MakeAuthority(const Path& directory, Instant now, KeyPtr& key, CertificatePtr& authority) {
  ASSIGN_OR_RETURN(key, NewEcKey());
  ASSIGN_OR_RETURN(authority,
                   NewAuthority(*key, {kCommonName, {}, now - kBackdated, now + kAuthorityLife}));
  RETURN_IF_ERROR(WriteFileDurably(directory / "ca.key", PemOf(*key), 0600));
  return WriteFileDurably(directory / "ca.pem", PemOf(*authority));
}

}  // namespace

CertificateAuthority::CertificateAuthority(Path directory, std::vector<std::string> default_names,
                                           const Clock& clock, Path roots,
                                           std::unique_ptr<Keys> keys)
    : directory_(std::move(directory)),
      roots_(std::move(roots)),
      default_names_(std::move(default_names)),
      clock_(clock),
      keys_(std::move(keys)) {}

CertificateAuthority::~CertificateAuthority() = default;

Result<std::unique_ptr<CertificateAuthority>> CertificateAuthority::Open(
    Path directory, std::vector<std::string> default_names, const Clock& clock, Path roots) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  auto keys = std::make_unique<Keys>();
  keys->authority = ReadAuthority(directory, clock.Now());
  if (!keys->authority) {
    RETURN_IF_ERROR(MakeAuthority(directory, clock.Now(), keys->authority_key, keys->authority));
  }
  std::unique_ptr<CertificateAuthority> made(new CertificateAuthority(
      std::move(directory), std::move(default_names), clock, std::move(roots), std::move(keys)));
  RETURN_IF_ERROR(made->WriteBundle());
  return made;
}

// Mutex held. An authority whose key is damaged is replaced, as one that is damaged itself.
Status CertificateAuthority::LoadKeys() {
  if (keys_->server_key) return Ok{};
  if (!keys_->authority_key) {
    const auto pem = ReadFile(directory_ / "ca.key");
    if (pem.ok()) keys_->authority_key = ReadKey(*pem);
    if (!keys_->authority_key || !Fit(*keys_->authority, *keys_->authority_key)) {
      RETURN_IF_ERROR(
          MakeAuthority(directory_, clock_.Now(), keys_->authority_key, keys_->authority));
      RETURN_IF_ERROR(WriteBundle());
    }
  }
  ASSIGN_OR_RETURN(keys_->server_key, NewEcKey());
  return Ok{};
}

// The file whose authorities the bundle is to have; "" where this host has none.
Path CertificateAuthority::TrustedFile() const {
  std::error_code error;
  // In a shell that was led here, the roots are our own bundle: what it is made of stays.
  const bool ours = std::filesystem::equivalent(roots_, bundle_file(), error);
  const Path asked = ours ? Path(SourceOf(bundle_file())) : roots_;
  if (IsReadable(asked)) return std::filesystem::absolute(asked, error);
  const auto found = std::find_if(std::begin(kSystemBundles), std::end(kSystemBundles), IsReadable);
  return found == std::end(kSystemBundles) ? Path() : Path(*found);
}

// It is made of the same files, and younger than they are.
bool CertificateAuthority::BundleIsFresh(const Path& source) const {
  std::error_code error;
  const auto made = std::filesystem::last_write_time(bundle_file(), error);
  if (error || SourceOf(bundle_file()) != source) return false;
  if (std::filesystem::last_write_time(certificate_file(), error) >= made) return false;
  return source.empty() || std::filesystem::last_write_time(source, error) < made;
}

Status CertificateAuthority::WriteBundle() const {
  const Path source = TrustedFile();
  if (BundleIsFresh(source)) return Ok{};
  std::string bundle = SourceLine(source) + PemOf(*keys_->authority);
  if (!source.empty()) {
    ASSIGN_OR_RETURN(const std::string trusted, ReadFile(source));
    bundle += "\n" + trusted;
  }
  return WriteFile(bundle_file(), bundle);
}

Result<ServerCertificate> CertificateAuthority::CertificateFor(const std::string& server_name) {
  const std::string name = IsName(server_name) ? server_name : "";
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(LoadKeys());
  const Instant now = clock_.Now();
  const auto known = minted_.find(name);
  if (known != minted_.end() && now < known->second.renewal) return known->second.certificate;
  const Instant until = std::min<Instant>(now + kServerLife, EndOf(*keys_->authority));
  CertificateWords words{name, {name}, now - kBackdated, until};
  if (name.empty()) {
    words.common_name = "localhost";
    words.names = {"localhost", "127.0.0.1", "::1"};
    for (const std::string& other : default_names_) {
      if (MayStandInCertificate(other)) words.names.push_back(LowerCase(other));
    }
  }
  ASSIGN_OR_RETURN(
      const CertificatePtr made,
      NewServerCertificate(*keys_->server_key, words, *keys_->authority, *keys_->authority_key));
  if (minted_.size() >= kNamesMax) minted_.clear();
  Minted& minted = minted_[name];
  minted = {{PemOf(*made), PemOf(*keys_->server_key)}, words.until - kRenewal};
  return minted.certificate;
}

}  // namespace caip::http
