// SPDX-License-Identifier: Apache-2.0

internal import CofferKit
internal import Keychains

extension Failure {
  init(coffer error: CofferError) {
    switch error {
    case .weakPassphrase(let problems):
      self.init(
        .refused, "weak_passphrase",
        "this passphrase is too weak: \(problems.map(\.description).joined(separator: "; "))",
        hint: "'coffer passphrase generate' makes a good one")
    case .deviceNotRegistered:
      self.init(
        .missing, "no_device", "this machine was forgotten, so nothing can sign its captures",
        hint: "'coffer unlock' registers it again")
    case .hardwareRequired:
      self.init(
        .noHardware, "no_chip", "the keys of before are in a TPM, and no TPM answers",
        hint:
          "COFFER_TCTI names the TPM; --attestation software makes new keys in software, if it is gone for good"
      )
    case .slotRequired:
      self.init(.locked, "person_required", "this needs the passphrase; a session is not enough")
    case .recoveryUnproven:
      self.init(
        .refused, "recovery_unproven", "no recovery drill has ever succeeded with this coffer",
        hint: "run 'coffer recovery drill' first, or add --force")
    }
  }
}
