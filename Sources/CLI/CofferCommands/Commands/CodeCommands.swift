// SPDX-License-Identifier: Apache-2.0
//
// Public parts as QR codes. Nothing of a private part is opened.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Identities
internal import OpenPGP

struct IdentityQRCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "qr", abstract: "Show the public part of an identity as a QR code.")
  static let page = """
    coffer identity qr: show the public part of an identity as a QR code, for others to scan

    usage: coffer identity qr WHO \(CodeOptions.usage)
                              \(OpeningOptions.usage)

    \(CodeOptions.page)

    example: coffer identity qr ada@example.org --png ada.png
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var code: CodeOptions
  @Argument(help: "The identity.", completion: Completions.identities) var who: String

  func execute(_ context: CommandContext) throws {
    try CodeOutput.checkTerminal(code, context)
    let coffer = try context.open(opening)
    let (_, identities) = try context.identities(coffer)
    let identity = try identities.chosen(who)
    let output = try CodeOutput(
      identity.certificate, code, at: coffer.openPGPTime, export: "coffer identity export")
    try output.give(code, context)
    context.remark("This is your public part, without the private one. Anybody may have it. Fingerprint:")
    for line in IdentityView(identity).fingerprint { context.remark(line) }
    context.nextSteps(
      coffer, "Whoever has a picture of the code: coffer contact import PICTURE",
      "Who takes that picture from your screen: coffer contact verify YOU --qr PICTURE")
  }
}

struct ContactQRCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "qr", abstract: "Show the public part of a contact as a QR code.")
  static let page = """
    coffer contact qr: show the public part of a contact as a QR code, to pass it on

    usage: coffer contact qr WHO \(CodeOptions.usage)
                             \(OpeningOptions.usage)

    \(CodeOptions.page)

    example: coffer contact qr bob --png bob.png
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @OptionGroup var code: CodeOptions
  @Argument(help: "A fingerprint, an address or a name.", completion: Completions.contacts)
  var who: String

  func execute(_ context: CommandContext) throws {
    try CodeOutput.checkTerminal(code, context)
    let coffer = try context.open(opening)
    let contact = try coffer.contact(who)
    let certificate = try coffer.contacts().certificate(contact.id)
    let output = try CodeOutput(
      certificate, code, at: coffer.openPGPTime, export: "coffer contact export")
    try output.give(code, context)
    context.remark(
      "This is the public part of \(ContactWords.quoted(contact.name)), \(ContactWords.verification(contact)). Fingerprint:"
    )
    for line in ContactWords.lines(of: certificate.fingerprint) { context.remark("\(line)") }
  }
}
