// SPDX-License-Identifier: Apache-2.0
//
// What may be given to anybody.

internal import OpenPGP

extension Identity {
  /// The public part, armored (RFC 9580, section 6).
  /// - Throws: ``IdentityError/engine(_:)``
  public func publicPart() throws(IdentityError) -> [UInt8] {
    try certificate.armored()
  }

  /// Writes the public part, armored, to a new file, which appears when it is complete.
  /// - Throws: ``IdentityError/cannotWrite(errno:)``, with EEXIST when there is something at the path.
  public func writePublicPart(path: String) throws {
    try certificate.writeArmored(path: path)
  }
}

extension Certificate {
  func armored() throws(IdentityError) -> [UInt8] {
    let sink = ArraySink()
    do { try writeArmored(to: sink) } catch { throw .engine(error) }
    return sink.bytes
  }

  func writeArmored(path: String) throws(IdentityError) {
    do {
      let sink = try AtomicFileSink(path: path)
      try writeArmored(to: sink)
      try sink.commit()
    } catch { throw IdentityError(writing: error) }
  }

  private func writeArmored(to sink: any ByteSink) throws(OpenPGPError) {
    let armor = try ArmorWriter(sink, kind: .publicKey)
    try write(to: armor)
    try armor.finish()
  }
}

extension IdentityError {
  /// An error of the engine while it wrote a file.
  init(writing error: OpenPGPError) {
    self = if case .inputOutput(let number) = error { .cannotWrite(errno: number) } else { .engine(error) }
  }
}
