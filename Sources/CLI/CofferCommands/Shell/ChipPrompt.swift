// SPDX-License-Identifier: Apache-2.0
//
// Opening with the machine's chip: the PIN is asked for where it can help, and where it cannot the person
// is told why and asked for the passphrase instead.

internal import CofferKit
internal import Enclaves
internal import Keychains
internal import Secrets
internal import UserAuthentication

struct ChipPrompt {
  private let session: Session

  init(_ session: Session) { self.session = session }

  /// Asks for the PIN and opens the coffer.
  ///
  /// - Returns: nil when there is no slot for a PIN, the chip does not open it, or the person answers with
  ///   nothing because they would rather type the passphrase.
  /// - Throws: ``Failure`` after as many wrong PINs as there are tries.
  func unlock(_ locked: LockedCoffer) throws -> Coffer? {
    guard locked.slots.contains(where: { $0.kind == .enclave }) else { return nil }
    if let obstacle = locked.chipObstacle() {
      tell(obstacle)
      return nil
    }
    let prompt = try session.prompt()
    var problem: String?
    for _ in 1...Session.promptTries {
      var request = session.request("PIN (nothing: use the passphrase)", problem: problem)
      request.byteCountLimit = PINPolicy.longest
      let typed = try prompt.ask(request)
      guard typed.count > 0 else { return nil }
      do {
        return try locked.unlock(pin: SharedSecretBytes(Passphrase(utf8: typed)))
      } catch KeybagError.enclave(.wrongPasscode) {
        problem = "wrong PIN; the chip has counted it"
      } catch KeybagError.enclave(let error) where error != .corrupt {
        tell(error)
        return nil
      } catch let error as PassphraseError {
        problem = Failure(error).message
      }
    }
    throw Failure(KeybagError.enclave(.wrongPasscode))
  }

  private func tell(_ error: EnclaveError) { session.note("\(error.sentence): use the passphrase") }
}

extension EnclaveError {
  /// For people, without a full stop.
  var sentence: String {
    switch self {
    case .unavailable: "No TPM answers"
    case .notAnswering: "The TPM has stopped answering"
    case .wrongPasscode: "Wrong PIN"
    case .lockedOut(let seconds):
      if let seconds { "TPM lockout, \(Duration.text(seconds)) left" } else { "TPM lockout" }
    case .otherChip: "This is another TPM than the one that was enrolled, or it was cleared"
    case .corrupt: "The TPM's slot is corrupt or was tampered with"
    case .wrongKind: "The key is of another kind of chip"
    case .invalidInput, .authorizationRequired: "The TPM refuses the key's use"
    case .biometryRefused: "The finger was not accepted"
    case .counterRefused: "The TPM makes no counter"
    case .counterGone: "The TPM has no such counter any more"
    case .failed(let code): "The TPM answers with an error (0x\(String(code, radix: 16)))"
    }
  }
}
