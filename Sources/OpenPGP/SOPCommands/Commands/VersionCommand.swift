// SPDX-License-Identifier: Apache-2.0

internal import OpenPGP

enum VersionCommand: Subcommand {
  static let name = "version"
  static let operandCounts = 0...0
  static let options: [OptionRule] = [.flag("backend"), .flag("extended"), .flag("sop-spec"), .flag("sopv")]
  static let page = """
    coffer-sop version: what this is

    usage: coffer-sop version [--backend | --extended | --sop-spec | --sopv]

      --backend     the OpenPGP engine
      --extended    the engine and the libraries below it
      --sop-spec    the draft that this follows
      --sopv        the version of the verifying subset

    example: coffer-sop version --extended
    """

  static func run(_ call: Call) throws(Failure) {
    let wanted = options.map(\.name).filter { call.has($0) }
    guard wanted.count <= 1 else {
      throw Failure(.incompatibleOptions, "only one of these options can be asked for at a time")
    }
    let own = "coffer-sop \(version)"
    let engine = "Coffer OpenPGP engine \(version)"
    switch wanted.first {
    case "backend": try StandardStreams.print("\(engine)\n")
    case "extended":
      try StandardStreams.print(([own, engine] + EngineLibraries.versions).joined(separator: "\n") + "\n")
    case "sop-spec": try StandardStreams.print("\(draft)\n")
    case "sopv": try StandardStreams.print("1.0\n")
    default: try StandardStreams.print("\(own)\n")
    }
  }

  private static let version = "0.1.0"
  /// The tilde: see 'Deviations' in Specs/sop.md.
  private static let draft = "~draft-dkg-openpgp-stateless-cli-15"
}
