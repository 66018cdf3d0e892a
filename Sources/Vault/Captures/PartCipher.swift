// SPDX-License-Identifier: Apache-2.0
//
// Sealing and opening one part, chunk by chunk, in two buffers that are used again (Specs/captures.md,
// "Parts"). Each chunk is hashed while it is in the cache.

internal import Primitives
internal import Secrets

/// The cipher of one capture's parts.
struct PartCipher: ~Copyable {
  static let chunkByteCount = 262_144
  static let overheadByteCount = AES256GCM.nonceByteCount + AES256GCM.tagByteCount

  private var cipher = AES256GCM()
  private let key: SecretBytes
  private let id: CaptureID
  /// nonce ‖ chunk ‖ tag, plain or sealed.
  private var box: SecretBytes
  private var plain: SecretBytes

  /// - Parameter longest: bytes of the longest part to be handled. Locked memory is limited, and most parts are
  ///   far shorter than a chunk.
  init(key: consuming SecretBytes, id: CaptureID, longest: Int) {
    self.key = key
    self.id = id
    let count = min(longest, Self.chunkByteCount)
    box = SecretBytes(zeroed: count + Self.overheadByteCount)
    plain = SecretBytes(zeroed: count)
  }

  /// The number of chunks in a part of `byteCount` bytes. An empty part has one.
  static func chunkCount(_ byteCount: Int) -> Int {
    max(1, (byteCount + chunkByteCount - 1) / chunkByteCount)
  }

  /// Bytes of a sealed part of `byteCount` bytes.
  static func sealedByteCount(_ byteCount: Int) -> Int {
    byteCount + chunkCount(byteCount) * overheadByteCount
  }

  /// Seals a part.
  ///
  /// - Parameters:
  ///   - byteCount: the part's length, which `read` must give exactly.
  ///   - read: fills its buffer with the next bytes; fewer only at the end.
  ///   - write: takes the sealed chunks.
  /// - Returns: SHA-256 of the plaintext.
  /// - Throws: `CaptureError.cannotRead` when there were more or fewer bytes.
  mutating func seal(
    _ part: CapturePart, byteCount: Int,
    from read: (inout MutableRawSpan) throws -> Int, to write: (RawSpan) throws -> Void
  ) throws -> [UInt8] {
    var hash = SHA256()
    var left = byteCount
    defer { box.erase() }
    for chunk in 0..<Self.chunkCount(byteCount) {
      let count = min(left, Self.chunkByteCount)
      left -= count
      let aad = associatedData(part, chunk: chunk, byteCount: byteCount)
      let nonce = SystemRandom.publicBytes(count: AES256GCM.nonceByteCount)
      try box.withMutableBytes { box in
        box.copy(nonce.rawSpan, to: 0)
        var content = box._mutatingExtracting(AES256GCM.nonceByteCount..<AES256GCM.nonceByteCount + count)
        guard try read(&content) == count else { throw CaptureError.cannotRead(part) }
        hash.update(content.bytes)
      }
      try key.withBytes { key in
        try box.withMutableBytes { box in
          var sealed = box._mutatingExtracting(
            AES256GCM.nonceByteCount..<count + Self.overheadByteCount)
          try cipher.sealInPlace(
            &sealed, key: key, nonce: nonce.rawSpan, authenticating: aad.rawSpan)
        }
      }
      try box.withBytes { try write($0.extracting(first: count + Self.overheadByteCount)) }
    }
    return hash.finish()
  }

  /// Opens a part and lends each chunk.
  ///
  /// - Parameters:
  ///   - start: the chunk to begin at; nil for all of them and their hash.
  ///   - read: fills its buffer with the next sealed bytes, from that chunk on; fewer only at the end.
  ///   - body: takes the plaintext, authenticated, chunk after chunk; answers whether it wants the next.
  /// - Returns: SHA-256 of the plaintext; nil with a `start`, or when `body` wanted no more.
  /// - Throws: `CaptureError.corrupt` naming the part.
  mutating func open(
    _ part: CapturePart, byteCount: Int, fromChunk start: Int? = nil,
    from read: (inout MutableRawSpan) throws -> Int, to body: (RawSpan) throws -> Bool
  ) throws -> [UInt8]? {
    var hash = SHA256()
    let first = start ?? 0
    var left = byteCount - first * Self.chunkByteCount
    defer { plain.erase() }
    for chunk in first..<Self.chunkCount(byteCount) {
      let count = min(left, Self.chunkByteCount)
      left -= count
      let aad = associatedData(part, chunk: chunk, byteCount: byteCount)
      try box.withMutableBytes { box in
        var sealed = box._mutatingExtracting(first: count + Self.overheadByteCount)
        guard try read(&sealed) == sealed.byteCount else { throw CaptureError.corrupt(part) }
      }
      do {
        try key.withBytes { key throws(CryptoError) in
          try box.withBytes { box throws(CryptoError) in
            try plain.withMutableBytes { plain throws(CryptoError) in
              var output = plain._mutatingExtracting(first: count)
              try cipher.open(
                box.extracting(AES256GCM.nonceByteCount..<count + Self.overheadByteCount), key: key,
                nonce: box.extracting(first: AES256GCM.nonceByteCount), authenticating: aad.rawSpan,
                into: &output)
            }
          }
        }
      } catch { throw CaptureError.corrupt(part) }
      let goesOn = try plain.withBytes { plain in
        let opened = plain.extracting(first: count)
        if start == nil { hash.update(opened) }
        return try body(opened)
      }
      guard goesOn else { return nil }
    }
    return start == nil ? hash.finish() : nil
  }

  /// label ‖ id (16) ‖ part (1) ‖ chunk (8) ‖ length (8)
  private func associatedData(_ part: CapturePart, chunk: Int, byteCount: Int) -> [UInt8] {
    var bytes = Array("coffer capture v1 part".utf8)
    id.withBytes { bytes.append($0) }
    bytes.append(part.rawValue)
    bytes.append(bigEndian: UInt64(chunk))
    bytes.append(bigEndian: UInt64(byteCount))
    return bytes
  }
}
