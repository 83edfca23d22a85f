/** Lines of the configurations of brokers that are shipped, for brokers that tests start. */
import { readFileSync } from 'node:fs';

/** What tests have of their own: addresses, certificates, users, folders. */
const OWN =
  /^(listener|listeners\.|mqtt\.listeners|mqtt\.allow_anonymous|server_name|jetstream|listen:|acl_file|allow_anonymous|cafile|certfile|keyfile|tls_version|require_certificate|use_identity|persistence|set_tcp_nodelay|mqtt \{|\})/;

/** The bounds that a shipped file sets, each as its line is written. */
export function shippedBounds(file: 'mosquitto.conf' | 'rabbitmq.conf' | 'nats.conf'): readonly string[] {
  return readFileSync(new URL(`../../config/brokers/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && !OWN.test(line));
}
