/*
 * A table-driven DBC decoder for classic frames, as in handwritten C: the payload as one 64-bit word in both byte
 * orders, a shift and a mask per signal. ../network.ts writes the tables.
 */
#ifndef TABLE_H
#define TABLE_H
#include "round.h"

enum kind { UNSIGNED, SIGNED, FLOAT32, FLOAT64 };

struct signal {
  uint8_t big, shift, length, kind;
  /* Least payload length, bytes. */
  uint8_t needs;
  /* Row of the multiplexor within the message, or -1; range of values that select this row, both inclusive. */
  int16_t parent;
  uint32_t index;
  uint64_t low, high;
  double factor, offset;
};

struct message {
  uint32_t id, first, count;
  /* Payload length from which on all signals are present, bytes; 255 if multiplexors select signals. */
  uint8_t plain;
};

static struct signal *signals;
static struct message *messages;
static uint32_t signal_count, message_count;
/* Message number by identifier: an array for 11 bits, open addressing for 29. */
static int32_t standard[2048];
#define EXTENDED_SIZE 4096
static uint32_t extended_key[EXTENDED_SIZE];
static int32_t extended_message[EXTENDED_SIZE];
/* Last payload of each message, for programs that skip repeated frames. */
static uint64_t *last_data;
static int16_t *last_length;

static void load_tables(const char *name) {
  FILE *file = fopen(name, "r");
  if (file == NULL || fscanf(file, "%u %u", &message_count, &signal_count) != 2) {
    perror(name);
    exit(1);
  }
  messages = grab(message_count * sizeof *messages);
  signals = grab(signal_count * sizeof *signals);
  last_data = grab(message_count * sizeof *last_data);
  last_length = grab(message_count * sizeof *last_length);
  memset(standard, -1, sizeof standard);
  memset(extended_message, -1, sizeof extended_message);
  for (uint32_t i = 0; i < message_count; i++) {
    struct message *m = &messages[i];
    if (fscanf(file, "%u %u %u %hhu", &m->id, &m->first, &m->count, &m->plain) != 4) exit(1);
    if (m->id < 2048) standard[m->id] = (int32_t)i;
    else {
      uint32_t at = (m->id * 0x9e3779b1u) >> 20;
      while (extended_message[at] >= 0) at = (at + 1) % EXTENDED_SIZE;
      extended_key[at] = m->id;
      extended_message[at] = (int32_t)i;
    }
  }
  for (uint32_t i = 0; i < signal_count; i++) {
    struct signal *s = &signals[i];
    unsigned long long low, high;
    if (fscanf(file, "%u %hhu %hhu %hhu %hhu %hhu %hd %llu %llu %lf %lf", &s->index, &s->big, &s->shift, &s->length,
               &s->kind, &s->needs, &s->parent, &low, &high, &s->factor, &s->offset) != 11)
      exit(1);
    s->low = low;
    s->high = high;
  }
  fclose(file);
}

static inline int32_t message_of(uint32_t id) {
  if (id < 2048) return standard[id];
  for (uint32_t at = (id * 0x9e3779b1u) >> 20;; at = (at + 1) % EXTENDED_SIZE)
    if (extended_message[at] < 0 || extended_key[at] == id) return extended_message[at];
}

static inline uint64_t bits_of(const struct signal *s, uint64_t little, uint64_t big) {
  return ((s->big ? big : little) >> s->shift) & (~(uint64_t)0 >> (64 - s->length));
}

static inline double value_of(const struct signal *s, uint64_t little, uint64_t big) {
  uint64_t bits = bits_of(s, little, big);
  double raw;
  if (s->kind == UNSIGNED) raw = s->length < 64 ? (double)(int64_t)bits : (double)bits;
  else if (s->kind == SIGNED) raw = (double)((int64_t)(bits << (64 - s->length)) >> (64 - s->length));
  else if (s->kind == FLOAT32) {
    uint32_t word = (uint32_t)bits;
    float single;
    memcpy(&single, &word, 4);
    raw = single;
  } else memcpy(&raw, &bits, 8);
  return raw * s->factor + s->offset;
}

/* Calls or inlines `deliver(signal, value)` for every signal of the frame. */
#define DECODE(m, payload, size, deliver)                                                     \
  do {                                                                                        \
    uint64_t little, big;                                                                     \
    memcpy(&little, payload, 8);                                                              \
    big = __builtin_bswap64(little);                                                          \
    const struct signal *row = &signals[(m)->first], *end = row + (m)->count, *base = row;    \
    if (size >= (m)->plain) {                                                                 \
      for (; row < end; row++) deliver(row, value_of(row, little, big));                      \
    } else {                                                                                  \
      for (; row < end; row++) {                                                              \
        if (row->needs > size) continue;                                                      \
        if (row->parent >= 0) {                                                               \
          uint64_t selected = bits_of(base + row->parent, little, big);                       \
          if (selected < row->low || selected > row->high) continue;                          \
        }                                                                                     \
        deliver(row, value_of(row, little, big));                                             \
      }                                                                                       \
    }                                                                                         \
  } while (0)
#endif
