// SPDX-License-Identifier: Apache-2.0
//
// Starts the tests. With a file of this name SwiftPM looks for no tests of XCTest, for which it would need the index that
// the build leaves out.

import Testing

await Testing.__swiftPMEntryPoint() as Never
