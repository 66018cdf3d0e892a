// SPDX-License-Identifier: Apache-2.0

public import Storage

/// What is known of a segment from outside: its file, its key and what it answers for (Specs/search-index.md).
public struct SegmentDescription: Sendable, Equatable {
  /// The name of its file, and the salt of its key.
  public var id: BlobName
  /// The version of the vault key that its key is derived from.
  public var keyVersion: Int
  /// The row numbers that it answers for.
  public var numbers: ClosedRange<Int64>
  /// Messages.
  public var documentCount: Int
  /// Blocks of the file.
  public var blockCount: Int
  /// How many of them, the last ones, are the root.
  public var rootBlockCount: Int

  /// Whatever this says is compared with the file when it is opened.
  public init(
    id: BlobName, keyVersion: Int, numbers: ClosedRange<Int64>, documentCount: Int, blockCount: Int,
    rootBlockCount: Int
  ) {
    (self.id, self.keyVersion, self.numbers) = (id, keyVersion, numbers)
    (self.documentCount, self.blockCount, self.rootBlockCount) = (documentCount, blockCount, rootBlockCount)
  }

  /// The most blocks of a file: 16 GiB, which keeps random nonces under one key far enough apart.
  public static let blockCountLimit = 1 << 20

  /// Bytes of the file.
  public var byteCount: Int { SegmentFormat.headerByteCount + blockCount * SegmentFormat.boxByteCount }
}

/// Why a segment cannot be written or read.
@nonexhaustive
public enum SegmentError: Error, Equatable, Sendable {
  /// There is no file of this name.
  case missing
  /// The file does not hold what was written, or is not the one described.
  case damaged
  /// The words were made by another analyser.
  case otherAnalyser(found: Int)
  /// The disk failed, or is full. Nothing is known about the segment.
  case disk(StorageError)

  /// An error of the folder or of a file.
  init(_ error: any Error) {
    switch error {
    case let error as SegmentError: self = error
    case let error as StorageError: self = .disk(error)
    // Only the nonce of a broken random generator, or a block too long for the cipher.
    default: self = .disk(.inputOutput(code: 0))
    }
  }
}

/// Sizes and numbers of the format.
enum SegmentFormat {
  static let magic: StaticString = "COFSEG01"
  static let headerByteCount = 32
  /// Bytes of a block's content.
  static let blockByteCount = 16_384
  /// A block as the file has it: nonce, ciphertext, tag.
  static let boxByteCount = 12 + blockByteCount + 16
  static let version: UInt8 = 1
  static let keyInfo: StaticString = "coffer search segment v1"

  /// Streams of bytes; the number is part of what each block authenticates.
  enum Section: Int, CaseIterable, Sendable {
    case terms = 1
    case numbers, documents, positions, rows, root
  }

  /// What a term is.
  enum Namespace: UInt8 {
    case anywhere = 1
    case title, sender, recipients, tag, fact
  }

  /// With its namespace. A message with a longer one is asked itself.
  static let termByteCountLimit = 255
  /// Bytes of a group of terms.
  static let groupByteCount = 4_096
  /// Messages of a group of rows.
  static let rowGroupCount = 1_024
  /// A group of rows ends when its texts have so many bytes.
  static let rowGroupByteCount = 256 << 10
  /// No group of rows is longer: one row has at most some KiB.
  static let rowGroupByteCountLimit = 1 << 20
  /// Words of one message; one with more is asked itself.
  static let wordCountLimit = 500_000
  /// Positions of words, and of what separates texts: a message has fewer.
  static let positionLimit = 1 << 20
  /// Messages of a segment. No merge makes a larger one.
  static let documentCountLimit = 1 << 20
  /// A root of a million messages in one segment has 95 KB; this bounds what a wrong length can cost.
  static let rootByteCountLimit = 64 << 20
  /// What a row has of a title.
  static let rowTitleByteCount = 512
  /// What a row has of a type or a sender.
  static let rowTextByteCount = 255
  /// What a row has of all tags.
  static let rowTagsByteCount = 4_096
  /// From here on a count of occurrences is written as a number.
  static let unaryLimit: UInt64 = 40
}
