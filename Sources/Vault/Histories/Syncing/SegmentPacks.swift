// SPDX-License-Identifier: Apache-2.0
//
// The packs of one segment while they are filled. Further parts of captures have packs of their own; a pack that is full is
// sealed at once, so that two at most are open.

internal import Primitives
internal import Secrets

/// Fills the packs of one segment.
struct SegmentPacks: ~Copyable {
  /// What became of a content.
  enum Placing {
    case placed(Place)
    /// This segment has enough: the content goes into the next one.
    case full
    /// No pack has room for it.
    case tooLarge
  }

  /// Sealed bytes after which no further pack is begun: they are in memory until they are sent.
  static let byteCountLimit = 2 * Pack.byteCountLimit

  /// A pack that takes contents, and its number in the segment.
  private struct Filling: ~Copyable {
    var number: Int?
    var writer = PackWriter()
  }

  private let keys: EpochKeys
  private let account: AccountID
  /// Contents in one pack, at most.
  private let contentLimit: Int
  private var frames = Filling()
  private var chunks = Filling()
  /// By their numbers; nil for those that are open.
  private var sealed: [(hash: ObjectHash, object: [UInt8])?] = []

  init(keys: EpochKeys, account: AccountID, contentLimit: Int) {
    self.keys = keys
    self.account = account
    self.contentLimit = contentLimit
  }

  /// Takes a content.
  /// - Parameters:
  ///   - kind: `.chunk` for a further part of a capture.
  ///   - machine: gives randomness for a pack that is full.
  mutating func place(
    _ frame: SharedSecretBytes, kind: Pack.EntryKind, on machine: inout some Machine
  ) -> Placing {
    var filling = Filling()
    swap(&filling, kind: kind)
    let placing = place(frame, kind, in: &filling, on: &machine)
    swap(&filling, kind: kind)
    return placing
  }

  /// The sealed packs, in the order of their numbers.
  consuming func finish(on machine: inout some Machine) -> [(hash: ObjectHash, object: [UInt8])] {
    for kind in [Pack.EntryKind.frame, .chunk] {
      var filling = Filling()
      swap(&filling, kind: kind)
      seal(&filling, on: &machine)
    }
    return sealed.compactMap(\.self)
  }

  private mutating func swap(_ filling: inout Filling, kind: Pack.EntryKind) {
    if kind == .chunk { Swift.swap(&filling, &chunks) } else { Swift.swap(&filling, &frames) }
  }

  private mutating func place(
    _ frame: SharedSecretBytes, _ kind: Pack.EntryKind, in filling: inout Filling,
    on machine: inout some Machine
  ) -> Placing {
    if let number = filling.number {
      if filling.writer.count < contentLimit, filling.writer.append(frame, kind: kind) {
        return .placed(Place(pack: UInt16(number), entry: UInt32(filling.writer.count)))
      }
      seal(&filling, on: &machine)
    }
    let byteCount = sealed.reduce(0) { $0 + ($1?.object.count ?? 0) }
    guard byteCount < Self.byteCountLimit, sealed.count < Segment.packCountLimit else { return .full }
    guard filling.writer.append(frame, kind: kind) else { return .tooLarge }
    filling.number = sealed.count
    sealed.append(nil)
    return .placed(Place(pack: UInt16(sealed.count - 1), entry: 1))
  }

  /// Seals an open pack, and leaves an empty one that has no number yet.
  private mutating func seal(_ filling: inout Filling, on machine: inout some Machine) {
    guard let number = filling.number else { return }
    var full = PackWriter()
    Swift.swap(&full, &filling.writer)
    filling.number = nil
    let object = full.seal(random: machine.random(Pack.randomByteCount), keys: keys, account: account)
    sealed[number] = (ObjectHash(hashing: object), object)
  }
}
