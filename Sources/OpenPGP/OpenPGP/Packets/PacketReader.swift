// SPDX-License-Identifier: Apache-2.0
//
// RFC 9580, section 4.2: takes a stream apart into packets, and bodies into fields. The body of a packet is a
// source of its own; its unread rest is skipped before the next packet.

internal import Primitives
package import Secrets

/// The packets of a stream, one after the other.
package final class PacketReader {
  private let source: any ByteSource
  private var body: PacketBody?

  package init(_ source: any ByteSource) { self.source = source }

  /// The header of the next packet and its body; nil at the end.
  package func next() throws(OpenPGPError) -> (header: PacketHeader, body: PacketBody)? {
    if let body { try body.skipRest() }
    body = nil
    guard let header = try PacketHeader(source) else { return nil }
    let body = PacketBody(source, length: header.length)
    self.body = body
    return (header, body)
  }

  /// The next packet, held in memory.
  /// - Throws: ``OpenPGPError/overLimit(_:)`` when it is larger than ``Limits/packetByteCount``.
  func nextPacket() throws(OpenPGPError) -> Packet? {
    guard let (header, body) = try next() else { return nil }
    return try body.readPacket(header.type)
  }
}

/// The body of a packet, however its length was written.
package final class PacketBody: ByteSource {
  private let source: any ByteSource
  private var remaining: Int
  private var isLastPart: Bool
  /// Whether it reaches to the end of the stream that it is part of.
  let isIndeterminate: Bool

  init(_ source: any ByteSource, length: PacketHeader.Length) {
    self.source = source
    switch length {
    case .known(let count): (remaining, isLastPart, isIndeterminate) = (count, true, false)
    case .partial(let count): (remaining, isLastPart, isIndeterminate) = (count, false, false)
    case .indeterminate: (remaining, isLastPart, isIndeterminate) = (.max, true, true)
    }
  }

  /// How many octets are left, where the packet says so; nothing says that they are there.
  var knownByteCount: Int? { isLastPart && !isIndeterminate ? remaining : nil }

  package func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    while remaining == 0 && !isLastPart { try readPartLength() }
    guard remaining > 0 else { return try body(RawSpan()) }
    return try source.withNext { (next) throws(OpenPGPError) -> R in
      guard !next.isEmpty || isIndeterminate else { throw .malformed(.truncated) }
      return try body(next.extracting(0..<min(next.byteCount, remaining)))
    }
  }

  package func consume(_ count: Int) {
    source.consume(count)
    if !isIndeterminate { remaining -= count }
  }

  /// Large parts go from the source straight to where they are wanted.
  package func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    let room = target.byteCount
    var filled = 0
    while filled < room {
      while remaining == 0 && !isLastPart { try readPartLength() }
      let wanted = min(room - filled, remaining)
      if wanted == 0 { break }
      let got = try target.withRange(filled..<filled + wanted) { (part) throws(OpenPGPError) in
        try source.read(into: &part)
      }
      if !isIndeterminate { remaining -= got }
      filled += got
      if got < wanted {
        guard isIndeterminate else { throw .malformed(.truncated) }
        break
      }
    }
    return filled
  }

  /// The packet of `type` with all of this body.
  func readPacket(_ type: PacketType) throws(OpenPGPError) -> Packet {
    let body = try readAll()
    return body.withBytes { Packet(type: type, body: $0) }
  }

  /// All that is left, in memory for secrets.
  package func readAll() throws(OpenPGPError) -> SecretBytes {
    guard remaining <= Limits.packetByteCount || isIndeterminate else { throw .overLimit(.packetByteCount) }
    // The length may be a lie: memory is taken only for octets that arrive.
    return isLastPart && !isIndeterminate ? try readKnown(remaining) : try readOpen()
  }

  /// A body without a length. The room for it doubles, so that many small parts cost no more than few large ones.
  private func readOpen() throws(OpenPGPError) -> SecretBytes {
    var bytes = SecretBytes(zeroed: Self.firstRoom)
    var filled = 0
    while true {
      filled += try bytes.withMutableBytes { (output) throws(OpenPGPError) in
        try output.withRange(filled..<output.byteCount) { (part) throws(OpenPGPError) in
          try self.read(into: &part)
        }
      }
      guard filled <= Limits.packetByteCount else { throw .overLimit(.packetByteCount) }
      if filled < bytes.count {
        return bytes.withBytes { SecretBytes(copying: $0.extracting(0..<filled)) }
      }
      bytes = doubled(bytes)
    }
  }

  private func readKnown(_ count: Int) throws(OpenPGPError) -> SecretBytes {
    try SecretBytes(byteCount: count) { (output) throws(OpenPGPError) in
      guard try self.read(into: &output) == count else { throw .malformed(.truncated) }
    }
  }

  private static let firstRoom = 4096

  private func readPartLength() throws(OpenPGPError) {
    switch try PacketHeader.readLength(source).0 {
    case .partial(let count): remaining = count
    case .known(let count): (remaining, isLastPart) = (count, true)
    case .indeterminate: throw .malformed(.packetHeader)
    }
  }
}

private func doubled(_ bytes: borrowing SecretBytes) -> SecretBytes {
  SecretBytes(byteCount: 2 * bytes.count) { output in
    bytes.withBytes { output.copy($0, to: 0) }
  }
}

/// A place in the body of a packet. The body is given with each call: it may be in memory for secrets, and must not be
/// copied as a whole.
struct PacketCursor {
  private(set) var offset = 0

  mutating func readByte(_ body: RawSpan) throws(OpenPGPError) -> UInt8 {
    guard offset < body.byteCount else { throw .malformed(.truncated) }
    defer { offset += 1 }
    return unsafe body.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  mutating func readUInt16(_ body: RawSpan) throws(OpenPGPError) -> Int {
    let high = Int(try readByte(body))
    return high << 8 | Int(try readByte(body))
  }

  mutating func readUInt32(_ body: RawSpan) throws(OpenPGPError) -> UInt32 {
    let high = UInt32(try readUInt16(body))
    return high << 16 | UInt32(try readUInt16(body))
  }

  /// A time in seconds since 1970 (section 3.5).
  mutating func readTime(_ body: RawSpan) throws(OpenPGPError) -> Timestamp {
    Timestamp(secondsSince1970: try readUInt32(body))
  }

  mutating func readRange(_ body: RawSpan, count: Int) throws(OpenPGPError) -> Range<Int> {
    guard count >= 0, count <= body.byteCount - offset else { throw .malformed(.truncated) }
    defer { offset += count }
    return offset..<offset + count
  }

  mutating func readBytes(_ body: RawSpan, count: Int) throws(OpenPGPError) -> [UInt8] {
    let range = try readRange(body, count: count)
    return [UInt8](copying: body.extracting(range))
  }

  /// What a composite algorithm has of a curve, and of a lattice (RFC 9980).
  mutating func readHalves(
    _ body: RawSpan, _ curveByteCount: Int, _ latticeByteCount: Int
  ) throws(OpenPGPError) -> (curve: [UInt8], lattice: [UInt8]) {
    let curve = try readBytes(body, count: curveByteCount)
    return (curve, try readBytes(body, count: latticeByteCount))
  }

  mutating func readRest(_ body: RawSpan) -> [UInt8] {
    defer { offset = body.byteCount }
    return [UInt8](copying: body.extracting(offset..<body.byteCount))
  }

  /// A key version and as many octets as its fingerprint has (sections 5.1.2, 5.2.3.35, 5.2.3.36).
  mutating func readFingerprint(_ body: RawSpan, version: UInt8) throws(OpenPGPError) -> Fingerprint {
    let count = version == 6 ? Fingerprint.version6ByteCount : Fingerprint.version4ByteCount
    return Fingerprint(version: version, bytes: try readBytes(body, count: count))
  }

  func isAtEnd(_ body: RawSpan) -> Bool { offset == body.byteCount }

  /// - Throws: ``OpenPGPError/malformed(_:)`` with `trailingOctets` when anything is left.
  func expectEnd(_ body: RawSpan) throws(OpenPGPError) {
    guard isAtEnd(body) else { throw .malformed(.trailingOctets) }
  }
}
