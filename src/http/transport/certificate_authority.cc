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

#include "base/text.h"
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

// A bundle begins with this text, followed by the file of the other authorities in it.
constexpr char kBundleSource[] = "# caip's authority and those of ";

std::string FormatSourceLine(const Path& source) { return kBundleSource + source.string() + "\n"; }

// Returns the source that a bundle names; "" if there is no bundle, or it has another format.
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
  KeyPtr authority_key;  // read for the first certificate
  CertificatePtr authority;
  KeyPtr server_key;  // one for all names; created at the first use, never stored
};

namespace {

// Reads the authority in the directory, if it is valid long enough. Does not read the key, because
// most runs need none.
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

// Returns the file whose authorities belong in the bundle; "" if this host has none.
Path CertificateAuthority::TrustedFile() const {
  std::error_code error;
  // After `caip env`, the roots are this bundle itself. Then its source stays the same.
  const bool is_own_bundle = std::filesystem::equivalent(roots_, bundle_file(), error);
  const Path wanted = is_own_bundle ? Path(ReadBundleSource(bundle_file())) : roots_;
  if (IsReadable(wanted)) return std::filesystem::absolute(wanted, error);
  const auto found = std::find_if(std::begin(kSystemBundles), std::end(kSystemBundles), IsReadable);
  return found == std::end(kSystemBundles) ? Path() : Path(*found);
}

// True if the bundle has the same sources and is newer than they are.
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
