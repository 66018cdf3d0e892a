// SPDX-License-Identifier: Apache-2.0
//
// The head of a backup, in the clear (Specs/backup.md, "Head"):
//
//   "COFBACK" ‖ version 1 (1) ‖ length (4) ‖ keybag ‖ sealed backup key (109) ‖ SHA-256 (32)

public import Keychains
internal import Primitives
internal import Secrets

/// The head of a backup: the slots that open it, and the key of its body.
public struct BackupHeader: Sendable {
  /// The slots of the coffer when the backup was made.
  public let keybag: Keybag
  /// SHA-256 of the head; keys and sealed values of the body are bound to it.
  let digest: [UInt8]
  /// The head as it is in the file.
  let bytes: [UInt8]
  private let sealedKey: [UInt8]

  /// Bytes before the keybag.
  static let prefixByteCount = magic.count + 1 + 4
  /// Sixteen slots of the largest kind have less.
  static let keybagByteCountLimit = 1 << 16

  private static let magic = Array("COFBACK".utf8)

  /// Whether a file with this beginning is meant as a backup, of whatever version.
  package static func isMeant(by beginning: [UInt8]) -> Bool { beginning.starts(with: magic) }
  private static let version: UInt8 = 1
  private static let sealedKeyByteCount = SealedValue.overheadByteCount + SymmetricKey.byteCount
  static let suffixByteCount = sealedKeyByteCount + SHA256.byteCount

  /// A head with a new backup key.
  /// - Throws: `KeychainError.locked` without the class key *when unlocked*.
  init(_ keybag: Keybag, _ keys: ClassKeys) throws(KeychainError) {
    let key = SystemRandom.secretBytes(count: SymmetricKey.byteCount)
    try self.init(keybag, keys, key: key)
  }

  /// The same with a known key, for the worked example.
  init(_ keybag: Keybag, _ keys: ClassKeys, key: borrowing SecretBytes) throws(KeychainError) {
    guard let classKey = keys.whenUnlocked else { throw .locked }
    let record = keybag.record()
    var bytes = Self.magic + [Self.version]
    bytes.append(bigEndian: UInt32(record.count))
    bytes += record
    let wrapping = Self.wrappingKey(classKey)
    let context = Self.context(bytes)
    var sealer = SealedValue()
    sealedKey = key.withBytes { key in
      wrapping.withBytes { sealer.seal(key, key: $0, context: context) }
    }
    bytes += sealedKey
    digest = SHA256.hash(bytes.rawSpan)
    self.bytes = bytes + digest
    self.keybag = keybag
  }

  /// Bytes of the keybag, from the first bytes of a file.
  /// - Throws: `.notABackup`, `.unknownVersion`, `.damaged`.
  static func keybagByteCount(_ prefix: [UInt8]) throws(BackupError) -> Int {
    guard prefix.count == prefixByteCount, prefix.starts(with: magic) else { throw .notABackup }
    guard prefix[magic.count] == version else { throw .unknownVersion(prefix[magic.count]) }
    let count = prefix.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    guard (1...keybagByteCountLimit).contains(count) else { throw .damaged }
    return count
  }

  /// Reads a head of which ``keybagByteCount(_:)`` gave the length.
  /// - Throws: `.damaged`.
  init(_ bytes: [UInt8]) throws(BackupError) {
    let end = bytes.count - SHA256.byteCount
    let keybagEnd = end - Self.sealedKeyByteCount
    guard keybagEnd > Self.prefixByteCount else { throw .damaged }
    digest = SHA256.hash(bytes.rawSpan.extracting(first: end))
    guard digest == Array(bytes[end...]) else { throw .damaged }
    let record = Array(bytes[Self.prefixByteCount..<keybagEnd])
    do { keybag = try Keybag(record: record.rawSpan) } catch { throw .damaged }
    sealedKey = Array(bytes[keybagEnd..<end])
    self.bytes = bytes
  }

  /// The key of the body.
  /// - Throws: `.damaged` when the class key does not open it: the keybag says that it is the right one.
  func bodyKey(_ keys: ClassKeys) throws(BackupError) -> SharedSecretBytes {
    guard let classKey = keys.whenUnlocked else { throw .damaged }
    let context = Self.context(Array(bytes.dropLast(Self.suffixByteCount)))
    let key = SealedValue.read(sealedKey.rawSpan, key: Self.wrappingKey(classKey), context: context) {
      Self.bodyKey($0, digest: digest)
    }
    guard let key else { throw .damaged }
    return key
  }

  /// The key of the body, from the backup key and the digest of the head.
  static func bodyKey(_ key: RawSpan, digest: [UInt8]) -> SharedSecretBytes {
    var hkdf = HKDF()
    return SharedSecretBytes(
      SecretBytes(byteCount: SymmetricKey.byteCount) { output in
        ("coffer backup v1 body" as StaticString).withRawSpan {
          hkdf.derive(ikm: key, salt: digest.rawSpan, info: $0, into: &output)
        }
      })
  }

  /// What seals the private parts: derived from the owner key, which agents never have.
  /// - Throws: `KeychainError.locked` without the owner key.
  func privateKey(_ keys: ClassKeys) throws(KeychainError) -> SharedSecretBytes {
    guard let owner = keys.owner else { throw .locked }
    return SharedSecretBytes(owner.withBytes { HKDF.secret(from: $0, info: "coffer backup v1 identities") })
  }

  /// Binds a private part to its backup.
  var privateContext: [UInt8] { Array("coffer backup v1 identity".utf8) + digest }

  private static func wrappingKey(_ classKey: SharedSecretBytes) -> SharedSecretBytes {
    SharedSecretBytes(classKey.withBytes { HKDF.secret(from: $0, info: "coffer backup v1 key") })
  }

  private static func context(_ before: [UInt8]) -> [UInt8] {
    Array("coffer backup v1 key".utf8) + SHA256.hash(before.rawSpan)
  }
}
