/* Decodes every signal of every frame to a double. Arguments: tables, traffic, and `skip` to skip repeated frames. */
#include "table.h"

static uint32_t count;
static const uint8_t *data;
static const uint32_t *ids;
static const uint8_t *lengths;
static double *values;
static int skip;

#define STORE(row, value) values[(row)->index] = (value)
#define CHECK(row, value) digest_add(digest, i, (row)->index, (value))

static void work(struct digest *digest) {
  for (uint32_t m = 0; m < message_count; m++) last_length[m] = -1;
  for (uint32_t i = 0; i < count; i++) {
    int32_t number = message_of(ids[i]);
    if (number < 0) continue;
    const struct message *m = &messages[number];
    const uint8_t *payload = data + (size_t)i * 8;
    if (skip) {
      uint64_t word;
      memcpy(&word, payload, 8);
      if (last_length[number] == lengths[i] && last_data[number] == word) continue;
      last_length[number] = lengths[i];
      last_data[number] = word;
    }
    if (digest != NULL) DECODE(m, payload, lengths[i], CHECK);
    else DECODE(m, payload, lengths[i], STORE);
  }
}

int main(int argc, char **argv) {
  size_t size;
  double frames;
  if (argc < 3) return 2;
  load_tables(argv[1]);
  const uint8_t *bytes = read_file(argv[2], &size);
  memcpy(&frames, bytes, 8);
  count = (uint32_t)frames;
  data = bytes + 8 + (size_t)count * 8;
  ids = (const uint32_t *)(data + (size_t)count * 8);
  lengths = (const uint8_t *)(ids + count);
  values = grab(signal_count * sizeof *values);
  skip = argc > 3 && strcmp(argv[3], "skip") == 0;
  answer(work);
  return 0;
}
