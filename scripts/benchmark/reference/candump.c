/*
 * Reads a candump log. Arguments: `memory`, `read` or `sscanf`, and the log; or `values`, the log and the decoder's
 * tables, to read and decode the log and count changed values.
 */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>
#include "scan.h"
#include "table.h"

static const char *log_name;
static uint8_t *text;
static size_t text_size;
/* Frames are stored in columns like ours, 4096 at a time. */
static struct frame frames[4096];
static double *values;
static uint64_t changed;

static inline void keep(struct digest *digest, uint32_t place, const struct frame *frame) {
  frames[place % 4096] = *frame;
  if (digest != NULL) digest_frame(digest, place, frame);
}

static void bad(uint32_t place) {
  fprintf(stderr, "line %u is no frame\n", place + 1);
  exit(1);
}

static void from_memory(struct digest *digest) {
  uint32_t place = 0;
  struct frame frame;
  for (const uint8_t *p = text; *p != 0; place++) {
    p = scan_line(p, &frame);
    if (p == NULL) bad(place);
    keep(digest, place, &frame);
  }
}

/* Calls `take` for every line, reading in chunks of half a megabyte. */
static void from_file(struct digest *digest, void (*take)(struct digest *, uint32_t, const struct frame *)) {
  enum { SIZE = 512 * 1024 };
  static uint8_t buffer[SIZE + 64];
  size_t filled = 0;
  uint32_t place = 0;
  struct frame frame;
  int file = open(log_name, O_RDONLY);
  for (;;) {
    ssize_t count = read(file, buffer + filled, SIZE - filled);
    if (count < 0) exit(1);
    filled += (size_t)count;
    size_t whole = filled;
    while (whole > 0 && buffer[whole - 1] != '\n') whole--;
    for (const uint8_t *p = buffer, *end = buffer + whole; p < end; place++) {
      p = scan_line(p, &frame);
      if (p == NULL) bad(place);
      take(digest, place, &frame);
    }
    memmove(buffer, buffer + whole, filled - whole);
    filled -= whole;
    if (count == 0) break;
  }
  close(file);
}

static void by_read(struct digest *digest) { from_file(digest, keep); }

static void by_sscanf(struct digest *digest) {
  char line[256], bus[64], data[80];
  long long seconds;
  uint32_t place = 0, fraction, id;
  FILE *file = fopen(log_name, "r");
  for (; fgets(line, sizeof line, file) != NULL; place++) {
    struct frame frame = {0};
    int digits, from = 0, to = 0;
    data[0] = 0;
    if (sscanf(line, "(%lld.%6u) %63s %n%8x%n#%79s", &seconds, &fraction, bus, &from, &id, &to, data) < 4) bad(place);
    digits = to - from;
    frame.micros = seconds * 1000000 + fraction;
    frame.id = digits == 8 ? id | 0x80000000u : id;
    for (size_t i = 0; data[i * 2] != 0 && data[i * 2 + 1] != 0 && i < 8; i++) {
      frame.data[i] = (uint8_t)(hex_digit[(uint8_t)data[i * 2]] << 4 | hex_digit[(uint8_t)data[i * 2 + 1]]);
      frame.length = (uint8_t)(i + 1);
    }
    keep(digest, place, &frame);
  }
  fclose(file);
}

#define CHANGE(row, value)                      \
  do {                                          \
    double now = (value);                       \
    if (values[(row)->index] != now) {          \
      values[(row)->index] = now;               \
      changed++;                                \
    }                                           \
  } while (0)

static void count_changes(struct digest *digest, uint32_t place, const struct frame *frame) {
  (void)digest;
  (void)place;
  int32_t number = message_of(frame->id);
  if (number < 0) return;
  const struct message *m = &messages[number];
  DECODE(m, frame->data, frame->length, CHANGE);
}

static void to_values(struct digest *digest) {
  changed = 0;
  for (uint32_t i = 0; i < signal_count; i++) values[i] = NAN;
  from_file(NULL, count_changes);
  if (digest != NULL) digest->count = changed;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  log_name = argv[2];
  prepare_digits();
  if (strcmp(argv[1], "values") == 0) {
    load_tables(argv[3]);
    values = grab(signal_count * sizeof *values);
    answer(to_values);
  } else if (strcmp(argv[1], "memory") == 0) {
    text = read_file(log_name, &text_size);
    answer(from_memory);
  } else if (strcmp(argv[1], "read") == 0) answer(by_read);
  else answer(by_sscanf);
  return 0;
}
