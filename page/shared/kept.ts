/** Texts that this browser keeps for the page. A browser that refuses to keep any has them until the page is closed. */
const inMemory = new Map<string, string>();

export function readKept(key: string): string | undefined {
  try {
    return localStorage.getItem(`vigie ${key}`) ?? inMemory.get(key);
  } catch {
    return inMemory.get(key);
  }
}

export function keep(key: string, text: string): void {
  inMemory.set(key, text);
  try {
    localStorage.setItem(`vigie ${key}`, text);
  } catch {
    // Settings of the browser forbid it, or its storage is full: the text is in memory.
  }
}
