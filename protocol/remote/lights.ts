import { flag, record, required } from '../schema/fields.ts';
import { ignitionOn, STANDING, speedAtMost } from './conditions.ts';
import { remoteKind } from './kind.ts';

/** Flashing lights, for finding the car. */
export const lights = remoteKind({
  type: 'Lights',
  wire: 4,
  body: record('RemoteLights', 'Flashes the lights, or stops it. Interface 3.19.2 RemoteLights.', {
    on: required(1, flag('Whether they shall flash. Interface 3.19.2 RemoteLights.on.')),
  }),
  actions: { 'lights.on': { interlocks: [speedAtMost(STANDING)], ends: ignitionOn }, 'lights.off': {} },
  asks: ({ on }) => [on ? 'lights.on' : 'lights.off'],
  member: 'lights',
  scope: { name: 'lights', description: 'Flash the lights.' },
  capability: { actions: ['lights.on'] },
  example: { summary: 'Flash the lights', body: { on: true } },
  words: {
    verb: 'lights',
    usage: 'lights [on|off]',
    bodies: { on: { on: true }, off: { on: false } },
    alone: { on: true },
  },
});
