// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import OpenPGP

enum ArmorCommand: Subcommand {
  static let name = "armor"
  static let operandCounts = 0...0
  static let page = """
    coffer-sop armor: puts text armor around packets

    usage: coffer-sop armor < BINARY > TEXT

    Which kind of block it is follows from the first packet. What is armored already comes out as it went in.

    example: coffer-sop armor < alice.cert.pgp > alice.cert
    """

  static func run(_ call: Call) throws(Failure) {
    do throws(OpenPGPError) {
      let input = try SpooledSource(descriptor: STDIN_FILENO)
      let output = StandardStreams.output()
      if try ArmorReader.isArmored(input) {
        // Read to its end first: broken armor is refused before anything is written.
        try ArmorReader(input, .allBlocks).drain()
        try input.rewind(recognising: true)
        try input.copy(to: output)
      } else {
        guard let type = try input.firstPacketType(), let kind = ArmorKind(firstPacket: type) else {
          throw .malformed(.armor)
        }
        let armor = try ArmorWriter(output, kind: kind)
        try input.copy(to: armor)
        try armor.finish()
      }
      try output.flush()
    } catch {
      throw Failure(error, .armor)
    }
  }
}
