// SPDX-License-Identifier: Apache-2.0

internal import SecurityKeys

extension Failure {
  /// The errors of security keys; each needs another step from the user.
  init(securityKey error: SecurityKeyError) {
    switch error {
    case .noKey:
      self.init(.noHardware, "no_security_key", "no security key is plugged in")
    case .several:
      self.init(
        .noHardware, "several_security_keys", "several security keys are plugged in",
        hint: "leave in the one to use")
    case .notPermitted:
      self.init(
        .noHardware, "security_key_not_permitted", "the system does not let you use the security key",
        hint: "it is for the user who sits at the machine: not over ssh")
    case .unsuitable(let missing): self.init(unsuitable: missing)
    case .pinRequired:
      self.init(.wrongSecret, "security_key_pin_required", "the security key wants its PIN")
    case .wrongPIN(let triesLeft):
      let rest = triesLeft.map { "; \($0.counted("try", "tries")) left before it blocks itself" }
      self.init(
        .wrongSecret, "wrong_pin",
        "wrong PIN of the security key" + (rest ?? "; it did not count: a PIN has 4 to 63 bytes"))
    case .mustBePluggedInAgain:
      self.init(
        .wrongSecret, "security_key_waits", "three PINs were wrong, and the security key takes no more now",
        hint: "take it out and put it in again")
    case .blocked:
      self.init(
        .noHardware, "security_key_blocked", "too many wrong PINs: the security key is blocked for good",
        hint: "use another one that is enrolled; a reset erases what this one opens")
    case .wrongFinger:
      self.init(.wrongSecret, "not_recognised", "the security key did not recognise the finger")
    case .fingerBlocked:
      self.init(
        .wrongSecret, "security_key_finger_blocked", "the security key takes no finger now",
        hint: "use its PIN")
    case .otherKey:
      self.init(
        .noHardware, "other_security_key", "this is another security key than those that are enrolled")
    case .alreadyEnrolled:
      self.init(.inUse, "already_exists", "this security key is enrolled already")
    case .noTouch: self.init(.locked, "no_touch", "nobody touched the security key")
    case .gone:
      self.init(
        .noHardware, "security_key_gone", "the security key was taken out, or has stopped answering")
    case .cancelled: self.init(.locked, "cancelled", "cancelled")
    case .untrustworthy:
      self.init(
        .noHardware, "security_key_failed", "the security key's answer is not what it must be",
        hint: "do not use this key")
    case .noLibrary:
      self.init(
        .noHardware, "no_fido_library",
        "security keys are used through the library libfido2, which is not installed here",
        hint: "install it (on Debian and Ubuntu: libfido2-1)")
    case .failed(let code):
      self.init(
        .noHardware, "security_key_failed",
        "the security key returned an error (\(code))", hint: "take it out, put it in, and try again")
    }
  }

  /// Of a slot or a security key of the guard.
  static let invalidName = usage(
    "a name has 1 to \(StoredSecurityKey.labelByteCountLimit) bytes, all of them printable, and no space at either end"
  )

  /// The error of a command that needs a trait.
  static let noSecurityKeysBuilt = Failure(
    .noHardware, "no_security_key", "this program was built without security keys",
    hint: "use a build with the trait SecurityKeys")

  private init(unsuitable missing: SecurityKeyError.Shortcoming) {
    switch missing {
    case .secrets:
      self.init(
        .noHardware, "security_key_unsuitable",
        "this security key keeps no secrets: it lacks the extension hmac-secret", hint: "use another one")
    case .verification:
      self.init(
        .noHardware, "security_key_unsuitable",
        "this security key cannot verify you: it has neither a PIN nor a finger",
        hint: "'fido2-token -S' with its device sets a PIN; Coffer never does")
    }
  }
}
