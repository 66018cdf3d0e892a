// SPDX-License-Identifier: Apache-2.0
//
// A segment as bytes. The signature is inside the seal, so that nobody without the epoch's key sees a public key at work.
//
//   object: "COFSEG01" (8) ‖ epoch (8) ‖ salt (32) ‖ sealed body ‖ tag (16)
//   body:   version 1 (1) ‖ account (16) ‖ device (16) ‖ number (8) ‖ hash of the segment before (32) ‖ time (8)
//           ‖ lamport (8) ‖ highest format understood (2) ‖ holds all captures (1)
//           ‖ frontier: count (2), device (16), number (8), hash (32) each ‖ control heads: count (1), id (32) each
//           ‖ state digest (32) ‖ packs: count (2), hash (32), length (4) each ‖ operations: count (2), each
//           ‖ zeros ‖ signature over all before (64)
//
// The zeros bring the body to a Padmé size. Salt = HMAC(segment key, body); key = HKDF(segment key, salt,
// "coffer segment v1" ‖ account ‖ device ‖ number); nonce 0; associated data: all before the body ‖ account ‖ device ‖
// number.

internal import Primitives

/// Bytes in a signature: r ‖ s.
let signatureByteCount = 64

/// A segment with its signature. Whether the signature holds is for the reader to ask who knows the device's key.
public struct SignedSegment: Sendable {
  /// What the segment says.
  public let segment: Segment
  /// All bytes before the signature.
  public let signedBytes: [UInt8]
  /// 64 bytes.
  public let signature: [UInt8]
}

extension Segment {
  private static let version: UInt8 = 1
  private static let fieldsByteCountLimit =
    byteCountLimit - ObjectHead.byteCount - AES256GCM.tagByteCount - signatureByteCount

  /// Bytes of the sealed object; nil if it is above a limit and cannot be written.
  public var sealedByteCount: Int? {
    guard operations.count <= Self.operationCountLimit, packs.count <= Self.packCountLimit,
      frontier.count <= Int(UInt16.max), controlHeads.count <= Int(UInt8.max)
    else { return nil }
    let count =
      ObjectHead.byteCount + Padme.size(fields().count + signatureByteCount) + AES256GCM.tagByteCount
    return count <= Self.byteCountLimit ? count : nil
  }

  /// All bytes that are signed. With a signature after them they have a Padmé size.
  ///
  /// The segment must be one that can be written: see ``sealedByteCount``.
  public func body() -> [UInt8] {
    precondition(operations.count <= Self.operationCountLimit, "too many operations")
    precondition(packs.count <= Self.packCountLimit, "too many packs")
    precondition(
      (number == 1) == (previous == .zero) && number > 0, "only the first segment has no predecessor")
    var bytes = fields()
    let count = Padme.size(bytes.count + signatureByteCount) - signatureByteCount
    precondition(count <= Self.fieldsByteCountLimit, "a segment of more than 1 MiB")
    bytes += [UInt8](repeating: 0, count: count - bytes.count)
    return bytes
  }

  private func fields() -> [UInt8] {
    var bytes: [UInt8] = [Self.version]
    bytes += account.bytes
    bytes += device.bytes
    bytes.append(bigEndian: number)
    bytes += previous.bytes
    bytes.append(bigEndian: time)
    bytes.append(bigEndian: lamport)
    bytes.append(bigEndian: format)
    bytes.append(holdsAllCaptures ? 1 : 0)
    bytes.appendRising(frontier, count: UInt16.self) { $0.append($1) }
    bytes.appendRising(controlHeads, count: UInt8.self) { $0 += $1.bytes }
    bytes += digest.bytes
    bytes.append(bigEndian: UInt16(packs.count))
    for pack in packs {
      bytes += pack.hash.bytes
      bytes.append(bigEndian: pack.byteCount)
    }
    bytes.append(bigEndian: UInt16(operations.count))
    for operation in operations { operation.append(to: &bytes) }
    return bytes
  }

  /// Reads a body with its signature.
  public static func parse(_ body: [UInt8]) throws(FormatError) -> SignedSegment {
    guard body.count <= fieldsByteCountLimit + signatureByteCount else { throw .tooLarge }
    guard body.count > signatureByteCount else { throw .malformed }
    var fields = FieldReader(body, to: body.count - signatureByteCount)
    let segment = try Segment(from: &fields)
    guard Padme.size(fields.offset + signatureByteCount) == body.count else { throw .malformed }
    try fields.padding()
    return SignedSegment(
      segment: segment, signedBytes: Array(body.dropLast(signatureByteCount)),
      signature: Array(body.suffix(signatureByteCount)))
  }

  private init(from fields: inout FieldReader) throws(FormatError) {
    guard try fields.byte() == Self.version else { throw .unknownVersion }
    account = try fields.identifier()
    device = try fields.identifier()
    number = try fields.integer()
    previous = try fields.hash()
    guard number > 0, (number == 1) == (previous == .zero) else { throw .malformed }
    time = try fields.integer()
    lamport = try fields.integer()
    format = try fields.integer()
    guard format > 0 else { throw .malformed }
    holdsAllCaptures = try fields.flag()
    frontier = try fields.rising(Int(try fields.integer() as UInt16)) { fields throws(FormatError) in
      try fields.segmentName()
    }
    controlHeads = try fields.rising(Int(try fields.byte())) { fields throws(FormatError) in try fields.hash()
    }
    digest = try fields.hash()
    packs = try Self.packs(from: &fields)
    let count = Int(try fields.integer() as UInt16)
    guard count <= Self.operationCountLimit else { throw .tooLarge }
    operations = []
    for _ in 0..<count { operations.append(try Operation(from: &fields, packCount: packs.count)) }
  }

  /// The packs, in the order in which places count them; each once.
  private static func packs(from fields: inout FieldReader) throws(FormatError) -> [PackReference] {
    let count = Int(try fields.integer() as UInt16)
    guard count <= packCountLimit else { throw .tooLarge }
    var packs: [PackReference] = []
    var hashes: Set<ObjectHash> = []
    for _ in 0..<count {
      let pack = PackReference(hash: try fields.hash(), byteCount: try fields.integer())
      guard pack.byteCount <= Pack.byteCountLimit else { throw .tooLarge }
      guard pack.byteCount > 0, hashes.insert(pack.hash).inserted else { throw .malformed }
      packs.append(pack)
    }
    return packs
  }
}

/// Seals and opens segments.
public enum SegmentSeal {
  private static let magic: StaticString = "COFSEG01"

  /// The object of a segment. The same signed bytes and signature give the same object.
  /// - Parameters:
  ///   - signedBytes: the segment's ``Segment/body()``.
  ///   - signature: 64 bytes.
  ///   - segment: names the place.
  ///   - keys: of the epoch that is sealed under.
  public static func seal(
    signedBytes: [UInt8], signature: [UInt8], segment: Segment, keys: EpochKeys
  ) -> [UInt8] {
    precondition(signature.count == signatureByteCount, "a signature has 64 bytes")
    let body = signedBytes + signature
    let seal = seal(account: segment.account, device: segment.device, number: segment.number, keys: keys)
    let salt = seal.salt(of: body)
    return seal.seal(body, after: ObjectHead.bytes(magic: magic, epoch: keys.name, salt: salt), salt: salt)
  }

  /// The epoch whose keys open the object.
  public static func epoch(of object: [UInt8]) throws(FormatError) -> EpochName {
    try ObjectHead(of: object, magic: magic).epoch
  }

  /// Opens an object that lies where segment `number` of a device of an account lies.
  public static func open(
    _ object: [UInt8], account: AccountID, device: DeviceID, number: UInt64, keys: EpochKeys
  ) throws(FormatError) -> SignedSegment {
    guard object.count <= Segment.byteCountLimit else { throw .tooLarge }
    let head = try ObjectHead(of: object, magic: magic)
    guard head.epoch == keys.name else { throw .otherEpoch }
    let seal = seal(account: account, device: device, number: number, keys: keys)
    let signed = try Segment.parse(try seal.open(object, from: ObjectHead.byteCount, salt: head.salt))
    let segment = signed.segment
    guard segment.account == account, segment.device == device, segment.number == number else {
      throw .misplaced
    }
    return signed
  }

  private static func seal(
    account: AccountID, device: DeviceID, number: UInt64, keys: EpochKeys
  ) -> DeterministicSeal {
    var context = account.bytes + device.bytes
    context.append(bigEndian: number)
    return DeterministicSeal(key: keys.segment, label: "coffer segment v1", context: context)
  }
}
