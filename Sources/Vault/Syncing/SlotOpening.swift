// SPDX-License-Identifier: Apache-2.0
//
// Opening a slot of an account: from its objects at the remote, or from those that a device keeps.

public import Histories
public import Keychains
internal import Primitives
public import Remotes
public import Secrets

/// What opens a slot of an account.
public enum AccountSecret: Sendable {
  /// A passphrase; whether it is one of this coffer.
  case passphrase(SharedSecretBytes, isOwn: Bool)
  /// The seed of the twelve words.
  case seed(SharedSecretBytes)

  /// A passphrase.
  /// - Parameter isOwn: whether it opens this coffer, as the caller has tried: what it opens of the account is noted then.
  public init(_ passphrase: borrowing Passphrase, isOwn: Bool = false) {
    self = .passphrase(SharedSecretBytes(passphrase), isOwn: isOwn)
  }

  /// The twelve words.
  public init(_ words: borrowing RecoveryPhrase) { self = .seed(SharedSecretBytes(words.seed())) }

  var isOwnPassphrase: Bool { if case .passphrase(_, true) = self { true } else { false } }
}

extension AccountLink {
  /// Whether the account of an address is at the place at all; asks for no secret.
  /// - Throws: `SyncError.notThere`, `.slotsDamaged`, `.remote`.
  public static func checkIsThere(at remote: any Remote, _ address: AccountAddress) throws {
    let found = try slots(at: remote, address)
    guard found.records.isEmpty else { return }
    throw found.damagedCount > 0 ? SyncError.slotsDamaged(found.damagedCount) : .notThere
  }

  /// The slot of an account that a passphrase or words open, for ``join(at:_:with:slot:enclave:name:isOwn:choice:progress:)``;
  /// nothing is written.
  /// - Returns: nil when they open none.
  /// - Throws: `SyncError.notThere`, `.slotsDamaged`, `.remote`.
  public static func slot(
    at remote: any Remote, _ address: AccountAddress, with secret: AccountSecret
  ) throws -> OpenedSlot? {
    do { return try openSlot(at: remote, address, with: secret) } catch SyncError.wrongSecret { return nil }
  }

  /// Opens a slot of an account with a passphrase or words: the one that was made last.
  /// - Parameter tried: slots that are passed over.
  /// - Throws: `SyncError.notThere`, `.wrongSecret`, `.slotsDamaged`, `.remote`.
  static func openSlot(
    at remote: any Remote, _ address: AccountAddress, with secret: AccountSecret,
    without tried: Set<SlotID> = []
  ) throws -> OpenedSlot {
    let found = try slots(at: remote, address)
    let left = found.records.filter { !tried.contains($0.id) }
    if let slot = try open(left, address, secret) { return slot }
    if found.damagedCount > 0 { throw SyncError.slotsDamaged(found.damagedCount) }
    throw found.records.isEmpty ? SyncError.notThere : .wrongSecret
  }

  /// Tries slots until one is in force: one that was removed, or that the log never named, opens too.
  /// - Parameters:
  ///   - first: what `openSlot` gave.
  ///   - body: throws `SyncError.refused(.notOwner)` when a slot is not in force.
  /// - Throws: that, when none is; what `openSlot` and `body` throw.
  static func inForce<R>(
    _ first: OpenedSlot, at remote: any Remote, _ address: AccountAddress, with secret: AccountSecret,
    _ body: (OpenedSlot) throws -> R
  ) throws -> R {
    var slot = first
    var tried: Set<SlotID> = []
    while true {
      do { return try body(slot) } catch SyncError.refused(.notOwner) { tried.insert(slot.id) }
      do {
        slot = try openSlot(at: remote, address, with: secret, without: tried)
      } catch SyncError.wrongSecret { throw SyncError.refused(.notOwner) }
    }
  }

  /// The first of these slots that opens, the last made first.
  static func open(
    _ records: [AccountSlotRecord], _ address: AccountAddress, _ secret: AccountSecret
  ) throws -> OpenedSlot? {
    for record in records.sorted(by: { $0.createdAt > $1.createdAt }) {
      guard let derived = try record.secret(secret, urlSecret: address.secret),
        let contents = try? record.open(secret: derived, account: address.account)
      else { continue }
      return OpenedSlot(
        id: record.id, agreement: contents.agreement, owner: contents.owner, anchor: contents.anchor)
    }
    return nil
  }

  /// The slots at the remote, and how many objects are damaged: their names are the hashes of other bytes.
  private static func slots(
    at remote: any Remote, _ address: AccountAddress
  ) throws -> (records: [AccountSlotRecord], damagedCount: Int) {
    let folder = Hexadecimal.text(address.account.bytes) + "/" + Folder.slots.path
    do throws(RemoteError) {
      var names: [String] = []
      try remote.list(folder) { names.append($0.name) }
      var (records, damagedCount): ([AccountSlotRecord], Int) = ([], 0)
      // Anybody who may write there can put things there. A slot costs a derivation, anything else only its bytes.
      for name in names.sorted().prefix(objectLimit) where records.count < slotLimit {
        guard let bytes = try remote.get(name, range: 0..<AccountSlotRecord.byteCount + 1) else { continue }
        if name == folder + "/" + Hexadecimal.text(ObjectHash(hashing: bytes).bytes) {
          if let record = try? AccountSlotRecord.parse(bytes) { records.append(record) }
        } else if Self.isHash(name.dropFirst(folder.utf8.count + 1)) {
          damagedCount += 1
        }
      }
      return (records, damagedCount)
    } catch { throw SyncError.remote(error) }
  }

  /// Whether it is a name that an object of an account can have; copies by other programs have others.
  private static func isHash(_ name: Substring) -> Bool {
    name.utf8.count == 64 && name.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
  }

  private static let slotLimit = 64
  private static let objectLimit = 10_000
}

extension AccountSlotRecord {
  /// The slot's secret from what the user gave; nil when that is for another kind of slot.
  func secret(_ given: AccountSecret, urlSecret: SharedSecretBytes) throws -> SharedSecretBytes? {
    switch (given, derivation) {
    case (.passphrase(let passphrase, _), .passphrase):
      guard let costs = derivation.argon2idParameters else { return nil }
      return try passphrase.withBytes {
        try AccountSlotSecret.passphrase($0, urlSecret: urlSecret, salt: salt, costs: costs)
      }
    case (.seed(let seed), .words):
      return AccountSlotSecret.words(seed: seed.withBytes { SecretBytes(copying: $0) }, salt: salt)
    default: return nil
    }
  }
}
