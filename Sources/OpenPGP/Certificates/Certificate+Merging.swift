// SPDX-License-Identifier: Apache-2.0
//
// Two copies of one certificate become one that says what both say. Nothing is judged, and nothing is left
// out: a signature that is in doubt here may count under another policy.

extension Certificate {
  /// This certificate with all components and signatures of `other` that it does not have, in their order
  /// behind its own. Merging again changes nothing.
  /// - Precondition: both are of the same primary key.
  public func merging(_ other: Certificate) -> Certificate {
    precondition(fingerprint == other.fingerprint, "two different certificates cannot be merged")
    var assembler = CertificateAssembler(primaryKey)
    assembler.add(self)
    assembler.add(other)
    return assembler.certificate
  }
}
