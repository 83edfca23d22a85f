/** Returns the seconds that `90s`, `10m` or `2h` means; undefined for any other string. */
export function secondsOf(text: string): number | undefined {
  const [, number, unit = ''] = /^([0-9]{1,6})([smh])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * ({ s: 1, m: 60, h: 3600 }[unit] ?? 1);
}
