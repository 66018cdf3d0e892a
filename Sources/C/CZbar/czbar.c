/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of libzbar that are used, as zbar.h declares them; their numbers are part of its binary interface. */
#include "czbar.h"

#include <dlfcn.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>

struct coffer_zbar {
  void *scanner;
  void *image;
  const void *symbol;
  int (*scan_image)(void *, void *);
  void *(*image_create)(void);
  void (*image_destroy)(void *);
  void (*image_set_format)(void *, unsigned long);
  void (*image_set_size)(void *, unsigned, unsigned);
  void (*image_set_data)(void *, const void *, unsigned long, void (*)(void *));
  const void *(*first_symbol)(const void *);
  const void *(*next_symbol)(const void *);
  int (*symbol_type)(const void *);
  const char *(*symbol_data)(const void *);
  unsigned (*symbol_data_length)(const void *);
};

enum {
  all_kinds = 0,
  qr_code = 64,
  config_enable = 0,
  config_binary = 4,
  config_test_inverted = 0x81,
};

/* The code "Y800": grey, one byte a pixel. */
static const unsigned long grey_format = 0x30303859;

/* Content in bytes is passed on as it is. What names its encoding is converted, and the C library would open a file for
 * that. These stay open, so that it does not. */
static void open_encodings(void) {
  static const char *const others[] = {"SJIS", "BIG-5", "CP437", "UTF-8"};
  for (size_t index = 0; index < sizeof others / sizeof others[0]; index++) iconv_open("UTF-8", others[index]);
  for (int part = 1; part <= 16; part++) {
    char name[16];
    snprintf(name, sizeof name, "ISO8859-%d", part);
    iconv_open("UTF-8", name);
  }
}

static int compare_numbers(const void *left, const void *right) {
  return (*(const int *)left > *(const int *)right) - (*(const int *)left < *(const int *)right);
}

/* The first time that it sorts more than a kibibyte, the C library asks how much memory the machine has. */
static void sort_once(void) {
  int numbers[1024];
  for (int index = 0; index < 1024; index++) numbers[index] = 1024 - index;
  qsort(numbers, 1024, sizeof numbers[0], compare_numbers);
}

coffer_zbar *coffer_zbar_open(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return NULL;
  coffer_zbar *zbar = calloc(1, sizeof *zbar);
  if (!zbar) return NULL;
  void *(*create)(void) = NULL;
  int (*set_config)(void *, int, int, int) = NULL;
  int (*request_dbus)(void *, int) = NULL;
  const struct {
    const char *name;
    void *place;
  } calls[] = {
      {"zbar_image_scanner_create", &create},
      {"zbar_image_scanner_set_config", &set_config},
      {"zbar_image_scanner_request_dbus", &request_dbus},
      {"zbar_scan_image", &zbar->scan_image},
      {"zbar_image_create", &zbar->image_create},
      {"zbar_image_destroy", &zbar->image_destroy},
      {"zbar_image_set_format", &zbar->image_set_format},
      {"zbar_image_set_size", &zbar->image_set_size},
      {"zbar_image_set_data", &zbar->image_set_data},
      {"zbar_image_first_symbol", &zbar->first_symbol},
      {"zbar_symbol_next", &zbar->next_symbol},
      {"zbar_symbol_get_type", &zbar->symbol_type},
      {"zbar_symbol_get_data", &zbar->symbol_data},
      {"zbar_symbol_get_data_length", &zbar->symbol_data_length},
  };
  for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) {
    void *found = dlsym(handle, calls[index].name);
    if (!found) goto unfit;
    /* POSIX: a pointer to a function is one to an object. */
    *(void **)calls[index].place = found;
  }
  zbar->scanner = create();
  if (!zbar->scanner) goto unfit;
  /* No other kind of code has a decoder that a picture could reach. */
  if (set_config(zbar->scanner, all_kinds, config_enable, 0) != 0 ||
      set_config(zbar->scanner, qr_code, config_enable, 1) != 0 ||
      set_config(zbar->scanner, qr_code, config_binary, 1) != 0)
    goto unfit;
  /* Light on dark is read as well where the library can. */
  set_config(zbar->scanner, all_kinds, config_test_inverted, 1);
  request_dbus(zbar->scanner, 0);
  open_encodings();
  sort_once();
  return zbar;
unfit:
  free(zbar);
  return NULL;
}

int coffer_zbar_scan(coffer_zbar *zbar, const uint8_t *grey, unsigned width, unsigned height) {
  if (zbar->image) zbar->image_destroy(zbar->image);
  zbar->symbol = NULL;
  zbar->image = zbar->image_create();
  if (!zbar->image) return -1;
  zbar->image_set_format(zbar->image, grey_format);
  zbar->image_set_size(zbar->image, width, height);
  zbar->image_set_data(zbar->image, grey, (unsigned long)width * height, NULL);
  if (zbar->scan_image(zbar->scanner, zbar->image) < 0) return -1;
  zbar->symbol = zbar->first_symbol(zbar->image);
  return 0;
}

const char *coffer_zbar_next(coffer_zbar *zbar, size_t *count) {
  while (zbar->symbol) {
    const void *symbol = zbar->symbol;
    zbar->symbol = zbar->next_symbol(symbol);
    /* A part of several codes that belong together is of another type. */
    if (zbar->symbol_type(symbol) != qr_code) continue;
    *count = zbar->symbol_data_length(symbol);
    return zbar->symbol_data(symbol);
  }
  return NULL;
}
