// SPDX-License-Identifier: Apache-2.0

import SeededGenerators

/// What a crash leaves of that which was not synchronised.
public enum CrashVariant: Equatable, Sendable {
  /// All of it: the process was killed, or had luck.
  case everything
  /// All of it, but only half of the last write.
  case torn
  /// Nothing of it.
  case lost
  /// The names and the last write; the writes before did not come to it.
  case lastAlone
  /// Some of it: writes, and halves of them, drawn by a sequence that is the same in each run.
  case scattered(draw: UInt64)

  static let all: [CrashVariant] =
    [.everything, .torn, .lost, .lastAlone] + (1...3).map { .scattered(draw: $0) }

  /// In words.
  public var description: String {
    switch self {
    case .everything: "nothing lost"
    case .torn: "last write torn"
    case .lost: "unsynchronised lost"
    case .lastAlone: "last write alone"
    case .scattered(let draw): "writes scattered, draw \(draw)"
    }
  }

  /// What is there after a crash, and before the next call; nil where this variant is like another one.
  func image(_ disk: DiskModel, last: DiskCall?) -> DiskImage? {
    let isWrite =
      switch last {
      case .write, .addRecord: true
      default: false
      }
    switch self {
    case .everything: return disk.everything
    case .torn:
      guard isWrite else { return nil }
      return disk.image(nameCount: nil) { $0 == disk.number ? .firstHalf : .all }
    case .lost: return disk.image(nameCount: 0) { _ in .none }
    case .lastAlone: return disk.image(nameCount: nil) { $0 == disk.number ? .all : .none }
    case .scattered(let draw):
      let seed = draw << 48 | UInt64(disk.number) << 24
      var random = SeededGenerator(seed: seed)
      let nameCount = Int(random.next() % UInt64(disk.pendingNameCount + 1))
      return disk.image(nameCount: nameCount) { number in
        var random = SeededGenerator(seed: seed | UInt64(number))
        return [.none, .all, .firstHalf, .secondHalf][Int(random.next() % 4)]
      }
    }
  }
}

extension DiskModel {
  /// The different states that a crash may leave at this moment.
  func crashes(after last: DiskCall?) -> [(variant: CrashVariant, image: DiskImage)] {
    var digests: Set<Int> = []
    return CrashVariant.all.compactMap { variant in
      guard let image = variant.image(self, last: last), digests.insert(image.digest).inserted else {
        return nil
      }
      return (variant, image)
    }
  }
}
