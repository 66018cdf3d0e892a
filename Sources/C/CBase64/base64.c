/* SPDX-License-Identifier: Apache-2.0 */
#include "cbase64.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))
/* Called, so that what they keep on the stack lies where it is erased afterwards. */
#define NOINLINE __attribute__((noinline))

/* Without optimization each vector lies on the stack: reading takes 3 KiB of it (clang -fstack-usage). */
#ifdef __OPTIMIZE__
#define ERASED_STACK_BYTE_COUNT (2 << 10)
#else
#define ERASED_STACK_BYTE_COUNT (8 << 10)
#endif

static NOINLINE __attribute__((no_sanitize("address"))) void erase_stack(void) {
  unsigned char frame[ERASED_STACK_BYTE_COUNT];
  explicit_bzero(frame, sizeof frame);
}

enum { PIECE_BYTES = 24, PIECE_CHARACTERS = 32, LINE_PIECES = 2 };

/* The same 16 bytes in both halves of a vector, the first at the lowest address. */
#define IN_BOTH_HALVES(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

/* 24 bytes to 32 numbers of six bits. */
TARGET static inline __m256i numbers_of_bytes(const uint8_t *bytes) {
  /* Bytes 0 to 15 and 8 to 23: nothing behind the 24 is read. */
  __m128i first = _mm_loadu_si128((const __m128i *)bytes);
  __m128i last = _mm_loadu_si128((const __m128i *)(bytes + 8));
  __m256i halves = _mm256_inserti128_si256(_mm256_castsi128_si256(first), last, 1);
  /* Each three bytes a, b, c become b, a, c, b: two words with a over b and b over c. */
  __m256i words = _mm256_shuffle_epi8(
      halves, _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10, 5, 4, 6, 5, 8, 7, 9, 8, 11, 10, 12,
                               11, 14, 13, 15, 14));
  /* Numbers 0 and 2 of each four come down, by 10 and by 6 bits, numbers 1 and 3 go up, by 4 and by 8. Multiplication
   * shifts each word by its own count. */
  __m256i even = _mm256_mulhi_epu16(_mm256_and_si256(words, _mm256_set1_epi32(0x0FC0FC00)),
                                    _mm256_set1_epi32(0x04000040));
  __m256i odd = _mm256_mullo_epi16(_mm256_and_si256(words, _mm256_set1_epi32(0x003F03F0)),
                                   _mm256_set1_epi32(0x01000010));
  return _mm256_or_si256(even, odd);
}

TARGET static inline __m256i characters_of_numbers(__m256i numbers) {
  /* Which of the five ranges a number is in: 13 for A to Z, 0 for a to z, 1 to 10 for a digit, 11 for +, 12 for /. */
  __m256i above_letters = _mm256_subs_epu8(numbers, _mm256_set1_epi8(51));
  __m256i is_capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), numbers);
  __m256i range = _mm256_or_si256(above_letters, _mm256_and_si256(is_capital, _mm256_set1_epi8(13)));
  __m256i offsets = IN_BOTH_HALVES('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                   '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
  return _mm256_add_epi8(numbers, _mm256_shuffle_epi8(offsets, range));
}

TARGET static inline void encode_piece(const uint8_t *bytes, uint8_t *text) {
  _mm256_storeu_si256((__m256i *)text, characters_of_numbers(numbers_of_bytes(bytes)));
}

TARGET NOINLINE static size_t encode(const uint8_t *bytes, size_t count, uint8_t *text) {
  size_t done = 0;
  for (; count - done >= PIECE_BYTES; done += PIECE_BYTES, text += PIECE_CHARACTERS) {
    encode_piece(bytes + done, text);
  }
  _mm256_zeroall();
  return done;
}

TARGET NOINLINE static void encode_lines(const uint8_t *bytes, size_t line_count, uint8_t *text) {
  for (size_t line = 0; line < line_count; line++) {
    for (int piece = 0; piece < LINE_PIECES; piece++, bytes += PIECE_BYTES, text += PIECE_CHARACTERS) {
      encode_piece(bytes, text);
    }
    *text++ = '\n';
  }
  _mm256_zeroall();
}

/* 32 characters to numbers of six bits.
 * Returns 0 when one is not of the alphabet. */
TARGET static inline int numbers_of_characters(__m256i characters, __m256i *numbers) {
  __m256i four_bits = _mm256_set1_epi8(0x0F);
  __m256i low = _mm256_and_si256(characters, four_bits);
  __m256i high = _mm256_and_si256(_mm256_srli_epi16(characters, 4), four_bits);
  /* A character is in one of five classes by its upper half, a bit each; the lower half tells for which classes it is
   * outside of the alphabet:
   *   1  2x: all but + and /    2  3x: after 9    4  4x, 6x: x0    8  5x, 7x: after Z and z    16  others: all */
  __m256i class = _mm256_shuffle_epi8(IN_BOTH_HALVES(16, 16, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 16, 16, 16, 16), high);
  __m256i foreign = _mm256_shuffle_epi8(
      IN_BOTH_HALVES(16 | 4 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 1, 16 | 2 | 1,
                     16 | 8 | 2, 16 | 8 | 2 | 1, 16 | 8 | 2 | 1, 16 | 8 | 2 | 1, 16 | 8 | 2),
      low);
  if (!_mm256_testz_si256(class, foreign)) {
    return 0;
  }
  /* What is added to a character depends on its upper half; / has the entry before that of +. */
  __m256i is_slash = _mm256_cmpeq_epi8(characters, _mm256_set1_epi8('/'));
  __m256i offsets =
      _mm256_shuffle_epi8(IN_BOTH_HALVES(0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0,
                                         0, 0, 0),
                          _mm256_add_epi8(high, is_slash));
  *numbers = _mm256_add_epi8(characters, offsets);
  return 1;
}

/* 32 numbers of six bits to 24 bytes, which are the first of the vector. */
TARGET static inline __m256i bytes_of_numbers(__m256i numbers) {
  /* Two numbers to 12 bits, two of these to 24. */
  __m256i pairs = _mm256_maddubs_epi16(numbers, _mm256_set1_epi32(0x01400140));
  __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
  __m256i ordered = _mm256_shuffle_epi8(
      groups, IN_BOTH_HALVES(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  return _mm256_permutevar8x32_epi32(ordered, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
}

TARGET NOINLINE static struct coffer_base64_progress decode(const uint8_t *text, size_t count, uint8_t *bytes, size_t room,
                                                   int skips_lf) {
  struct coffer_base64_progress progress = {0, 0, 0};
  while (count - progress.read >= PIECE_CHARACTERS && room - progress.written >= PIECE_CHARACTERS) {
    __m256i numbers;
    if (!numbers_of_characters(_mm256_loadu_si256((const __m256i *)(text + progress.read)), &numbers)) {
      break;
    }
    _mm256_storeu_si256((__m256i *)(bytes + progress.written), bytes_of_numbers(numbers));
    progress.read += PIECE_CHARACTERS;
    progress.written += PIECE_BYTES;
    progress.is_at_line_start = skips_lf && progress.read < count && text[progress.read] == '\n';
    progress.read += (size_t)progress.is_at_line_start;
  }
  _mm256_zeroall();
  return progress;
}

size_t coffer_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text) {
  if (count < PIECE_BYTES || !__builtin_cpu_supports("avx2")) {
    return 0;
  }
  size_t done = encode(bytes, count, text);
  erase_stack();
  return done;
}

size_t coffer_base64_encode_lines(const uint8_t *bytes, size_t line_count, uint8_t *text) {
  if (!__builtin_cpu_supports("avx2")) {
    return 0;
  }
  encode_lines(bytes, line_count, text);
  erase_stack();
  return line_count;
}

struct coffer_base64_progress coffer_base64_decode(const uint8_t *text, size_t count, uint8_t *bytes, size_t room,
                                                   int skips_lf) {
  struct coffer_base64_progress progress = {0, 0, 0};
  if (count < PIECE_CHARACTERS || room < PIECE_CHARACTERS || !__builtin_cpu_supports("avx2")) {
    return progress;
  }
  progress = decode(text, count, bytes, room, skips_lf);
  erase_stack();
  return progress;
}

#else

size_t coffer_base64_encode(const uint8_t *bytes, size_t count, uint8_t *text) { return 0; }

size_t coffer_base64_encode_lines(const uint8_t *bytes, size_t line_count, uint8_t *text) { return 0; }

struct coffer_base64_progress coffer_base64_decode(const uint8_t *text, size_t count, uint8_t *bytes, size_t room,
                                                   int skips_lf) {
  struct coffer_base64_progress none = {0, 0, 0};
  return none;
}

#endif
