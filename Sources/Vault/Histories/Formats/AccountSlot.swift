// SPDX-License-Identifier: Apache-2.0
//
// An account slot: from a passphrase with the URL's secret, or from words, to the keys of the account's owner.
//
//   "COFACC01" (8) ‖ id (16) ‖ kind (1) ‖ kdf (1) ‖ costs (4, 4, 4) ‖ created (8) ‖ salt (32) ‖ key check (32)
//   ‖ nonce (12) ‖ sealed keys (226) ‖ tag (16)
//
// The key check and the wrapping key are HKDF(slot secret, salt, "coffer account slot v1 check" and "… wrap"). Associated
// data: all before the nonce ‖ account. The sealed keys are
//
//   slot agreement key: private (32), public (65) ‖ owner key: private (32), public (65) ‖ anchor (32)
//
// The public keys are inside. Who opens a slot needs them before anything of the control log can be read, so they cannot
// come from there; and in the clear they would tell the server which envelopes are the slot's, and show a public key of
// the owner. Inside, they are authentic for whoever knows the secret.

public import Primitives
public import Secrets

/// What an account slot opens.
public struct AccountSlotContents: Sendable {
  /// The slot's own key: envelopes are sealed to it.
  public let agreement: KeyPair
  /// Signs control operations.
  public let owner: KeyPair
  /// The last control operation known when the slot was made. A history without it is refused.
  public let anchor: ControlID

  public init(agreement: KeyPair, owner: KeyPair, anchor: ControlID) {
    self.agreement = agreement
    self.owner = owner
    self.anchor = anchor
  }
}

/// The object of an account slot.
public struct AccountSlotRecord: Equatable, Sendable {
  /// Names the slot in the control log and in the heads of envelopes.
  public let id: SlotID
  /// How the secret is derived; also says which kind of slot this is.
  public let derivation: AccountSlotDerivation
  /// Seconds since 1970; shown, never compared.
  public let createdAt: UInt64
  /// 32 bytes.
  public let salt: [UInt8]
  /// Commits to the slot secret, and so tells a wrong passphrase from changed bytes.
  let keyCheck: [UInt8]
  let nonce: [UInt8]
  let sealed: [UInt8]

  /// Bytes of the object.
  public static let byteCount = factsByteCount + AES256GCM.nonceByteCount + sealedByteCount
  /// Magic, id, kind and kdf, costs, created, salt, key check.
  private static let factsByteCount =
    8 + SlotID.byteCount + 2 + 3 * 4 + 8 + AccountSlotSecret.saltByteCount + keyCheckByteCount
  private static let sealedByteCount = contentsByteCount + AES256GCM.tagByteCount
  private static let contentsByteCount =
    2 * (P256.scalarByteCount + P256.publicKeyByteCount) + ControlID.byteCount
  private static let keyCheckByteCount = 32
  private static let magic = Array("COFACC01".utf8)

  /// Which kind of slot this is.
  public var kind: SlotEntry.Kind {
    switch derivation {
    case .passphrase: .passphrase
    case .words: .words
    }
  }

  /// Seals a new slot.
  /// - Parameters:
  ///   - contents: what it opens.
  ///   - id: new.
  ///   - derivation: how `secret` was derived.
  ///   - createdAt: seconds since 1970.
  ///   - salt: the one from which `secret` was derived; new.
  ///   - secret: of ``AccountSlotSecret``.
  ///   - account: that it opens.
  ///   - machine: gives randomness.
  public static func seal(
    _ contents: AccountSlotContents, id: SlotID, derivation: AccountSlotDerivation, createdAt: UInt64,
    salt: [UInt8], secret: SharedSecretBytes, account: AccountID, machine: inout some Machine
  ) -> AccountSlotRecord {
    precondition(derivation.isAllowed, "costs that a reader accepts")
    precondition(salt.count == AccountSlotSecret.saltByteCount, "a slot's salt has 32 bytes")
    let open = AccountSlotRecord(
      id: id, derivation: derivation, createdAt: createdAt, salt: salt,
      keyCheck: derive(secret, salt, "coffer account slot v1 check").withBytes { [UInt8](copying: $0) },
      nonce: machine.random(AES256GCM.nonceByteCount), sealed: [])
    var plaintext = SecretWriter(byteCount: contentsByteCount)
    plaintext.append(contents.agreement)
    plaintext.append(contents.owner)
    plaintext.append(contents.anchor.bytes)
    let contents = plaintext.finish()
    let aad = open.facts() + account.bytes
    var sealed = [UInt8](repeating: 0, count: sealedByteCount)
    var cipher = AES256GCM()
    do {
      try derive(secret, salt, "coffer account slot v1 wrap").withBytes { key throws(CryptoError) in
        try contents.withBytes { contents throws(CryptoError) in
          try sealed.withMutableRawSpan { sealed throws(CryptoError) in
            try cipher.seal(
              contents, key: key, nonce: open.nonce.rawSpan, authenticating: aad.rawSpan, into: &sealed)
          }
        }
      }
    } catch { preconditionFailure("226 bytes can be sealed") }
    return AccountSlotRecord(
      id: id, derivation: derivation, createdAt: createdAt, salt: salt, keyCheck: open.keyCheck,
      nonce: open.nonce, sealed: sealed)
  }

  /// Opens the slot.
  /// - Throws: ``FormatError/wrongKey`` for another passphrase, other words or another URL;
  ///   ``FormatError/notAuthentic`` when the secret is right and the bytes are not, or not of this account.
  public func open(
    secret: SharedSecretBytes, account: AccountID
  ) throws(FormatError) -> AccountSlotContents {
    let check = Self.derive(secret, salt, "coffer account slot v1 check")
    guard check.withBytes({ constantTimeEqual($0, keyCheck.rawSpan) }) else { throw .wrongKey }
    var contents = SecretBytes(zeroed: Self.contentsByteCount)
    let aad = facts() + account.bytes
    var cipher = AES256GCM()
    do {
      try Self.derive(secret, salt, "coffer account slot v1 wrap").withBytes { key throws(CryptoError) in
        try contents.withMutableBytes { contents throws(CryptoError) in
          try cipher.open(
            sealed.rawSpan, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan, into: &contents)
        }
      }
    } catch { throw .notAuthentic }
    do {
      return try contents.withBytes { bytes in
        var cursor = ByteCursor()
        let agreement = try cursor.readKeyPair(bytes)
        let owner = try cursor.readKeyPair(bytes)
        guard let anchor = ControlID(try cursor.readBytes(bytes, count: ControlID.byteCount)) else {
          throw FormatError.malformed
        }
        return AccountSlotContents(agreement: agreement, owner: owner, anchor: anchor)
      }
    } catch { throw .malformed }
  }

  /// The bytes of the object.
  public func bytes() -> [UInt8] { facts() + nonce + sealed }

  /// Reads ``bytes()``.
  public static func parse(_ bytes: [UInt8]) throws(FormatError) -> AccountSlotRecord {
    var fields = try FieldReader(bytes, behind: magic)
    guard bytes.count == byteCount else { throw .malformed }
    let id: SlotID = try fields.identifier()
    let numbers = [try fields.byte(), try fields.byte()]
    let costs: [UInt32] = [try fields.integer(), try fields.integer(), try fields.integer()]
    guard let derivation = AccountSlotDerivation(numbers, costs: costs) else { throw .malformed }
    return AccountSlotRecord(
      id: id, derivation: derivation, createdAt: try fields.integer(),
      salt: try fields.bytes(AccountSlotSecret.saltByteCount), keyCheck: try fields.bytes(keyCheckByteCount),
      nonce: try fields.bytes(AES256GCM.nonceByteCount), sealed: try fields.bytes(sealedByteCount))
  }

  /// Everything before the nonce.
  private func facts() -> [UInt8] {
    var bytes = Self.magic + id.bytes
    bytes += derivation.numbers
    for cost in derivation.costs { bytes.append(bigEndian: cost) }
    bytes.append(bigEndian: createdAt)
    return bytes + salt + keyCheck
  }

  private static func derive(
    _ secret: SharedSecretBytes, _ salt: [UInt8], _ label: StaticString
  ) -> SymmetricKey {
    var hkdf = HKDF()
    return secret.withBytes { hkdf.deriveKey(ikm: $0, salt: salt.rawSpan, info: label) }
  }
}

extension AccountSlotDerivation {
  /// About a minute of one core, in iterations of PBKDF2-HMAC-SHA256 as in Specs/keybag.md, "Limits": a hostile server's
  /// slot must not occupy the machine for hours.
  private static let costLimit: UInt64 = 1 << 27

  /// The costs, as Argon2id takes them; nil for words, and for costs out of bounds.
  public var argon2idParameters: Argon2idParameters? {
    guard case .passphrase(let memoryKiB, let passes, let lanes) = self,
      3 * UInt64(memoryKiB) <= Self.costLimit / max(1, UInt64(passes))
    else { return nil }
    // Costs outside the standard's bounds are no parameters.
    return try? Argon2idParameters(memoryKiB: Int(memoryKiB), passes: Int(passes), lanes: Int(lanes))
  }

  fileprivate var isAllowed: Bool { self == .words || argon2idParameters != nil }

  /// kind ‖ kdf
  fileprivate var numbers: [UInt8] {
    switch self {
    case .passphrase: [SlotEntry.Kind.passphrase.rawValue, 1]
    case .words: [SlotEntry.Kind.words.rawValue, 2]
    }
  }

  fileprivate var costs: [UInt32] {
    switch self {
    case .passphrase(let memoryKiB, let passes, let lanes): [memoryKiB, passes, lanes]
    case .words: [0, 0, 0]
    }
  }

  fileprivate init?(_ numbers: [UInt8], costs: [UInt32]) {
    let read: [Self] = [.passphrase(memoryKiB: costs[0], passes: costs[1], lanes: costs[2]), .words]
    guard let derivation = read.first(where: { $0.numbers == numbers && $0.costs == costs }),
      derivation.isAllowed
    else { return nil }
    self = derivation
  }
}
