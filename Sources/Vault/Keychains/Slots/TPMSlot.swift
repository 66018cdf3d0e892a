// SPDX-License-Identifier: Apache-2.0
//
// Slots that the machine's chip opens, given a PIN: kind 3. After its label the attachment of such a slot has
// (Specs/keybag.md, "Attachment"):
//
//   ephemeral public key (65) ‖ the enclave's handle
//
// The ephemeral private key is not kept, so only the chip can agree on the same secret again.

public import Enclaves
internal import Primitives
public import Secrets

extension SlotKind {
  /// A key in a chip of this machine, and its PIN.
  public static let enclave = SlotKind(rawValue: 3)
}

extension SlotKDF {
  /// `kdf = 4`: key agreement with the chip. The PIN guards the chip's key and is not stretched: the chip counts
  /// wrong tries.
  public static let agreement = SlotKDF.expansion(
    Expansion(code: 4, name: "agreement", info: "coffer keybag v1 agreement"))
}

/// A key in this machine's chip, and a PIN.
public struct TPMSlot: DeviceSlotMethod {
  /// ``SlotKind/enclave``.
  public static let kind = SlotKind.enclave
  /// The word for lists and programs.
  public static let name = "tpm"
  /// A key in a chip works on one machine.
  public static let isPortable = false
  /// It breaks with its machine.
  public static let isEnough = false
  /// ``SlotKDF/agreement``.
  public static let newDerivation = SlotKDF.agreement

  private let enclave: any Enclave

  /// Slots of this enclave; it is not asked yet.
  public init(_ enclave: any Enclave) { self.enclave = enclave }

  /// The expansion of an agreement (code 4), which has no costs.
  public static func derivation(code: UInt8, costs: SlotCosts) -> SlotKDF? {
    code == SlotKDF.agreement.code && costs == .none ? .agreement : nil
  }

  /// Whether the derivation is the expansion of an agreement.
  public static func allows(_ kdf: SlotKDF) -> Bool { kdf == .agreement }

  /// Whether the attachment has an ephemeral public key and a handle.
  public static func accepts(_ attachment: SlotAttachment) -> Bool {
    EnclaveDetails(attachment.details) != nil
  }

  /// As ``PINPolicy`` judges.
  public static func problem(withNewPIN pin: RawSpan) -> PINPolicy.Problem? { PINPolicy.problem(with: pin) }

  /// - Throws: `KeybagError.notHardware` for an enclave in software; `.enclave`.
  public func newCredential(pin: SharedSecretBytes) throws(KeybagError) -> SlotCredential {
    guard enclave.kind.isHardware else { throw .notHardware }
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
    let details = EnclaveDetails(ephemeralKey: ephemeral.publicKey, handle: key.dataRepresentation)
    do {
      return SlotCredential(
        Self.self, input: try ephemeral.sharedSecret(with: key.publicKey), details: details.bytes)
    } catch {
      // The chip returned a point that is not on the curve.
      throw .enclave(.invalidInput)
    }
  }

  /// Has the chip agree on the slot's secret again.
  /// - Throws: `KeybagError.enclave`, for instance with `.wrongPasscode` or `.otherChip`.
  public func credential(of slot: KeySlot, pin: SharedSecretBytes) throws(KeybagError) -> SlotCredential {
    do throws(EnclaveError) {
      let (key, details) = try key(of: slot)
      let secret = try enclave.sharedSecret(
        key, with: details.ephemeralKey, authorization: .passcode(pin))
      return SlotCredential(Self.self, input: secret, details: details.bytes)
    } catch { throw .enclave(error) }
  }

  /// Asks the chip whether it takes a try, and whether the slot's key is its own.
  public func obstacle(of slot: KeySlot) -> KeybagError? {
    do throws(EnclaveError) {
      try enclave.checkReadiness(of: key(of: slot).key)
      return nil
    } catch { return .enclave(error) }
  }

  /// Whether another chip made the slot, or it has another PIN.
  public static func concernsOneSlot(_ error: KeybagError) -> Bool {
    switch error {
    case .enclave(.otherChip), .enclave(.wrongKind), .enclave(.wrongPasscode): true
    default: false
    }
  }

  /// The key in the chip, not yet used, and what to agree with.
  private func key(of slot: KeySlot) throws(EnclaveError) -> (key: EnclaveKey, details: EnclaveDetails) {
    guard let details = EnclaveDetails(slot.attachment.details) else { throw .corrupt }
    return (try enclave.loadKey(details.handle), details)
  }
}

struct EnclaveDetails: Equatable {
  /// 65 bytes (SEC 1, 2.3.3).
  let ephemeralKey: [UInt8]
  /// The handle that the enclave returned.
  let handle: [UInt8]

  init(ephemeralKey: [UInt8], handle: [UInt8]) {
    self.ephemeralKey = ephemeralKey
    self.handle = handle
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count > Self.pointByteCount, bytes[0] == 4 else { return nil }
    ephemeralKey = Array(bytes[..<Self.pointByteCount])
    handle = Array(bytes[Self.pointByteCount...])
  }

  var bytes: [UInt8] { ephemeralKey + handle }

  private static let pointByteCount = 65
}
