// SPDX-License-Identifier: Apache-2.0
//
// The objects of an account and their names (Specs/remote.md). Whatever is sealed is given as it is inside: nobody finds
// a key by trying, but a member of the account has it and may be a bad one.

import Primitives
import Secrets

@testable import Histories

private let account = AccountID(beginningOf: [UInt8](repeating: 0, count: 16))
private let keys = EpochKeys(
  number: 1, key: SharedSecretBytes(SecretBytes(zeroed: EpochKeys.keyByteCount)))

func checkSlot(_ bytes: [UInt8]) {
  guard let slot = try? AccountSlotRecord.parse(bytes) else { return }
  guard slot.bytes() == bytes else { fatalError("a slot is written differently") }
}

func checkControlOperation(_ bytes: [UInt8]) {
  guard let signed = try? SignedControlOperation.parse(bytes) else { return }
  guard signed.operation.signedBytes() == signed.signedBytes,
    signed.signedBytes + signed.signature + (signed.newOwnerSignature ?? []) == bytes
  else { fatalError("a control operation is written differently") }
}

func checkSegment(_ bytes: [UInt8]) {
  guard let signed = try? Segment.parse(bytes) else { return }
  guard signed.segment.body() == signed.signedBytes else { fatalError("a segment is written differently") }
  guard let count = signed.segment.sealedByteCount, count >= bytes.count else {
    fatalError("a segment is read that cannot be sealed")
  }
  for case .add(let addition) in signed.segment.operations {
    _ = addition.hasItsVersion(device: signed.segment.device)
  }
}

/// The object of a control operation, whose envelopes anybody can read, and any other sealed object. None opens, whatever
/// lengths it has.
func checkEnvelopes(_ object: [UInt8]) {
  var sealed = object
  if sealed.count >= 16 {
    var name: [UInt8] = []
    name.append(keys.name)
    sealed.replaceSubrange(8..<16, with: name)
  }
  let device = DeviceID(beginningOf: account.bytes)
  if (try? SegmentSeal.open(sealed, account: account, device: device, number: 1, keys: keys)) != nil
    || (try? Pack.directory(of: sealed, keys: keys, account: account)) != nil
    || (try? ControlSeal.open(sealed, account: account, keys: keys)) != nil
  {
    fatalError("an object opens that was not sealed")
  }
  guard let epoch = try? ControlSeal.epoch(of: object),
    let envelopes = try? ControlSeal.envelopes(of: object)
  else { return }
  var name: [UInt8] = []
  name.append(epoch)
  guard object[8...].starts(with: name), object.count >= envelopes.reduce(50, { $0 + $1.count }) else {
    fatalError("envelopes are longer than their object")
  }
  for envelope in envelopes {
    guard let tag = try? Envelope.tag(of: envelope) else { continue }
    guard envelope.count <= Envelope.byteCountLimit, envelope[5...].starts(with: tag) else {
      fatalError("an envelope has the tag of another")
    }
  }
}

func checkEnvelopeKeys(_ bytes: [UInt8]) {
  guard let contents = try? EnvelopeContents(SecretBytes(copying: bytes.span.bytes)) else { return }
  guard contents.plaintext().withBytes({ [UInt8](copying: $0) }) == bytes else {
    fatalError("the keys of an envelope are written differently")
  }
}

/// The length of the object (4), and the directory as it is inside. It is sealed, and the object opened as any other; what
/// follows the directory in it is zeros.
func checkPackDirectory(_ bytes: [UInt8]) {
  guard bytes.count > 4 else { return }
  let objectByteCount = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
  let directory = Array(bytes[4...])
  let sealedByteCount = directory.count + AES256GCM.tagByteCount
  // Longer ones take their time and show no more.
  guard Pack.directoryOffset + sealedByteCount <= objectByteCount, objectByteCount <= 1 << 16 else { return }
  let salt = [UInt8](repeating: 0, count: ObjectHead.saltByteCount)
  var object = ObjectHead.bytes(magic: Pack.magic, epoch: keys.name, salt: salt)
  object.append(bigEndian: UInt32(sealedByteCount))
  object += [UInt8](repeating: 0, count: objectByteCount - object.count)
  var sealer = EntrySealer(epoch: keys.name, salt: salt, keys: keys, account: account)
  sealer.seal(
    directory.span.bytes, number: 0, kind: Pack.EntryKind.directoryNumber, into: &object,
    at: Pack.directoryOffset)
  guard let read = try? Pack.directory(of: object, keys: keys, account: account) else { return }
  guard Pack.Directory.bytes(read.entries) == directory else {
    fatalError("a directory is written differently")
  }
  for (index, entry) in read.entries.enumerated() {
    guard entry.offset + entry.sealedByteCount <= objectByteCount else {
      fatalError("an entry is not in its pack")
    }
    let number = UInt32(index + 1)
    if (try? Pack.entry(number, of: object, directory: read, keys: keys, account: account)) != nil {
      fatalError("an entry opens that was not sealed")
    }
  }
}

func checkObjectName(_ bytes: [UInt8]) {
  guard let path = String(validating: bytes, as: UTF8.self), let name = ObjectName(path: path) else { return }
  guard name.path.utf8.elementsEqual(bytes), ObjectName(path: name.path) == name else {
    fatalError("a name is written differently")
  }
}
