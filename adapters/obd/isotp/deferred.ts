/** A promise and its resolving functions. */
interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export function deferred<T>(): Deferred<T> {
  const settle: { resolve: (value: T) => void; reject: (error: unknown) => void }[] = [];
  const promise = new Promise<T>((resolve, reject) => settle.push({ resolve, reject }));
  // The executor has run when the constructor returns (ECMA-262 §27.2.3.1).
  const [{ resolve, reject }] = settle as [{ resolve: (value: T) => void; reject: (error: unknown) => void }];
  return { promise, resolve, reject };
}
