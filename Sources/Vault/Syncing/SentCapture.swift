// SPDX-License-Identifier: Apache-2.0
//
// A capture and its label as they are sent (Specs/remote.md, "Segment"). The first part of a capture is what the store
// gives; its stream is cut as frames of messages are.

internal import Captures
internal import Histories
internal import Primitives
internal import Secrets

/// The parts of a capture's content.
struct SentCapture {
  let capture: SharedCapture

  /// How many parts follow the first.
  var furtherCount: Int {
    (capture.streamByteCount + SentFrame.partByteCount - 1) / SentFrame.partByteCount
  }

  /// The bytes of the stream that a further part has.
  /// - Parameter number: from 1.
  func range(ofPart number: Int) -> Range<Int> {
    let start = (number - 1) * SentFrame.partByteCount
    return start..<min(start + SentFrame.partByteCount, capture.streamByteCount)
  }

  /// Makes the capture whole, from its further parts.
  /// - Parameter part: gives one of them, from 1.
  func add(to filling: inout CaptureFilling, from part: (UInt16) throws -> SharedSecretBytes) throws {
    var count = 0
    try filling.add(capture.id) {
      guard count < furtherCount else { return nil }
      count += 1
      return try part(UInt16(count))
    }
  }

  /// Whether there is such a further part.
  func hasPart(_ number: Int) -> Bool { number >= 1 && number <= furtherCount }
}

/// Title, note and tags of a capture, as a record of their own.
struct SentLabel {
  let capture: CaptureID
  let label: CaptureLabel

  private static let version: UInt8 = 1

  /// The record of a capture's label.
  static func record(of capture: CaptureID) -> RecordID {
    var bytes = Array("coffer capture label v1".utf8)
    capture.withBytes { bytes.append($0) }
    let hash = SHA256.hash(bytes.rawSpan)
    guard let record = RecordID(hash.rawSpan.extracting(first: RecordID.byteCount)) else {
      preconditionFailure("a hash is longer than an identifier")
    }
    return record
  }

  var record: RecordID { Self.record(of: capture) }

  init(_ capture: CaptureID, _ label: CaptureLabel) {
    self.capture = capture
    self.label = label
  }

  /// Reads what was sent; nil for anything else.
  init?(_ bytes: RawSpan) {
    let head = 1 + CaptureID.byteCount
    guard bytes.byteCount >= head, unsafe bytes.unsafeLoad(as: UInt8.self) == Self.version,
      let capture = CaptureID(bytes.extracting(1..<head)),
      let label = CaptureLabel(bytes.extracting(droppingFirst: head))
    else { return nil }
    self.init(capture, label)
  }

  var bytes: SharedSecretBytes {
    let label = label.bytes
    var writer = SecretWriter(byteCount: 1 + CaptureID.byteCount + label.count)
    writer.append([Self.version])
    capture.withBytes { writer.append($0) }
    writer.append(label.rawSpan)
    return SharedSecretBytes(writer.finish())
  }
}
