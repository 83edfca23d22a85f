import { linkContract } from '../../contracts/link.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { NatsRig } from '../../rig/nats.ts';
import { describePeer } from '../../rig/peers.ts';

describePeer('mosquitto', 'link over Mosquitto', () => {
  const broker = (): MosquittoRig => new MosquittoRig({ settings: ['max_inflight_messages 5'] });
  linkContract('with MQTT 5', { broker, protocol: 'auto', spoken: 5, receiveMaximum: 5 });
  linkContract('with MQTT 3.1.1', { broker, protocol: 4, spoken: 4 });
});

describePeer('nats-server', 'link over NATS', () => {
  linkContract('with MQTT 3.1.1', { broker: () => new NatsRig(), protocol: 'auto', spoken: 4 });
});
