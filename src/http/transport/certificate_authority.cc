#include "http/transport/certificate_authority.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "base/time_text.h"
#include "http/errors.h"

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

namespace {

constexpr int kSerialBytes = 16;

std::string OpenSslErrorText() {
  char text[256] = "";
  ::ERR_error_string_n(::ERR_get_error(), text, sizeof text);
  return text;
}

std::string TakeText(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  ::BIO_free(bio);
  return text;
}

bool IsAddress(const std::string& name) {
  in6_addr address;
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

std::string AlternativeNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ",";
    text += (IsAddress(name) ? "IP:" : "DNS:") + name;
  }
  return text;
}

bool SetSerial(X509& certificate) {
  unsigned char bytes[kSerialBytes];
  if (::RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;  // positive
  bytes[0] |= 0x40;  // always the same length
  BIGNUM* number = ::BN_bin2bn(bytes, sizeof bytes, nullptr);
  const bool set =
      number != nullptr && ::BN_to_ASN1_INTEGER(number, ::X509_get_serialNumber(&certificate));
  ::BN_free(number);
  return set;
}

bool SetTime(ASN1_TIME* time, Instant instant) {
  return ::ASN1_TIME_set(time, std::chrono::system_clock::to_time_t(
                                   std::chrono::time_point_cast<std::chrono::seconds>(instant)));
}

bool SetName(X509& certificate, const std::string& common_name) {
  X509_NAME* name = ::X509_get_subject_name(&certificate);
  const auto text = reinterpret_cast<const unsigned char*>(common_name.data());
  const int size = static_cast<int>(std::min<size_t>(common_name.size(), 64));  // the field's limit
  return ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, size, -1, 0);
}

bool AddExtension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  const bool added = extension != nullptr && ::X509_add_ext(&certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
  return added;
}

using Extensions = std::vector<std::pair<int, std::string>>;

// If `issuer` is nullptr, the certificate signs itself.
Result<CertificatePtr> NewCertificate(EVP_PKEY& key, const CertificateFields& fields, X509* issuer,
                                      EVP_PKEY& issuer_key, const Extensions& extensions) {
  CertificatePtr made(::X509_new());
  bool good = made && ::X509_set_version(made.get(), X509_VERSION_3) && SetSerial(*made) &&
              SetTime(X509_getm_notBefore(made.get()), fields.from) &&
              SetTime(X509_getm_notAfter(made.get()), fields.until) &&
              SetName(*made, fields.common_name) && ::X509_set_pubkey(made.get(), &key);
  if (!good) return errors::NoCertificate(OpenSslErrorText());
  X509& signer = issuer ? *issuer : *made;
  good = ::X509_set_issuer_name(made.get(), ::X509_get_subject_name(&signer));
  for (const auto& [kind, value] : extensions) {
    good = good && AddExtension(*made, signer, kind, value);
  }
  if (!good || ::X509_sign(made.get(), &issuer_key, ::EVP_sha256()) == 0) {
    return errors::NoCertificate(OpenSslErrorText());
  }
  return made;
}

}  // namespace

Result<KeyPtr> NewEcKey() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return errors::NoCertificate(OpenSslErrorText());
  return key;
}

Result<CertificatePtr> NewAuthority(EVP_PKEY& key, const CertificateFields& fields) {
  return NewCertificate(key, fields, nullptr, key,
                        {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
                         {NID_key_usage, "critical,keyCertSign,cRLSign"},
                         {NID_subject_key_identifier, "hash"}});
}

Result<CertificatePtr> NewServerCertificate(EVP_PKEY& key, const CertificateFields& fields,
                                            X509& issuer, EVP_PKEY& issuer_key) {
  return NewCertificate(key, fields, &issuer, issuer_key,
                        {{NID_basic_constraints, "critical,CA:FALSE"},
                         {NID_key_usage, "critical,digitalSignature"},
                         {NID_ext_key_usage, "serverAuth"},
                         {NID_subject_alt_name, AlternativeNames(fields.names)},
                         {NID_subject_key_identifier, "hash"},
                         {NID_authority_key_identifier, "keyid"}});
}

std::string ToPem(EVP_PKEY& key) {
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_PKCS8PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  return TakeText(bio);
}

std::string ToPem(X509& certificate) {
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_X509(bio, &certificate);
  return TakeText(bio);
}

KeyPtr ReadKey(const std::string& pem) {
  BIO* bio = ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  KeyPtr key(::PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr));
  ::BIO_free(bio);
  ::ERR_clear_error();
  return key;
}

CertificatePtr ReadCertificate(const std::string& pem) {
  BIO* bio = ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  CertificatePtr certificate(::PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  ::BIO_free(bio);
  ::ERR_clear_error();
  return certificate;
}

bool HaveSameKey(X509& certificate, EVP_PKEY& key) {
  const bool fit = ::X509_check_private_key(&certificate, &key) == 1;
  ::ERR_clear_error();
  return fit;
}

Instant ExpiryOf(X509& certificate) {
  std::tm time{};
  ::ASN1_TIME_to_tm(::X509_get0_notAfter(&certificate), &time);
  return Instant(std::chrono::seconds(::timegm(&time)));
}

}  // namespace caip::http
