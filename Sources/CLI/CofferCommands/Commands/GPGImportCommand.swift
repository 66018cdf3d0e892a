// SPDX-License-Identifier: Apache-2.0
//
// Identities and contacts out of GnuPG, through gpg alone. All is shown first, with one question; private parts come
// through pipes, and the coffer's passphrase is asked for when they are open. GnuPG keeps what it has.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Foundation
internal import GnuPG
internal import Identities
internal import OpenPGP
internal import Secrets
internal import UserAuthentication

struct GPGImportCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "gpg-import", abstract: "Take identities and contacts out of GnuPG.")
  static let page = """
    coffer gpg-import: take identities and contacts out of GnuPG

    usage: coffer gpg-import [--homedir DIR] [--gpg PATH] [--yes]
               \(KeyPassphraseOptions.usage)
               \(OpeningOptions.usage)

    Asks gpg for its keys, and shows them before anything is taken. Your private keys become identities, all
    or none; keys on a card stay there. Other people's keys become contacts, none of them verified, whatever
    GnuPG trusts. What is here already is left as it is, or learns what is new. GnuPG keeps everything.

      --homedir DIR  the folder of GnuPG's keys, instead of GNUPGHOME or ~/.gnupg
      --gpg PATH     the program, instead of \(GnuPG.usualProgram)
      --yes          ask no question; passphrases are still asked for

    example: coffer gpg-import
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var keyPassphrase: KeyPassphraseOptions
  @Option(help: "The folder of GnuPG's keys.", completion: .directory) var homedir: String?
  @Option(help: "The program gpg.", completion: .file()) var gpg: String?
  @Flag(help: "Ask no question.") var yes = false

  struct Answer: Encodable {
    struct Taken: Encodable {
      let fingerprint: String
      let name: String?
      let state: String
      let reason: String?
    }
    struct Counts: Encodable {
      let new: Int
      let updated: Int
      let unchanged: Int
      let waiting: Int
      let refused: Int
    }
    struct Failed: Encodable {
      let fingerprint: String
      let reason: String
    }
    let identities: [Taken]
    let contacts: Counts
    let failed: [Failed]
  }

  func execute(_ context: CommandContext) throws {
    let gnupg = try GnuPG(
      program: gpg.map(Self.absolute) ?? GnuPG.usualProgram, home: homedir.map(Self.absolute),
      variables: CommandRun.current.environment.variables)
    let own = try gnupg.privateKeys()
    let coffer = try context.open(opening)
    var plan = try GPGImportPlan(own, coffer, context)
    let all = try gnupg.publicKeys()
    let others = all.filter { !plan.isOwn($0.fingerprint) }
    let kept = all.filter { key in
      plan.identities.contains { $0.state == .alreadyHere && $0.key.fingerprint == key.fingerprint }
    }
    try plan.compare(GnuPGPublicParts(kept, of: gnupg).parts, coffer)
    let parts = try GnuPGPublicParts(others, of: gnupg)
    let previews = try parts.parts.map {
      try coffer.contacts().preview($0, at: coffer.openPGPTime, decide: GPGImportPlan.decision)
    }
    plan.add(previews ?? [], parts.omissions)
    plan.tell(gnupg, context)
    guard plan.hasAnything else {
      context.remark("There is nothing to take.")
      return try answer(plan, context)
    }
    try agree(plan, context)
    let custodian = try seal(&plan, gnupg, coffer, context)
    for own in plan.identities where own.state == .updated && !own.isWanted { try own.news?.take(custodian) }
    if let certificates = parts.parts, let previews, plan.contactCount > 0 {
      try custodian.storeContacts(
        certificates, as: previews, decisions: previews.map(GPGImportPlan.decision))
    }
    tellEnd(plan, context)
    try answer(plan, context)
  }

  private static func absolute(_ path: String) -> String {
    URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
  }

  private func agree(_ plan: GPGImportPlan, _ context: CommandContext) throws {
    guard !yes else { return }
    guard !context.isJSON, Terminal.isErrorTerminal, context.hasTerminal else {
      throw Failure(
        .refused, "not_confirmed", "nothing was taken: there is nobody to ask", hint: "add --yes")
    }
    guard try context.terminal().confirm("Take \(plan.summary)?", isYesByDefault: true) else {
      throw Failure(.refused, "cancelled", "nothing was taken")
    }
  }

  /// Opens the private parts, then seals them all in one step.
  /// - Returns: the coffer as it was opened last.
  private func seal(
    _ plan: inout GPGImportPlan, _ gnupg: GnuPG, _ coffer: Coffer, _ context: CommandContext
  ) throws -> Coffer {
    var given: SharedSecretBytes?
    if let passphrase = try keyPassphrase.given() { given = SharedSecretBytes(passphrase) }
    let taking = GnuPGPrivateParts(gnupg, coffer, context, given: given)
    var opened: [OpenedKey] = []
    for index in plan.identities.indices where plan.identities[index].isWanted {
      let key = plan.identities[index].key
      do { opened.append(try taking.open(key)) } catch let omission as GnuPGPrivateParts.Omission {
        plan.identities[index].leaveOut(omission.reason)
        context.remark("\(GnuPGPrivateParts.name(key)) stays where it is: \(omission.words)")
      }
    }
    guard !opened.isEmpty else { return coffer }
    let parts = try context.privateParts(
      coffer, opening, "to import \(opened.count.counted("private key"))", sealing: true)
    try parts.coffer.importIdentities(opened, parts.coffer.openIdentities(), parts.authorization)
    plan.noteSealed()
    return parts.coffer
  }

  private func tellEnd(_ plan: GPGImportPlan, _ context: CommandContext) {
    context.remark("\(plan.result)")
    let sealed = plan.identities.filter(\.isSealed)
    guard !sealed.isEmpty else { return }
    context.remark(
      "GnuPG still has its copies: as long as they are there, they are protected by GnuPG's passphrase alone."
    )
    context.remark("Make a backup, and remove them yourself when you are sure:")
    let folder = homedir.map { " --homedir \(ShellWord.quoted(Self.absolute($0)))" } ?? ""
    for identity in sealed {
      context.remark("  gpg\(folder) --delete-secret-keys \(identity.key.fingerprint.uppercased())")
    }
  }

  private func answer(_ plan: GPGImportPlan, _ context: CommandContext) throws {
    if context.isJSON { JSON.print(plan.answer) }
    let count = plan.leftOutCount
    guard count > 0 else { return }
    throw Failure(
      .refused, "entries_skipped",
      "\(count.counted("key")) of GnuPG \(count == 1 ? "was" : "were") left out",
      hint: "each is named above, or in 'failed' and 'identities' of the answer; the rest is here")
  }
}
