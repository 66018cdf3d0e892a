// SPDX-License-Identifier: Apache-2.0
//
// The digest of all records that count. Devices that have verified the same segments and the same control operations
// have the same digest; whoever computes another one has lost something, or lies.

internal import Primitives
internal import Secrets

/// Digests of 4,096 buckets of records, made again where something changed.
struct DigestBuckets: Sendable {
  /// By the first 12 bits of the hash of a record's identifier.
  static let count = 4_096

  private var buckets: [Int: Bucket] = [:]

  /// Puts a record's versions into its bucket, each with whether it is removed or replaced; none takes it out.
  mutating func set(_ record: RecordID, to versions: [(version: Version, isGone: Bool)]) {
    let number = Self.bucket(of: record)
    guard !versions.isEmpty else {
      buckets[number]?.set(record, to: [])
      if buckets[number]?.isEmpty == true { buckets[number] = nil }
      return
    }
    var entry: [UInt8] = []
    entry.reserveCapacity(RecordID.byteCount + 4 + 25 * versions.count)
    entry.append(record)
    entry.append(bigEndian: UInt32(versions.count))
    for (version, isGone) in versions.sorted(by: { $0.version < $1.version }) {
      entry.append(bigEndian: version.lamport)
      version.tag.append(to: &entry)
      entry.append(isGone ? 1 : 0)
    }
    buckets[number, default: Bucket()].set(record, to: entry)
  }

  /// SHA-256 of number and digest of every bucket that is not empty.
  mutating func digest() -> StateDigest {
    var all: [UInt8] = Array("coffer state v1".utf8)
    all.reserveCapacity(all.count + buckets.count * (2 + SHA256.byteCount))
    for number in buckets.keys.sorted() {
      all.append(bigEndian: UInt16(number))
      if let hash = buckets[number]?.digest() { all += hash }
    }
    return StateDigest(hashing: all)
  }

  private static func bucket(of record: RecordID) -> Int {
    let hash = record.withBytes { SHA256.hash($0) }
    return Int(hash[0]) << 4 | Int(hash[1] >> 4)
  }
}

/// The records of one bucket as the bytes that are hashed: one after the other, in rising order of their identifiers.
private struct Bucket: Sendable {
  private var bytes: [UInt8] = []
  private var records: [RecordID] = []
  /// Where the bytes of each record begin.
  private var starts: [Int] = []
  private var hash: [UInt8]?

  var isEmpty: Bool { records.isEmpty }

  mutating func digest() -> [UInt8] {
    let digest = hash ?? SHA256.hash(bytes.rawSpan)
    hash = digest
    return digest
  }

  /// Puts the bytes of a record at its place, or takes it out if there are none. The same bytes again change nothing.
  mutating func set(_ record: RecordID, to entry: [UInt8]) {
    var (index, end) = (0, records.count)
    while index < end {
      let middle = (index + end) / 2
      if records[middle] < record { index = middle + 1 } else { end = middle }
    }
    let isHere = index < records.count && records[index] == record
    let start = index < starts.count ? starts[index] : bytes.count
    let next = isHere ? index + 1 : index
    let range = start..<(next < starts.count ? starts[next] : bytes.count)
    guard !bytes[range].elementsEqual(entry) else { return }
    hash = nil
    bytes.replaceSubrange(range, with: entry)
    if !isHere {
      records.insert(record, at: index)
      starts.insert(start, at: index)
    } else if entry.isEmpty {
      records.remove(at: index)
      starts.remove(at: index)
    }
    let moved = entry.count - range.count
    for later in (entry.isEmpty ? index : index + 1)..<starts.count { starts[later] += moved }
  }
}

extension RecordID {
  /// The 16 bytes as an array.
  var octets: [UInt8] { withBytes { [UInt8](copying: $0) } }
}
