// SPDX-License-Identifier: Apache-2.0
//
// A commit or a tag is signed. All of it is read before anybody is asked, and whoever is asked sees what it is.

internal import ArgumentParser
internal import CofferKit
internal import Correspondence
internal import Foundation
internal import Glibc
internal import Identities
internal import OpenPGP
internal import Secrets

struct GitSigning {
  private let context: CommandContext
  private let key: String
  private let status: StatusLines

  init(_ context: CommandContext, key: String, _ status: StatusLines) {
    self.context = context
    self.key = key
    self.status = status
  }

  /// A commit's message of this size has no reader; pushes of many references are the largest.
  private static let byteCountLimit = 16 << 20

  /// Signs standard input: the signature on standard output, then the status lines.
  func run() throws {
    let bytes = SharedSecretBytes(
      try InputFile.read(
        "-", byteCountLimit: Self.byteCountLimit,
        tooLong: Failure(.refused, "malformed", "this is too long for a commit or a tag")))
    let object = bytes.withBytes { GitObject($0) }
    var context = context
    let what = "\(object.kind) in '\(Self.folderName)'"
    context.purpose = "to sign \(what)"
    context.detail = object.subject
    let opening = try OpeningOptions.parse([])
    let coffer = try context.open(opening)
    let identity = try identity(in: coffer)
    let title = IdentityView(identity).title
    let publicKey = try signingKey(of: identity, at: coffer.openPGPTime)
    let asked = PrivatePartAsked(context, coffer, opening, purpose: "to sign \(what) as \(title)")
    let borrowed = BorrowedKey(publicKey, of: identity.certificate.fingerprint, lend: asked.lender)
    let signature = try sign(bytes, borrowed, at: coffer.openPGPTime)
    try write(signature, by: publicKey)
    note(identity, asked.coffer)
    // Within the grace period nothing was asked, and still nothing is signed unseen.
    var line: ShownLine = "\(GitProgram.name): signed \(what) as \(title)"
    if let subject = object.subject { line += ": \(subject)" }
    ControllingTerminal.tell([line])
  }

  /// Git runs the program in the top folder of the working tree.
  private static var folderName: String {
    URL(filePath: FileManager.default.currentDirectoryPath).lastPathComponent
  }

  // MARK: Who signs

  private func identity(in coffer: Coffer) throws -> Identity {
    let identities = try coffer.identities(try coffer.openIdentities())
    let who = Self.words(key)
    do { return try identities.chosen(who) } catch var failure as Failure {
      failure.hint =
        "'coffer identity list --json' has the fingerprints; git config user.signingkey FINGERPRINT"
      throw failure
    }
  }

  /// The address of `NAME <ADDRESS>`, which git gives for the committer; else the words without the mark that has gpg
  /// take a subkey.
  static func words(_ key: String) -> String {
    let text = key.hasSuffix("!") ? String(key.dropLast()) : key
    guard text.hasSuffix(">"), let address = UserIDText(text).address else { return text }
    return address
  }

  private func signingKey(of identity: Identity, at time: Timestamp) throws -> PublicKey {
    let key: PublicKey
    do { key = try identity.signingKey(at: time) } catch let error as RecipientProblems {
      var failure = Failure(error)
      failure.hint = "'coffer identity show' says more"
      throw failure
    }
    guard identity.hasPrivatePart else { throw CorrespondenceError.noPrivatePart }
    return key
  }

  // MARK: The signature

  private func sign(
    _ bytes: SharedSecretBytes, _ key: BorrowedKey, at time: Timestamp
  ) throws -> Signature {
    do throws(OpenPGPError) {
      let made = try DetachedSigning([key], time: time).sign(MemorySource(bytes))
      guard let signature = made.first else { throw .internalFailure }
      return signature
    } catch {
      throw key.failure ?? Failure(openPGP: error)
    }
  }

  /// The signature first: the line that says it was made must be true.
  private func write(_ signature: Signature, by key: PublicKey) throws {
    let sink = ArraySink()
    do throws(OpenPGPError) {
      let armor = try ArmorWriter(sink, kind: .signature)
      try Packet.signature(signature).write(to: armor)
      try armor.finish()
    } catch { throw Failure(openPGP: error) }
    try status.write([StatusLine("BEGIN_SIGNING", "H\(signature.hashField)")])
    Terminal.write(sink.bytes.rawSpan)
    if let failure = Terminal.outputFailure() { throw failure }
    try status.write([
      StatusLine(
        "SIG_CREATED", "D", signature.algorithmField, signature.hashField, signature.classField,
        signature.timeField, key.fingerprint.hexadecimal)
    ])
  }

  /// The entry in the audit log, and once, where somebody can read it, what version 6 means.
  private func note(_ identity: Identity, _ coffer: Coffer) {
    guard identity.version == 6 else { return coffer.noteGitSignature() }
    let isNews = ControllingTerminal.isThere && !coffer.hasExplainedVersion6
    if isNews {
      ControllingTerminal.tell([
        "\(GitProgram.name): this identity is of version 6: services that show commits do not verify such signatures,",
        "  and who wants to check them needs a program that reads version 6",
      ])
    }
    coffer.noteGitSignature(explainingVersion6: isNews)
  }
}
