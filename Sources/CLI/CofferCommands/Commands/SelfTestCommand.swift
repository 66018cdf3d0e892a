// SPDX-License-Identifier: Apache-2.0
//
// The self-test: run in memory, and reported without anything of the user.

internal import ArgumentParser
internal import CofferKit
internal import Foundation
internal import OpenPGP
internal import Texts

struct SelfTestCommand: CofferCommand {
  static let configuration = CommandConfiguration(
    commandName: "self-test", abstract: "Try everything out in memory.")
  static let page = """
    coffer self-test: try encryption, signatures, backups and custody out on this machine

    usage: coffer self-test [--output FILE]

    Makes identities of both profiles in memory, and does with them what commands do. Needs no coffer, opens
    none, stores nothing, and leaves the TPM alone. Takes some seconds, and for a moment 512 MiB of memory;
    without them that check is left out. What the machine lacks does not count as a failure. If a check
    fails, the exit code is 70.

      --output  write the report to this new file; it has no names, fingerprints or paths

    example: coffer self-test
    """

  @OptionGroup var global: GlobalOptions
  @Option(help: "Write the report to this file.", completion: .file()) var output: String?

  func validate() throws { try FileArgument.check(output) }

  func execute(_ context: CommandContext) throws {
    // The new file, before the work begins.
    let target = try output.map { (path) throws(Failure) in
      do throws(OpenPGPError) { return try CommandSurroundings.current.files.publisher(path) } catch {
        throw Failure(openPGP: error, writing: path)
      }
    }
    let isPrinted = target == nil && !context.isJSON
    let head = SelfTestReport.Head(time: Int64(Date().timeIntervalSince1970))
    if isPrinted { Terminal.print("\(head.line)") }
    var shown: [SelfTest.Row] = []
    let rows = SelfTest().run { row in
      shown.append(row)
      if isPrinted { Terminal.print("\(SelfTestReport.line(row, after: shown.dropLast().last))") }
    }
    let report = SelfTestReport(
      head: head, rows: rows, facts: MachineFacts(context.machine, CommandSurroundings.current.fingerReader))
    if let target, let output {
      let text = context.isJSON ? JSON.text(report.answer) : report.text
      do throws(OpenPGPError) { try target.write(Array((text + "\n").utf8)) } catch {
        throw Failure(openPGP: error, writing: output)
      }
      context.remark("\(report.sum)")
    } else if context.isJSON {
      JSON.print(report.answer)
    } else {
      for line in report.end { Terminal.print("\(line)") }
    }
    try report.check()
  }
}
