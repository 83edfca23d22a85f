/** MQTT: the car's link, a client for the other end, and a broker for the bench. */

export type { ClientRights, ShownIdentity } from './client-rights.ts';
export {
  type BrokerAbilities,
  CloudClient,
  type CloudClientOptions,
  type Delivery,
  type PublishOptions,
  type Receive,
  type Subscriber,
  type Subscription,
} from './cloud-client.ts';
export type { TlsFiles, TlsSource } from './credentials.ts';
export { EmbeddedBroker, type EmbeddedBrokerOptions } from './embedded-broker.ts';
export { type LinkCounts, type LinkHealth, type LinkState, linkStates } from './health.ts';
export { type MqttAddress, MqttLink, type MqttLinkOptions, type Presence } from './link.ts';
