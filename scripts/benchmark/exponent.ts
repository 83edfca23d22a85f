/**
 * Returns the exponent k in y = c·xᵏ, as the least-squares fit of the logarithms, over the points in the upper half of
 * the (logarithmic) range of x, but at least over three points. Points that are not above 0 are ignored. NaN if fewer
 * than two points remain.
 */
export function exponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.filter(([x, y]) => x > 0 && y > 0).map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const [first, last] = [logs[0]?.[0] ?? Number.NaN, logs.at(-1)?.[0] ?? Number.NaN];
  const upper = logs.slice(
    Math.min(
      logs.findIndex(([x]) => x >= (first + last) / 2),
      Math.max(0, logs.length - 3),
    ),
  );
  const mean = (at: 0 | 1): number => upper.reduce((sum, point) => sum + point[at], 0) / upper.length;
  const [x, y] = [mean(0), mean(1)];
  const over = upper.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return over / upper.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}
