/*
 * Publishes with QoS 1 by libmosquitto, as a program of contest.ts. Arguments: port, publishes in flight at a time,
 * messages per round, bytes per message.
 */
#include "round.h"
#include <mosquitto.h>

static int window, count, size, sent, acknowledged;
static uint8_t *payload;

static void fail(const char *what, int code) {
  if (code == MOSQ_ERR_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", what, mosquitto_strerror(code));
  exit(1);
}

static void send_one(struct mosquitto *client) {
  sent++;
  fail("publish", mosquitto_publish(client, NULL, "vigie/1/VF3VGEBENCH000001/up/telemetry", size, payload, 1, 0));
}

static void published(struct mosquitto *client, void *context, int id) {
  (void)context;
  (void)id;
  acknowledged++;
  if (sent < count) send_one(client);
}

static void drain(struct mosquitto *client) {
  sent = acknowledged = 0;
  while (sent < window && sent < count) send_one(client);
  while (acknowledged < count) fail("loop", mosquitto_loop(client, -1, 1));
}

int main(int argc, char **argv) {
  char line[64];
  struct timespec from, to;
  struct mosquitto *client;
  if (argc != 5) return 2;
  window = atoi(argv[2]);
  count = atoi(argv[3]);
  size = atoi(argv[4]);
  payload = grab(size);
  mosquitto_lib_init();
  client = mosquitto_new(NULL, true, NULL);
  mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
  mosquitto_max_inflight_messages_set(client, 0);
  mosquitto_publish_callback_set(client, published);
  fail("connect", mosquitto_connect(client, "127.0.0.1", atoi(argv[1]), 60));
  while (fgets(line, sizeof line, stdin) != NULL) {
    clock_gettime(CLOCK_MONOTONIC, &from);
    drain(client);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (strncmp(line, "check", 5) == 0) printf("%d\n", acknowledged);
    else printf("%lld\n", (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec));
    fflush(stdout);
  }
  return 0;
}
