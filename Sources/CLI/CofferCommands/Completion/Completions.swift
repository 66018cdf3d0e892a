// SPDX-License-Identifier: Apache-2.0
//
// What a shell offers for an argument: titles, tags and names out of the coffer, while a session is open. It is asked at
// each press of the Tab key, so nobody is asked for anything, nothing is said, and the session is not extended.

internal import Agent
internal import ArgumentParser
internal import Captures
internal import CofferKit
internal import Contacts
internal import Identities
internal import MessageFormats
internal import Secrets
internal import Texts
internal import Vaults

enum Completions {
  /// The first argument with which a shell asks, as swift-argument-parser has it.
  static let argument = "---completion"

  /// Which message, as ``MessageChoice`` understands it.
  static var messages: CompletionKind { offering(messages) }

  /// Which message of the trash.
  static var trash: CompletionKind {
    offering { coffer, typed in
      offers(try Trash(coffer).entries.map { (id: $0.id, title: $0.metadata.title, date: $0.removed) }, typed)
    }
  }

  /// Which capture, as ``CaptureChoice`` understands it.
  static var captures: CompletionKind {
    offering { coffer, typed in
      offers(
        try coffer.captureAccess.store.listing().captures.map {
          (id: $0.id, title: $0.label.title, date: $0.created)
        },
        typed)
    }
  }

  static var tags: CompletionKind {
    offering { coffer, typed in
      var tags: Set<String> = []
      _ = try coffer.vault.list { _, metadata in
        tags.formUnion(metadata.tags)
        return true
      }
      return tags.sorted().map { CompletionOffer($0) }.filter { $0.begins(typed) }
    }
  }

  /// The first column of a list.
  static var columns: CompletionKind { .list(MessageColumn.allCases.map(\.rawValue)) }

  static var identities: CompletionKind { offering { coffer, _ in try identities(coffer) } }

  static var contacts: CompletionKind { offering { coffer, _ in try contacts(coffer) } }

  /// Whom a message can be for.
  static var people: CompletionKind {
    offering { coffer, _ in try contacts(coffer) + identities(coffer) }
  }

  // MARK: What there is

  private static func messages(_ coffer: Coffer, _ typed: String) throws -> [CompletionOffer] {
    var found: [(id: MessageID, title: String, date: Int64)] = []
    _ = try coffer.vault.list { id, metadata in
      found.append((id, metadata.title, metadata.date))
      return true
    }
    return offers(found, typed)
  }

  /// Titles that name one message alone, and ends of ids for the others.
  private static func offers(
    _ messages: [(id: MessageID, title: String, date: Int64)], _ typed: String
  ) -> [CompletionOffer] {
    var counts: [String: Int] = [:]
    for message in messages { counts[message.title.lowercased(), default: 0] += 1 }
    let all = messages.lazy.flatMap { message in
      let end = MessageChoice.shown(message.id)
      let date = LocalTime.minute(message.date)
      let title = CompletionOffer(message.title, "\(end)  \(date)")
      let isAlone = counts[message.title.lowercased()] == 1 && title.isWord
      // The end of an id is offered where there is no other name, or it is being typed.
      return (isAlone ? [title] : [])
        + (isAlone && typed.isEmpty ? [] : [CompletionOffer(end, "\(date)  \(message.title)")])
    }
    return Array(all.filter { $0.begins(typed) }.prefix(countLimit))
  }

  /// More than that nobody looks through.
  private static let countLimit = 500

  private static func identities(_ coffer: Coffer) throws -> [CompletionOffer] {
    let all = try coffer.identities(coffer.openIdentities())
    return all.map { identity in
      let first = identity.userIDs.first
      return CompletionOffer(
        first?.address ?? first?.name ?? identity.fingerprint.description, first?.text ?? "identity")
    }
  }

  private static func contacts(_ coffer: Coffer) throws -> [CompletionOffer] {
    try coffer.contacts().list(at: coffer.openPGPTime).map { contact in
      CompletionOffer(contact.name, contact.keys.first?.summary.addresses.joined(separator: " ") ?? "contact")
    }
  }

  // MARK: Asking

  private static func offering(
    _ find: @Sendable @escaping (Coffer, _ typed: String) throws -> [CompletionOffer]
  ) -> CompletionKind {
    .custom { arguments, _, prefix in
      let shell = CompletionShell.requesting
      // What cannot be read is not offered; a command that reads it says why.
      guard let coffer = try? session(arguments) else { return [] }
      let typed = CompletionOffer.typed(prefix)
      return ((try? find(coffer, typed)) ?? []).filter(\.isWord).compactMap { $0.line(for: shell) }
    }
  }

  /// The coffer of a command line, opened by its session; nil without one.
  private static func session(_ arguments: [String]) throws -> Coffer? {
    let place = arguments.firstIndex(of: "--home").map { arguments[($0 + 1)...].prefix(1) }
    let global = try GlobalOptions.parse(place.map { ["--home"] + $0 } ?? [])
    let context = CommandContext(global)
    guard
      AgentSession.mayBeThere(
        home: context.home, variables: context.machine.agentVariables)
    else { return nil }
    return try context.look(try context.locked())
  }
}

/// The commands as a shell sees them: those that may stand without `message` stand at the top as well.
struct ShellRoot: ParsableCommand {
  static let configuration: CommandConfiguration = {
    let root = CofferRoot.configuration
    let short = MessageCommand.configuration.subcommands.filter {
      ArgumentOrder.aliases.contains($0._commandName)
    }
    return CommandConfiguration(
      commandName: root.commandName, abstract: root.abstract, version: root.version,
      subcommands: root.subcommands + short)
  }()
}
