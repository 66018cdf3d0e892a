// SPDX-License-Identifier: Apache-2.0
//
// What may be given to anybody.

internal import OpenPGP

extension Identity {
  /// The public part, armored (RFC 9580, section 6).
  /// - Throws: ``IdentityError/engine(_:)``
  public func publicPart() throws(IdentityError) -> [UInt8] {
    let sink = ArraySink()
    do { try write(to: sink) } catch { throw .engine(error) }
    return sink.bytes
  }

  /// Writes the public part, armored, to a new file, which appears when it is complete.
  /// - Throws: ``IdentityError/cannotWrite(errno:)``, with EEXIST when there is something at the path.
  public func writePublicPart(path: String) throws {
    do {
      let sink = try AtomicFileSink(path: path)
      try write(to: sink)
      try sink.commit()
    } catch {
      if case .inputOutput(let number) = error { throw IdentityError.cannotWrite(errno: number) }
      throw IdentityError.engine(error)
    }
  }

  private func write(to sink: any ByteSink) throws(OpenPGPError) {
    let armor = try ArmorWriter(sink, kind: .publicKey)
    try certificate.write(to: armor)
    try armor.finish()
  }
}
