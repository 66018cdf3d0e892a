// SPDX-License-Identifier: Apache-2.0

internal import MessageFormats
internal import Primitives

/// The associated data of a message: canonical JSON, keys sorted, no spaces. Built in place,
/// since every message has one.
struct AssociatedData {
  private(set) var bytes: [UInt8] = []

  private var keyVersion: Int?
  private var idOffset = 0
  private var timestampOffset = 0

  /// - Parameters:
  ///   - timestamp: seconds since 1970, UTC; within the years that RFC 3339 can write.
  ///   - keyVersion: from 1.
  mutating func set(id: MessageID, timestamp: Int64, keyVersion: Int) {
    if keyVersion != self.keyVersion { layOut(keyVersion) }
    let timestampRange = timestampOffset..<timestampOffset + Timestamp.byteCount
    let idOffset = idOffset
    var span = bytes.mutableSpan
    var output = unsafe span.mutableBytes
    id.write(to: &output, at: idOffset)
    var place = output._mutatingExtracting(timestampRange)
    Timestamp.write(timestamp, into: &place)
  }

  private mutating func layOut(_ keyVersion: Int) {
    self.keyVersion = keyVersion
    bytes = Array("{\"keyVersion\":\(keyVersion),\"messageId\":\"".utf8)
    idOffset = bytes.count
    bytes += [UInt8](repeating: 0, count: 36)
    bytes += "\",\"timestamp\":\"".utf8
    timestampOffset = bytes.count
    bytes += [UInt8](repeating: 0, count: Timestamp.byteCount)
    bytes += "\",\"version\":1}".utf8
  }
}
