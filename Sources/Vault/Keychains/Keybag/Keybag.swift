// SPDX-License-Identifier: Apache-2.0
//
// The keybag: slots, each wrapping the same two class keys and owner key, in one record (Specs/keybag.md):
//
//   "COFBAG01" ‖ coffer (16) ‖ keychain (1) ‖ generation (4) ‖ slot count (1) ‖ slots ‖ MAC (32) ‖ digest (32)
//
// The MAC, under a key derived from the when-unlocked class key, shows after unlocking that no slot was
// added, removed or exchanged. The digest is a plain SHA-256 and proves nothing against an attacker: it tells
// accidental damage from a wrong passphrase before the user has to type again.

public import Enclaves
public import Foundation
public import Primitives
internal import Secrets
internal import SecurityKeys

/// The slots of a coffer.
public struct Keybag: Equatable, Sendable {
  /// The most slots that a keybag holds: enough for every user and device that one coffer has.
  public static let slotLimit = 16

  /// Identifies the coffer for its whole life; random.
  public let coffer: UUID
  /// Where the coffer's keychain is.
  public let keychain: KeychainPlace
  /// Counts changes, from 1.
  public private(set) var generation: Int
  public private(set) var slots: [KeySlot]
  private var mac: [UInt8]

  /// The result of unlocking.
  public struct Unlocked: Sendable {
    /// The class keys and the owner key.
    public let keys: ClassKeys
    /// The slot that opened.
    public let slot: KeySlot
  }

  /// A keybag with new keys and one slot.
  public static func create(
    _ credential: borrowing SlotCredential, kdf: SlotKDF, keychain: KeychainPlace = .file, now: Int64
  ) throws(KeybagError) -> (keybag: Keybag, unlocked: Unlocked) {
    let keys = ClassKeys.generate()
    try requireAffordable([kdf])
    let slot = try KeySlot.wrap(keys, credential: credential, kdf: kdf, created: now)
    var keybag = Keybag(coffer: UUID(), keychain: keychain, generation: 0, slots: [slot], mac: [])
    keybag.sign(keys)
    return (keybag, Unlocked(keys: keys, slot: slot))
  }

  /// Tries `credential` on every slot of its kind.
  ///
  /// - Throws: `KeybagError.noSuchSlot`, `.wrongSecret`, `.corrupt` (the slots are not those that were
  ///   written, although this one opens), `.derivation` (no slot opens, and at least one could not be
  ///   tried).
  public func unlock(_ credential: borrowing SlotCredential) throws(KeybagError) -> Unlocked {
    try unlock(slots.filter { $0.kind == credential.kind }, credential)
  }

  /// Checks keys from an agent against the present slots.
  /// - Throws: `KeybagError.corrupt`; `.wrongSecret` without the when-unlocked key.
  public func validate(_ keys: ClassKeys) throws(KeybagError) { try check(keys) }

  /// Tries `credential` on each of `candidates`.
  func unlock(
    _ candidates: [KeySlot], _ credential: borrowing SlotCredential
  ) throws(KeybagError) -> Unlocked {
    if candidates.isEmpty { throw .noSuchSlot }
    var refusal: Argon2idError?
    for slot in candidates {
      let keys: ClassKeys?
      do {
        keys = try slot.unwrap(credential)
      } catch {
        // A slot that needs more memory than this machine has must not hide one that opens.
        guard case .derivation(let reason) = error else { throw error }
        refusal = refusal ?? reason
        continue
      }
      guard let keys else { continue }
      try check(keys)
      return Unlocked(keys: keys, slot: slot)
    }
    if let refusal { throw .derivation(refusal) }
    throw .wrongSecret
  }

  /// Adds a way to open the coffer.
  ///
  /// Each of the three changes first checks that the slots are those that these keys signed. Otherwise a slot
  /// that an attacker has put back into the file, such as that of an old passphrase, would be signed with the
  /// rest. Each needs the owner key, so that an agent's class keys cannot change who opens the coffer.
  /// - Parameter label: the owner's name for the slot, which stays as long as the slot; nil for none.
  /// - Throws: `KeybagError.corrupt`, `.invalidLabel`, `.labelTaken`, `.tooManySlots`, `.derivation`; `.wrongSecret`
  ///   while locked, or without the owner key.
  @discardableResult
  public mutating func addSlot(
    _ credential: borrowing SlotCredential, label: String? = nil, kdf: SlotKDF, keys: ClassKeys, now: Int64
  ) throws(KeybagError) -> KeySlot {
    try checkOwner(keys)
    if let label { try checkLabel(label) }
    guard slots.count < Self.slotLimit else { throw .tooManySlots(limit: Self.slotLimit) }
    try Self.requireAffordable(slots.map(\.kdf) + [kdf])
    let slot = try KeySlot.wrap(keys, credential: credential, label: label, kdf: kdf, created: now)
    slots.append(slot)
    sign(keys)
    return slot
  }

  /// Removes a way to open the coffer, but never the last passphrase or phrase.
  /// - Throws: `KeybagError.corrupt`, `.noSuchSlot`, `.lastSlot`; `.wrongSecret` while locked, or without
  ///   the owner key.
  public mutating func removeSlot(_ id: UUID, keys: ClassKeys) throws(KeybagError) {
    try checkOwner(keys)
    guard slots.contains(where: { $0.id == id }) else { throw .noSuchSlot }
    guard slots.contains(where: { $0.id != id && $0.method.isEnough }) else { throw .lastSlot }
    slots.removeAll { $0.id == id }
    sign(keys)
  }

  /// Replaces a slot by a new one with its label, in one step.
  /// - Throws: `KeybagError.corrupt`, `.noSuchSlot`, `.derivation`; `.wrongSecret` while locked, or without
  ///   the owner key.
  @discardableResult
  public mutating func replaceSlot(
    _ id: UUID, by credential: borrowing SlotCredential, kdf: SlotKDF, keys: ClassKeys, now: Int64
  ) throws(KeybagError) -> KeySlot {
    try checkOwner(keys)
    guard let index = slots.firstIndex(where: { $0.id == id }) else { throw .noSuchSlot }
    guard
      SlotMethods.method(of: credential.kind)?.isEnough ?? false
        || slots.contains(where: { $0.id != id && $0.method.isEnough })
    else { throw .lastSlot }
    try Self.requireAffordable(slots.filter { $0.id != id }.map(\.kdf) + [kdf])
    slots[index] = try KeySlot.wrap(
      keys, credential: credential, label: slots[index].label, kdf: kdf, created: now)
    sign(keys)
    return slots[index]
  }

  // MARK: Bytes

  private static let magic = Array("COFBAG01".utf8)

  /// Reads a record.
  /// - Throws: `KeybagError.corrupt` for anything but the bytes that ``record()`` gave.
  public init(record: RawSpan) throws(KeybagError) {
    let bodyByteCount = record.byteCount - SHA256.byteCount
    guard bodyByteCount > 0 else { throw .corrupt }
    let digest = SHA256.hash(record.extracting(first: bodyByteCount))
    guard constantTimeEqual(digest.rawSpan, record.extracting(last: SHA256.byteCount)) else {
      throw .corrupt
    }
    var cursor = ByteCursor()
    do {
      guard try cursor.readBytes(record, count: Self.magic.count) == Self.magic else {
        throw KeybagError.corrupt
      }
      coffer = unsafe NSUUID(uuidBytes: try cursor.readBytes(record, count: 16)) as UUID
      guard let place = KeychainPlace(rawValue: try cursor.readByte(record)) else {
        throw KeybagError.corrupt
      }
      keychain = place
      generation = try cursor.readUInt32(record)
      let count = Int(try cursor.readByte(record))
      guard (1...Self.slotLimit).contains(count) else { throw KeybagError.corrupt }
      slots = []
      for _ in 0..<count { slots.append(try KeySlot(record, at: &cursor)) }
      guard Self.isAffordable(slots.map(\.kdf)), Self.areLabelledApart(slots),
        StoredSecurityKey.areOneRecord(slots.compactMap(\.securityKey))
      else { throw KeybagError.corrupt }
      mac = try cursor.readBytes(record, count: HMACSHA256.byteCount)
      guard cursor.offset == bodyByteCount else { throw KeybagError.corrupt }
    } catch {
      throw .corrupt
    }
  }

  /// The record as it is stored.
  public func record() -> [UInt8] {
    let body = signedBytes() + mac
    return body + SHA256.hash(body.rawSpan)
  }

  init(coffer: UUID, keychain: KeychainPlace, generation: Int, slots: [KeySlot], mac: [UInt8]) {
    self.coffer = coffer
    self.keychain = keychain
    self.generation = generation
    self.slots = slots
    self.mac = mac
  }

  private func signedBytes() -> [UInt8] {
    var bytes = Self.magic
    unsafe withUnsafeBytes(of: coffer.uuid) { unsafe bytes.append(contentsOf: $0) }
    bytes.append(keychain.rawValue)
    bytes.append(bigEndian: UInt32(generation))
    bytes.append(UInt8(slots.count))
    for slot in slots { bytes += slot.bytes() }
    return bytes
  }

  /// - Throws: `KeybagError.corrupt` when the slots are not those that were signed with these keys;
  ///   `.wrongSecret` without the when-unlocked key.
  private func check(_ keys: ClassKeys) throws(KeybagError) {
    guard let expected = computeMAC(keys) else { throw .wrongSecret }
    guard constantTimeEqual(expected.rawSpan, mac.rawSpan) else { throw .corrupt }
  }

  /// As ``check(_:)``, before a change.
  func checkOwner(_ keys: ClassKeys) throws(KeybagError) {
    try check(keys)
    guard keys.owner != nil else { throw .wrongSecret }
  }

  mutating func sign(_ keys: ClassKeys) {
    generation += 1
    guard let mac = computeMAC(keys) else { preconditionFailure("a keybag is changed while it is unlocked") }
    self.mac = mac
  }

  private func computeMAC(_ keys: ClassKeys) -> [UInt8]? {
    guard let whenUnlocked = keys.whenUnlocked else { return nil }
    let key = whenUnlocked.withBytes { HKDF.secret(from: $0, info: "coffer keybag v1 slots") }
    let bytes = signedBytes()
    return key.withBytes { HMACSHA256.code(of: bytes.rawSpan, key: $0) }
  }
}

/// Why an operation on a keybag failed.
@nonexhaustive
public enum KeybagError: Error, Equatable, Sendable {
  /// Not the passphrase or phrase of any slot.
  case wrongSecret
  /// There is no slot of the kind that was tried.
  case noSuchSlot
  /// The record is not what was written.
  case corrupt
  /// The chip that the slots need refused, with this error.
  case enclave(EnclaveError)
  /// A slot of this kind of enclave would protect nothing: software cannot count wrong PINs.
  case notHardware
  /// This device has a slot already. With two, each use of one PIN would be a wrong try of the other.
  case deviceHasSlot
  /// It would leave no passphrase and no recovery phrase.
  case lastSlot
  /// Not a label that a slot can have.
  case invalidLabel
  /// Another slot has this label.
  case labelTaken
  /// The slots have changed since the security key was asked.
  case changedMeanwhile
  /// More slots than a keybag holds.
  case tooManySlots(limit: Int)
  /// The derivation was refused: memory, or costs out of bounds.
  case derivation(Argon2idError)

  /// Whether the typed secret was wrong for a slot that it could have opened.
  var isWrongSecret: Bool { self == .wrongSecret || self == .enclave(.wrongPasscode) }
}
