// SPDX-License-Identifier: Apache-2.0

/// Which mails name a mail: of each the mails that it names, and its own name, as hashes. With it a conversation is
/// found by reading all mails once, however they are stored.
public struct MailNames<ID: Sendable>: Sendable {
  /// A mail and where it came among all of them.
  public struct Place: Sendable {
    /// The mail.
    public let id: ID
    /// How many came before it.
    public let position: Int
  }

  private struct Name {
    /// Under a key of the process: names come from strangers.
    let hash: Int
    /// Of ``ids``.
    let mail: UInt32
  }

  private var ids: [ID] = []
  /// In the order of the hashes, once mails were asked for.
  private var names: [Name] = []
  private var isSorted = true

  /// Mails that were taken in.
  public var count: Int { ids.count }

  /// Knows no mail.
  public init() {}

  /// Takes a mail in.
  public mutating func insert(_ id: ID, _ links: MailLinks) {
    let names = links.names
    guard !names.isEmpty else { return }
    for name in names { self.names.append(Name(hash: name.hashValue, mail: UInt32(ids.count))) }
    ids.append(id)
    isSorted = false
  }

  /// The mails that have or name a name, in the order in which they came; by chance one that does neither.
  public mutating func mails(naming name: String) -> [Place] {
    if !isSorted { names.sort { ($0.hash, $0.mail) < ($1.hash, $1.mail) } }
    isSorted = true
    let hash = name.hashValue
    let first = names.partitionIndex { $0.hash >= hash }
    return names[first...].prefix { $0.hash == hash }.map {
      Place(id: ids[Int($0.mail)], position: Int($0.mail))
    }
  }
}
