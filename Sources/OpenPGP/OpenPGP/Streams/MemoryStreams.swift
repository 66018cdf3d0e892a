// SPDX-License-Identifier: Apache-2.0
//
// Sources and sinks in memory, for what is small.

public import Secrets

internal import Primitives

/// Bytes that are in memory already.
public final class MemorySource: RewindableSource {
  private let bytes: SharedSecretBytes
  private var offset = 0
  /// Without effect: nobody changes these bytes.
  public var checksSecondReading = true

  public init(_ bytes: SharedSecretBytes) { self.bytes = bytes }

  public convenience init(_ bytes: [UInt8]) {
    var writer = SecretWriter(byteCount: bytes.count)
    writer.append(bytes)
    self.init(SharedSecretBytes(writer.finish()))
  }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    try bytes.withBytes { (all) throws(OpenPGPError) -> R in
      try body(all.extracting(offset..<all.byteCount))
    }
  }

  public func consume(_ count: Int) {
    precondition(count <= bytes.count - offset, "more was consumed than lent")
    offset += count
  }

  public func rewind() { offset = 0 }
}

/// Collects public bytes in an array.
public final class ArraySink: ByteSink {
  public private(set) var bytes: [UInt8] = []

  public init() {}

  public func write(_ bytes: RawSpan) throws(OpenPGPError) { self.bytes.append(bytes) }
}
