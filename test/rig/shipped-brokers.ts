/** Lines from the shipped broker configurations, for brokers in tests. */
import { readFileSync } from 'node:fs';

/** Settings that tests replace: addresses, certificates, users, folders. */
const OWN =
  /^(listener|listeners\.|mqtt\.listeners|mqtt\.allow_anonymous|server_name|jetstream|listen:|acl_file|allow_anonymous|cafile|certfile|keyfile|tls_version|require_certificate|use_identity|persistence|set_tcp_nodelay|mqtt \{|\})/;

/** Limits in a shipped file, one line each. */
export function shippedBounds(file: 'mosquitto.conf' | 'rabbitmq.conf' | 'nats.conf'): readonly string[] {
  return readFileSync(new URL(`../../config/brokers/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && !OWN.test(line));
}
