/** Former names of members of `vigie.yaml` and of profiles: a file that has one gets the present name as the fix. */

/** By the place of the object (a JSON pointer), the former names with the present ones. */
const renamed: readonly (readonly [place: RegExp, names: Readonly<Record<string, string>>])[] = [
  [/^\/mqtt$/, { others: 'fallbacks' }],
  [/^\/http$/, { body: 'maxBodyBytes' }],
  [/^\/callbacks$/, { waiting: 'queueLimit', plain: 'allowHttp' }],
  [
    /^\/power$/,
    {
      linger: 'standbyFor',
      lowLinger: 'lowBatteryStandbyFor',
      silence: 'busSilentAfter',
      waking: 'wakeTimeout',
    },
  ],
  [/^\/alerts\/[^/]+$/, { on: 'onAfter', off: 'offAfter' }],
];

/** The present name of the member `name` of the object at `place`; undefined for one that never had this name. */
export function presentName(place: string, name: string): string | undefined {
  const names = renamed.find(([places]) => places.test(place))?.[1];
  return names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
}
