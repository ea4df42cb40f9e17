// Loads data files. Each is a script that passes on one JSON text; bench/pushbench/site/layout.py explains why.

import { useEffect, useState } from 'preact/hooks';

const SCHEMA = 3;

declare global {
  interface Window {
    pushbenchData: (name: string, text: string) => void;
  }
}

const handedOver = new Map<string, string>();
const loading = new Map<string, Promise<unknown>>();

window.pushbenchData = (name, text) => handedOver.set(name, text);

/** An error whose message is shown to the reader unchanged. */
export class Unreadable extends Error {}

/** A name as one part of a path, like `part` in bench/pushbench/site/layout.py. */
export function part(name: string): string {
  return Array.from(new TextEncoder().encode(name), (byte, index) => {
    const letter = String.fromCharCode(byte);
    const safe = index === 0 ? /[A-Za-z0-9_-]/ : /[A-Za-z0-9_.-]/;
    return safe.test(letter) ? letter : `~${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}

/** The content of a data file, which is requested once. `version` is its version when the manifest was written. */
export function load<T>(name: string, version = ''): Promise<T> {
  const known = loading.get(name);
  if (known) return known as Promise<T>;
  const loaded = request(name, version).then((text) => read<T>(name, text));
  loading.set(name, loaded);
  loaded.catch(() => loading.delete(name)); // the next visit of the page tries again
  return loaded;
}

function request(name: string, version: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `data/${name}.js${version && `?v=${version}`}`;
    script.onerror = () => reject(new Unreadable(`The file data/${name}.js is missing.`));
    script.onload = () => {
      const text = handedOver.get(name);
      handedOver.delete(name);
      script.remove();
      if (text === undefined) reject(new Unreadable(`The file data/${name}.js is incomplete.`));
      else resolve(text);
    };
    document.head.append(script);
  });
}

function read<T>(name: string, text: string): T {
  let content: { schema?: unknown };
  try {
    content = JSON.parse(text);
  } catch {
    throw new Unreadable(`The file data/${name}.js is incomplete.`);
  }
  if (typeof content.schema !== 'number') throw new Unreadable(`The file data/${name}.js is not data of this site.`);
  if (content.schema > SCHEMA) {
    const about = `data/${name}.js has schema ${content.schema}, this page reads up to ${SCHEMA}`;
    throw new Unreadable(`The file ${about}: reload the page without your browser's cache, or update Pushbench.`);
  }
  return withoutPrototypes(content) as T;
}

/** Names in data are keys; a look-up must not find inherited ones: `constructor`, `__proto__`. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (typeof value.find((each) => each !== null) === 'object') value.forEach(withoutPrototypes);
  } else if (value !== null && typeof value === 'object') {
    Object.setPrototypeOf(value, null);
    Object.values(value).forEach(withoutPrototypes);
  }
  return value;
}

/** An object that has these keys and no others. */
export function dictionary<T>(entries: Iterable<[string, T]>): Record<string, T> {
  const made: Record<string, T> = Object.create(null);
  for (const [key, value] of entries) made[key] = value;
  return made;
}

export type Loaded<T> = { state: 'loading' } | { state: 'ready'; value: T } | { state: 'unreadable'; why: string };

/** The contents of several files, once all are loaded; `key` identifies them. */
export function useLoaded<T>(key: string, ask: () => Promise<T>): Loaded<T> {
  const [found, setFound] = useState<{ key: string; loaded: Loaded<T> }>({ key: '', loaded: { state: 'loading' } });
  useEffect(() => {
    let wanted = true;
    const tell = (loaded: Loaded<T>) => wanted && setFound({ key, loaded });
    ask().then(
      (value) => tell({ state: 'ready', value }),
      (error: unknown) => {
        tell({ state: 'unreadable', why: error instanceof Error ? error.message : String(error) });
        if (!(error instanceof Unreadable)) throw error;
      },
    );
    return () => {
      wanted = false;
    };
  }, [key]);
  return found.key === key ? found.loaded : { state: 'loading' };
}
