/** Returns a count with its noun, for messages: `1 error`, `2 errors`; `many` is an irregular plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
