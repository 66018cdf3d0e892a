// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Foundation
internal import OpenPGP
internal import ProtectedData
internal import Secrets
internal import Texts

struct ContactCommand: CommandGroup {
  static let configuration = CommandConfiguration(
    commandName: "contact", abstract: "Other people's public parts.",
    subcommands: [
      ContactImportCommand.self, ContactListCommand.self, ContactShowCommand.self, ContactRenameCommand.self,
      ContactRemoveCommand.self, ContactExportCommand.self, ContactQRCommand.self,
      ContactVerifyCommand.self,
    ])
  static let page = """
    coffer contact: the public parts of other people's OpenPGP keys

    usage: coffer contact import [FILE]      store public parts
           coffer contact list               whose there are
           coffer contact show WHO           one contact and its keys
           coffer contact rename WHO NAME    give a name of yours
           coffer contact remove WHO         remove a contact
           coffer contact export WHO         write the public part
           coffer contact qr WHO             the same as a QR code
           coffer contact verify WHO         compare the fingerprint with its owner

    WHO is a fingerprint, an address, a name, or beginnings of its words.

    example: coffer contact import bob.asc
    """
}

struct ContactListCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List contacts.")
  static let page = """
    coffer contact list: list contacts, by name

    usage: coffer contact list \(OpeningOptions.usage)

    On a terminal, prints a table; on a pipe, one line per contact: name, address, whether it is verified,
    and what is wrong with its key, separated by tabs.

    example: coffer contact list
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let now = coffer.openPGPTime
    let contacts = try coffer.contacts().list(at: now)
      .sorted { ($0.name.lowercased(), $0.id.uuidString) < ($1.name.lowercased(), $1.id.uuidString) }
    if context.isJSON {
      for contact in contacts { JSON.print(ContactWords.Answer(contact, among: contacts)) }
      return
    }
    let rows = contacts.map { contact in
      let (cells, tone) = Self.row(contact, at: now)
      return (cells: cells.map { TerminalText.line($0) }, tone: tone)
    }
    guard Terminal.isOutputTerminal else {
      for (row, _) in rows { Terminal.print("\(row[0])\t\(row[1])\t\(row[2])\t\(row[3])") }
      return
    }
    let widths = (0..<3).map { column in rows.map { ColumnWidth.of($0.cells[column]) }.max() ?? 0 }
    let palette = context.outputPalette(coffer)
    for (row, tone) in rows {
      var line = ""
      for (column, width) in widths.enumerated() {
        let width = min(width, Self.columnWidth)
        line += ColumnWidth.padded(ColumnWidth.cut(row[column], to: width), to: width) + "  "
      }
      line = ColumnWidth.cut(line, to: Terminal.columns)
      let rest = ColumnWidth.cut(row[3], to: max(0, Terminal.columns - ColumnWidth.of(line)))
      Terminal.print("\(line)" + palette.paint("\(rest)", tone))
    }
    if contacts.isEmpty {
      context.remark("no contacts yet: 'coffer contact import FILE' stores one")
    }
  }

  private static let columnWidth = 32
  /// An end that is nearer is told.
  private static let noticeSeconds: UInt32 = 30 * 86_400

  /// - Returns: the cells, and the tone of the last one.
  private static func row(_ contact: ContactEntry, at now: Timestamp) -> ([String], Tone?) {
    var remark = ""
    var tone = Tone.warning
    if let key = contact.keyInUse?.summary {
      remark = ContactWords.state(key) ?? ""
      if !remark.isEmpty { tone = .bad }
      if remark.isEmpty, let end = key.expires, end > now.secondsSince1970,
        end - now.secondsSince1970 < noticeSeconds
      {
        remark = "expires in \((Int(end - now.secondsSince1970) / 86_400).counted("day"))"
      }
    }
    if contact.hasWaitingKey {
      tone = .warning
      remark = "a new key waits: coffer contact show \(ShellWord.quoted(contact.name))"
    }
    let cells = [
      contact.name, contact.keyInUse?.summary.addresses.first ?? "", ContactWords.verification(contact),
      remark,
    ]
    return (cells, remark.isEmpty ? nil : tone)
  }
}

struct ContactShowCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a contact.")
  static let page = """
    coffer contact show: show a contact and its keys

    usage: coffer contact show WHO [--details]
                               \(OpeningOptions.usage)

      --details  also the parts of each key: the primary key and the subkeys

    Names in quotation marks were chosen by the owner of the key.

    example: coffer contact show bob
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "A fingerprint, an address or a name.", completion: Completions.contacts)
  var who: String
  @Flag(help: "Show the parts of each key.") var details = false

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let contact = try coffer.contact(who)
    let all = try coffer.contacts().list(at: coffer.openPGPTime)
    if context.isJSON {
      return JSON.print(ContactWords.Answer(contact, among: all, withParts: details))
    }
    Terminal.print("\(contact.name)")
    if let found = contact.verification {
      Terminal.print("verified \(ContactWords.day(found.date)): \(found.manner.words)")
    } else {
      Terminal.print("not verified")
    }
    if let failed = contact.failedVerification {
      Terminal.print("not confirmed \(ContactWords.day(failed)): the fingerprint was another one")
    }
    for key in contact.keys {
      Terminal.print("\(key.state.words) since \(ContactWords.day(key.firstSeen)):")
      for line in ContactWords.lines(of: key.summary) { Terminal.print("  \(line)") }
      for line in ContactWords.replacement(key.summary, among: all).lines { Terminal.print("    \(line)") }
      for part in details ? key.summary.parts : [] {
        Terminal.print("    \(PartWords.line(part))")
        for line in ContactWords.lines(of: part.fingerprint) { Terminal.print("      \(line)") }
      }
    }
    guard contact.hasWaitingKey, let inUse = contact.keyInUse else { return }
    context.remark("A key waits for your decision. Ask its owner, then import it again with one of:")
    context.remark("  --replace \(FingerprintText.plain(inUse.summary.fingerprint))   to use it from now on")
    context.remark("  --separate   if these are two people")
    context.remark("  --ignore     to forget it")
  }
}

struct ContactRenameCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a contact another name.")
  static let page = """
    coffer contact rename: give a contact another name

    usage: coffer contact rename WHO NAME
                                 \(OpeningOptions.usage)

    The name is yours; what the owner of the key calls himself stays as it is.

    example: coffer contact rename bob@example.org 'Bob from work'
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "A fingerprint, an address or a name.", completion: Completions.contacts)
  var who: String
  @Argument(help: "The new name.") var name: String

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let contact = try coffer.contact(who)
    try coffer.renameContact(contact.id, to: name)
    if context.isJSON { JSON.print(["renamed": contact.id.uuidString.lowercased()]) }
    context.remark("\(ContactWords.quoted(contact.name)) is \(ContactWords.quoted(name)) from now on.")
  }
}

struct ContactRemoveCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a contact.")
  static let page = """
    coffer contact remove: remove a contact with all its keys

    usage: coffer contact remove WHO [--yes]
                                 \(OpeningOptions.usage)

    Asks once on a terminal and says what is lost; without a terminal, --yes is needed.

      --yes  ask nothing

    example: coffer contact remove bob
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "A fingerprint, an address or a name.", completion: Completions.contacts)
  var who: String
  @Flag(help: "Ask nothing.") var yes = false

  func execute(_ context: CommandContext) throws {
    let coffer = try context.open(opening)
    let contact = try coffer.contact(who)
    if !yes {
      var lost = contact.verification.map { ", verified since \(ContactWords.day($0.date))" } ?? ""
      if contact.keyInUse?.summary.status == .revoked {
        lost += ", whose key is REVOKED (an old copy of it would look good)"
      }
      let question = "Remove \(ContactWords.quoted(contact.name))\(lost)?"
      guard context.hasTerminal else {
        throw Failure(
          .refused, "not_confirmed", "\(ContactWords.quoted(contact.name))\(lost) would be removed",
          hint: "add --yes if that is what you want")
      }
      guard try context.confirm(question) else { throw Failure(.refused, "cancelled", "nothing was removed") }
    }
    try coffer.removeContact(contact.id)
    if context.isJSON { JSON.print(["removed": contact.id.uuidString.lowercased()]) }
    context.remark("\(ContactWords.quoted(contact.name)) was removed.")
  }
}

struct ContactExportCommand: CofferCommand {
  static let configuration = CommandConfiguration(commandName: "export", abstract: "Write a public part.")
  static let page = """
    coffer contact export: write the public part that is in use, as armored text

    usage: coffer contact export WHO [--output FILE]
                                 \(OpeningOptions.usage)

    Without --output, writes to standard output. Overwrites nothing.

      --output  write this file

    example: coffer contact export bob --output bob.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "A fingerprint, an address or a name.", completion: Completions.contacts)
  var who: String
  @Option(help: "Write this file.", completion: .file()) var output: String?

  func validate() throws { try FileArgument.check(output) }

  struct Answer: Encodable {
    let output: String
    let fingerprint: String
  }

  func execute(_ context: CommandContext) throws {
    try context.requireOutput(output, of: "the public part")
    let coffer = try context.open(opening)
    let contact = try coffer.contact(who)
    let armored = try coffer.contacts().armored(contact.id)
    guard let output else { return Terminal.write(armored.rawSpan) }
    try write(armored, to: output)
    guard context.isJSON, let key = contact.keyInUse else { return }
    JSON.print(Answer(output: output, fingerprint: FingerprintText.plain(key.summary.fingerprint)))
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    do throws(OpenPGPError) { try CommandSurroundings.current.files.publish(bytes, as: path) } catch {
      throw Failure(openPGP: error, writing: path)
    }
  }
}
