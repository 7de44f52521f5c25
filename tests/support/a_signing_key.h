#pragma once
// One RSA key for all tests that sign: making one takes up to seconds. It secures nothing.

#include "base/files.h"

namespace caip {

inline constexpr char kTestPrivateKey[] = R"(
-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDER1cS0y99M0dH
Wg5a49eyNVCsRdNtogA8mxXl1HfyK8dnRarhiWwFZYTOAU5XFXm5818HlVNJXgEw
b8H7USJbm2nOl9lRCjQgEwMs1smqYD5HKtC6BWwDViUIq1g7ndc8JotMyX1u4mBe
emScuY6YrYTl+Irp5RYwmXYiLdFMT0mnAOo9jSQLqO62Mmt5zIQ81CjDoCU+U90q
Ip8lGc9EoIieeqYwKUJIRQLIcfwH/ws3L7ywZ9NqmwJUP0LqgHk2vdd/eHuJL+Qv
bXFMGfximmN72KKDgywFJIZBjdpH1tvuMgGASBv9VduPh6GJioQpKNGi5varM89s
XER+qCfLAgMBAAECggEAPiGdERLzyeyVCCOcPq44Bav11QqncmFhNM4c4OtgarLs
BKdbf9hZ7t1jbDiinVNpfHDrKIHe4u8Ubko6O/1DZH8uP5z2yD30ISETlLqLDNk5
bZrChtgXiHjY8UUYAYsl6l8DInP3tkWHnvCcb7YXSwJGeuuxwXdojkrNx+T8B2zU
6JuizB0aTlgYV7559k9VjOKKPumNzFV7aSghZo4qAV4/F4OR0DbEfgnhp2s+mz45
8r58DngbMPBXnnOPZDrZNku+xtbPEWa9vTyUXojDIKMr3IhIjiip3tA589P8N+Y3
a3uJaw4MB8SJ38q7d82u7Xgg0Yc1wpqJO+BtQ9dN7QKBgQD8WZzPxMWYp38DxMhu
79o3jW+JWWjUDsf5XCodhR3fp19QQV02i0b6fSPJax7le2xe6/8Wj8WGgXdXBJLu
jPbft9F2jm1QnPut3ocEW4aaZUYamOPgJ2RP6IRt2oNyfPbVkB3Qh50XLkDnVPSh
47haxVjk4pej5NclUK83reI6VwKBgQDHHhwTapiJQdEGKTMHEt4k0vsHCnW/t3sP
q/FOI9rh6px8zF1PaiNiRXn9W4MHXWe+8i6okkVyKJQ4yssmlI8HqNr0I3bC8Wnu
x/o3tz+d3utzNded/pfBMtFVvOjT4VQdq084lYKcPegiH5qQ5thHjAo9fwl07AhM
OFiWRiA9rQKBgQC27e8y3h2vb5wvizMQ2GaD5s937YyETMLCDQGqrJjfTGFXuEpu
A8DMTHLoy/J1wGbq2IDuRgKWYru0JOiubRl5S7NYEh9EVMhNXgbaLc8BlXCgTzzB
fUzGcHOvfrvS/qugXPx/8g76gtkh2QANaxp1EqJCKdBrSrR7pGWgIzjfuQKBgAuK
DSp65PgfXlOzE4f3afRMXcvcqVJA+drApi1XGpo5FHSPC2FMz1wklps+MGu+2AJS
2q1ePLQO8fgQmJFVzqws9vNrErjdcLwrzq5n6kHl51M37ZT0aisCHOuRFRUiW9OU
V/T5hSY02D0SA80d867ByN4jfJLQEvMH2OpsifXJAoGAKUyliA4gfGChH+WEGz7/
I6/Muc+22x48tUjw26S+tOKzdVF+Ktgyy67XhxPCPR1SOGARPDingDnhJLWovEIN
YE14NXjeVX9CfIs7wHFpM+DXfX8jAmuytjxlTt8MZdtnJkmWO/1ZsUPETi0iFPtO
FrpgyNwE7dfh7/Cr5R2w3Jw=
-----END PRIVATE KEY-----
)";

inline constexpr char kAnotherPublicKey[] = R"(
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAj4yu5VYxOuonS25KKrNj
Zyrk3Z26z93JUzvgtwqMHq/zTTxZhV9ACPneOQc9NyIg3loe88x2VdYWA5LVGEyg
/0nX0XNXxxg+Ok/VavaAXkRlPbScgL75HzJeDE2L0dHEQeVMe7LAQ2E2A9uOghQ3
+IF4csQ8j+q6r6MI/R/jCqoHTTNrSETFlP3xpeG8Z4EqCaV4gQpmmvBQh2zXZpTV
yYJIzZf5K0nOEOGO71McIcA4uVeYVGOrYp0bskTQGyekJArYSSF2iP7vDx2uWJD+
WLce78noOgkzCKyBiHmN6zFgQNIJdgXXsjXqXXmzo7rRcfzXuNA+6gXjblHZtF9J
IwIDAQAB
-----END PUBLIC KEY-----
)";

/// Stores it where metadata::ServiceAccountKey looks for an existing key.
inline void PutTestKey(const Path& keys) {
  if (!MakeDirectories(keys).ok()) return;
  if (!WriteFile(keys / "service-account.pem", kTestPrivateKey).ok()) return;
}

}  // namespace caip
