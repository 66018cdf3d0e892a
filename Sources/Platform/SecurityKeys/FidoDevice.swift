// SPDX-License-Identifier: Apache-2.0
//
// One open device of libfido2, and what its numbers mean (CTAP 2.1, section 8.2).

#if SecurityKeys
  internal import CFido2
  internal import Primitives
  internal import Secrets

  /// Opens a device that was made with `fido_dev_new`; gives libfido2's number.
  package typealias FidoOpening = @Sendable (OpaquePointer) -> Int32

  /// Closed at the end of its life.
  ///
  /// Sendable: libfido2 lets another thread cancel; nothing else is called from two.
  @safe
  final class FidoDevice: @unchecked Sendable {
    let reference: OpaquePointer
    let fido2: coffer_fido2
    private let wait: Duration

    /// - Parameter wait: for a touch.
    /// - Throws: `SecurityKeyError.gone`, `.noLibrary`, `.failed`.
    init(_ open: FidoOpening, wait: Duration) throws(SecurityKeyError) {
      guard let fido2 = unsafe coffer_fido2_open()?.pointee else { throw .noLibrary }
      Self.prepareThread(fido2)
      guard let device = unsafe fido2.fido_dev_new() else { throw .failed(code: FIDO_ERR_INTERNAL) }
      unsafe reference = device
      self.fido2 = fido2
      self.wait = wait
      // A device that cannot be opened went away: its place was listed a moment ago.
      guard unsafe open(device) == FIDO_OK else { throw .gone }
      _ = unsafe fido2.fido_dev_set_timeout(device, Int32(wait / .milliseconds(1)))
    }

    deinit {
      var device: OpaquePointer? = unsafe reference
      _ = unsafe fido2.fido_dev_close(reference)
      unsafe fido2.fido_dev_free(&device)
    }

    /// libfido2 keeps these for each thread. Its log is silenced, whatever FIDO_DEBUG says.
    static func prepareThread(_ fido2: coffer_fido2) {
      fido2.fido_init(FIDO_DISABLE_U2F_FALLBACK)
      unsafe fido2.fido_set_log_handler { _ in }
    }

    /// Runs a call that waits for a touch.
    /// - Throws: what the call's number means; `.noTouch` when the time is over; `.cancelled`.
    func touching(
      _ attempt: SecurityKeyAttempt, _ call: (OpaquePointer) -> Int32
    ) throws(SecurityKeyError) {
      let start = ContinuousClock.now
      let code = try attempt.telling({ [self] in unsafe _ = fido2.fido_dev_cancel(reference) }) {
        () throws(SecurityKeyError) in unsafe call(reference)
      }
      if code == FIDO_OK { return }
      if attempt.isCancelled { throw .cancelled }
      if code == FIDO_ERR_RX, ContinuousClock.now - start >= wait {
        // The key would go on waiting.
        _ = unsafe fido2.fido_dev_cancel(reference)
        throw .noTouch
      }
      throw meaning(of: code)
    }

    private func meaning(of code: Int32) -> SecurityKeyError {
      switch code {
      case FIDO_ERR_PIN_INVALID: .wrongPIN(triesLeft: pinTriesLeft())
      case FIDO_ERR_PIN_AUTH_BLOCKED: .mustBePluggedInAgain
      case FIDO_ERR_PIN_BLOCKED: .blocked
      case FIDO_ERR_PIN_NOT_SET: .unsuitable(.verification)
      case FIDO_ERR_PIN_REQUIRED: .pinRequired
      case FIDO_ERR_PIN_POLICY_VIOLATION: .wrongPIN(triesLeft: nil)
      case FIDO_ERR_UV_INVALID: .wrongFinger
      case FIDO_ERR_UV_BLOCKED: .fingerBlocked
      case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: .otherKey
      case FIDO_ERR_CREDENTIAL_EXCLUDED: .alreadyEnrolled
      case FIDO_ERR_USER_ACTION_TIMEOUT, FIDO_ERR_ACTION_TIMEOUT: .noTouch
      case FIDO_ERR_KEEPALIVE_CANCEL: .cancelled
      case FIDO_ERR_TX, FIDO_ERR_RX: .gone
      case FIDO_ERR_UNSUPPORTED_EXTENSION: .unsuitable(.secrets)
      case FIDO_ERR_INVALID_SIG, FIDO_ERR_INVALID_PARAM: .untrustworthy
      default: .failed(code: code)
      }
    }

    private func pinTriesLeft() -> Int? {
      var count: Int32 = 0
      return unsafe fido2.fido_dev_get_retry_count(reference, &count) == FIDO_OK ? Int(count) : nil
    }

    /// - Throws: `SecurityKeyError.gone`.
    func facts() throws(SecurityKeyError) -> SecurityKeyFacts {
      var info = unsafe fido2.fido_cbor_info_new()
      defer { unsafe fido2.fido_cbor_info_free(&info) }
      guard unsafe fido2.fido_dev_is_fido2(reference) else {
        return SecurityKeyFacts(hasSecrets: false, hasPIN: false, hasFinger: false)
      }
      guard unsafe info != nil, unsafe fido2.fido_dev_get_cbor_info(reference, info) == FIDO_OK else {
        throw .gone
      }
      var hasSecrets = false
      if let names = unsafe fido2.fido_cbor_info_extensions_ptr(info) {
        for index in 0..<(unsafe fido2.fido_cbor_info_extensions_len(info)) {
          if let name = unsafe names[index], unsafe String(cString: name) == "hmac-secret" {
            hasSecrets = true
          }
        }
      }
      return SecurityKeyFacts(
        hasSecrets: hasSecrets, hasPIN: unsafe fido2.fido_dev_has_pin(reference),
        hasFinger: unsafe fido2.fido_dev_has_uv(reference))
    }
  }

  extension SecurityKeyVerification {
    /// Lends the PIN as a C string in locked memory; nil for a finger.
    /// - Throws: `SecurityKeyError.wrongPIN` for a length that no key takes (CTAP 2.1, section 6.5.1).
    func withCString<R>(
      _ body: (UnsafePointer<CChar>?) throws(SecurityKeyError) -> R
    ) throws(SecurityKeyError) -> R {
      guard case .pin(let pin) = self else { return try body(nil) }
      guard (4...63).contains(pin.count) else { throw .wrongPIN(triesLeft: nil) }
      let copy = pin.withBytes { bytes in
        SecretBytes(byteCount: bytes.byteCount + 1) { $0.copy(bytes, to: 0) }
      }
      return try copy.withBytes { (bytes) throws(SecurityKeyError) in
        try unsafe bytes.withUnsafeBytes { (buffer) throws(SecurityKeyError) in
          try unsafe body(buffer.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
      }
    }
  }
#endif
