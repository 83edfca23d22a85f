import { flag, optional, quantity, record, type Static } from '../fields.ts';
import { immobilizationSchema } from './immobilization.ts';

const trackingPeriod = record(
  'RemoteTrackingPeriod',
  {
    running: optional(
      1,
      quantity({
        unit: 's',
        resolution: 1,
        minimum: 5,
        description: 'Time between positions while it is driven. Interface 3.19.2 RemoteStolen.trackingPeriod.running.',
      }),
    ),
    shutdown: optional(
      2,
      quantity({
        unit: 's',
        resolution: 1,
        minimum: 60,
        description: 'Time between positions while it stands. Interface 3.19.2 RemoteStolen.trackingPeriod.shutdown.',
      }),
    ),
  },
  { description: 'How often a stolen car tells where it is. Interface 3.19.2 RemoteStolen.trackingPeriod.' },
);

/** Body of a command about a theft; exactly one member is there. */
export const stolenCommandSchema = record(
  'RemoteStolen',
  {
    stolen: optional(
      1,
      flag({ description: 'The car is stolen, or is found again. Interface 3.19.2 RemoteStolen.stolen.' }),
    ),
    trackingPeriod: optional(2, trackingPeriod),
    immobilization: optional(3, immobilizationSchema),
  },
  { description: 'Declares a theft or follows the car during one. Interface 3.19.2 RemoteStolen.' },
);
export type RemoteStolen = Static<typeof stolenCommandSchema>;
