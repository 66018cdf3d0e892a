// SPDX-License-Identifier: Apache-2.0

internal import Enclaves

extension Failure {
  /// The chip's errors; each needs another step from the user.
  init(enclave error: EnclaveError) {
    let message = error.sentence.prefix(1).lowercased() + error.sentence.dropFirst()
    let other = "use the passphrase"
    switch error {
    case .wrongPasscode:
      self.init(.wrongSecret, "wrong_pin", "wrong PIN; the TPM has counted it", hint: "or \(other)")
    case .lockedOut: self.init(.locked, "pin_locked_out", error.sentence, hint: other)
    case .otherChip:
      self.init(
        .noHardware, "other_chip", message,
        hint: "\(other), then 'coffer forget-device' and 'coffer slot add tpm'")
    case .unavailable:
      #if TPM
        self.init(.noHardware, "no_chip", "no TPM answers", hint: "\(other); COFFER_TCTI names the TPM")
      #else
        self.init(
          .noHardware, "no_chip", "no TPM answers", hint: "\(other); this coffer was built without the TPM")
      #endif
    case .noLibrary:
      self.init(.noHardware, "no_tss_library", message, hint: "\(Self.tssHint), or \(other)")
    case .notAnswering:
      self.init(.noHardware, "chip_not_answering", error.sentence, hint: "try again, or \(other)")
    case .corrupt, .wrongKind: self.init(.corrupt, "corrupt", message, hint: Self.corruptHint)
    case .biometryRefused, .authorizationRequired:
      self.init(.wrongSecret, "refused_by_chip", message, hint: other)
    case .ownerPassword:
      self.init(
        .noHardware, "chip_owned", message,
        hint: Self.ownedHint)
    case .tryLater: self.init(.noHardware, "chip_busy", message, hint: "try again later, or \(other)")
    case .invalidInput, .counterRefused, .counterGone, .failed:
      self.init(.noHardware, "chip_failed", message, hint: other)
    }
  }

  static let ownedHint =
    "whoever manages this machine can take the password away; a new coffer does without the TPM with --attestation software"

  /// What to do without the library of the chip, where a passphrase does not help.
  static let tssHint =
    "install it (on Debian and Ubuntu: libtss2-esys-3.0.2-0, libtss2-mu0, libtss2-tctildr0)"
}

extension EnclaveError {
  /// For users, without a full stop.
  var sentence: String {
    switch self {
    case .unavailable: "No TPM answers"
    case .noLibrary: "The TPM is used through the library tss2, which is not installed here"
    case .notAnswering: "The TPM does not answer"
    case .wrongPasscode: "Wrong PIN"
    case .lockedOut(let seconds):
      if let seconds { "TPM lockout, \(Duration.text(seconds)) left" } else { "TPM lockout" }
    case .otherChip: "This is not the TPM that was enrolled, or it was cleared"
    case .corrupt: "The TPM's slot is corrupt or was tampered with"
    case .wrongKind: "The key belongs to another kind of chip"
    case .invalidInput, .authorizationRequired: "The TPM refuses to use the key"
    case .biometryRefused: "The finger was not accepted"
    case .counterRefused: "The TPM cannot create a counter"
    case .ownerPassword: "The TPM answers, and uses no key of ours: its owner has set a password"
    case .tryLater: "The TPM asks to try again later"
    case .counterGone: "The TPM no longer has this counter"
    case .failed(let code): "The TPM returned an error (0x\(String(code, radix: 16)))"
    }
  }
}
