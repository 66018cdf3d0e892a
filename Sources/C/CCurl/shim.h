/* SPDX-License-Identifier: Apache-2.0
 *
 * libcurl, and a function for each form of curl_easy_setopt(3) and curl_easy_getinfo(3) that is used: those are
 * variadic, which Swift cannot call. The parentheses avoid the macros of the same names. */
#ifndef COFFER_CCURL_SHIM_H
#define COFFER_CCURL_SHIM_H

#include <curl/curl.h>

typedef size_t (*coffer_curl_sink)(char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);

static inline CURLcode coffer_curl_set_number(CURL *_Nonnull handle, CURLoption option, long value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode coffer_curl_set_size(CURL *_Nonnull handle, CURLoption option, curl_off_t value) {
  return (curl_easy_setopt)(handle, option, value);
}

/* libcurl copies the text, except that of CURLOPT_POSTFIELDS. */
static inline CURLcode coffer_curl_set_text(CURL *_Nonnull handle, CURLoption option, const char *_Nullable value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode coffer_curl_set_pointer(CURL *_Nonnull handle, CURLoption option, void *_Nullable value) {
  return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode coffer_curl_set_sink(CURL *_Nonnull handle, CURLoption option, coffer_curl_sink _Nonnull value) {
  return (curl_easy_setopt)(handle, option, value);
}

/* Whether the last transfer made a connection; 0 also when it used one that was there. */
static inline int coffer_curl_has_connected(CURL *_Nonnull handle) {
  curl_off_t microseconds = 0;
  (curl_easy_getinfo)(handle, CURLINFO_CONNECT_TIME_T, &microseconds);
  return microseconds > 0;
}

static inline CURLcode coffer_curl_start(void) { return curl_global_init(CURL_GLOBAL_ALL); }

#endif
