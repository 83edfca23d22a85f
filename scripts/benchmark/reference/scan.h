/* Parses frames of candump text, as in handwritten C: reads every character once and checks all of them. */
#ifndef SCAN_H
#define SCAN_H
#include "round.h"

struct frame {
  int64_t micros;
  uint32_t id;
  uint8_t length;
  uint8_t data[8];
};

static uint8_t hex_digit[256];

static void prepare_digits(void) {
  memset(hex_digit, 0xff, sizeof hex_digit);
  for (int i = 0; i < 10; i++) hex_digit['0' + i] = (uint8_t)i;
  for (int i = 0; i < 6; i++) hex_digit['A' + i] = hex_digit['a' + i] = (uint8_t)(10 + i);
}

/* Parses one line. Returns the text after it, or NULL if it is not a frame. Stops at the zeros after the text. */
static inline const uint8_t *scan_line(const uint8_t *p, struct frame *frame) {
  int64_t seconds = 0, fraction = 0;
  uint32_t id = 0;
  int digits;
  if (*p++ != '(') return NULL;
  for (; (uint8_t)(*p - '0') < 10; p++) seconds = seconds * 10 + (*p - '0');
  if (*p++ != '.') return NULL;
  for (digits = 0; (uint8_t)(*p - '0') < 10; p++, digits++) fraction = fraction * 10 + (*p - '0');
  if (digits != 6 || *p++ != ')' || *p++ != ' ') return NULL;
  while (*p > ' ') p++;
  if (*p++ != ' ') return NULL;
  for (digits = 0; hex_digit[*p] < 16; p++, digits++) id = id << 4 | hex_digit[*p];
  if ((digits != 3 && digits != 8) || *p++ != '#') return NULL;
  frame->micros = seconds * 1000000 + fraction;
  frame->id = digits == 8 ? id | 0x80000000u : id;
  uint8_t length = 0;
  while (length < 8 && (hex_digit[p[0]] | hex_digit[p[1]]) < 16) {
    frame->data[length++] = (uint8_t)(hex_digit[p[0]] << 4 | hex_digit[p[1]]);
    p += 2;
  }
  frame->length = length;
  for (; length < 8; length++) frame->data[length] = 0;
  if (*p == '\r') p++;
  return *p == '\n' ? p + 1 : NULL;
}

static inline void digest_frame(struct digest *digest, uint32_t place, const struct frame *frame) {
  digest_add(digest, place, 0, (double)frame->micros);
  digest_add(digest, place, 1, frame->id);
  digest_add(digest, place, 2, frame->length);
  for (int i = 0; i < frame->length; i++) digest_add(digest, place, 3 + (uint32_t)i, frame->data[i]);
}
#endif
