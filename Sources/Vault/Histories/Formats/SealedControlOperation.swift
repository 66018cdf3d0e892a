// SPDX-License-Identifier: Apache-2.0
//
// A control operation with its signatures, and its object:
//
//   "COFCTL01" (8) ‖ epoch (8) ‖ salt (32) ‖ envelopes: count (2), each ‖ sealed operation ‖ tag (16)
//
// Envelopes are read without any key: whoever is added opens an envelope before the operation. Salt = HMAC(control key,
// operation); key = HKDF(control key, salt, "coffer control v1" ‖ account); nonce 0; associated data: all before the
// operation ‖ account.

internal import Primitives
internal import Secrets

/// A control operation with its signatures. Whether they hold is for the reader to ask who knows the owner's key.
public struct SignedControlOperation: Sendable {
  /// What the operation says.
  public let operation: ControlOperation
  /// All bytes, with the signatures.
  public let bytes: [UInt8]
  /// All bytes before the signatures. Both are over these.
  public let signedBytes: [UInt8]
  /// By the owner key of the operation's generation, 64 bytes.
  public let signature: [UInt8]
  /// By the owner key that the operation brings, 64 bytes; nil if it brings none.
  public let newOwnerSignature: [UInt8]?
  /// The hash of all bytes.
  public let id: ControlID

  /// - Parameters:
  ///   - operation: is in form: lists rise, and `genesis` alone has no account.
  ///   - signature: of ``ControlOperation/signedBytes()``, 64 bytes.
  ///   - newOwnerSignature: exactly when the operation brings a new owner key.
  public init(_ operation: ControlOperation, signature: [UInt8], newOwnerSignature: [UInt8]? = nil) {
    precondition(signature.count == signatureByteCount, "a signature has 64 bytes")
    precondition(
      (newOwnerSignature?.count ?? signatureByteCount) == signatureByteCount, "a signature has 64 bytes")
    precondition(operation.hasNewOwner == (newOwnerSignature != nil), "a new owner key signs too")
    self.operation = operation
    signedBytes = operation.signedBytes()
    self.signature = signature
    self.newOwnerSignature = newOwnerSignature
    bytes = signedBytes + signature + (newOwnerSignature ?? [])
    id = ControlID(hashing: bytes)
  }

  private init(parsing bytes: [UInt8]) throws(FormatError) {
    var fields = FieldReader(bytes)
    operation = try ControlOperation(from: &fields)
    signedBytes = Array(bytes[..<fields.offset])
    signature = try fields.bytes(signatureByteCount)
    newOwnerSignature = operation.hasNewOwner ? try fields.bytes(signatureByteCount) : nil
    try fields.finish()
    self.bytes = bytes
    id = ControlID(hashing: bytes)
  }

  /// Reads ``bytes``.
  public static func parse(_ bytes: [UInt8]) throws(FormatError) -> SignedControlOperation {
    try SignedControlOperation(parsing: bytes)
  }
}

extension ControlOperation {
  fileprivate var hasNewOwner: Bool {
    guard case .rekey(let rekey) = kind else { return false }
    return rekey.newOwnerKey != nil
  }
}

/// Seals and opens control operations.
public enum ControlSeal {
  /// Bytes of an object: a thousand members with a hundred epochs each. A hostile server cannot fill the memory.
  public static let byteCountLimit = 4 << 20

  private static let magic: StaticString = "COFCTL01"

  /// Bytes of the object of an operation with its envelopes.
  static func byteCount(of signed: SignedControlOperation, envelopes: [[UInt8]]) -> Int {
    ObjectHead.byteCount + 2 + envelopes.reduce(0) { $0 + $1.count } + signed.bytes.count
      + AES256GCM.tagByteCount
  }

  /// The object of an operation. The same operation and envelopes give the same object.
  /// - Parameters:
  ///   - signed: holds ``hash(ofEnvelopes:)`` of `envelopes`.
  ///   - account: for `genesis` too.
  ///   - keys: of the highest epoch among the operation's ancestors, never its own.
  public static func seal(
    _ signed: SignedControlOperation, envelopes: [[UInt8]], account: AccountID, keys: EpochKeys
  ) -> [UInt8] {
    precondition(signed.operation.envelopesHash == hash(ofEnvelopes: envelopes), "these are other envelopes")
    let seal = seal(account: account, keys: keys)
    let salt = seal.salt(of: signed.bytes)
    var clear = ObjectHead.bytes(magic: magic, epoch: keys.name, salt: salt)
    clear.append(bigEndian: UInt16(envelopes.count))
    for envelope in envelopes { clear += envelope }
    let object = seal.seal(signed.bytes, after: clear, salt: salt)
    precondition(object.count <= byteCountLimit, "an operation of more than 4 MiB")
    return object
  }

  /// The epoch whose keys open the operation.
  public static func epoch(of object: [UInt8]) throws(FormatError) -> EpochName {
    try ObjectHead(of: object, magic: magic).epoch
  }

  /// The envelopes, which can be read without any key. They are believed only when the operation has been opened.
  public static func envelopes(of object: [UInt8]) throws(FormatError) -> [[UInt8]] {
    guard object.count <= byteCountLimit else { throw .tooLarge }
    _ = try ObjectHead(of: object, magic: magic)
    return try envelopes(in: object).envelopes
  }

  /// Opens an object of an account's control log.
  public static func open(
    _ object: [UInt8], account: AccountID, keys: EpochKeys
  ) throws(FormatError) -> SignedControlOperation {
    guard object.count <= byteCountLimit else { throw .tooLarge }
    let head = try ObjectHead(of: object, magic: magic)
    guard head.epoch == keys.name else { throw .otherEpoch }
    let (envelopes, end) = try envelopes(in: object)
    let seal = seal(account: account, keys: keys)
    let signed = try SignedControlOperation.parse(try seal.open(object, from: end, salt: head.salt))
    guard signed.operation.envelopesHash == hash(ofEnvelopes: envelopes) else { throw .malformed }
    guard account == signed.operation.account ?? AccountID(beginningOf: signed.id.bytes) else {
      throw .misplaced
    }
    return signed
  }

  /// What an operation holds of its envelopes: SHA-256 of all, one after the other.
  public static func hash(ofEnvelopes envelopes: [[UInt8]]) -> [UInt8] {
    var hash = SHA256()
    for envelope in envelopes { hash.update(envelope.rawSpan) }
    return hash.finish()
  }

  private static func envelopes(
    in object: [UInt8]
  ) throws(FormatError) -> (envelopes: [[UInt8]], end: Int) {
    var fields = FieldReader(object, from: ObjectHead.byteCount)
    let count = Int(try fields.integer() as UInt16)
    var envelopes: [[UInt8]] = []
    for _ in 0..<count { envelopes.append(try Envelope.read(&fields)) }
    return (envelopes, fields.offset)
  }

  private static func seal(account: AccountID, keys: EpochKeys) -> DeterministicSeal {
    DeterministicSeal(key: keys.control, label: "coffer control v1", context: account.bytes)
  }
}

extension SignedControlOperation {
  /// The account that begins with this operation, if it is `genesis`: the first 16 bytes of its id.
  public var foundedAccount: AccountID? {
    guard case .genesis = operation.kind else { return nil }
    return AccountID(beginningOf: id.bytes)
  }
}
