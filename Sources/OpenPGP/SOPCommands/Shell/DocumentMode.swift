// SPDX-License-Identifier: Apache-2.0

/// What `--as` says that a document is.
enum DocumentMode: String {
  case binary, text
}
