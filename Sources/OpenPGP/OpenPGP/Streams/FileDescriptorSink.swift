// SPDX-License-Identifier: Apache-2.0

internal import Primitives
internal import Secrets

/// Writes to a descriptor, in large pieces.
public final class FileDescriptorSink: ByteSink {
  private let descriptor: Descriptor
  private var buffer = SecretBytes(zeroed: bufferByteCount)
  private var filled = 0

  /// `descriptor` stays open.
  public init(descriptor: Int32) { self.descriptor = Descriptor(number: descriptor) }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) {
    if bytes.byteCount <= buffer.count - filled {
      buffer.withMutableBytes { $0.copy(bytes, to: filled) }
      filled += bytes.byteCount
    } else {
      try writeOut(bytes)
    }
  }

  /// Writes what is still here. Without it the last bytes are lost.
  public func flush() throws(OpenPGPError) { try writeOut(RawSpan()) }

  /// Writes what is here, and `bytes` behind it.
  private func writeOut(_ bytes: RawSpan) throws(OpenPGPError) {
    let count = filled
    filled = 0
    try buffer.withBytes { (buffered) throws(OpenPGPError) in
      try descriptor.write(buffered.extracting(0..<count), bytes)
    }
  }

  /// Headers and small parts are gathered; what is larger goes straight to the descriptor.
  private static let bufferByteCount = 64 << 10
}
