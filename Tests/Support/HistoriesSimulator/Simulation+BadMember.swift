// SPDX-License-Identifier: Apache-2.0
//
// A member that writes segments by hand: it has all keys of a member, and keeps no rule.

import Primitives
import Secrets

@testable import Histories

extension Simulation {
  mutating func misbehave(_ index: Int, _ misdeed: Misdeed, _ choice: Int) {
    let history = computers[index].history
    // The user still has a device that is not bad.
    guard history.membership.isMember(history.device), !history.isCloned,
      computers.indices.contains(where: { other in
        other != index && !computers[other].isBad
          && history.membership.isMember(computers[other].history.device)
          && computers[other].history.device != history.device
      }),
      !computers.indices.contains(where: { $0 != index && computers[$0].history.device == history.device }),
      let keys = history.writingKeys()
    else { return }
    injected.insert(.badMember)
    computers[index].isBad = true
    var segment = next(of: history)
    switch misdeed {
    case .placesToNoise:
      // A pack of nobody's, or one of another device, which is not where such a segment says.
      let foreign = history.chains.ordered.filter { $0.name.device != history.device }.flatMap(
        \.segment.packs)
      segment.packs =
        choice % 2 == 1 && !foreign.isEmpty
        ? [foreign[choice % foreign.count]] : [put(pack: bytes(700), index)]
      segment.operations = history.knownContents(limit: 40).enumerated().map { number, known in
        .place(
          NewPlace(
            record: known.name.version.record, version: known.name.version.version, part: known.name.part,
            frameHash: known.hash, place: Place(pack: 0, entry: UInt32(number + 1))))
      }
    case .wideRemoval:
      for known in history.knownAdditions(limit: 40) {
        segment.operations.append(.remove(Removal(record: known.name.record, versions: [known.name.version])))
        spoiled[known.name] = spoiled[known.name] ?? now
      }
    case .wideReplacement where choice % 2 == 1:
      // The same contents, in a pack that has none.
      segment.packs = [put(pack: bytes(700), index)]
      for known in history.knownAdditions(limit: 20) {
        let new = addition(
          segment, known.record, known.hashes, kind: known.kind, replaces: [known.version], entry: 1)
        for (number, hash) in new.further.enumerated() {
          segment.operations.append(
            .place(
              NewPlace(
                record: new.record, version: new.version, part: UInt16(number + 1), frameHash: hash,
                place: Place(pack: 0, entry: UInt32(number + 2)))))
        }
        segment.operations.append(.add(new))
        spoiled[known.name] = spoiled[known.name] ?? now
      }
    case .wideReplacement:
      let known = history.knownAdditions(limit: 20)
      guard !known.isEmpty else { return }
      let frames = known.indices.map { Array("spoiled \(choice) \($0)".utf8) }
      let pack = Pack.seal(
        frames.map { SharedSecretBytes(testing: $0) }, random: bytes(32), keys: keys, account: history.account
      )
      segment.packs = [put(pack: pack, index)]
      for (number, known) in known.enumerated() {
        segment.operations.append(
          .add(
            addition(
              segment, known.name.record, frames[number], replaces: [known.name.version], entry: number + 1)))
        spoiled[known.name] = spoiled[known.name] ?? now
      }
    case .highLamport:
      // The highest that anybody takes.
      let before = segment.predecessor.flatMap { history.chains.entries[$0]?.segment.lamport } ?? 0
      segment.lamport = before + Segment.lamportStep - UInt64(choice % 2)
    case .overflowingLamport: segment.lamport = .max
    case .falseDigest: break
    case .missingPack:
      segment.packs = [PackReference(hash: ObjectHash(hashing: bytes(8)), byteCount: 900)]
      segment.operations = [
        .add(
          addition(
            segment, RecordID(bytes(16).rawSpan) ?? RecordID(), Array("nowhere".utf8), replaces: [], entry: 1)
        )
      ]
    case .missingParts:
      let pack = Pack.seal(
        [SharedSecretBytes(testing: Array("the first part".utf8))], random: bytes(32), keys: keys,
        account: history.account)
      segment.packs = [put(pack: pack, index)]
      segment.operations = [
        .add(
          addition(
            segment, RecordID(bytes(16).rawSpan) ?? RecordID(), Array("the first part".utf8), replaces: [],
            entry: 1, further: [FrameHash(hashing: bytes(8))]))
      ]
    case .packOfEarlierSegment, .foreignPack:
      let packs = history.chains.ordered.filter {
        ($0.name.device == history.device) == (misdeed == .packOfEarlierSegment)
      }
      .flatMap(\.segment.packs)
      guard !packs.isEmpty else { return }
      segment.packs = [packs[choice % packs.count]]
      segment.operations = [
        .add(
          addition(
            segment, RecordID(bytes(16).rawSpan) ?? RecordID(), Array("elsewhere".utf8), replaces: [],
            entry: 1))
      ]
    case .fork:
      var other = segment
      other.time += 1
      write(other, index, keys, isOwn: false)
    case .unknownFrontier:
      let device = computers[0].history.device
      guard device != history.device else { return }
      segment.frontier =
        segment.frontier.filter { $0.device != device }
        + [SegmentName(device: device, number: 900, hash: ObjectHash(hashing: bytes(8)))]
      segment.frontier.sort()
    }
    // Its own program could not count on from the highest number.
    write(segment, index, keys, isOwn: misdeed != .overflowingLamport, isDigestFalse: misdeed == .falseDigest)
  }

  private func next(of history: History) -> Segment {
    let head = history.chains.heads[history.device]?.last
    return Segment(
      account: history.account, device: history.device, number: (head?.number ?? 0) + 1,
      previous: head?.hash ?? .zero, time: now, lamport: history.nextLamport,
      frontier: history.chains.frontier, controlHeads: history.log.heads, digest: .zero, packs: [],
      operations: [])
  }

  private func addition(
    _ segment: Segment, _ record: RecordID, _ frame: [UInt8], replaces: [Version], entry: Int,
    further: [FrameHash] = []
  ) -> Addition {
    addition(segment, record, [FrameHash(hashing: frame)] + further, replaces: replaces, entry: entry)
  }

  /// - Parameter hashes: of all parts.
  private func addition(
    _ segment: Segment, _ record: RecordID, _ hashes: [FrameHash], kind: RecordKind = .message,
    replaces: [Version], entry: Int
  ) -> Addition {
    let further = Array(hashes.dropFirst())
    let version = Addition.version(
      kind: kind, lamport: segment.lamport, device: segment.device, record: record, storedAt: now,
      replaces: replaces, frameHash: hashes[0], further: further)
    return Addition(
      kind: kind, record: record, storedAt: now, version: version, replaces: replaces, frameHash: hashes[0],
      place: Place(pack: 0, entry: UInt32(entry)), further: further)
  }

  private mutating func put(pack: [UInt8], _ index: Int) -> PackReference {
    let hash = ObjectHash(hashing: pack)
    server.write(pack, as: .pack(computers[index].history.device, hash), by: index)
    return PackReference(hash: hash, byteCount: UInt32(pack.count))
  }

  /// Signs and seals a segment, puts it, and goes on from it.
  private mutating func write(
    _ segment: Segment, _ index: Int, _ keys: EpochKeys, isOwn: Bool, isDigestFalse: Bool = false
  ) {
    var segment = segment
    let machine = computers[index].machine
    func seal(_ segment: Segment) -> (object: [UInt8], name: SegmentName) {
      let body = segment.body()
      let object = SegmentSeal.seal(
        signedBytes: body, signature: machine.signature(of: body, by: .device), segment: segment, keys: keys)
      return (
        object, SegmentName(device: segment.device, number: segment.number, hash: ObjectHash(hashing: object))
      )
    }
    func inserted(_ object: [UInt8], _ name: SegmentName) -> History {
      var after = computers[index].history
      guard segment.lamport < .max else { return after }
      after.insert(segment, object: object, name: name, writtenAt: nil, at: clock(index), on: machine)
      return after
    }
    var (object, name) = seal(segment)
    var after = inserted(object, name)
    segment.digest = isDigestFalse ? StateDigest(hashing: object) : after.digest()
    (object, name) = seal(segment)
    server.write(object, as: .segment(name), by: index)
    madeSegments[name] = .some(segment.predecessor)
    sealedObjects.insert(.segment(name))
    firstBadSegment[segment.device] = min(firstBadSegment[segment.device] ?? .max, segment.number)
    if isOwn { computers[index].history = inserted(object, name) }
  }
}

extension History {
  /// Contents in segments, with all parts, in the order of the segments.
  fileprivate func knownContents(limit: Int) -> [(name: ContentName, hash: FrameHash)] {
    knownAdditions(limit: .max).flatMap { added in
      added.hashes.enumerated().map { part, hash in (ContentName(added.name, part: UInt16(part)), hash) }
    }.suffix(limit)
  }

  /// What others have added, in the order of the segments.
  fileprivate func knownAdditions(limit: Int) -> [PendingAddition] {
    chains.ordered.filter { $0.name.device != device }.flatMap { entry in
      entry.segment.operations.compactMap { operation in
        guard case .add(let addition) = operation else { return nil }
        return PendingAddition(addition)
      }
    }.suffix(limit)
  }
}
