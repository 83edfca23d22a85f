/** User-readable names of the BLF objects without a CAN frame, by their numbers in Vector's public binlog header. */

const names: readonly (readonly [name: string, ...types: readonly (number | readonly [from: number, to: number])[]])[] =
  [
    ['overload frames', 3],
    ['bus statistics', 4],
    ['triggers', 5, 128],
    ['environment variables', [6, 9]],
    ['LIN events', [11, 21], 42, 43, 54, [57, 64], 75, [87, 89], 105],
    ['MOST events', [22, 25], [32, 39], [67, 70], [76, 85], 95],
    ['FlexRay events', 29, 30, 40, 41, 45, [47, 50], 66],
    ['errors of the CAN driver', 31, 44, 74, 91],
    ['positions', 46],
    ['clock times', 51],
    ['J1708 messages', 55, 56],
    ['texts', 65],
    ['Ethernet events', 71, 102, 103, 114, [120, 123]],
    ['system variables', 72],
    ['serial events', 90],
    ['comments', 92],
    ['WLAN events', 93, 94],
    ['markers', 96],
    ['AFDX events', 97, 98, 106, 107, 109],
    ['K-Line events', 99],
    ['ARINC 429 events', [110, 113]],
    ['restore points', 115],
    ['test events', 118],
    ['diagnostic interpretations', 119],
    ['function bus events', 124],
    ['gaps in the recording', 125, 126],
    ['water marks', 127],
    ['settings of the recording', [129, 131]],
  ];

const nameByType: ReadonlyMap<number, string> = new Map(
  names.flatMap(([name, ...types]) =>
    types.flatMap((type) => {
      const [from, to] = typeof type === 'number' ? [type, type] : type;
      return Array.from({ length: to - from + 1 }, (_, i) => [from + i, name] as const);
    }),
  ),
);

export function blfObjectName(type: number): string {
  return nameByType.get(type) ?? `objects of type ${type}`;
}
