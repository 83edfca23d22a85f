/** Hubs at external brokers from Debian packages, with the limits of the configurations in config/brokers. */
import { hubBrokerContract } from '../contracts/hub-brokers.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { NatsRig } from '../rig/nats.ts';
import { describePeers } from '../rig/peers.ts';
import { RabbitRig } from '../rig/rabbitmq.ts';
import { shippedBounds } from '../rig/shipped-brokers.ts';

describePeers(['mosquitto', 'initdb'], 'Mosquitto', () => {
  hubBrokerContract('Mosquitto', {
    make: () => new MosquittoRig({ settings: shippedBounds('mosquitto.conf') }),
    shares: true,
    losesWaiting: true,
  });
});

describePeers(['nats-server', 'initdb'], 'NATS', () => {
  hubBrokerContract('NATS', { make: () => new NatsRig(shippedBounds('nats.conf')), shares: false });
});

describePeers(['rabbitmq-server', 'initdb'], 'RabbitMQ', () => {
  const rabbit = new RabbitRig({ clientIds: [], retained: [] }, shippedBounds('rabbitmq.conf'));
  hubBrokerContract('RabbitMQ', { make: () => rabbit, shares: false, destroy: () => rabbit.destroy() });
});
