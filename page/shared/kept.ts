/**
 * Strings that this browser stores for the page. If the browser refuses, they stay in memory until the page is closed.
 */
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
    // The browser's settings forbid storage, or it is full: keep the string in memory.
  }
}
