// SPDX-License-Identifier: Apache-2.0
//
// A descriptor that is read twice. A regular file is read again where it is; what comes through a pipe is
// copied to a temporary file without a name during the first pass. Only what came in is ever written there,
// which for messages is ciphertext.

/// Reads a descriptor, and can read it again.
public final class SpooledSource: RereadableSource {
  /// Reads `descriptor` from where it stands to its end, and leaves it open.
  public init(descriptor: Int32) throws(OpenPGPError) { preconditionFailure("not built yet") }

  public func withNext<R: ~Copyable>(_ body: (RawSpan) throws(OpenPGPError) -> R) throws(OpenPGPError) -> R {
    preconditionFailure("not built yet")
  }

  public func consume(_ count: Int) { preconditionFailure("not built yet") }

  public func rewind() throws(OpenPGPError) { preconditionFailure("not built yet") }
}
