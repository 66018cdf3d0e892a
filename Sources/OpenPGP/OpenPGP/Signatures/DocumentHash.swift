// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 5.2.4: the digests of a document, in one pass for any number of signatures. The fields of
// a signature are hashed last, so signatures that hash alike share a context, and line ends are changed once
// for all that are over text.
//
// Line ends of text are hashed as CR LF. An LF without a CR before it gets one; a CR without an LF after it
// does not end a line (GnuPG and most others agree) and stays. Text is UTF-8 (RFC 3629): no surrogates,
// nothing above U+10FFFF, and only shortest forms.

internal import Glibc
internal import Primitives
internal import Secrets

/// The hash of a document on its way to a signature: the salt first (version 6), line ends as CR LF when the
/// signature is over text.
final class DocumentHash {
  let algorithm: HashAlgorithm
  let isText: Bool
  let salt: [UInt8]
  private var context: HashContext
  /// Made when it is needed: hashes of one document share another.
  private lazy var text = CanonicalText()

  /// - Throws: ``OpenPGPError/unsupported(_:)`` for a hash that is not there.
  init(_ algorithm: HashAlgorithm, isText: Bool, salt: [UInt8]) throws(OpenPGPError) {
    guard HashContext.isAvailable(algorithm) else {
      throw .unsupported(.hashAlgorithm(algorithm.rawValue))
    }
    self.algorithm = algorithm
    self.isText = isText
    self.salt = salt
    context = HashContext(algorithm)
    context.update(salt)
  }

  /// Takes in the next octets of the document.
  func update(_ bytes: RawSpan) {
    if isText { text.update(bytes, hash: take) } else { take(bytes) }
  }

  /// Takes in the next octets as they are to be hashed: those of a text with its line ends changed.
  func take(_ bytes: RawSpan) { context.update(bytes) }

  /// Whether this is the hash that `signature` wants.
  func serves(_ signature: Signature) -> Bool {
    algorithm == signature.hash && isText == (signature.type == .text) && salt == signature.salt
  }

  /// The digest for `signature`, whose fields go in last; other signatures over the same document can follow.
  func digest(for signature: Signature) -> [UInt8] {
    var last = context.duplicate()
    last.update(signature.hashedFields)
    return last.finish()
  }
}

/// The hashes of one document.
final class DocumentHashes {
  private struct Parameters: Hashable {
    let algorithm: HashAlgorithm
    let isText: Bool
    let salt: [UInt8]
  }

  private var hashes: [Parameters: DocumentHash] = [:]
  private var ofOctets: [DocumentHash] = []
  private var ofText: [DocumentHash] = []
  private lazy var text = CanonicalText()
  private let saltedLimit: Int
  private var saltedCount = 0

  /// - Parameter saltedLimit: how many hashes with a salt there may be. Without one there are few: as many as
  ///   algorithms, for octets and for text.
  init(saltedLimit: Int = Limits.signatureCount) { self.saltedLimit = saltedLimit }

  /// Whether nothing is to be hashed.
  var isEmpty: Bool { hashes.isEmpty }

  /// The hash that serves `signature`; a new one only when none of the others does. All are asked for before
  /// the document begins.
  func prepare(for signature: Signature) throws(OpenPGPError) -> DocumentHash {
    try prepare(signature.hash, isText: signature.type == .text, salt: signature.salt)
  }

  /// The hash of these parameters.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` with `saltedHashCount` when it would be one too many.
  func prepare(_ algorithm: HashAlgorithm, isText: Bool, salt: [UInt8]) throws(OpenPGPError) -> DocumentHash {
    let parameters = Parameters(algorithm: algorithm, isText: isText, salt: salt)
    if let known = hashes[parameters] { return known }
    guard hashes.count < Limits.signatureCount else { throw .overLimit(.signatureCount) }
    if !salt.isEmpty {
      guard saltedCount < saltedLimit else { throw .overLimit(.saltedHashCount) }
      saltedCount += 1
    }
    let hash = try DocumentHash(algorithm, isText: isText, salt: salt)
    hashes[parameters] = hash
    if isText { ofText.append(hash) } else { ofOctets.append(hash) }
    return hash
  }

  /// Takes in the next octets of the document.
  func update(_ bytes: RawSpan) {
    for hash in ofOctets { hash.take(bytes) }
    if ofText.isEmpty { return }
    text.update(bytes) { piece in
      for hash in ofText { hash.take(piece) }
    }
  }
}

/// Text on its way into hashes.
final class CanonicalText {
  /// Lines are gathered, since hashing them one by one costs more than copying them.
  private var buffer = SecretBytes(zeroed: bufferByteCount)
  private var filled = 0
  private var endsWithCarriageReturn = false

  private static let bufferByteCount = 16 << 10
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let lineFeed = UInt8(ascii: "\n")

  /// Takes in the next octets, and hands them to `hash` with line ends as they are hashed.
  func update(_ bytes: RawSpan, hash: (RawSpan) -> Void) {
    var start = 0
    var searched = 0
    while let lineEnd = Self.firstLineFeed(in: bytes, from: searched) {
      searched = lineEnd + 1
      if isCarriageReturn(before: lineEnd, in: bytes) { continue }
      append(bytes.extracting(start..<lineEnd), hash)
      append(Self.lineEnd.rawSpan, hash)
      start = searched
    }
    append(bytes.extracting(start..<bytes.byteCount), hash)
    flush(hash)
    if bytes.byteCount > 0 {
      endsWithCarriageReturn = isCarriageReturn(before: bytes.byteCount, in: bytes)
    }
  }

  private func flush(_ hash: (RawSpan) -> Void) {
    guard filled > 0 else { return }
    buffer.withBytes { hash($0.extracting(0..<filled)) }
    filled = 0
  }

  /// Whether there is a CR before `offset`: in these octets, or at the end of those before them.
  private func isCarriageReturn(before offset: Int, in bytes: RawSpan) -> Bool {
    guard offset > 0 else { return endsWithCarriageReturn }
    return unsafe bytes.unsafeLoad(fromByteOffset: offset - 1, as: UInt8.self) == Self.carriageReturn
  }

  private func append(_ bytes: RawSpan, _ hash: (RawSpan) -> Void) {
    if bytes.byteCount > Self.bufferByteCount - filled { flush(hash) }
    guard bytes.byteCount <= Self.bufferByteCount else { return hash(bytes) }
    buffer.withMutableBytes { $0.copy(bytes, to: filled) }
    filled += bytes.byteCount
  }

  private static let lineEnd = [carriageReturn, lineFeed]

  private static func firstLineFeed(in bytes: RawSpan, from offset: Int) -> Int? {
    unsafe bytes.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, offset < bytes.count,
        let place = unsafe memchr(base + offset, Int32(lineFeed), bytes.count - offset)
      else { return nil }
      return unsafe UnsafeRawPointer(place) - base
    }
  }
}

/// Octets that should be UTF-8.
struct UTF8Check {
  /// Whether an octet has come that cannot be there.
  private(set) var hasFailed = false
  /// Octets that the character under way still lacks, and what the next of them may be.
  private var missing = 0
  private var allowed: ClosedRange<UInt8> = continuation

  private static let continuation: ClosedRange<UInt8> = 0x80...0xBF

  /// Whether all that has come is UTF-8, and ends with a character.
  var isComplete: Bool { !hasFailed && missing == 0 }

  /// Takes in the next octets.
  mutating func update(_ bytes: RawSpan) {
    var offset = 0
    while offset < bytes.byteCount && !hasFailed {
      if missing == 0 {
        offset = Self.endOfASCII(in: bytes, from: offset)
        if offset == bytes.byteCount { return }
      }
      take(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      offset += 1
    }
  }

  private mutating func take(_ octet: UInt8) {
    if missing > 0 {
      hasFailed = !allowed.contains(octet)
      missing -= 1
      allowed = Self.continuation
      return
    }
    switch octet {
    case 0x00...0x7F: return
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
    case 0xED: (missing, allowed) = (2, 0x80...0x9F)
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
    case 0xF1...0xF3: missing = 3
    case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
    default: hasFailed = true
    }
  }

  /// The first offset whose octet is not ASCII; eight octets at a time.
  private static func endOfASCII(in bytes: RawSpan, from start: Int) -> Int {
    var offset = start
    let highBits: UInt64 = 0x8080_8080_8080_8080
    while offset + 8 <= bytes.byteCount {
      let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
      if word & highBits != 0 { break }
      offset += 8
    }
    while offset < bytes.byteCount {
      let octet = unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      if octet >= 0x80 { break }
      offset += 1
    }
    return offset
  }
}
