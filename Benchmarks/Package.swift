// swift-tools-version:6.2
// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks: what Coffer's modules cost, each figure next to a peer's from the same run. A package of its
// own, so that the peers are no dependencies of Coffer.
//
//   swift run -c release --package-path Benchmarks bench primitives

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "coffer-benchmarks",
  dependencies: [
    .package(name: "coffer", path: ".."),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CLibTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
    // A link to what Coffer's own tests start.
    .target(name: "SoftwareTPM", swiftSettings: strict),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CLibCrypto", "CLibTurboJPEG", "SoftwareTPM",
        .product(name: "CofferPrimitives", package: "coffer"),
        .product(name: "CofferKit", package: "coffer"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      swiftSettings: strict),
  ]
)
