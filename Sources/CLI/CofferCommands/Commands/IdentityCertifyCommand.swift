// SPDX-License-Identifier: Apache-2.0
//
// A certification of somebody else's names, for others who believe you. Coffer itself believes nobody's.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Identities
internal import OpenPGP
internal import Secrets

struct IdentityCertifyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "certify", abstract: "Certify the names of a contact, for others.")
  static let page = """
    coffer identity certify: certify the names of a contact, for others who believe you

    usage: coffer identity certify CONTACT [--as WHO] [--output FILE]
               \(OpeningOptions.usage)

    Writes the contact's public part with your certification of all its names. The contact must be verified.
    This changes nothing in your own contacts.

      --as WHO       the identity that certifies; by default the default one
      --output FILE  write a new file instead of standard output

    example: coffer identity certify bob --output bob-certified.asc
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "The contact.", completion: Completions.contacts) var contact: String
  @Option(name: .customLong("as"), help: "The identity.") var identity = "me"
  @Option(help: "A new file.", completion: .file()) var output: String?

  func validate() throws { try FileArgument.check(output) }

  struct Answer: Encodable {
    let output: String
    let fingerprint: String
    let certifiedBy: String
    let names: [String]
  }

  func execute(_ context: CommandContext) throws {
    try context.requireOutput(output, of: "the certified public part")
    let coffer = try context.open(opening)
    let contact = try coffer.contact(contact)
    let (open, identities) = try context.identities(coffer)
    let identity = try identities.chosen(identity)
    let name = ContactWords.quoted(contact.name)
    guard contact.verification != nil else {
      throw Failure(
        .refused, "not_verified",
        "\(name) is not verified: you cannot vouch for a key that you have not compared",
        hint: "'coffer contact verify' compares the fingerprint with its owner")
    }
    guard contact.keyInUse?.summary.status != .expired, contact.keyInUse?.summary.status != .revoked else {
      throw Failure(.refused, "recipient_revoked", "the key of \(name) has expired or is revoked")
    }
    try open.store.checkCertifying(as: identity)
    let publicPart = try coffer.contacts().armored(contact.id)
    let parts = try context.privateParts(
      coffer, opening, "to certify \(name) as \(IdentityView(identity).name)", sealing: true)
    let certified = try parts.coffer.certify(
      publicPart, as: identity, parts.coffer.openIdentities(), parts.authorization)
    if let output {
      let text = try certified.armored()
      do throws(OpenPGPError) { try CommandSurroundings.current.files.publish(text, as: output) } catch {
        throw Failure(openPGP: error, writing: output)
      }
      if context.isJSON {
        JSON.print(
          Answer(
            output: output, fingerprint: certified.fingerprint, certifiedBy: identity.fingerprint,
            names: certified.userIDs.map(\.text)))
      }
    } else {
      let text = try certified.armored()
      Terminal.write(text.rawSpan)
    }
    context.remark("Certified as '\(IdentityView(identity).title)':")
    for userID in certified.userIDs { context.remark("  \(ContactWords.quoted(userID.text))") }
    context.remark("This changes nothing in your own contacts.")
  }
}
