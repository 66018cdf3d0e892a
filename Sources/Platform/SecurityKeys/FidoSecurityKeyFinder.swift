// SPDX-License-Identifier: Apache-2.0
//
// The security keys on USB. libfido2 lists only those that this user may open; for the others the kernel's
// descriptions are read, so that "no key" and "not permitted" are told apart.

#if SecurityKeys
  internal import CFido2
  internal import Glibc

  /// The USB security keys of this machine.
  struct FidoSecurityKeyFinder: SecurityKeyFinder {
    private static let keyLimit = 16

    func keys() throws(SecurityKeyError) -> [any SecurityKey] {
      try unsafe keys(coffer_fido2_open()?.pointee)
    }

    /// - Parameter library: nil for one that is missing.
    func keys(_ library: coffer_fido2?) throws(SecurityKeyError) -> [any SecurityKey] {
      guard let fido2 = library else { throw .noLibrary }
      FidoDevice.prepareThread(fido2)
      var list = unsafe fido2.fido_dev_info_new(Self.keyLimit)
      guard unsafe (list != nil) else { throw .failed(code: FIDO_ERR_INTERNAL) }
      defer { unsafe fido2.fido_dev_info_free(&list, Self.keyLimit) }
      var count = 0
      let code = unsafe fido2.fido_dev_info_manifest(list, Self.keyLimit, &count)
      guard code == FIDO_OK else { throw .failed(code: code) }
      var keys: [any SecurityKey] = []
      for index in 0..<count {
        let entry = unsafe fido2.fido_dev_info_ptr(list, index)
        guard let path = unsafe fido2.fido_dev_info_path(entry) else { continue }
        let product =
          unsafe fido2.fido_dev_info_product_string(entry).map { unsafe String(cString: $0) } ?? ""
        keys.append(FidoSecurityKey(product: product, path: unsafe String(cString: path)))
      }
      if keys.isEmpty, HIDDevices.system.hasForbiddenSecurityKey() { throw .notPermitted }
      return keys
    }
  }

  /// The kernel's list of HID devices.
  struct HIDDevices {
    /// One folder for each device, such as `hidraw0`, with its report descriptor.
    let folder: String
    /// Where the devices are opened.
    let devices: String

    static let system = HIDDevices(folder: "/sys/class/hidraw", devices: "/dev")

    /// Whether one is a security key that this user may not open.
    func hasForbiddenSecurityKey() -> Bool {
      names().contains { name in
        guard isSecurityKey(name) else { return false }
        return unsafe access("\(devices)/\(name)", R_OK | W_OK) != 0 && errno == EACCES
      }
    }

    private func names() -> [String] {
      guard let listing = unsafe opendir(folder) else { return [] }
      defer { unsafe closedir(listing) }
      var names: [String] = []
      while let entry = unsafe readdir(listing) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
          unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name.hasPrefix("hidraw") { names.append(name) }
      }
      return names
    }

    /// Whether the report descriptor names the usage page of FIDO (0xF1D0; CTAP 2.1, section 11.2.8.2).
    private func isSecurityKey(_ name: String) -> Bool {
      let descriptor = unsafe open("\(folder)/\(name)/device/report_descriptor", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return false }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      guard count > 2 else { return false }
      return (0...count - 3).contains { bytes[$0...$0 + 2].elementsEqual([0x06, 0xD0, 0xF1]) }
    }
  }
#endif
