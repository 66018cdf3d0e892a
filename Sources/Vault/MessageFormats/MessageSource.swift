// SPDX-License-Identifier: Apache-2.0
//
// The reading side of every format: one message after the other, none kept.

/// How far a source has come.
public struct SourceProgress: Sendable, Equatable {
  /// Bytes read so far.
  public var bytesRead: Int
  /// Bytes there are; nil when that cannot be known, as for standard input or a folder.
  public var bytesTotal: Int?
  /// Entries that were left out by design.
  public var leftOut: LeftOut
  /// Messages with the headers of an export of another coffer; they were read as ordinary mail.
  public var unverifiedExportCount: Int

  /// How far a source has come, with nothing left out by default.
  public init(
    bytesRead: Int, bytesTotal: Int?, leftOut: LeftOut = LeftOut(), unverifiedExportCount: Int = 0
  ) {
    self.bytesRead = bytesRead
    self.bytesTotal = bytesTotal
    self.leftOut = leftOut
    self.unverifiedExportCount = unverifiedExportCount
  }
}

/// A streaming reader of messages.
public protocol MessageSource: ~Copyable {
  /// How far the source has come.
  var progress: SourceProgress { get }

  /// Hands the next message to `body`; false at the end.
  ///
  /// The span is valid during the call only, and its memory is erased when the source goes.
  /// - Throws: ``MessageFormatError``, or what `body` throws. After one that
  ///   ``MessageFormatError/concernsOneEntry`` the next call goes on with the next message.
  mutating func next(_ body: (MessageMetadata, RawSpan) throws -> Void) throws -> Bool
}

/// A streaming writer of messages. The matching source reads its output back byte for byte.
///
/// A sink that is dropped before ``finish()`` leaves no file.
public protocol MessageSink: ~Copyable {
  /// Writes one message. `id` is for readers and file names; sources ignore it.
  mutating func append(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError)

  /// Makes everything durable and gives it its name.
  mutating func finish() throws(MessageFormatError)
}
