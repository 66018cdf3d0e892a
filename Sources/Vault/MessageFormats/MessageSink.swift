// SPDX-License-Identifier: Apache-2.0
//
// The writing side of every format.

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
