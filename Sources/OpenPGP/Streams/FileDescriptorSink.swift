// SPDX-License-Identifier: Apache-2.0

/// Writes to a descriptor, in large pieces.
public final class FileDescriptorSink: ByteSink {
  /// `descriptor` stays open.
  public init(descriptor: Int32) { preconditionFailure("not built yet") }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) { preconditionFailure("not built yet") }

  /// Writes what is still here. Without it the last bytes are lost.
  public func flush() throws(OpenPGPError) { preconditionFailure("not built yet") }
}
