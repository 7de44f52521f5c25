#include "http/transport/certificate_authority.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "http/transport/x509.h"

namespace caip::http {
namespace {

constexpr auto kBackdated = std::chrono::days(1);  // clocks of virtual machines can be slow
constexpr auto kAuthorityLife = std::chrono::days(3650);
constexpr auto kServerLife = std::chrono::days(365);  // some clients refuse more than 398 days
constexpr auto kRenewal = std::chrono::days(30);      // replaces certificates that expire sooner
constexpr size_t kNamesMax = 1024;                    // every bucket can be a name
constexpr size_t kNameBytesMax = 253;                 // of a DNS name
constexpr char kCommonName[] = "caip local certificate authority";

// The files of trusted authorities in common distributions.
constexpr const char* kSystemBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora
    "/etc/ssl/ca-bundle.pem",              // openSUSE
    "/etc/ssl/cert.pem",
};

// A bundle begins with this text, followed by the file of the other authorities in it.
constexpr char kBundleSource[] = "# caip's authority and those of ";

std::string FormatSourceLine(const Path& source) { return kBundleSource + source.string() + "\n"; }

// The source that a bundle names; "" if there is no bundle, or it has another format.
std::string ReadBundleSource(const Path& bundle) {
  std::ifstream file(bundle);
  std::string line;
  std::getline(file, line);
  return line.starts_with(kBundleSource) ? line.substr(sizeof kBundleSource - 1) : "";
}

bool IsReadable(const Path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), R_OK) == 0;
}

// A name becomes part of a certificate's extension, so only the characters of names may pass.
bool IsServerName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                  c == '_' || c == ':';
         });
}

// "*.x.org" is valid in a certificate; few clients understand "*-ml.x.org".
bool IsCertificateName(std::string_view name) {
  return IsServerName(name.starts_with("*.") ? name.substr(2) : name);
}

}  // namespace

struct CertificateAuthority::Keys {
  KeyPtr authority_key;  // read for the first certificate
  CertificatePtr authority;
  KeyPtr server_key;  // one for all names; created at the first use, never stored
};

namespace {

// The authority in the directory, if it is valid long enough. Does not read the key: most runs need
// none.
CertificatePtr ReadAuthority(const Path& directory, Instant now) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / "ca.key", ignored)) return nullptr;
  const auto pem = ReadFile(directory / "ca.pem");
  CertificatePtr authority = pem.ok() ? ReadCertificate(*pem) : nullptr;
  return authority && ExpiryOf(*authority) > now + kRenewal ? std::move(authority) : nullptr;
}

// Writes the key first: a certificate without its key would be useless.
Status CreateAuthority(const Path& directory, Instant now, KeyPtr& key, CertificatePtr& authority) {
  ASSIGN_OR_RETURN(key, NewEcKey());
  ASSIGN_OR_RETURN(authority,
                   NewAuthority(*key, {kCommonName, {}, now - kBackdated, now + kAuthorityLife}));
  RETURN_IF_ERROR(WriteFileDurably(directory / "ca.key", ToPem(*key), 0600));
  return WriteFileDurably(directory / "ca.pem", ToPem(*authority));
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
    RETURN_IF_ERROR(CreateAuthority(directory, clock.Now(), keys->authority_key, keys->authority));
  }
  std::unique_ptr<CertificateAuthority> made(new CertificateAuthority(
      std::move(directory), std::move(default_names), clock, std::move(roots), std::move(keys)));
  RETURN_IF_ERROR(made->WriteBundle());
  return made;
}

// The caller holds the mutex. Replaces an authority whose key is damaged.
Status CertificateAuthority::LoadKeys() {
  if (keys_->server_key) return Ok{};
  if (!keys_->authority_key) {
    const auto pem = ReadFile(directory_ / "ca.key");
    if (pem.ok()) keys_->authority_key = ReadKey(*pem);
    if (!keys_->authority_key || !HaveSameKey(*keys_->authority, *keys_->authority_key)) {
      RETURN_IF_ERROR(
          CreateAuthority(directory_, clock_.Now(), keys_->authority_key, keys_->authority));
      RETURN_IF_ERROR(WriteBundle());
    }
  }
  ASSIGN_OR_RETURN(keys_->server_key, NewEcKey());
  return Ok{};
}

// The file whose authorities belong in the bundle; "" if this host has none.
Path CertificateAuthority::TrustedFile() const {
  std::error_code error;
  // After `caip env`, the roots are this bundle itself. Then its source stays the same.
  const bool is_own_bundle = std::filesystem::equivalent(roots_, bundle_file(), error);
  const Path wanted = is_own_bundle ? Path(ReadBundleSource(bundle_file())) : roots_;
  if (IsReadable(wanted)) return std::filesystem::absolute(wanted, error);
  const auto found = std::find_if(std::begin(kSystemBundles), std::end(kSystemBundles), IsReadable);
  return found == std::end(kSystemBundles) ? Path() : Path(*found);
}

// Whether the bundle has the same sources and is newer than they are.
bool CertificateAuthority::IsBundleFresh(const Path& source) const {
  std::error_code error;
  const auto made = std::filesystem::last_write_time(bundle_file(), error);
  if (error || ReadBundleSource(bundle_file()) != source) return false;
  if (std::filesystem::last_write_time(certificate_file(), error) >= made) return false;
  return source.empty() || std::filesystem::last_write_time(source, error) < made;
}

Status CertificateAuthority::WriteBundle() const {
  const Path source = TrustedFile();
  if (IsBundleFresh(source)) return Ok{};
  std::string bundle = FormatSourceLine(source) + ToPem(*keys_->authority);
  if (!source.empty()) {
    ASSIGN_OR_RETURN(const std::string trusted, ReadFile(source));
    bundle += "\n" + trusted;
  }
  return WriteFile(bundle_file(), bundle);
}

Result<ServerCertificate> CertificateAuthority::CertificateFor(const std::string& server_name) {
  const std::string name = IsServerName(server_name) ? server_name : "";
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(LoadKeys());
  const Instant now = clock_.Now();
  const auto known = issued_.find(name);
  if (known != issued_.end() && now < known->second.renewal) return known->second.certificate;
  const Instant until = std::min<Instant>(now + kServerLife, ExpiryOf(*keys_->authority));
  CertificateFields words{name, {name}, now - kBackdated, until};
  if (name.empty()) {
    words.common_name = "localhost";
    words.names = {"localhost", "127.0.0.1", "::1"};
    for (const std::string& other : default_names_) {
      if (IsCertificateName(other)) words.names.push_back(LowerCase(other));
    }
  }
  ASSIGN_OR_RETURN(
      const CertificatePtr made,
      NewServerCertificate(*keys_->server_key, words, *keys_->authority, *keys_->authority_key));
  if (issued_.size() >= kNamesMax) issued_.clear();
  Issued& issued = issued_[name];
  issued = {{ToPem(*made), ToPem(*keys_->server_key)}, words.until - kRenewal};
  return issued.certificate;
}

}  // namespace caip::http
