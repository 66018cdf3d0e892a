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

  /// These certificates with all copies of one made one, in the place of the first: one copy may have a
  /// revocation that another lacks.
  public static func merged(_ certificates: [Certificate]) -> [Certificate] {
    var indexes: [Fingerprint: Int] = [:]
    var merged: [Certificate] = []
    var assemblers: [Int: CertificateAssembler] = [:]
    for certificate in certificates {
      guard let index = indexes[certificate.fingerprint] else {
        indexes[certificate.fingerprint] = merged.count
        merged.append(certificate)
        continue
      }
      if assemblers[index] == nil {
        assemblers[index] = CertificateAssembler(certificate.primaryKey)
        assemblers[index]?.add(merged[index])
      }
      assemblers[index]?.add(certificate)
    }
    for (index, assembler) in assemblers { merged[index] = assembler.certificate }
    return merged
  }
}
