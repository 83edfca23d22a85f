import { flag, record, required, type Static } from '../fields.ts';

/** Body of a command to the lights, by which the car is found. */
export const lightsSchema = record(
  'RemoteLights',
  { on: required(1, flag({ description: 'Whether they shall flash. Interface 3.19.2 RemoteLights.on.' })) },
  { description: 'Flashes the lights, or stops it. Interface 3.19.2 RemoteLights.' },
);
export type RemoteLights = Static<typeof lightsSchema>;
