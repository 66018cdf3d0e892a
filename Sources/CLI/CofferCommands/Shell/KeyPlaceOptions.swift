// SPDX-License-Identifier: Apache-2.0
//
// Where a command makes new keys, as the user says, and how it says where it made them.

internal import ArgumentParser
internal import Enclaves

struct KeyPlaceOptions: ParsableArguments {
  static let usage = "[--attestation tpm|software]"

  @Option(help: "Where new keys are kept.") var attestation: AttestationPlace?

  var kind: EnclaveKind? { attestation?.kind }
}

extension EnclaveKind {
  /// Where keys are, after "they are".
  var inPlace: String {
    switch self {
    case .tpm: "in this machine's TPM"
    case .secureEnclave: "in this machine's Secure Enclave"
    case .software: "in software, where only the passphrase protects them"
    case .tutorial: "in the tutorial's stand-in for a chip"
    }
  }

  /// About the keys of an account.
  var accountRemark: ShownLine { "This device's keys for the account are \(inPlace)." }
}
