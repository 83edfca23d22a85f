import { enumeration, record, required } from '../schema/fields.ts';
import { ignitionOn, STANDING, speedAtMost } from './conditions.ts';
import { remoteKind } from './kind.ts';

export const horn = remoteKind({
  type: 'Horn',
  wire: 2,
  body: record('RemoteHorn', 'Sounds the horn, or silences it. Interface 3.19.2 RemoteHorn.', {
    state: required(
      1,
      enumeration('Whether it shall sound. Interface 3.19.2 RemoteHorn.state.', ['Activated', 'Unactivated']),
    ),
  }),
  actions: { 'horn.on': { interlocks: [speedAtMost(STANDING)], ends: ignitionOn }, 'horn.off': {} },
  asks: ({ state }) => [state === 'Activated' ? 'horn.on' : 'horn.off'],
  member: 'horn',
  scope: { name: 'horn', description: 'Sound the horn.' },
  capability: { actions: ['horn.on'] },
  example: { summary: 'Sound the horn', body: { state: 'Activated' } },
  words: {
    verb: 'horn',
    usage: 'horn [on|off]',
    bodies: { on: { state: 'Activated' }, off: { state: 'Unactivated' } },
    alone: { state: 'Activated' },
  },
});
