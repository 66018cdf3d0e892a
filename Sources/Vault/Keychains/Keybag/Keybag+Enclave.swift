// SPDX-License-Identifier: Apache-2.0
//
// Slots that a chip opens: key agreement in the chip, by leave of a PIN (Specs/keybag.md, «Attachment»).

public import Enclaves
internal import Primitives
public import Secrets

extension SlotCredential {
  /// Makes a key in `enclave` that asks for `pin`, and agrees with it on the secret of a new slot.
  ///
  /// - Throws: `KeybagError.notHardware` for an enclave in software; `.enclave`.
  public init(newKeyIn enclave: any Enclave, pin: SharedSecretBytes) throws(KeybagError) {
    guard enclave.kind != .software else { throw .notHardware }
    let key: EnclaveKey
    do {
      key = try enclave.createKey(
        use: .agreement, access: AccessControl(.whenPasscodeSetThisDeviceOnly, requirement: .devicePasscode),
        enrolment: KeyEnrolment(passcode: .typed(pin)))
    } catch {
      throw .enclave(error)
    }
    // The ephemeral private key ends here; from now on only the chip can agree on this secret.
    let ephemeral = P256PrivateKey()
    do {
      self.init(
        agreed: try ephemeral.sharedSecret(with: key.publicKey),
        attachment: EnclaveAttachment(
          ephemeralKey: ephemeral.publicKey, handle: key.dataRepresentation))
    } catch {
      throw .enclave(.failed(code: 0))
    }
  }
}

extension Keybag {
  /// Tries `pin` on every slot that `enclave` may have made.
  ///
  /// A slot of another chip is passed over, and is the answer only when no slot is this chip's.
  /// - Throws: `KeybagError.noSuchSlot`; `.enclave`; `.corrupt`.
  public func unlock(_ enclave: any Enclave, pin: SharedSecretBytes) throws(KeybagError) -> Unlocked {
    let candidates = slots.filter { $0.kind == .enclave }
    var refusal = KeybagError.noSuchSlot
    for slot in candidates {
      let credential: SlotCredential
      do { credential = try slot.credential(enclave, pin: pin) } catch {
        switch error {
        // Another slot may be this chip's, or have this PIN.
        case .otherChip, .wrongKind, .wrongPasscode:
          if refusal != .enclave(.wrongPasscode) { refusal = .enclave(error) }
          continue
        default: throw .enclave(error)
        }
      }
      do { return try unlock([slot], credential) } catch {
        // The chip has agreed, so the PIN was right: the slot is not what was stored.
        throw error == .wrongSecret ? .corrupt : error
      }
    }
    throw refusal
  }
}

extension Keybag {
  /// What keeps `enclave` from opening any slot, as far as can be told without a PIN.
  ///
  /// - Returns: nil when a PIN is worth asking for; `.unavailable` when there is no slot for one.
  public func obstacle(_ enclave: any Enclave) -> EnclaveError? {
    var obstacle: EnclaveError?
    for slot in slots where slot.kind == .enclave {
      do throws(EnclaveError) {
        try enclave.checkReadiness(of: slot.key(enclave).key)
        return nil
      } catch {
        // That one slot is another chip's says less than what this chip says of itself.
        if obstacle == nil || obstacle == .otherChip { obstacle = error }
      }
    }
    return obstacle ?? .unavailable
  }
}

extension KeySlot {
  /// The key in the chip, not yet used, and what to agree with.
  fileprivate func key(
    _ enclave: any Enclave
  ) throws(EnclaveError) -> (key: EnclaveKey, attachment: EnclaveAttachment) {
    let attachment: EnclaveAttachment
    do { attachment = try EnclaveAttachment(self.attachment) } catch { throw .corrupt }
    return (try enclave.loadKey(attachment.handle), attachment)
  }

  /// Lets the chip agree with the slot's ephemeral key.
  fileprivate func credential(_ enclave: any Enclave, pin: SharedSecretBytes) throws(EnclaveError)
    -> SlotCredential
  {
    let (key, attachment) = try key(enclave)
    let secret = try enclave.sharedSecret(key, with: attachment.ephemeralKey, authorization: .passcode(pin))
    return SlotCredential(agreed: secret, attachment: attachment)
  }
}
