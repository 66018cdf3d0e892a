// SPDX-License-Identifier: Apache-2.0
//
// The writing side of every format.

/// A streaming writer of messages. What it wrote, the matching source reads back byte for byte.
///
/// A sink that goes without ``finish()`` leaves nothing behind.
public protocol MessageSink: ~Copyable {
  /// Writes one message. `id` is for people and file names; sources do not give it back.
  mutating func append(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError)

  /// Makes everything durable and gives it its name.
  mutating func finish() throws(MessageFormatError)
}
