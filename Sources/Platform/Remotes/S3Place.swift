// SPDX-License-Identifier: Apache-2.0
//
// Where objects are in a service that speaks S3, and what it asks to be shown. The secret key is in locked memory and
// in no text.

public import Secrets

/// A bucket, or what begins with a prefix in it, with the credentials for it.
public struct S3Place: Sendable {
  /// Without it, requests and objects can be read on the way. Only this machine itself is reached so.
  public let isEncrypted: Bool
  /// A name or an address; one of IPv6 is in brackets.
  public let host: String
  /// Its TCP port.
  public let port: UInt16
  /// 3 to 63 letters, digits, dots, hyphens and underscores.
  public let bucket: String
  /// Parts with a slash between them, and none around them; empty for the whole bucket.
  public let prefix: String
  /// What signatures name; most services other than Amazon's take any.
  public let region: String
  /// The public half of the credentials.
  public let accessKey: String
  /// The secret half.
  public let secretKey: SharedSecretBytes
  /// SHA-256 of the server's public key, as libcurl writes it: "sha256//" and base64. Nil: the system's authorities
  /// vouch for the server.
  public let pin: String?

  /// Checks each part.
  /// - Parameter port: nil for 443, or 80 without encryption.
  /// - Throws: ``RemotePlaceError``.
  public init(
    isEncrypted: Bool = true, host: String, port: UInt16? = nil, bucket: String, prefix: String = "",
    region: String = S3Place.defaultRegion, accessKey: String, secretKey: SharedSecretBytes,
    pin: String? = nil
  ) throws(RemotePlaceError) {
    guard ServiceRules.isHost(host) else { throw .host }
    guard port != 0 else { throw .port }
    guard isEncrypted || ServiceRules.isLoopback(host) else { throw .unencrypted }
    guard Self.isBucket(bucket) else { throw .bucket }
    guard Self.isPrefix(prefix) else { throw .prefix }
    guard (1...32).contains(region.utf8.count), region.utf8.allSatisfy(ServiceRules.isNameByte) else {
      throw .region
    }
    // What goes into a header as it is.
    let isHeaderByte = { (byte: UInt8) in (0x21...0x7E).contains(byte) && !"/,".utf8.contains(byte) }
    guard (1...128).contains(accessKey.utf8.count), accessKey.utf8.allSatisfy(isHeaderByte),
      (1...256).contains(secretKey.count)
    else { throw .credentials }
    if let pin { guard ServiceRules.isPin(pin) else { throw .pin } }
    self.isEncrypted = isEncrypted
    self.host = host
    self.port = port ?? (isEncrypted ? 443 : 80)
    self.bucket = bucket
    self.prefix = prefix
    self.region = region
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.pin = pin
  }

  /// What most services other than Amazon's expect.
  public static let defaultRegion = "us-east-1"

  /// Bytes in a prefix, at most: with the longest name it is within S3's limit of 1,024 for a key.
  static let prefixByteCountLimit = 200

  static func isBucket(_ bucket: String) -> Bool {
    (3...63).contains(bucket.utf8.count) && bucket.utf8.allSatisfy(ServiceRules.isNameByte) && bucket != "..."
  }

  static func isPrefix(_ prefix: String) -> Bool {
    prefix.isEmpty
      || prefix.utf8.count <= prefixByteCountLimit
        && prefix.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
          !part.isEmpty && part != "." && part != ".." && part.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }
  }
}
