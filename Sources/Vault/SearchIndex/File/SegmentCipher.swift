// SPDX-License-Identifier: Apache-2.0
//
// The key of a segment, and its blocks (Specs/search-index.md, "Keys" and "File"):
//
//   segment key = HKDF-SHA256(ikm: vault key, salt: segment id (16), info: "coffer search segment v1"), 32 bytes
//   header      = "COFSEG01" ‖ segment id (16) ‖ zero (8)
//   block i     = nonce (12) ‖ AES-256-GCM(segment key, nonce, header ‖ i (8) ‖ section (1), 16384 bytes) ‖ tag (16)

internal import Primitives
internal import Secrets
internal import Storage

/// Seals and opens the blocks of one segment.
struct SegmentCipher: ~Copyable {
  private var cipher = AES256GCM()
  private let key: SymmetricKey
  /// header ‖ block number ‖ section.
  private var associated: [UInt8]
  private var lastNonce: [UInt8] = []
  private let drawNonce: () -> [UInt8]

  init(
    id: BlobName, vaultKey: RawSpan,
    drawNonce: @escaping () -> [UInt8] = { SystemRandom.publicBytes(count: AES256GCM.nonceByteCount) }
  ) {
    var hkdf = HKDF()
    key = hkdf.deriveKey(ikm: vaultKey, salt: id.bytes.rawSpan, info: SegmentFormat.keyInfo)
    associated = Self.header(id) + [UInt8](repeating: 0, count: 9)
    self.drawNonce = drawNonce
  }

  static func header(_ id: BlobName) -> [UInt8] {
    let magic = SegmentFormat.magic.withUTF8Buffer { unsafe Array($0) }
    return magic + id.bytes + [UInt8](repeating: 0, count: 8)
  }

  /// Seals a box in place: 12 bytes of space ‖ block ‖ 16 bytes of space.
  mutating func seal(
    _ box: inout MutableRawSpan, number: Int, section: SegmentFormat.Section
  ) throws(SegmentError) {
    let nonce = drawNonce()
    // A generator that repeats itself is broken, and nothing may be sealed with it.
    guard nonce != lastNonce else { throw .disk(.inputOutput(code: 0)) }
    lastNonce = nonce
    setAssociated(number, section)
    box.copy(nonce.rawSpan, to: 0)
    let associated = associated
    var sealed = box._mutatingExtracting(AES256GCM.nonceByteCount..<SegmentFormat.boxByteCount)
    do {
      try key.withBytes { key throws(CryptoError) in
        try cipher.sealInPlace(
          &sealed, key: key, nonce: nonce.rawSpan, authenticating: associated.rawSpan)
      }
    } catch { throw .disk(.inputOutput(code: 0)) }
  }

  /// Opens a box.
  mutating func open(
    _ box: RawSpan, number: Int, section: SegmentFormat.Section, into block: inout MutableRawSpan
  ) throws(SegmentError) {
    setAssociated(number, section)
    let associated = associated
    do {
      try key.withBytes { key throws(CryptoError) in
        try cipher.open(
          box.extracting(AES256GCM.nonceByteCount..<SegmentFormat.boxByteCount), key: key,
          nonce: box.extracting(first: AES256GCM.nonceByteCount), authenticating: associated.rawSpan,
          into: &block)
      }
    } catch { throw .damaged }
  }

  private mutating func setAssociated(_ number: Int, _ section: SegmentFormat.Section) {
    for index in 0..<8 {
      associated[SegmentFormat.headerByteCount + index] = UInt8(
        truncatingIfNeeded: number >> (8 * (7 - index)))
    }
    associated[SegmentFormat.headerByteCount + 8] = UInt8(section.rawValue)
  }
}
