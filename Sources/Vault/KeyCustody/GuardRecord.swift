// SPDX-License-Identifier: Apache-2.0
//
// What high security takes beside the passphrase (Specs/envelopes.md, "Guard record"): a random secret G, and the
// ways that open it.
//
//   "COFGUARD" ‖ version (1) ‖ check (32) ‖ count (1) ‖ (kind (1) ‖ length (2) ‖ body)…

internal import Enclaves
internal import Primitives
internal import Secrets
internal import SecurityKeys

/// A guard that was opened: its key, which envelopes of this record take. Let it go with the command.
public struct OpenGuard: Sendable {
  /// SHA-256 of the record.
  let digest: [UInt8]
  /// 32 bytes, derived from G.
  let key: SharedSecretBytes
}

/// The kinds of ways that open a guard. The numbers are stored.
public enum GuardWay: UInt8, Sendable, CaseIterable {
  /// A key in a chip, which counts wrong PINs.
  case pin = 1
  /// A FIDO2 security key, which verifies its user.
  case securityKey = 2
}

struct GuardRecord: Equatable, Sendable {
  static let account = "com.cypherair.v1.guard"
  static let pendingAccount = "com.cypherair.v1.pending-guard"

  /// 32 bytes that commit to G.
  let check: [UInt8]
  /// Each opens G; not empty.
  let ways: [Way]

  /// One way to open G.
  enum Way: Equatable, Sendable {
    case pin(PINWay)
    case securityKey(SecurityKeyWay)

    var kind: GuardWay {
      switch self {
      case .pin: .pin
      case .securityKey: .securityKey
      }
    }
  }

  /// A key in a chip.
  struct PINWay: Equatable, Sendable {
    let key: EnclaveKey
    let sealed: EnclaveSealed
  }

  static let magic = Array("COFGUARD".utf8)
  static let version: UInt8 = 1
  static let wayCountLimit = 16
  static let secretByteCount = SymmetricKey.byteCount
  private static let access = AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .devicePasscode)

  /// The keys in chips.
  var pinWays: [PINWay] { ways.compactMap { if case .pin(let way) = $0 { way } else { nil } } }

  /// The security keys.
  var securityKeyWays: [SecurityKeyWay] {
    ways.compactMap { if case .securityKey(let way) = $0 { way } else { nil } }
  }

  // MARK: Making and opening

  /// A record with a new G that a PIN opens.
  /// - Parameter chip: counts wrong PINs.
  /// - Throws: `CustodyError.guardNeedsChip` for an enclave in software; `.guardRefused`.
  static func make(pin: SharedSecretBytes, in chip: any Enclave) throws(CustodyError) -> GuardRecord {
    guard chip.kind.isHardware else { throw .guardNeedsChip }
    let secret = SystemRandom.secretBytes(count: secretByteCount)
    let check = secret.withBytes { Self.check($0) }
    do {
      let key = try chip.createKey(
        use: .agreement, access: access, enrolment: KeyEnrolment(passcode: .typed(pin)))
      let sealed = try secret.withBytes { secret throws(EnclaveSealingError) in
        try sealing(check, .pin, key).seal(secret, to: key)
      }
      return GuardRecord(check: check, ways: [.pin(PINWay(key: key, sealed: sealed))])
    } catch let error as EnclaveError { throw .guardRefused(error) } catch {
      throw .guardRefused(.invalidInput)
    }
  }

  /// Opens G with a PIN.
  /// - Throws: `CustodyError.guardRefused` with the chip's answer, such as `.wrongPasscode` or `.lockedOut`;
  ///   `.corrupt`; `.guardRequired` when no PIN opens it.
  func open(
    pin: SharedSecretBytes, enclaveOfKind: (EnclaveKind) -> (any Enclave)?
  ) throws(CustodyError) -> OpenGuard {
    guard let way = pinWays.first else { throw .guardRequired }
    guard let chip = enclaveOfKind(way.key.kind) else { throw .guardRefused(.unavailable) }
    let secret: SecretBytes
    do {
      secret = try Self.sealing(check, .pin, way.key)
        .open(way.sealed, way.key, in: chip, authorization: .passcode(pin))
    } catch {
      switch error {
      case .enclave(.corrupt), .wrongKey, .tampered: throw .corrupt
      case .enclave(let error): throw .guardRefused(error)
      }
    }
    return try opened(secret)
  }

  /// The guard of a secret that a way gave.
  /// - Throws: `CustodyError.corrupt` when it is not G.
  func opened(_ secret: borrowing SecretBytes) throws(CustodyError) -> OpenGuard {
    let found = secret.withBytes { Self.check($0) }
    guard secret.count == Self.secretByteCount, constantTimeEqual(found.rawSpan, check.rawSpan) else {
      throw .corrupt
    }
    let key = secret.withBytes { HKDF.secret(from: $0, info: "coffer guard v1 envelope") }
    return OpenGuard(digest: digest(), key: SharedSecretBytes(key))
  }

  static func check(_ secret: RawSpan) -> [UInt8] {
    HKDF.secret(from: secret, info: "coffer guard v1 check").withBytes { [UInt8](copying: $0) }
  }

  private static func sealing(_ check: [UInt8], _ kind: GuardWay, _ key: EnclaveKey) -> EnclaveSealing {
    EnclaveSealing(label: Array("coffer guard v1 pin".utf8)) { (ephemeralKey, salt) in
      let start = magic + [version] + check + [kind.rawValue]
      var head = SecretWriter(
        byteCount: start.count + 2 + key.handle.count + ephemeralKey.count + salt.count)
      head.append(start)
      append(key, to: &head)
      head.append(ephemeralKey)
      head.append(salt)
      return head.finish()
    }
  }

  private static func append(_ key: EnclaveKey, to writer: inout SecretWriter) {
    var length: [UInt8] = []
    length.append(bigEndian: UInt16(key.handle.count))
    writer.append(length)
    key.handle.withBytes { writer.append($0) }
  }

  // MARK: Bytes

  init(check: [UInt8], ways: [Way]) {
    self.check = check
    self.ways = ways
  }

  /// The stored record.
  func bytes() -> SecretBytes {
    let start = Self.magic + [Self.version] + check + [UInt8(ways.count)]
    let lengths = ways.map { way in
      switch way {
      case .pin(let way): 2 + way.key.handle.count + way.rest.count
      case .securityKey(let way): way.bytes.count
      }
    }
    var writer = SecretWriter(byteCount: start.count + lengths.reduce(0) { $0 + 3 + $1 })
    writer.append(start)
    for (way, length) in zip(ways, lengths) {
      var head = [way.kind.rawValue]
      head.append(bigEndian: UInt16(length))
      writer.append(head)
      switch way {
      case .pin(let way):
        Self.append(way.key, to: &writer)
        writer.append(way.rest)
      case .securityKey(let way): writer.append(way.bytes)
      }
    }
    return writer.finish()
  }

  /// SHA-256 of ``bytes()``.
  func digest() -> [UInt8] { bytes().withBytes { SHA256.hash($0) } }

  /// - Throws: `CustodyError.corrupt` for anything but what ``bytes()`` gives.
  init(_ bytes: RawSpan) throws(CustodyError) {
    do { try self.init(fields: bytes) } catch { throw .corrupt }
  }

  private init(fields bytes: RawSpan) throws {
    var cursor = ByteCursor()
    guard try cursor.readBytes(bytes, count: Self.magic.count) == Self.magic,
      try cursor.readByte(bytes) == Self.version
    else { throw CustodyError.corrupt }
    check = try cursor.readBytes(bytes, count: Self.secretByteCount)
    let count = Int(try cursor.readByte(bytes))
    guard (1...Self.wayCountLimit).contains(count) else { throw CustodyError.corrupt }
    var ways: [Way] = []
    for _ in 0..<count { ways.append(try Self.way(bytes, &cursor)) }
    guard cursor.isAtEnd(of: bytes), ways.allSatisfy({ $0.kind == ways[0].kind }) else {
      throw CustodyError.corrupt
    }
    self.ways = ways
    guard SecurityKeyWay.areOneGuard(securityKeyWays) else { throw CustodyError.corrupt }
  }

  private static func way(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws -> Way {
    guard let kind = GuardWay(rawValue: try cursor.readByte(bytes)) else { throw CustodyError.corrupt }
    let byteCount = Int(try cursor.readUInt16(bytes))
    let start = cursor.offset
    let way: Way =
      switch kind {
      case .pin: .pin(try pinWay(bytes, &cursor))
      case .securityKey: .securityKey(try SecurityKeyWay(bytes, &cursor))
      }
    guard cursor.offset - start == byteCount else { throw CustodyError.corrupt }
    return way
  }

  private static func pinWay(_ bytes: RawSpan, _ cursor: inout ByteCursor) throws -> PINWay {
    let handle = try cursor.readRange(bytes, count: Int(try cursor.readUInt16(bytes)))
    guard let key = EnclaveKey(handle: bytes.extracting(handle)), key.use == .agreement,
      key.access == access, key.kind.isHardware
    else { throw CustodyError.corrupt }
    let sealed = EnclaveSealed(
      ephemeralKey: try cursor.readBytes(bytes, count: P256.publicKeyByteCount),
      salt: try cursor.readBytes(bytes, count: EnclaveSealed.saltByteCount),
      keyCheck: try cursor.readBytes(bytes, count: EnclaveSealed.keyCheckByteCount),
      nonce: try cursor.readBytes(bytes, count: EnclaveSealed.nonceByteCount),
      ciphertext: try cursor.readBytes(bytes, count: secretByteCount + EnclaveSealed.tagByteCount))
    return PINWay(key: key, sealed: sealed)
  }
}

extension GuardRecord.PINWay {
  /// Everything after the handle.
  fileprivate var rest: [UInt8] {
    sealed.ephemeralKey + sealed.salt + sealed.keyCheck + sealed.nonce + sealed.ciphertext
  }
}
