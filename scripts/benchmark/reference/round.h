/* Handles the requests of contest.ts, and computes the digest of answers.ts. */
#ifndef ROUND_H
#define ROUND_H
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct digest {
  uint64_t count;
  uint32_t low, high;
};

static inline void digest_add(struct digest *digest, uint32_t place, uint32_t part, double value) {
  uint64_t bits;
  uint32_t key = ((place + 1) * 0x9e3779b1u) ^ ((part + 1) * 0x85ebca6bu);
  if (value == 0) value = 0;
  memcpy(&bits, &value, 8);
  if (value != value) bits = 0x7ff8000000000000u;
  digest->low += ((uint32_t)bits ^ key) * 0xc2b2ae35u;
  digest->high += ((uint32_t)(bits >> 32) ^ key) * 0x27d4eb2fu;
  digest->count++;
}

static inline void *grab(size_t size) {
  void *memory = calloc(1, size + 64);
  if (memory == NULL) {
    perror("memory");
    exit(1);
  }
  return memory;
}

/* Reads the whole file and appends zeros. */
static inline uint8_t *read_file(const char *name, size_t *size) {
  FILE *file = fopen(name, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(name);
    exit(1);
  }
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = grab(*size);
  if (fread(bytes, 1, *size, file) != *size) {
    perror(name);
    exit(1);
  }
  fclose(file);
  return bytes;
}

/* Answers requests until standard input ends. If `work` is given a digest, it fills the digest. */
static inline void answer(void (*work)(struct digest *)) {
  char request[64];
  while (fgets(request, sizeof request, stdin) != NULL) {
    if (strncmp(request, "check", 5) == 0) {
      struct digest digest = {0, 0, 0};
      work(&digest);
      printf("%llu %u %u\n", (unsigned long long)digest.count, digest.low, digest.high);
    } else {
      struct timespec from, to;
      clock_gettime(CLOCK_MONOTONIC, &from);
      work(NULL);
      clock_gettime(CLOCK_MONOTONIC, &to);
      printf("%lld\n", (long long)(to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec));
    }
    fflush(stdout);
  }
}
#endif
