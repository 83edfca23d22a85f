/** A number of things for people: `1 error`, `2 errors`; `many` where it is not the word with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
