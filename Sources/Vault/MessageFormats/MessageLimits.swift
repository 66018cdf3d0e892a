// SPDX-License-Identifier: Apache-2.0
//
// Every bound that a reader or writer of this module keeps, with its reason.

/// The bounds of the formats.
public enum MessageLimits {
  /// One message: more than mail servers let pass (25 to 50 MiB), and still fits into memory twice.
  public static let messageByteCount = 64 << 20
  /// A title is one line; a folded subject is at most a few of 998 bytes.
  public static let titleByteCount = 16 << 10
  /// Tags of one message.
  public static let tagCount = 256
  /// Bytes of one tag.
  public static let tagByteCount = 1 << 10
  /// Bytes of a media type with its parameters.
  public static let contentTypeByteCount = 1 << 10
  /// Identifiers are UUIDs; as a file name with an ending they must fit into 255 bytes.
  public static let identifierByteCount = 200

  /// Base64 with a line break after 76 characters, and room for the headers of an export.
  static let encodedByteCount = messageByteCount / 3 * 4 / 76 * 78 + (2 << 20)
  /// One JSON line. The writer takes base64 where escapes would be longer, so this holds any message.
  static let jsonLineByteCount = encodedByteCount
  /// Members in members: our own lines have two levels.
  static let jsonNesting = 32
  /// Headers beyond this are not looked at: real ones stay below 100 KiB.
  static let headerSectionByteCount = 1 << 20
  /// One header with its folded lines, decoded for a title or for search.
  static let headerFieldByteCount = 64 << 10
  /// Multiparts in multiparts; real mail stays below six.
  static let mimeNesting = 16
  /// Parts of one mail; each boundary is searched once a level, so this bounds the work.
  static let mimePartCount = 1_000
  /// RFC 2046 section 5.1.1 allows 70 characters.
  static let boundaryByteCount = 200
  /// Text of one part after decoding; more is cut off.
  static let decodedTextByteCount = messageByteCount
  /// Parts of one search: one bit each in a 64-bit set.
  static let searchPartCount = 64
  /// Folders in folders below a directory that is read.
  public static let directoryDepth = 64
  /// Lines of `metadata.jsonl`: one a file of the export.
  static let directoryMetadataLineByteCount = 1 << 20

  /// Refuses messages that no source would read back.
  static func check(
    id: String, _ metadata: MessageMetadata, _ content: RawSpan
  ) throws(MessageFormatError) {
    try metadata.checkBounds()
    guard content.byteCount <= messageByteCount else {
      throw .messageTooLarge(byteCount: content.byteCount, limit: messageByteCount)
    }
    guard id.utf8.count <= identifierByteCount else { throw .unsuitableIdentifier }
  }
}
