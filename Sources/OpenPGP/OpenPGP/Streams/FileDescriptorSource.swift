// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Reads a descriptor once, into memory for secrets.
public final class FileDescriptorSource: ByteSource {
  private let descriptor: Descriptor
  private var buffer = SecretBytes(zeroed: 0)
  private var lent = 0..<0

  /// Reads `descriptor` from where it stands to its end, and leaves it open.
  public init(descriptor: Int32) { self.descriptor = Descriptor(number: descriptor) }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    if lent.isEmpty { try fill() }
    return try buffer.withBytes { (bytes) throws(OpenPGPError) -> R in try body(bytes.extracting(lent)) }
  }

  public func consume(_ count: Int) {
    precondition(count <= lent.count, "more was consumed than lent")
    lent = lent.lowerBound + count..<lent.upperBound
  }

  public func read(into target: inout MutableRawSpan) throws(OpenPGPError) -> Int {
    let buffered = min(lent.count, target.byteCount)
    buffer.withBytes { target.copy($0.extracting(lent.lowerBound..<lent.lowerBound + buffered), to: 0) }
    consume(buffered)
    guard target.byteCount - buffered >= Self.directByteCount else {
      return try readLent(into: &target, from: buffered)
    }
    return try descriptor.readAll(into: &target, from: buffered, to: target.byteCount, position: nil)
  }

  private func fill() throws(OpenPGPError) {
    if buffer.count == 0 { buffer = SecretBytes(zeroed: Self.bufferByteCount) }
    let end = try buffer.withMutableBytes { (bytes) throws(OpenPGPError) in
      try descriptor.read(into: &bytes, from: 0, to: bytes.byteCount, position: nil)
    }
    lent = 0..<end
  }

  /// Enough that the system calls cost nothing, and it stays in the processor's cache.
  private static let bufferByteCount = 128 << 10
  /// What is wanted in pieces so large is read straight to where it is wanted.
  private static let directByteCount = 32 << 10
}
