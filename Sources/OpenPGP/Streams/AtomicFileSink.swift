// SPDX-License-Identifier: Apache-2.0
//
// A file that appears under its name when all of it is there, and not before.

/// Writes a new file: under a name of its own first, in the same directory, readable by its owner alone.
public final class AtomicFileSink: ByteSink {
  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at `path`.
  public init(path: String) throws(OpenPGPError) { preconditionFailure("not built yet") }

  public func write(_ bytes: RawSpan) throws(OpenPGPError) { preconditionFailure("not built yet") }

  /// Writes everything to the disk and gives the file its name. Without it nothing remains.
  /// - Throws: ``OpenPGPError/inputOutput(errno:)``, with EEXIST when there is something at the path by now.
  public func commit() throws(OpenPGPError) { preconditionFailure("not built yet") }
}
