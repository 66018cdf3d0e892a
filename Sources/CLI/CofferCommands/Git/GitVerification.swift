// SPDX-License-Identifier: Apache-2.0
//
// A signature of a commit or a tag is judged. Nobody is asked for anything: a history has thousands of signatures, and a
// question for each would teach to answer without reading.

internal import CofferKit
internal import Correspondence
internal import Glibc
internal import OpenPGP

struct GitVerification {
  private let context: CommandContext
  private let path: String
  private let status: StatusLines

  init(_ context: CommandContext, signature path: String, _ status: StatusLines) {
    self.context = context
    self.path = path
    self.status = status
  }

  /// Judges every signature of the file over standard input.
  func run() throws -> GitExit {
    let list = try signatures()
    guard let coffer = try context.openInSession() else {
      return try answer(
        list.signatures.map { SignatureStatus.notJudged($0) }, list,
        [
          "\(GitProgram.name): the coffer is locked, so nothing is known about who signed",
          "hint: coffer unlock",
        ])
    }
    let judge = SignatureJudge(try coffer.addressBook())
    let found: [SignatureVerification]
    do throws(OpenPGPError) {
      let source = FileDescriptorSource(descriptor: CommandRun.current.environment.streams.input)
      found = try DetachedVerification(judge.verifier).verify(list.signatures, over: source)
    } catch { throw Failure(openPGP: error, writing: "-") }
    let verdict = judge.verdict(found, unreadable: list.unreadableCount, isEncrypted: false)
    var words: [ShownLine] = ["\(GitProgram.name): \(VerdictWords.sentence(verdict))"]
    words += VerdictWords.notes(verdict, isDetailed: false).map { "\(GitProgram.name): \($0)" }
    return try answer(
      zip(found, verdict.findings).map { SignatureStatus($0.signature, $1) }, list, words)
  }

  private func signatures() throws -> SignatureList {
    let input = try LetterInput(path)
    do throws(OpenPGPError) {
      let source = FileDescriptorSource(descriptor: input.descriptor)
      return try SignatureList(reading: OpenPGPInput.packets(source, .allBlocks))
    } catch {
      if case .inputOutput = error { throw Failure(openPGP: error, writing: path) }
      throw Failure(.refused, "malformed", "this is not a signature that can be read")
    }
  }

  /// Writes the lines, then the sentences.
  /// - Parameter list: what could not be read of it counts as signatures that cannot be judged.
  private func answer(
    _ judged: [SignatureStatus], _ list: SignatureList, _ words: [ShownLine]
  ) throws -> GitExit {
    let rest = list.malformedCount + list.unknownVersionCount
    var all = judged + Array(repeating: SignatureStatus.unreadable, count: min(rest, Limits.signatureCount))
    if all.isEmpty { all = [.unreadable] }
    try status.write(all.flatMap(\.lines))
    for line in words { Terminal.remark(line) }
    return all.map(\.exit).max() ?? .failed
  }
}
