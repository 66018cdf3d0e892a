// SPDX-License-Identifier: Apache-2.0
//
// Entries that a source does not read by design: hidden files, links and so on. An entry that it should read
// but cannot is an error instead.

/// The entries that a source left out by design, counted by reason, with the first paths of each.
public struct LeftOut: Sendable, Equatable {
  /// Why something was left out.
  public enum Reason: String, Sendable, CaseIterable {
    /// Its name begins with a dot.
    case hidden
    /// A symbolic link: it may lead out of the folder.
    case link
    /// A FIFO, a socket or a device.
    case special
    /// In a Maildir: a delivery that is not complete.
    case unfinished
    /// In a Maildir: not a part of its structure.
    case foreign
    /// It went away while the source was read.
    case gone
  }

  /// All that has one reason.
  public struct Group: Sendable, Equatable {
    /// Why these were left out.
    public let reason: Reason
    /// How many were left out, those without a path in ``paths`` too.
    public fileprivate(set) var count = 0
    /// The first ones, below the folder that is read.
    public fileprivate(set) var paths: [String] = []
  }

  /// In the order in which the reasons came up.
  public private(set) var groups: [Group] = []

  /// Nothing left out yet.
  public init() {}

  mutating func add(_ reason: Reason, _ path: String) {
    let index =
      groups.firstIndex { $0.reason == reason }
      ?? {
        groups.append(Group(reason: reason))
        return groups.count - 1
      }()
    groups[index].count += 1
    if groups[index].paths.count < Self.pathLimit { groups[index].paths.append(path) }
  }

  /// Enough for a report; a folder of a version control system has thousands.
  private static let pathLimit = 10
}

extension LeftOut.Reason {
  /// The reason for an entry of this kind; nil for files and folders.
  init?(_ kind: FolderHandle.Kind) {
    switch kind {
    case .file, .folder: return nil
    case .link: self = .link
    case .special: self = .special
    }
  }
}
