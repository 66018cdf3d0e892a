// SPDX-License-Identifier: Apache-2.0
//
// A descriptor that is read twice. A regular file is read again in place; input from a pipe is copied
// to a temporary file without a name during the first pass. Only input is ever written there, which for
// messages is ciphertext. Others can write to a regular file while it is read, so each piece of it is tagged
// when it is first read, and compared before it is handed out again.

internal import Glibc
internal import Primitives
internal import Secrets

/// Reads a descriptor, and can read it again.
public final class SpooledSource: RewindableSource {
  private let input: Descriptor
  /// Where the input began, when it is a regular file; nil for input that can be read only once.
  private let fileStart: Int?
  private var spool: TemporaryFile?
  private var buffer = SecretBytes(zeroed: 0)
  /// The part of `buffer` that is still to be lent; it ends at `position`.
  private var lent = 0..<0
  /// How far the input has been read, in this pass and in the furthest.
  private var position = 0
  private var seenCount = 0
  /// Where the input ends, once that has been seen.
  private var endPosition: Int?
  private var tags = RereadMACs()
  /// Whether pieces are tagged, and compared when they are read again.
  private var isRecognising = true

  /// Reads `descriptor` from its current position to the end, and leaves it open.
  public init(descriptor: Int32) throws(OpenPGPError) {
    input = Descriptor(number: descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .inputOutput(errno: errno) }
    fileStart = status.st_mode & S_IFMT == S_IFREG ? lseek(descriptor, 0, SEEK_CUR) : nil
  }

  /// See ``ByteSource/withNext(_:)``.
  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    if lent.isEmpty { try fill() }
    return try buffer.withBytes { (bytes) throws(OpenPGPError) -> R in try body(bytes.extracting(lent)) }
  }

  /// See ``ByteSource/consume(_:)``.
  public func consume(_ count: Int) {
    precondition(count <= lent.count, "more was consumed than lent")
    lent = lent.lowerBound + count..<lent.upperBound
  }

  /// See ``RewindableSource/rewind(recognising:)``.
  public func rewind(recognising: Bool) throws(OpenPGPError) {
    precondition(isRecognising || !recognising, "what was read without tags cannot be recognised")
    isRecognising = recognising
    if position == lent.upperBound {
      // Everything that was read is still in the buffer.
      lent = 0..<position
    } else {
      position = 0
      lent = 0..<0
    }
  }

  /// See ``ByteSource/read(into:)``.
  public func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    let buffered = min(lent.count, target.byteCount)
    buffer.withBytes { target.copy($0.extracting(lent.lowerBound..<lent.lowerBound + buffered), to: 0) }
    consume(buffered)
    // Pieces are compared as a whole, so they have to come through the buffer.
    guard !isRecognising, target.byteCount - buffered >= Self.directByteCount else {
      return try readLent(into: &target, from: buffered)
    }
    try startSpool()
    return isAtKnownEnd ? buffered : try readOn(into: &target, from: buffered)
  }

  private func fill() throws(OpenPGPError) {
    if isAtKnownEnd { return }
    if buffer.count == 0 { buffer = SecretBytes(zeroed: Self.pieceByteCount) }
    if position > 0 { try startSpool() }
    // The buffer moves out and back in, since reading changes other fields too.
    var piece = SecretBytes(zeroed: 0)
    swap(&piece, &buffer)
    defer { swap(&piece, &buffer) }
    lent = 0..<0
    let number = position / Self.pieceByteCount
    let end = try piece.withMutableBytes { (bytes) throws(OpenPGPError) in
      try self.readOn(into: &bytes, from: 0)
    }
    if isRecognising, fileStart != nil, end > 0 {
      try piece.withBytes { (bytes) throws(OpenPGPError) in
        try self.check(bytes.extracting(0..<end), number: number)
      }
    }
    lent = 0..<end
  }

  private var isAtKnownEnd: Bool { endPosition.map { position >= $0 } ?? false }

  private func check(_ piece: RawSpan, number: Int) throws(OpenPGPError) {
    if number == tags.count {
      tags.append(piece)
    } else {
      guard tags.matches(piece, number: number) else { throw .inputChanged }
    }
  }

  /// Reads on at `position`: bytes that were seen before from the copy or file, the rest from the input.
  private func readOn(into target: inout MutableRawSpan, from start: Int) throws(OpenPGPError) -> Int {
    let known = (position < seenCount ? seenCount : endPosition ?? .max) - position
    let end = start + min(target.byteCount - start, fileStart == nil || endPosition != nil ? known : .max)
    let filled: Int
    if let fileStart {
      filled = try input.readAll(into: &target, from: start, to: end, position: fileStart + position)
    } else if position < seenCount, let spool {
      filled = try spool.descriptor.readAll(into: &target, from: start, to: end, position: position)
    } else {
      filled = try input.readAll(into: &target, from: start, to: end, position: nil)
      try spool?.descriptor.write(target.bytes.extracting(start..<filled), RawSpan())
    }
    position += filled - start
    if filled < end {
      guard position >= seenCount, endPosition == nil else { throw .inputChanged }
      endPosition = position
    }
    seenCount = max(seenCount, position)
    return filled
  }

  /// Before the buffer is used again: until then bytes from a pipe are in it, and nowhere else.
  private func startSpool() throws(OpenPGPError) {
    guard fileStart == nil, spool == nil else { return }
    let file = try TemporaryFile()
    try buffer.withBytes { (bytes) throws(OpenPGPError) in
      try file.descriptor.write(bytes.extracting(0..<position), RawSpan())
    }
    spool = file
  }

  /// How many bytes are read and compared at a time: they stay in the processor's cache.
  private static let pieceByteCount = 256 << 10
  /// Reads of at least this many bytes go straight to the caller's memory, when nothing is compared.
  private static let directByteCount = 32 << 10
}

/// Recognises pieces of an input that were read before, by a MAC of each: AES-256-GCM without plaintext, under a key that
/// nobody knows, with the number of the piece as nonce. It keeps 16 bytes a piece, 64 bytes of every MiB.
struct RereadMACs: ~Copyable {
  private var cipher = AES256GCM()
  private let key = SystemRandom.secretBytes(count: SymmetricKey.byteCount)
  private var tags: [UInt8] = []

  /// Pieces that were seen.
  var count: Int { tags.count / AES256GCM.tagByteCount }

  /// Remembers the next piece.
  mutating func append(_ piece: RawSpan) { tags += tag(of: piece, number: count) }

  /// Whether piece `number` is unchanged.
  mutating func matches(_ piece: RawSpan, number: Int) -> Bool {
    let start = number * AES256GCM.tagByteCount
    let seen = Array(tags[start..<start + AES256GCM.tagByteCount])
    let found = tag(of: piece, number: number)
    return constantTimeEqual(seen.rawSpan, found.rawSpan)
  }

  private mutating func tag(of piece: RawSpan, number: Int) -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: AES256GCM.nonceByteCount - 8)
    nonce.append(bigEndian: UInt64(number))
    var output = [UInt8](repeating: 0, count: AES256GCM.tagByteCount)
    var span = output.mutableSpan
    var bytes = unsafe span.mutableBytes
    do {
      try key.withBytes { (key) throws(CryptoError) in
        try cipher.sealInPlace(&bytes, key: key, nonce: nonce.rawSpan, authenticating: piece)
      }
    } catch {
      preconditionFailure("a piece is shorter than the cipher's limit")
    }
    return output
  }
}
