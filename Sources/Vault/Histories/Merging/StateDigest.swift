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

  private var buckets: [Int: [RecordID: [UInt8]]] = [:]
  private var hashes: [Int: [UInt8]] = [:]

  /// Puts a record's versions into its bucket, each with whether it is removed or replaced; none takes it out.
  mutating func set(_ record: RecordID, to versions: [(version: Version, isGone: Bool)]) {
    let bucket = Self.bucket(of: record)
    hashes[bucket] = nil
    guard !versions.isEmpty else {
      buckets[bucket]?[record] = nil
      return
    }
    var entry: [UInt8] = []
    entry.append(bigEndian: UInt32(versions.count))
    for (version, isGone) in versions.sorted(by: { $0.version < $1.version }) {
      entry.append(bigEndian: version.lamport)
      entry += version.tag.bytes
      entry.append(isGone ? 1 : 0)
    }
    buckets[bucket, default: [:]][record] = entry
  }

  /// SHA-256 of number and digest of every bucket that is not empty.
  mutating func digest() -> StateDigest {
    var all: [UInt8] = Array("coffer state v1".utf8)
    for (bucket, records) in buckets.sorted(by: { $0.key < $1.key }) where !records.isEmpty {
      let hash = hashes[bucket] ?? Self.hash(records)
      hashes[bucket] = hash
      all.append(bigEndian: UInt16(bucket))
      all += hash
    }
    return StateDigest(hashing: all)
  }

  private static func bucket(of record: RecordID) -> Int {
    let hash = record.withBytes { SHA256.hash($0) }
    return Int(hash[0]) << 4 | Int(hash[1] >> 4)
  }

  private static func hash(_ records: [RecordID: [UInt8]]) -> [UInt8] {
    var all: [UInt8] = []
    for (record, entry) in records.sorted(by: { $0.key.octets.lexicographicallyPrecedes($1.key.octets) }) {
      all += record.octets
      all += entry
    }
    return SHA256.hash(all.rawSpan)
  }
}

extension RecordID {
  /// The 16 bytes as an array.
  var octets: [UInt8] { withBytes { [UInt8](copying: $0) } }
}
