// SPDX-License-Identifier: Apache-2.0
//
// Verifies mail that is signed and not encrypted: one signature, at the top, over one part.

internal import Correspondence
internal import OpenPGP
internal import Secrets

extension VerifyCommand {
  struct MailAnswers: Encodable {
    let file: String
    let output: String?
    let grade: String
    let notes: [String]
    let signatures: [VerdictWords.Answer]
    let mail: MailAnswer?
    let parts: [MailAnswer.Part]?
    let coverage: String?
    let saved: [String]?
  }

  /// Verifies a mail, and shows or writes what is signed if its signature is good.
  func verify(
    mail bytes: SharedSecretBytes, _ input: LetterInput, _ name: String, _ judge: SignatureJudge,
    _ context: CommandContext
  ) throws {
    let letter = try MailLetter(bytes)
    let content = try letter.verified(judge)
    let failure = VerdictWords.failure(content.verdict, wantsVerified: require == .verified, name)
    var given: (output: String?, saved: [String]?) = (nil, nil)
    if failure == nil {
      let view = MailView(
        mail: letter, content: content, context: context, command: "coffer verify \(ShellWord.quoted(file))")
      given = try view.give(
        VerdictWords.sentence(content.verdict),
        MailWishes(part: part, folder: saveParts, output: output, wantsSigned: true), input)
    }
    if context.isJSON {
      JSON.print(
        MailAnswers(
          file: name, output: given.output, grade: content.verdict.grade.rawValue,
          notes: content.verdict.notes.map(\.code) + content.notes.map(\.code),
          signatures: content.verdict.findings.map { .init($0) },
          mail: failure == nil ? MailAnswer(content.heading) : nil,
          parts: failure == nil ? MailAnswer.parts(content) : nil,
          coverage: failure == nil ? content.coverage.rawValue : nil, saved: given.saved))
    }
    if let failure { throw failure }
  }
}
