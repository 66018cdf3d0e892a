// SPDX-License-Identifier: Apache-2.0

/// Reads a descriptor once, into memory for secrets.
public final class FileDescriptorSource: ByteSource {
  /// Reads `descriptor` from where it stands to its end, and leaves it open.
  public init(descriptor: Int32) { preconditionFailure("not built yet") }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    preconditionFailure("not built yet")
  }

  public func consume(_ count: Int) { preconditionFailure("not built yet") }
}
