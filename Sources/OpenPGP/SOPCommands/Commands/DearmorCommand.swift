// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP

enum DearmorCommand: Subcommand {
  static let name = "dearmor"
  static let operandCounts = 0...0
  static let page = """
    coffer-sop dearmor: takes text armor off packets

    usage: coffer-sop dearmor < TEXT > BINARY

    Several blocks come out one after the other. What is binary already comes out as it went in.

    example: coffer-sop dearmor < alice.cert > alice.cert.pgp
    """

  static func run(_ call: Call) throws(Failure) {
    do throws(OpenPGPError) {
      let input = try SpooledSource(descriptor: STDIN_FILENO)
      let output = StandardStreams.output()
      if try ArmorReader.isArmored(input) {
        try ArmorReader(input, .allBlocks).drain()
        try input.rewind(recognising: true)
        try ArmorReader(input, .allBlocks).copy(to: output)
      } else {
        guard try input.firstPacketType() != nil else { throw .malformed(.armor) }
        try input.copy(to: output)
      }
      try output.flush()
    } catch {
      throw Failure(error, .armor)
    }
  }
}
