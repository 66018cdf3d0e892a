// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP
internal import Primitives
internal import Secrets

/// Writes the fields of a payload, big-endian, into memory that is erased.
public struct PayloadWriter: ~Copyable {
  /// A payload is sealed and opened as a whole, and rewritten with every change. 4 MiB hold a thousand
  /// contacts with large certificates.
  public static let byteCountLimit = 1 << 22

  private var bytes = SecretBytes(zeroed: 4096)
  private var count = 0
  private var isRefused = false

  init() {}

  mutating func append(_ byte: UInt8) { append(bigEndian: byte) }

  mutating func append(_ flag: Bool) { append(bigEndian: flag ? 1 as UInt8 : 0) }

  mutating func append(bigEndian value: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: value.bigEndian) { append(unsafe $0.bytes) }
  }

  mutating func append(_ array: [UInt8]) { append(array.rawSpan) }

  /// Appends the UTF-8 of a text, after its length in two bytes.
  mutating func append(text: String) {
    append(bigEndian: UInt16(clamping: text.utf8.count))
    var text = text
    text.withUTF8 { utf8 in unsafe append(UnsafeRawBufferPointer(utf8).bytes) }
  }

  /// Appends bytes, after their length in four.
  mutating func append(blob: [UInt8]) {
    append(bigEndian: UInt32(clamping: blob.count))
    append(blob)
  }

  /// Appends the version of a fingerprint, then its bytes. A fingerprint of another version is refused.
  mutating func append(_ fingerprint: Fingerprint) {
    guard Fingerprint(bytes: fingerprint.bytes) == fingerprint else { return refuse() }
    append(fingerprint.version)
    append(fingerprint.bytes)
  }

  /// Records that the payload has no encoding.
  mutating func refuse() { isRefused = true }

  private mutating func append(_ span: RawSpan) {
    guard span.byteCount <= Self.byteCountLimit - count else {
      isRefused = true
      return
    }
    while count + span.byteCount > bytes.count { grow() }
    let end = count
    bytes.withMutableBytes { $0.copy(span, to: end) }
    count += span.byteCount
  }

  private mutating func grow() {
    var larger = SecretBytes(zeroed: bytes.count * 2)
    bytes.withBytes { old in larger.withMutableBytes { $0.copy(old, to: 0) } }
    bytes = larger
  }

  /// The bytes written; nil when a field was refused, or there are more than the limit.
  consuming func finish() -> SecretBytes? {
    guard !isRefused else { return nil }
    return bytes.withBytes { SecretBytes(copying: $0.extracting(first: count)) }
  }
}

extension ProtectedPayload {
  /// The payload's bytes; nil when they violate their schema.
  func encoded() -> SecretBytes? {
    var writer = PayloadWriter()
    write(to: &writer)
    guard let bytes = writer.finish() else { return nil }
    do { try bytes.withBytes { bytes throws(MalformedPayload) in try Self.check(bytes) } } catch {
      return nil
    }
    return bytes
  }
}
