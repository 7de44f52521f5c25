#include "http/transport/certificate_authority.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "base/time_text.h"
#include "http/errors.h"
#include "http/transport/certificates.h"

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

// A bundle begins with two lines: the file of the other authorities in it, and what was read from
// this authority's certificate. So most commands need not parse the certificate, which takes
// OpenSSL as long as a short command takes.
constexpr std::string_view kBundleSource = "# caip's authority and those of ";
constexpr std::string_view kBundleSeal = "# The certificate of caip's authority: ";

struct BundleHead {
  std::string source;
  std::string seal;
};

// "<SHA-256 of the PEM file> until <its expiry>"
std::string SealOf(const std::string& pem, Instant expiry) {
  return Sha256Hex(pem) + " until " + Rfc3339(expiry);
}

std::string FormatBundleHead(const BundleHead& head) {
  return std::string(kBundleSource) + head.source + "\n" + std::string(kBundleSeal) + head.seal +
         "\n";
}

// Empty texts if there is no bundle, or it has another format.
BundleHead ReadBundleHead(const Path& bundle) {
  std::ifstream file(bundle);
  BundleHead head;
  std::string line;
  std::getline(file, line);
  if (line.starts_with(kBundleSource)) head.source = line.substr(kBundleSource.size());
  std::getline(file, line);
  if (line.starts_with(kBundleSeal)) head.seal = line.substr(kBundleSeal.size());
  return head;
}

// True if the seal is that of the certificate, which is valid long enough.
bool IsSealed(const std::string& pem, const std::string& seal, Instant now) {
  const size_t space = seal.rfind(' ');
  const auto expiry = space == seal.npos ? std::nullopt : ParseRfc3339(seal.substr(space + 1));
  return expiry && *expiry > now + kRenewal && seal == SealOf(pem, *expiry);
}

bool IsReadable(const Path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), R_OK) == 0;
}

// A name becomes part of a certificate's extension, so only the characters of names are allowed.
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

std::vector<std::string> SystemBundles() {
  std::vector<std::string> files;
  for (const char* file : kSystemBundles) {
    if (IsReadable(file)) files.emplace_back(file);
  }
  return files;
}

struct CertificateAuthority::Keys {
  std::string authority_pem;
  std::string seal;
  CertificatePtr authority;  // read for the first certificate, unless its seal is missing
  KeyPtr authority_key;      // the same
  KeyPtr server_key;         // one for all names; created at the first use, never stored

  Status Create(const Path& directory, Instant now);
  bool Read(const Path& directory, const std::string& known_seal, Instant now);
  void SetAuthority(CertificatePtr certificate, std::string pem);
};

void CertificateAuthority::Keys::SetAuthority(CertificatePtr certificate, std::string pem) {
  authority = std::move(certificate);
  authority_pem = std::move(pem);
  seal = SealOf(authority_pem, ExpiryOf(*authority));
}

// Reads the authority in the directory. False if it is damaged or not valid long enough. Does not
// read the key, because most runs need none.
bool CertificateAuthority::Keys::Read(const Path& directory, const std::string& known_seal,
                                      Instant now) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / "ca.key", ignored)) return false;
  auto pem = ReadFile(directory / "ca.pem");
  if (!pem.ok()) return false;
  if (IsSealed(*pem, known_seal, now)) {
    authority_pem = std::move(*pem);
    seal = known_seal;
    return true;
  }
  CertificatePtr found = ReadCertificate(*pem);
  if (!found || ExpiryOf(*found) <= now + kRenewal) return false;
  SetAuthority(std::move(found), std::move(*pem));
  return true;
}

// Writes the key first: a certificate without its key would be useless.
Status CertificateAuthority::Keys::Create(const Path& directory, Instant now) {
  ASSIGN_OR_RETURN(authority_key, NewEcKey());
  ASSIGN_OR_RETURN(
      CertificatePtr made,
      NewAuthority(*authority_key, {kCommonName, {}, now - kBackdated, now + kAuthorityLife}));
  std::string pem = ToPem(*made);
  SetAuthority(std::move(made), std::move(pem));
  RETURN_IF_ERROR(WriteFileDurably(directory / "ca.key", ToPem(*authority_key), 0600));
  return WriteFileDurably(directory / "ca.pem", authority_pem);
}

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
  if (!keys->Read(directory, ReadBundleHead(directory / kBundleName).seal, clock.Now())) {
    RETURN_IF_ERROR(keys->Create(directory, clock.Now()));
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
    if (!keys_->authority) keys_->authority = ReadCertificate(keys_->authority_pem);
    if (!keys_->authority_key || !keys_->authority ||
        !HaveSameKey(*keys_->authority, *keys_->authority_key)) {
      RETURN_IF_ERROR(keys_->Create(directory_, clock_.Now()));
      RETURN_IF_ERROR(WriteBundle());
    }
  }
  ASSIGN_OR_RETURN(keys_->server_key, NewEcKey());
  return Ok{};
}

// Returns the file whose authorities belong in the bundle; "" if this host has none.
Path CertificateAuthority::TrustedFile() const {
  std::error_code error;
  // After `caip env`, the roots are this bundle itself. Then its source stays the same.
  const bool is_own_bundle = std::filesystem::equivalent(roots_, bundle_file(), error);
  const Path wanted = is_own_bundle ? Path(ReadBundleHead(bundle_file()).source) : roots_;
  if (IsReadable(wanted)) return std::filesystem::absolute(wanted, error);
  const auto found = std::find_if(std::begin(kSystemBundles), std::end(kSystemBundles), IsReadable);
  return found == std::end(kSystemBundles) ? Path() : Path(*found);
}

// True if the bundle has the same sources and is newer than they are.
bool CertificateAuthority::IsBundleFresh(const Path& source) const {
  std::error_code error;
  const auto made = std::filesystem::last_write_time(bundle_file(), error);
  const BundleHead head = ReadBundleHead(bundle_file());
  if (error || head.source != source || head.seal != keys_->seal) return false;
  if (std::filesystem::last_write_time(certificate_file(), error) >= made) return false;
  return source.empty() || std::filesystem::last_write_time(source, error) < made;
}

Status CertificateAuthority::WriteBundle() const {
  const Path source = TrustedFile();
  if (IsBundleFresh(source)) return Ok{};
  std::string bundle = FormatBundleHead({source.string(), keys_->seal}) + keys_->authority_pem;
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
  CertificateFields fields{name, {name}, now - kBackdated, until};
  if (name.empty()) {
    fields.common_name = "localhost";
    fields.names = {"localhost", "127.0.0.1", "::1"};
    for (const std::string& other : default_names_) {
      if (IsCertificateName(other)) fields.names.push_back(LowerCase(other));
    }
  }
  ASSIGN_OR_RETURN(
      const CertificatePtr made,
      NewServerCertificate(*keys_->server_key, fields, *keys_->authority, *keys_->authority_key));
  if (issued_.size() >= kNamesMax) issued_.clear();
  Issued& issued = issued_[name];
  issued = {{ToPem(*made), ToPem(*keys_->server_key)}, fields.until - kRenewal};
  return issued.certificate;
}

}  // namespace caip::http
