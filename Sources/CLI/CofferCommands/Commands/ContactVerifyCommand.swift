// SPDX-License-Identifier: Apache-2.0
//
// Comparing a fingerprint by typing what its owner reads, or with the code on the owner's screen. It is never shown
// here: who reads it off the screen verifies nothing.

internal import ArgumentParser
internal import CofferKit
internal import Contacts
internal import Foundation
internal import ProtectedData
internal import Primitives
internal import Secrets
internal import UserAuthentication

struct ContactVerifyCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare a fingerprint with its owner.")
  static let page = """
    coffer contact verify: compare the fingerprint of a contact with its owner

    usage: coffer contact verify WHO [--fingerprint TEXT | --qr PICTURE | --undo]
                                 \(OpeningOptions.usage)

    Speak to the contact, face to face or by telephone. Coffer asks for four groups of the fingerprint,
    chosen at random: type what you hear, or paste all of it. One wrong group may be tried again; after a
    second one the exit code is 7, and the contact stays as it was.

      --fingerprint  compare this whole fingerprint, or OPENPGP4FPR URL, instead
      --qr           compare with the QR code in this picture (PNG or JPEG), of a public part or a
                     fingerprint; take the picture yourself, from the contact's screen or card: on a
                     terminal you are asked whether you did
      --undo         make the contact not verified

    example: coffer contact verify bob
    """

  @OptionGroup var global: GlobalOptions
  @OptionGroup var opening: OpeningOptions
  @Argument(help: "A fingerprint, an address or a name.", completion: Completions.contacts)
  var who: String
  @Option(help: "Compare this whole fingerprint.") var fingerprint: String?
  @Option(help: "Compare with the QR code in this picture.", completion: .file()) var qr: String?
  @Flag(help: "Make the contact not verified.") var undo = false

  func validate() throws {
    if [fingerprint != nil, qr != nil, undo].filter(\.self).count > 1 {
      throw ValidationError("give one of --fingerprint, --qr and --undo")
    }
    if let fingerprint, !FingerprintChallenge.isWhole(fingerprint) {
      throw ValidationError("--fingerprint wants all 40 or 64 characters")
    }
  }

  func execute(_ context: CommandContext) throws {
    let code = try qr.map { try VerifiedCode(picture: $0) }
    let coffer = try context.open(opening)
    let contact = try coffer.contact(who)
    let name = ContactWords.quoted(contact.name)
    if undo {
      try coffer.forgetVerification(contact.id)
      if context.isJSON { JSON.print(["unverified": contact.id.uuidString.lowercased()]) }
      context.remark("\(name) is no longer verified.")
      return
    }
    guard contact.keyInUse?.summary.status != .revoked else {
      throw Failure(
        .refused, "recipient_revoked", "\(name) has said that this key is not used any more",
        hint: "ask for the new public part")
    }
    let challenge = try coffer.contacts().challenge(contact.id)
    let manner =
      if let code {
        code.isOf(challenge) ? Contact.Verification.Manner.code : nil
      } else if let fingerprint {
        challenge.isWholeFingerprint(fingerprint) ? Contact.Verification.Manner.wholeFingerprint : nil
      } else {
        try ask(challenge, name, context)
      }
    if code != nil, manner != nil { try askWhereFrom(name, context) }
    try coffer.finishVerification(challenge, manner)
    guard manner != nil else {
      throw Failure(
        .refused, "not_confirmed", "this is not the fingerprint of \(name), who stays as it was",
        hint: "ask for the public part again: this one may be somebody else's")
    }
    if context.isJSON { JSON.print(["verified": contact.id.uuidString.lowercased()]) }
    context.remark("\(name) is verified from now on.")
  }

  /// The code agrees also if the key came from the same picture, or from whoever made the picture.
  /// - Throws: `cancelled` when the user did not take the picture.
  private func askWhereFrom(_ name: String, _ context: CommandContext) throws {
    context.remark("The code is of the key that you have. That proves something only if you took this")
    context.remark("picture yourself, from the screen or card of \(name).")
    context.remark("A picture that was sent to you, or that the key came from, proves nothing.")
    guard context.hasTerminal, !context.isJSON, Terminal.isErrorTerminal else { return }
    guard try context.confirm("Did you take it yourself, and see whose screen or card it is?") else {
      throw Failure(.refused, "cancelled", "\(name) stays as it was")
    }
  }

  /// Asks for the groups one after the other.
  /// - Returns: how the fingerprint was compared; nil after a second wrong answer.
  private func ask(
    _ challenge: FingerprintChallenge, _ name: String, _ context: CommandContext
  ) throws -> Contact.Verification.Manner? {
    let prompt = try context.prompt(for: "the fingerprint", hint: "use --fingerprint TEXT")
    let numbers = challenge.groups.map(String.init)
    context.remark(
      "Speak to \(name): face to face, or by telephone when you know the voice. Not by mail or chat.")
    context.remark(
      "Your contact reads the fingerprint with the program that has the key (gpg --fingerprint).")
    context.remark("Ask for group \(numbers.dropLast().joined(separator: ", ")) and \(numbers.last ?? "").")
    context.remark("Groups have four characters; you may also paste all of the fingerprint.")
    var hasFailed = false
    for group in challenge.groups {
      var problem: String?
      while true {
        let text = try answer(prompt, "group \(group)", problem)
        problem = "that is not the contact's: listen again"
        if FingerprintChallenge.isWhole(text) {
          if challenge.isWholeFingerprint(text) { return .wholeFingerprint }
        } else if challenge.isRight(text, group: group) {
          break
        } else if !FingerprintChallenge.isGroup(text) {
          // A slip of the finger is not an answer.
          problem = "a group has four characters, 0 to 9 and A to F"
          continue
        }
        if hasFailed { return nil }
        hasFailed = true
      }
    }
    return .groups
  }

  private func answer(_ prompt: any PassphrasePrompt, _ words: String, _ problem: String?) throws -> String {
    let typed = try prompt.ask(PromptRequest(words, problem: problem, isShown: true))
    return typed.withBytes { bytes in String(decoding: [UInt8](copying: bytes), as: UTF8.self) }
  }
}

/// The code of a picture, which is compared with a contact's key.
private enum VerifiedCode {
  case fingerprint(String)
  case publicPart(PublicParts)

  init(picture path: String) throws {
    let code = try PictureCode.meant(inPicture: path)
    do throws(ContactError) {
      guard code.kind == .fingerprint else {
        self = .publicPart(try code.publicParts())
        return
      }
    } catch { throw PictureCode.named(Failure(error), path) }
    let text = code.text.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    guard FingerprintChallenge.isWhole(text) else {
      throw PictureCode.named(
        Failure(
          .refused, "malformed_url",
          "this code begins like a fingerprint, and something else than 40 or 64 hexadecimal digits follows",
          hint: "ask for the fingerprint alone, or compare it by typing: coffer contact verify WHO"), path)
    }
    self = .fingerprint(text)
  }

  func isOf(_ challenge: FingerprintChallenge) -> Bool {
    switch self {
    case .fingerprint(let text): challenge.isWholeFingerprint(text)
    case .publicPart(let parts): challenge.isPublicPart(parts)
    }
  }
}
