import { afterAll } from 'vitest';
import { linkContract } from '../../contracts/link.ts';
import { presence, up, vin } from '../../rig/car.ts';
import { describePeer } from '../../rig/peers.ts';
import { RabbitRig } from '../../rig/rabbitmq.ts';

describePeer('rabbitmq-server', 'link over RabbitMQ', () => {
  const rabbit = new RabbitRig({ clientIds: [vin], retained: [up, presence] });
  afterAll(() => rabbit.destroy());
  linkContract('with MQTT 3.1.1', { broker: () => rabbit, protocol: 'auto', spoken: 4 });
});
