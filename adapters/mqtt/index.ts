/** MQTT: the car's link, a client for the other end, and a broker for the bench. */

export type { ClientRights, ShownIdentity } from './client-rights.ts';
export { CloudClient, type CloudClientOptions, type Receive } from './cloud-client.ts';
export type { TlsFiles } from './credentials.ts';
export { EmbeddedBroker, type EmbeddedBrokerOptions } from './embedded-broker.ts';
export type { LinkCounts } from './health.ts';
export { type MqttAddress, MqttLink, type MqttLinkOptions, presenceAt } from './link.ts';
