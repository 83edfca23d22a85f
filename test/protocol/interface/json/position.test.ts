import { expect, test } from 'vitest';
import { type PositionJson, positionJson } from '../../../../protocol/interface/json/position.ts';
import type { Viewer } from '../../../../protocol/interface/json/viewer.ts';

const viewer: Viewer = {
  side: 'user',
  vehicle: { vin: 'VF3CCHMP6FT123456', motorization: 'Hybrid' },
  positions: true,
  aliases: true,
};
/** A decoded position. */
const position = { geometry: { coordinates: [1, 2] }, properties: { createdAt: 0 } } as unknown as PositionJson;

test('a position gets the constant members that the codec omits', () => {
  expect(positionJson(viewer, position)).toEqual({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [1, 2] },
    properties: { createdAt: '1970-01-01T00:00:00.000Z' },
  });
});

test('a viewer without access to positions gets none', () => {
  expect(positionJson({ ...viewer, positions: false }, position)).toBeUndefined();
});
