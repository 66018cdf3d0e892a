// SPDX-License-Identifier: Apache-2.0
//
// Standard input and output. Small results are made whole before the first byte is written, so that a failure
// leaves nothing behind.

internal import Glibc
internal import OpenPGP

/// The process's own streams.
enum StandardStreams {
  static func input() -> FileDescriptorSource { FileDescriptorSource(descriptor: STDIN_FILENO) }

  static func output() -> FileDescriptorSink { FileDescriptorSink(descriptor: STDOUT_FILENO) }

  /// Writes text to standard output.
  static func print(_ text: String) throws(Failure) {
    do {
      let sink = output()
      try sink.write(Array(text.utf8))
      try sink.flush()
    } catch {
      throw Failure(error, .output)
    }
  }

  /// Lets `body` write to standard output, through armor unless `kind` is nil.
  static func write(
    _ kind: ArmorKind?, _ subject: Subject, _ body: (any ByteSink) throws(OpenPGPError) -> Void
  ) throws(Failure) {
    do {
      let sink = output()
      if let kind {
        let armor = try ArmorWriter(sink, kind: kind)
        try body(armor)
        try armor.finish()
      } else {
        try body(sink)
      }
      try sink.flush()
    } catch {
      throw Failure(error, subject)
    }
  }

  /// Writes a line to standard error; a line that cannot be written is lost.
  static func note(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// Whether data may come out, and why not. Data comes out when everything else that a subcommand has to write
/// is written. The engine asks whether it may release; a failure cannot pass through the engine, so it is
/// kept here.
struct Release {
  private var failure: Failure?

  /// Whether the output that must come before the data was written.
  mutating func isAllowed(_ prepare: () throws(Failure) -> Void) -> Bool {
    do {
      try prepare()
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Throws the failure that kept the data back, if there was one.
  func throwFailure() throws(Failure) {
    if let failure { throw failure }
  }
}

extension ByteSource {
  /// Lends everything up to the end, piece by piece.
  func forEachPiece(_ body: (RawSpan) throws(OpenPGPError) -> Void) throws(OpenPGPError) {
    while true {
      let count = try withNext { (next) throws(OpenPGPError) -> Int in
        if !next.isEmpty { try body(next) }
        return next.byteCount
      }
      if count == 0 { return }
      consume(count)
    }
  }

  /// Reads to the end and keeps nothing.
  func drain() throws(OpenPGPError) { try forEachPiece { (_) throws(OpenPGPError) in } }

  /// Writes everything up to the end.
  func copy(to sink: any ByteSink) throws(OpenPGPError) {
    try forEachPiece { (piece) throws(OpenPGPError) in try sink.write(piece) }
  }

  /// The type in the header of a packet with which the source begins; nil for an empty one. Nothing is consumed.
  func firstPacketType() throws(OpenPGPError) -> PacketType? {
    try withNext { (next) throws(OpenPGPError) -> PacketType? in
      guard !next.isEmpty else { return nil }
      let octet = unsafe next.unsafeLoad(as: UInt8.self)
      return PacketType(rawValue: octet & 0x40 != 0 ? octet & 0x3F : octet >> 2 & 0x0F)
    }
  }
}
