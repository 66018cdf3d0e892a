// SPDX-License-Identifier: Apache-2.0

internal import Contacts

extension Failure {
  init(contact error: ContactError) {
    switch error {
    case .unknown:
      self.init(
        .missing, "unknown_contact", "there is no such contact", hint: "'coffer contact import FILE' adds one"
      )
    case .ambiguous(let ids):
      self.init(
        .usage, "ambiguous_recipient", "this fits \(ids.count.counted("contact"))",
        hint: "say more of the name, or give the address or the fingerprint")
    case .tooFewDigits:
      self = .usage(
        "a part of a fingerprint can be forged", hint: "give the whole fingerprint, or the address")
    case .privateKey:
      self.init(
        .refused, "private_key_in_contact", "this is somebody's private key, and nothing of it is stored",
        hint: "if it is yours: 'coffer identity import'; if not, tell its owner, who should make a new one")
    case .unreadable: self.init(.refused, "malformed", "this is not the public part of an OpenPGP key")
    case .url(let problem): self.init(publicPartURL: problem)
    case .certificateTooLarge:
      self.init(
        .refused, "certificate_too_large",
        "this public part has more than 256 KiB, even without what others added")
    case .full:
      self.init(
        .refused, "contacts_full", "contacts may have 4 MiB together, and there is no room for more",
        hint: "'coffer contact remove' makes room")
    case .tooManyKeys: self.init(.refused, "too_many_keys", "a contact has at most 16 keys")
    case .unfitName:
      self = .usage(
        "a name has from 1 to 1,024 bytes, no control characters, and is not an address or a fingerprint")
    case .nameTaken: self = .usage("another contact is called that", hint: "choose another name")
    case .noKeyInUse: self.init(.refused, "key_change_pending", "no key of this contact is in use")
    case .changedMeanwhile:
      self.init(.inUse, "in_use", "another process has changed this contact", hint: "try again")
    case .corrupt:
      self.init(.corrupt, "contact_corrupt", "a contact is corrupt", hint: Self.corruptHint)
    }
  }
}

extension Failure {
  /// A URL that is not one of a public part.
  private init(publicPartURL problem: PublicPartURLProblem) {
    let reason: String
    switch problem {
    case .fingerprintAlone:
      self.init(
        .refused, "fingerprint_alone", "this is a fingerprint, and no public part comes with it",
        hint: "'coffer contact verify WHO --fingerprint TEXT' compares it with that of a contact")
      return
    case .severalCertificates: reason = "it has more than one public part"
    case .tooLong: reason = "it has more than 4,096 characters"
    case .scheme: reason = "it does not begin with cypherair: or cypherairx: in lower case"
    case .authority: reason = "it has a user or a port"
    case .version: reason = "it is of another version than v1"
    case .place: reason = "//import/v1/ does not follow the scheme"
    case .empty: reason = "nothing follows //import/v1/"
    case .queryOrFragment: reason = "it has a query or a fragment"
    case .percentEncoding: reason = "it has a percent sign, and nothing is escaped in such a URL"
    case .padding: reason = "it has an equals sign, and such a URL is written without padding"
    case .foreignCharacter: reason = "it has a character other than A to Z, a to z, 0 to 9, - and _"
    case .cutOff: reason = "its length cannot be right: it was cut off"
    case .unusedBits: reason = "its last character cannot be right: it was cut off or changed"
    case .notBinary: reason = "its content is not an OpenPGP key in binary form"
    }
    self.init(
      .refused, "malformed_url", "this URL is not one of a public part: \(reason)",
      hint: "ask for a new one, or for the public part as a file")
  }
}
