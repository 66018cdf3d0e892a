// SPDX-License-Identifier: Apache-2.0
//
// Numbers and rules of an account's histories. The rules are here by name so that a test can break each of them and see
// that the simulator notices; nothing else changes them.

/// Numbers that tests make small.
struct Limits: Sendable {
  var operationsPerSegment = Segment.operationCountLimit
  var contentsPerPack = Pack.entryCountLimit - 1
  /// Epochs that an account may have: an envelope holds all of their keys.
  var epochCount = Envelope.epochCountLimit
  /// Removals and replacements of other devices' records by one device in a day that are believed without a question,
  /// and the part of all records (one in so many) that they may be.
  var brakeCount = 100
  var brakePart = 10
  /// Seconds between a removal and the deletion of its content.
  var removalDelay: UInt64 = 30 * 86_400
  /// Seconds between two runs that list every block.
  var fullListingInterval: UInt64 = 86_400
  /// Seconds after which something that is missing is reported.
  var patience: UInt64 = 86_400
  /// Seconds without a segment after which a device writes an empty one.
  var heartbeat: UInt64 = 7 * 86_400
  static let day: UInt64 = 86_400
  static let week: UInt64 = 7 * 86_400
  /// Seconds by which the clocks of device and server may differ when something is deleted.
  var clockSkew: UInt64 = 300
}

/// The rules that the simulator's broken variants break, one each.
struct Rules: Sendable {
  /// A pack is named by one segment and by no other.
  var packsHaveOneSegment = true
  /// A place supersedes another only after this device has written it and read it back.
  var placesAreReadBack = true
  /// A place is a hint also when the rest of its author's operations does not count.
  var placesOutliveTheirAuthors = true
  /// Nothing is sealed under an epoch that somebody holds who was revoked.
  var epochsAreSafe = true
  /// Both branches of a fork count.
  var forksMerge = true
  /// Readers list whole blocks, not what comes after the last number.
  var blocksAreListedWhole = true
  /// Membership comes from the whole control log, not from what a segment knew of it.
  var membershipIsTheLog = true
  /// The brake holds what removes, and no segment waits for it.
  var brakeHoldsMarksAlone = true
}
