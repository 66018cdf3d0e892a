// SPDX-License-Identifier: Apache-2.0

internal import Contacts
internal import Correspondence
internal import Identities
internal import MessageFormats
internal import OpenPGP

extension Failure {
  init(correspondence error: CorrespondenceError) {
    switch error {
    case .unknown(let who):
      self.init(contact: .unknown)
      message = "no contact is called \(ContactWords.quoted(who))"
    case .ambiguous(let who, let found):
      self.init(
        .usage, "ambiguous_recipient",
        "\(ContactWords.quoted(who)) fits \(Self.kind(of: found)): \(Self.names(of: found))",
        hint: "say more of the name, or give the address or the fingerprint")
      candidates = found.map { one in
        let isOwn = if case .identity = one { true } else { false }
        return Candidate(
          contact: isOwn ? nil : one.name, identity: isOwn ? one.name : nil,
          fingerprint: one.certificate.map { FingerprintText.plain($0.fingerprint) }, addresses: one.addresses
        )
      }
    case .tooFewDigits: self.init(contact: .tooFewDigits)
    case .noIdentity:
      self.init(
        .missing, "unknown_identity", "you have no identity to sign with, or to read it with later",
        hint: "'coffer identity generate' makes one; --no-sign and --no-self do without")
    case .noPrivatePart:
      self.init(.missing, "no_private_key", "the private part of the identity that should sign is lost")
    }
  }

  /// How many of what.
  private static func kind(of found: [Correspondent]) -> String {
    let ownCount = found.count { if case .identity = $0 { true } else { false } }
    let counts = [
      ownCount > 0 ? "\(ownCount) of your identities" : nil,
      found.count > ownCount ? (found.count - ownCount).counted("contact") : nil,
    ]
    return LetterWords.list(counts.compactMap(\.self))
  }

  private static func names(of found: [Correspondent]) -> String {
    found.map { one in
      // The name of an identity is a user ID, which has the address already.
      let address: [String] =
        if case .identity = one { [] } else { one.addresses.prefix(1).map { "<\($0)>" } }
      return
        ([ContactWords.quoted(one.name)] + address
        + [one.certificate?.fingerprint].compactMap(\.self).map(FingerprintText.plain))
        .joined(separator: " ")
    }.joined(separator: ", ")
  }

  /// All problems of a message's recipients at once; the code is that of the first.
  init(recipients error: RecipientProblems) {
    let first = error.problems.first
    let end = first?.end ?? (.refused, "recipient_refused")
    self.init(
      end.exit, end.code, error.problems.map(\.sentence).joined(separator: "; "),
      hint: first?.advice)
    problems = error.problems.map { problem in
      Problem(
        who: problem.who ?? "me", fingerprint: problem.fingerprint.map(FingerprintText.plain),
        reason: problem.end.code, since: problem.since.map(ContactWords.instant))
    }
  }
}

extension Failure {
  init(mail error: MailError) {
    switch error {
    case .malformed(let error): self.init(mailTree: error)
    case .tooLarge:
      self.init(
        .refused, "message_too_large",
        "this mail is larger than \(ByteCount.text(MessageLimits.messageByteCount)), and is not read")
    case .notEncrypted:
      self.init(
        .refused, "malformed", "this mail is not encrypted", hint: "if it is signed: 'coffer verify FILE'")
    case .encrypted:
      self.init(.refused, "malformed", "this mail is encrypted", hint: "'coffer decrypt FILE' reads it")
    case .notSigned:
      self.init(.missing, "not_signed", "this mail is not signed: anybody can have written it")
    case .badSignaturePart:
      self.init(
        .corrupt, "signature_invalid", "the signature of this mail is damaged, and cannot be read",
        hint: "ask the sender to sign it again")
    case .severalCiphertexts(let numbers):
      self.init(
        .refused, "several_ciphertexts",
        "the parts \(LetterWords.list(numbers.map { "\($0)" })) of this mail are encrypted, and nobody can tell which of them is the mail",
        hint: "--part N opens one of them alone")
    case .severalTexts:
      self.init(
        .refused, "several_ciphertexts", "this text has several encrypted or signed texts",
        hint: "save them one by one, and read each alone")
    case .misplaced(let number):
      self.init(
        .refused, "misplaced_ciphertext",
        "part \(number) of this mail is encrypted, and other parts around it are not",
        hint: "--part \(number) opens it alone")
    case .nested:
      self.init(
        .refused, "nested", "what was encrypted is encrypted once more; the second layer is not opened",
        hint: "--part N --output FILE writes the inner message, which can be decrypted alone")
    }
  }

  init(mailTree error: MailTreeError) {
    let reason =
      switch error {
      case .header: "a line of its headers is not a header"
      case .contentHeader: "what it says about its content has two meanings or none"
      case .boundary: "its parts have no boundary, or the same as others around them"
      case .unclosed: "its parts have no end, or go on after it"
      case .overLimit: "it has more parts or headers than any real mail"
      }
    self.init(
      .refused, "mail_malformed", "this mail is not built as a mail must be: \(reason)",
      hint: "programs could read it differently, so nothing of it is shown")
  }

  /// An archive that was decrypted and not unpacked.
  /// - Parameter path: of the folder.
  init(archive problem: ArchiveProblem, writing path: String) {
    let hint = "nothing was unpacked; --output FILE writes the archive as it is"
    switch problem {
    case .notAnArchive:
      self.init(
        .refused, "not_an_archive", "the content is not a tar archive",
        hint: "--output FILE writes it as it is")
    case .cutOff: self.init(.corrupt, "archive_damaged", "the archive is cut off", hint: hint)
    case .damaged(let entry):
      self.init(.corrupt, "archive_damaged", "entry \(entry) of the archive is damaged", hint: hint)
    case .link(let entry): self.init(unsafeArchive: entry, "is a link")
    case .device(let entry): self.init(unsafeArchive: entry, "is a device or a pipe")
    case .unsupported(let entry): self.init(unsafeArchive: entry, "is of a kind that is not unpacked here")
    case .unsafeName(let entry): self.init(unsafeArchive: entry, "has a name that is not safe")
    case .duplicateName(let entry): self.init(unsafeArchive: entry, "has the name of another one")
    case .tooDeep(let entry):
      self.init(unsafeArchive: entry, "is in more than \(TarReader.depthLimit) folders")
    case .tooManyEntries:
      self.init(.refused, "unsafe_archive", "the archive has more than 1,000,000 entries", hint: hint)
    case .cannotRead(let number): self.init(openPGP: .inputOutput(errno: number), writing: path)
    }
  }

  private init(unsafeArchive entry: Int, _ what: String) {
    self.init(
      .refused, "unsafe_archive", "entry \(entry) of the archive \(what)",
      hint: "nothing was unpacked; --output FILE writes the archive as it is")
  }
}
