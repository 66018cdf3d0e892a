// SPDX-License-Identifier: Apache-2.0
//
// A control operation as bytes, before it is sealed:
//
//   version 1 (1) ‖ account (16; zero in genesis) ‖ random (16) ‖ generation (4) ‖ number (8)
//   ‖ parents: count (1), id (32) each ‖ frontier: count (2), device (16), number (8), hash (32) each
//   ‖ SHA-256 of all envelopes (32) ‖ kind (1) ‖ length (4) ‖ body ‖ signature by the owner key (64)
//   [‖ signature by the new owner key (64)]
//
//   1 genesis      owner's key (65) ‖ device ‖ commitment of epoch 1 (32)
//   2 device.add   device
//   3 slot.add     slot
//   4 rekey        revocations: count (2), device (16) ‖ heads: count (2), number (8), hash (32) each
//                  ‖ removed slots: count (1), id (16) each ‖ added slots: count (1), slot each
//                  ‖ has a new owner key (1) [‖ key (65)] ‖ commitment of the new epoch (32)
//
//   device: id (16) ‖ signing key (65) ‖ agreement key (65) ‖ level (1) ‖ name: length (1), UTF-8 ‖ replaces one (1)
//           [‖ id (16)]
//   slot:   id (16) ‖ kind (1) ‖ agreement key (65) ‖ hash of the object (32)
//
// Both signatures are over all bytes before the first. Unknown kinds are refused: membership cannot be known without
// them.

internal import Primitives
internal import Secrets

extension ControlOperation {
  private static let version: UInt8 = 1
  static let randomByteCount = 16
  private static let zeroAccount = [UInt8](repeating: 0, count: AccountID.byteCount)

  private enum KindNumber: UInt8 {
    case genesis = 1
    case addDevice = 2
    case addSlot = 3
    case rekey = 4
  }

  /// All bytes that are signed.
  public func signedBytes() -> [UInt8] {
    precondition(random.count == Self.randomByteCount, "an operation has 16 random bytes")
    precondition(envelopesHash.count == SHA256.byteCount, "a hash has 32 bytes")
    precondition(isInForm, "the operation has its kind's fields")
    var bytes: [UInt8] = [Self.version]
    bytes += account?.bytes ?? Self.zeroAccount
    bytes += random
    bytes.append(bigEndian: generation)
    bytes.append(bigEndian: number)
    bytes.appendRising(parents, count: UInt8.self) { $0 += $1.bytes }
    bytes.appendRising(frontier, count: UInt16.self) { $0.append($1) }
    bytes += envelopesHash
    bytes.appendRising(handsOut, count: UInt16.self) { $0.append($1) }
    let (kind, body): (KindNumber, [UInt8]) =
      switch kind {
      case .genesis(let genesis): (.genesis, genesis.body)
      case .addDevice(let device): (.addDevice, device.body)
      case .addSlot(let slot): (.addSlot, slot.body)
      case .rekey(let rekey): (.rekey, rekey.body)
      }
    bytes.append(kind.rawValue)
    bytes.append(bigEndian: UInt32(body.count))
    return bytes + body
  }

  init(from fields: inout FieldReader) throws(FormatError) {
    guard try fields.byte() == Self.version else { throw .unknownVersion }
    let account = try fields.bytes(AccountID.byteCount)
    self.account = account == Self.zeroAccount ? nil : AccountID(account)
    random = try fields.bytes(Self.randomByteCount)
    generation = try fields.integer()
    number = try fields.integer()
    parents = try fields.rising(Int(try fields.byte())) { fields throws(FormatError) in try fields.hash() }
    frontier = try fields.rising(Int(try fields.integer() as UInt16)) { fields throws(FormatError) in
      try fields.segmentName()
    }
    envelopesHash = try fields.bytes(SHA256.byteCount)
    handsOut = try fields.rising(Int(try fields.integer() as UInt16)) { fields throws(FormatError) in
      try fields.epochName()
    }
    guard let kind = KindNumber(rawValue: try fields.byte()) else { throw .unknownOperation }
    var body = try fields.part(Int(try fields.integer() as UInt32))
    self.kind =
      switch kind {
      case .genesis: .genesis(try Genesis(from: &body))
      case .addDevice: .addDevice(try DeviceEntry(from: &body))
      case .addSlot: .addSlot(try SlotEntry(from: &body))
      case .rekey: .rekey(try Rekey(from: &body))
      }
    try body.finish()
    guard isInForm else { throw .malformed }
  }

  /// Whether it has what its kind must have: `genesis` alone has no account and no parents, and it has no envelopes.
  private var isInForm: Bool {
    guard generation > 0 else { return false }
    guard case .genesis(let genesis) = kind else {
      return account != nil && account?.bytes != Self.zeroAccount && number > 0 && !parents.isEmpty
    }
    return account == nil && generation == 1 && number == 0 && parents.isEmpty && frontier.isEmpty
      && envelopesHash == ControlSeal.hash(ofEnvelopes: []) && handsOut.isEmpty
      && genesis.device.replaces == nil
  }
}

extension Genesis {
  fileprivate var body: [UInt8] {
    precondition(FieldReader.isPublicKey(ownerKey), "a public key has 65 bytes")
    precondition(epochCommitment.count == EpochKeys.commitmentByteCount, "a commitment has 32 bytes")
    return ownerKey + device.body + epochCommitment
  }

  fileprivate init(from fields: inout FieldReader) throws(FormatError) {
    ownerKey = try fields.publicKey()
    device = try DeviceEntry(from: &fields)
    epochCommitment = try fields.bytes(EpochKeys.commitmentByteCount)
  }
}

extension DeviceEntry {
  /// Bytes of a name: what a list shows in its row.
  public static let nameByteCountLimit = 64

  /// Whether a device can have this name: it fits, and has no characters that control a terminal.
  public static func isName(_ name: String) -> Bool {
    name.utf8.count <= nameByteCountLimit
      && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }

  /// Whether an operation can hold level and name.
  var isInForm: Bool { (1...2).contains(level) && Self.isName(name) }

  var body: [UInt8] {
    precondition(FieldReader.isPublicKey(signingKey), "a public key has 65 bytes")
    precondition(FieldReader.isPublicKey(agreementKey), "a public key has 65 bytes")
    precondition(isInForm, "a level and a name that can be written")
    var bytes = id.bytes + signingKey + agreementKey
    bytes.append(level)
    bytes.append(UInt8(name.utf8.count))
    bytes += Array(name.utf8)
    bytes.append(replaces == nil ? 0 : 1)
    return bytes + (replaces?.bytes ?? [])
  }

  init(from fields: inout FieldReader) throws(FormatError) {
    id = try fields.identifier()
    signingKey = try fields.publicKey()
    agreementKey = try fields.publicKey()
    level = try fields.byte()
    let name = try fields.bytes(Int(try fields.byte()))
    guard (1...2).contains(level), let name = String(validating: name, as: UTF8.self), Self.isName(name)
    else { throw .malformed }
    self.name = name
    replaces = try fields.flag() ? try fields.identifier() : nil
  }
}

extension SlotEntry {
  fileprivate var body: [UInt8] {
    precondition(FieldReader.isPublicKey(agreementKey), "a public key has 65 bytes")
    return id.bytes + [kind.rawValue] + agreementKey + object.bytes
  }

  fileprivate init(from fields: inout FieldReader) throws(FormatError) {
    id = try fields.identifier()
    guard let kind = Kind(rawValue: try fields.byte()) else { throw .malformed }
    self.kind = kind
    agreementKey = try fields.publicKey()
    object = try fields.hash()
  }
}

extension Rekey {
  fileprivate var body: [UInt8] {
    precondition(epochCommitment.count == EpochKeys.commitmentByteCount, "a commitment has 32 bytes")
    var bytes: [UInt8] = []
    bytes.appendRising(revocations, by: \.device, count: UInt16.self) { bytes, revocation in
      bytes += revocation.device.bytes
      bytes.appendRising(revocation.heads, count: UInt16.self) { bytes, head in
        precondition(head.device == revocation.device, "a revocation names heads of its device")
        bytes.append(bigEndian: head.number)
        bytes += head.hash.bytes
      }
    }
    bytes.appendRising(removedSlots, count: UInt8.self) { $0 += $1.bytes }
    bytes.appendRising(addedSlots, by: \.id, count: UInt8.self) { $0 += $1.body }
    bytes.append(newOwnerKey == nil ? 0 : 1)
    if let newOwnerKey {
      precondition(FieldReader.isPublicKey(newOwnerKey), "a public key has 65 bytes")
      bytes += newOwnerKey
    }
    return bytes + epochCommitment
  }

  fileprivate init(from fields: inout FieldReader) throws(FormatError) {
    revocations = try fields.rising(Int(try fields.integer() as UInt16), by: \.device) {
      fields throws(FormatError) in
      let device: DeviceID = try fields.identifier()
      let heads = try fields.rising(Int(try fields.integer() as UInt16)) { fields throws(FormatError) in
        SegmentName(device: device, number: try fields.integer(), hash: try fields.hash())
      }
      guard heads.allSatisfy({ $0.number > 0 }) else { throw .malformed }
      return Revocation(device: device, heads: heads)
    }
    removedSlots = try fields.rising(Int(try fields.byte())) { fields throws(FormatError) in
      try fields.identifier()
    }
    addedSlots = try fields.rising(Int(try fields.byte()), by: \.id) { fields throws(FormatError) in
      try SlotEntry(from: &fields)
    }
    newOwnerKey = try fields.flag() ? try fields.publicKey() : nil
    epochCommitment = try fields.bytes(EpochKeys.commitmentByteCount)
  }
}
